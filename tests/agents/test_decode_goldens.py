"""Recorded payloads with what they must become, written down by hand."""

import json
from pathlib import Path

import pytest
from msgspec import to_builtins

from hookonce import agents
from hookonce.agents import decode
from hookonce.errors import UnknownName
from tests.cases import cases

GOLDEN = Path(__file__).parent.parent / "golden"
FILES = sorted(GOLDEN.glob("*/*.json"))


def missing(expected, actual, path="$"):
    """Where the actual value does not hold what is expected; objects may hold more."""
    if isinstance(expected, dict):
        actual = {} if actual is None else actual  # empty objects are left out of JSON
        if not isinstance(actual, dict):
            return [f"{path}: expected an object, got {actual!r}"]
        return [
            fault
            for key, value in expected.items()
            for fault in missing(value, actual.get(key), f"{path}.{key}")
        ]
    return [] if expected == actual else [f"{path}: expected {expected!r}, got {actual!r}"]


def agent_of(file: Path) -> str:
    return "copilot-cli" if file.parent.name == "copilot-cli-pascal" else file.parent.name


@cases("file", FILES, by=lambda file: file.parent.name)
def test_golden(file: Path):
    """
    A recorded payload becomes the event that its file says.
    """
    golden = json.loads(file.read_text(encoding="utf-8"))

    event = decode(agents.load(agent_of(file)), golden["payload"], golden.get("event"))

    assert missing(golden["expect"], to_builtins(event)) == []


def test_every_agent_has_goldens():
    """
    No agent stands in the map without recorded or documented payloads, each with its provenance.
    """
    assert {agent_of(file) for file in FILES} == set(agents.AGENTS)
    assert all("_provenance" in json.loads(file.read_text(encoding="utf-8")) for file in FILES)


def test_unknown_agent_is_named():
    """
    A name that no agent has is refused with a hint.
    """
    with pytest.raises(UnknownName, match="hookonce agents"):
        agents.load("nobody")
