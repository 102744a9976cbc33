"""State of a session, and the records derived from each record: the entry point of derivation.

The state is a value: it can be encoded, and rebuilt from the session's records in order.

Plan events come from the tools with which agents enter and leave planning or write to-do lists; no agent has a
hook for them. The text of a plan is never repeated, only its number of steps.
"""

from typing import Any

from hookonce.derive.further import derive_record
from hookonce.model import Event, Object, Record

PLAN_START_TOOLS = frozenset({"EnterPlanMode", "enter_plan_mode"})
PLAN_END_TOOLS = frozenset({"ExitPlanMode", "exit_plan_mode", "ExitSpecMode"})
TODO_TOOLS = frozenset({"TodoWrite", "todo_write", "write_todos", "update_plan"})
_STEP_FIELDS = ("todos", "plan")  # the argument with the steps


def derive_plan_events(record: Record) -> list[Record]:
    """Plan events of a finished call; a refused or failed one has changed no plan."""
    event, tool = record.event, record.event.tool
    if tool is None or event.type != "after_tool_execute" or (tool.result is not None and tool.result.ok is False):
        return []
    if tool.native in PLAN_START_TOOLS:
        return [_build_plan_record(event, "plan_start", {"plan_type": "plan"})]
    if tool.native in PLAN_END_TOOLS:
        return [_build_plan_record(event, "plan_end", {})]
    return [_build_plan_record(event, "agent_decision", _step_count(tool.input))] if tool.native in TODO_TOOLS else []


def _build_plan_record(event: Event, event_type: str, data: Object) -> Record:
    return derive_record(event, event_type, data | {"action_name": event.tool.native if event.tool is not None else None})


def _step_count(tool_input: Object) -> Object:
    steps: Any = next((tool_input[name] for name in _STEP_FIELDS if name in tool_input), None)
    return {"step_count": len(steps)} if type(steps) is list else {}
