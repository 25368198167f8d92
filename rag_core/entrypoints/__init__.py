"""The ways in: command line, and later the HTTP API and MCP."""
