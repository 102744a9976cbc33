"""Fixtures of the tests of sessions."""

from tests.sessions.session_clock import agent, harness

__all__ = ["agent", "harness"]
