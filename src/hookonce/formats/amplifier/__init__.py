"""Amplifier events."""
