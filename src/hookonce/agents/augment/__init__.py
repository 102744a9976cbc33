"""Augment Code."""
