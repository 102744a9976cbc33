"""Maintenance of the database: retention, erasure, rebuild, quarantine, salvage."""
