"""Checks behind `doctor`, `check` and `try`."""
