"""Request of a call, as it came in."""
