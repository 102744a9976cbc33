"""Derived events: pure steps over the state of a session."""
