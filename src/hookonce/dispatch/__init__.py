"""One call of an agent: request, hook selection, runs, merge, reply."""
