"""Capture of payloads from real agents, and their comparison between versions."""
