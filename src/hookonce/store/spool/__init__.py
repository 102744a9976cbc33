"""Spool: one file per call until its record is in the database."""
