"""Recorded sessions, replayed through the real client in a sandbox home."""
