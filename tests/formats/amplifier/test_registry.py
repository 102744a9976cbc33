"""The event names of Amplifier, seed and core."""

import json
import re

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from hookonce.formats.amplifier.envelope import FORMAT
from hookonce.formats.amplifier.registry import ALL_NAMES, CORE_NAMES, SEED_NAMES
from hookonce.model import Event, Record
from tests.shared import seed_text, vector

MINIMAL = {"id": "e1", "ts": 1.0, "event": "session:start", "component": "kernel", "session_id": "S"}
EVENT = Event(
    id="fbab11b6-f981-5b24-9c5b-bde85a2272f0",
    schema="hookonce/1",
    type="session_start",
    agent="claude-code",
    time="2026-02-23T10:15:30Z",
    time_source="agent",
)


def written(event):
    return to_builtins(FORMAT.write(Record(event=event)))


@pytest.mark.covers("AMP-16")
def test_the_fourteen_stable_names_are_the_seed_dialect():
    """
    The names are those that the specification and its registry list, and each reads and writes as itself.
    """
    listed = re.findall(r"^- `([a-z]+):([a-z_|]+)`", seed_text("004"), flags=re.MULTILINE)
    assert {f"{area}:{verb}" for area, verbs in listed for verb in verbs.split("|")} == SEED_NAMES
    assert len(SEED_NAMES) == 14
    registry = json.loads(vector("amplifier/EVENTS_REGISTRY.json").read_text(encoding="utf-8"))
    assert registry["events"].keys() == SEED_NAMES
    for name in SEED_NAMES:
        record = FORMAT.read(MINIMAL | {"event": name, "status": "ok", "module": "m"})
        assert name == written(record.event)[0]["event"]


@pytest.mark.covers("AMP-X5")
def test_names_of_both_generations_are_known_with_their_dialect():
    """
    Fourteen names of the seed and forty-two of the core share seven; none of them is called unknown.
    """
    assert (len(CORE_NAMES), len(SEED_NAMES & CORE_NAMES), len(ALL_NAMES)) == (42, 7, 49)
    for name in ALL_NAMES:
        document = MINIMAL | {"event": name, "status": "ok"}
        assert [] == FORMAT.read(document).gaps
        problems, notes = FORMAT.check(document, True)
        assert [] == [message for _, message in problems if "is required for" not in message]
        assert [note for path, note in notes if path == "$.event" and "later core" in note] or name in SEED_NAMES


@pytest.mark.covers("AMP-X5")
@pytest.mark.parametrize(
    ("name", "status", "kind"),
    [
        ("module:invoke", "ok", "after_tool_execute"),
        ("module:invoke", "error", "tool_use_failure"),
        ("tool:pre", None, "before_tool_execute"),
        ("tool:post", None, "after_tool_execute"),
        ("tool:error", None, "tool_use_failure"),
        ("session:resume", None, "session_start"),
        ("policy:decision", "denied", "policy_blocked"),
        ("policy:decision", "granted", "vendor.amplifier.policy:decision"),
        ("mount:add", None, "vendor.amplifier.mount:add"),
        ("llm:request", None, "before_model"),
        ("content_block:delta", None, "vendor.amplifier.content_block:delta"),
        ("vendor.cursor.tool_batch", None, "tool_batch"),
        ("vendor.cursor.Strange", None, "vendor.cursor.Strange"),
    ],
)
def test_what_a_name_means(name, status, kind):
    """
    Names of either dialect lead to canonical types, and the rest keeps a vendor's name.
    """
    assert kind == FORMAT.read(MINIMAL | {"event": name, "status": status}).event.type


def test_types_that_amplifier_lacks_go_under_a_vendor_name():
    """
    The name tells the agent and the canonical type; repeats without meaning are left out.
    """
    (document,) = written(replace(EVENT, type="tool_batch"))
    assert document["event"] == "vendor.claude-code.tool_batch"
    assert [] == written(replace(EVENT, data={"repeat": True}))


def test_a_missing_session_an_unknown_name_and_an_unknown_field_are_named():
    """
    Nothing of that is refused, and each is a gap with its place.
    """
    record = FORMAT.read(
        {"id": "e1", "ts": 0, "event": "tea:ready", "component": "k", "x": 1, "data": {"repeat": True}}
    )
    assert {gap.where for gap in record.gaps} == {"$.session_id", "$.event", "$.x", "$.data.repeat"}
    assert record.event.type == "vendor.amplifier.tea:ready"
    assert len(written(record.event)) == 1


def test_check_names_what_the_schema_leaves_open():
    """
    Strictly, foreign names, other statuses and errors without a code are problems; else they are warnings.
    """
    known = {"module": "m", "duration_ms": 1, "data": {"op": "do"}}
    broken = MINIMAL | known | {"event": "module:invoke", "status": "meh", "error": {}, "extra": 1}
    problems, notes = FORMAT.check(broken, True)
    assert [path for path, _ in problems] == ["$.status", "$.error"]
    assert [path for path, _ in notes] == ["$.extra"]
    assert FORMAT.check(broken, False) == ([], problems + notes)
    assert FORMAT.check(MINIMAL | {"event": "tea:ready"}, True)[0][0][0] == "$.event"
    assert FORMAT.check(MINIMAL | known | {"event": "module:invoke"}, True) == (
        [("$.status", "is required for module:invoke")],
        [],
    )
    assert FORMAT.check({"event": [], "status": {}, "ts": None}, True) == ([], [])
