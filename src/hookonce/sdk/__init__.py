"""What other people's programs build on: the events of an open format as Python values."""

from hookonce.sdk import openhook

__all__ = ["openhook"]
