"""Windsurf."""
