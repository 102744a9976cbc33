"""Kiro, and Amazon Q before it."""
