"""HTTP listener of the daemon: connection, request parser, response."""
