"""Plans: agents have tools with which they leave off planning, and others that say what is to be done next.

Nothing else tells it: no agent has a hook for a plan or for a choice, and what it thinks of them is nobody's business.
The text of a plan is never repeated here, only of how many steps it is.
"""

from typing import Any

from hookonce.derive.further import further
from hookonce.model import Event, Object, Record

BEGINS = frozenset({"EnterPlanMode", "enter_plan_mode"})
ENDS = frozenset({"ExitPlanMode", "exit_plan_mode", "ExitSpecMode"})
DECIDES = frozenset({"TodoWrite", "todo_write", "write_todos", "update_plan"})
_LISTS = ("todos", "plan")  # the argument with the steps


def step(record: Record) -> list[Record]:
    """What a finished call says about its agent's plan; one that was refused or failed has changed none."""
    event, tool = record.event, record.event.tool
    if tool is None or event.type != "after_tool_execute" or (tool.result is not None and tool.result.ok is False):
        return []
    if tool.native in BEGINS:
        return [_told(event, "plan_start", {"plan_type": "plan"})]
    if tool.native in ENDS:
        return [_told(event, "plan_end", {})]
    return [_told(event, "agent_decision", _steps(tool.input))] if tool.native in DECIDES else []


def _told(event: Event, kind: str, data: Object) -> Record:
    return further(event, kind, data | {"action_name": event.tool.native if event.tool is not None else None})


def _steps(given: Object) -> Object:
    listed: Any = next((given[name] for name in _LISTS if name in given), None)
    return {"step_count": len(listed)} if type(listed) is list else {}
