"""Requests and replies of the HTTP API and of MCP's tools, as pydantic models."""
