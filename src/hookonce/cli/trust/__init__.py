"""Commands by which a person allows or stops hooks."""
