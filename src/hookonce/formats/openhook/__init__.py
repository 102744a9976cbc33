"""OpenHook 0.1 events."""
