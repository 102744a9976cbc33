"""Queries of the record that commands share."""
