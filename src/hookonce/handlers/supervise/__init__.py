"""Supervision of child processes: spawn, limits, privileges, watchdog."""
