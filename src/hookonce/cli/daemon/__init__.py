"""Commands of the process that answers agents."""
