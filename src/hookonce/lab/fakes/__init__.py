"""Scripted model servers, hooks and an MCP server that stand in for real ones."""
