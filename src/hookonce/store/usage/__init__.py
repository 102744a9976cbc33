"""Token usage and its price."""
