"""Canonical vocabulary: events, tools, names and decisions; tables that every other package reads and none repeats."""
