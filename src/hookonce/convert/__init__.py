"""Conversion of hook configurations from one agent to another."""
