"""Fixtures of the tests of sessions."""

from tests.sessions.session_clock import agent, night

__all__ = ["agent", "night"]
