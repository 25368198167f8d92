"""How two sentences differ in their facts: what is changed, moved, mixed or missing in the one."""
