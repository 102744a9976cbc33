"""Name resolution of agents and events (re-export of the naming service)."""

from hookonce.inspect.query_args import find_agent, find_event_type, unknown_name_error

__all__ = ["find_agent", "find_event_type", "unknown_name_error"]
