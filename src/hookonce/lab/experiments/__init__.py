"""Experiments: claims that are tried together, one module each, and the only list of them in running order."""
