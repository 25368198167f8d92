"""The commands, one module each; those that index, ask and delete stand together in `library`."""
