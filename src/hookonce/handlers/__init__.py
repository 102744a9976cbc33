"""Doing what a hook says."""
