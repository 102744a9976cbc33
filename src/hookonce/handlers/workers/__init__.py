"""Prefork worker pool for Python function hooks."""
