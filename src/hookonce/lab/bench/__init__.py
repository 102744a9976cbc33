"""Latency benchmark of the client and the daemon."""
