"""How hooks stand in each agent's own files: written and read, one file for each shape."""
