"""Runs of a real agent, and certificates of what they showed."""
