"""The formats that are never read back lose exactly what their tables say."""

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from hookonce import formats
from hookonce.model import Actor, Decision, HookRun, Origin, Result, Risk, Subagent, Usage, User
from tests.formats.material import records

RECORDS = list(records())
LOST = {"unmapped", "left out"}

EVENT = {
    "agent_version": "9.9.9",
    "session": "other-session",
    "turn": "other-turn",
    "subagent": Subagent(id="x9", type="y9", parent="z9"),
    "parent_session": "p9",
    "time": "2031-01-01T00:00:00Z",
    "received": "2031-01-01T00:00:00Z",
    "cwd": "/somewhere/else",
    "prompt": "another prompt",
    "model": "gpt-9",
    "usage": Usage(input_tokens=91, output_tokens=92, total_tokens=93),
    "mode": "edit",
    "user": User(id="u9"),
    "actor": Actor(type="system", id="a9"),
    "origin": Origin(format="f9"),
    "caused_by": "c9",
    "derived_from": "d9",
}
RECORD = {
    "decision": Decision(outcome="deny", reason="no"),
    "risk": Risk(score=90, level="critical"),
    "runs": [HookRun(hook="h")],
}
TOOL = {
    "name": "another",
    "native": "Another",
    "native_input": {"z": 1},
    "call_id": "c9",
    "mcp_server": "m9",
}
RESULT = {"ok": False, "exit_code": 77, "error": "broken", "duration_ms": 777, "output": "printed"}


def visible(name, record):
    """The documents without the place where our own remainder travels."""
    found = []
    for document in to_builtins(formats.load(name).write(record)):
        for place in ("unmapped", "metadata"):
            if isinstance(document.get(place), dict):
                document[place].pop("dev.hookonce", None)
        found.append(document)
    return found


def changed(record, where, value):
    """The record with another value in one place."""
    head, _, rest = where.removeprefix("$.").partition(".")
    if head != "event":
        return replace(record, **{head: value})
    event = record.event
    if not rest.startswith("tool."):
        return replace(record, event=replace(event, **{rest: value}))
    field = rest.removeprefix("tool.")
    given = {"result": replace(event.tool.result, **{field[7:]: value})} if field.startswith("result.") else {field: value}
    return replace(record, event=replace(event, tool=replace(event.tool, **given)))


PLACES = (
    {f"$.event.{name}": value for name, value in EVENT.items()}
    | {f"$.{name}": value for name, value in RECORD.items()}
    | {f"$.event.tool.{name}": value for name, value in TOOL.items()}
    | {f"$.event.tool.result.{name}": value for name, value in RESULT.items()}
)


@pytest.mark.parametrize("name", ["ocsf", "agent-trace"])
def test_what_is_lost_is_what_is_declared(name):
    """
    Changing a field changes some document, unless the table says that the format has no place for it.
    """
    held = [record for record in RECORDS if formats.load(name).write(record)]
    calls = [replace(r, event=replace(r.event, tool=replace(r.event.tool, result=Result(ok=True))))
             for r in held if r.event.tool is not None and r.event.tool.result is not None]  # fmt: skip
    lost = {
        where
        for where, value in PLACES.items()
        if all(
            visible(name, record) == visible(name, changed(record, where, value))
            for record in (calls if ".tool." in where else held)
        )
    }

    declared = {gap.where for gap in formats.load(name).gaps if gap.strategy in LOST}
    assert declared == lost
