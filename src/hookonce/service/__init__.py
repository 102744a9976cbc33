"""The daemon: one process per user that answers calls while they are warm."""
