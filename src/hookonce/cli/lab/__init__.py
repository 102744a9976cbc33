"""Commands that run real agents offline."""
