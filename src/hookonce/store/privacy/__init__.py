"""Redaction of records before they are stored, logged or sent."""
