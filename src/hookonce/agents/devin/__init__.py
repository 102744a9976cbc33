"""Devin."""
