"""Server side: modules written with hookonce, served over stdio, HTTP and MCP."""
