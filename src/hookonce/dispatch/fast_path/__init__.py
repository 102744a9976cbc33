"""Fast path: calls for which no hook exists are answered from a table."""
