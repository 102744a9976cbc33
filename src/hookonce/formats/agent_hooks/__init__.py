"""Agent Hooks 0.1 events."""
