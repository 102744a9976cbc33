"""Splicing entries into files that belong to others: what is not ours keeps every byte."""
