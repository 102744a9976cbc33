"""Conformance tests for modules of others."""
