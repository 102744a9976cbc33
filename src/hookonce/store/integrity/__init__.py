"""Tamper evidence: hash chain, head, checkpoints, tombstones, audit."""
