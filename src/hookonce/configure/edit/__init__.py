"""Byte-preserving editors of JSON, JSONC and TOML files that belong to others."""
