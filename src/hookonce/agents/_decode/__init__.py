"""Decoding of payloads into events, and encoding of events as payloads: what the agents share."""
