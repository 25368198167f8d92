"""MCP for assistants, over standard input and output or HTTP, guarded as the API is."""
