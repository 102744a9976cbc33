"""Pool of workers that answer calls of Python function hooks."""
