"""Names that a user types."""

from hookonce.journeys.naming import agent, event, unknown

__all__ = ["agent", "event", "unknown"]
