"""Daemon: the long-lived process that answers agents' calls on a Unix socket and over HTTP."""
