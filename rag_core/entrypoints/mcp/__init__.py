"""The MCP server: tools, resources and prompts for assistants, over standard input and output or HTTP, guarded as the
API is.
"""
