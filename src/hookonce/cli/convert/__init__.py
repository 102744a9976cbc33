"""Commands that turn one form into another, or check it."""
