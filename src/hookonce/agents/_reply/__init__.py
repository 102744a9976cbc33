"""Shared code of the agents' reply writers and readers."""
