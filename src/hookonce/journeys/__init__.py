"""The walks: the only place where rooms meet."""
