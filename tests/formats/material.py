"""Records of every agent and documents of every format, for the contract tests."""

import json

from msgspec import to_builtins

from hookonce import agents, formats
from hookonce.agents import decode
from hookonce.base.ids import StreamIds
from hookonce.base.json_stream import StreamLine
from hookonce.model import Record
from hookonce.translation.pipeline import LineFault, Translation, TranslationPlan
from tests.agents.test_decode_goldens import FILES, agent_of
from tests.shared import captures

EXACT = ("openhook", "agent-hooks", "amplifier", "cloudevents", "otel")


def payloads():
    """Agent, native event and payload of every golden, and of every capture that is here."""
    for file in FILES:
        golden = json.loads(file.read_text(encoding="utf-8"))
        yield agent_of(file), golden.get("event"), golden["payload"]
    for agent, native, file in captures():
        yield agent, native, json.loads(file.read_text(encoding="utf-8"))


def records():
    """A record of each of them."""
    ids = StreamIds()
    for agent, native, payload in payloads():
        raw = json.dumps(payload).encode()
        yield Record(event=decode(agents.load(agent), payload, native, id=ids.next(agent, raw)))


def documents(name, record):
    """The documents of a record as plain JSON."""
    return to_builtins(formats.load(name).write(record))


def walk(source, target, given, **options):
    """Documents of one format through the journey into another; a fault fails the test."""
    plan = TranslationPlan(source=formats.load(source), target=formats.load(target), level=options.pop("level", "full"), **options)
    walk = Translation(plan)
    lines = (StreamLine(number, json.dumps(document).encode()) for number, document in enumerate(given, 1))
    made = []
    for outcome in walk.json_lines(lines):
        assert not isinstance(outcome, LineFault), outcome
        made += map(json.loads, outcome.splitlines())
    return made, walk
