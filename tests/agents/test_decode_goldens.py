"""Recorded payloads with what they must become, written down by hand."""

import json
from pathlib import Path

import pytest
from msgspec import to_builtins

from hookonce import agents
from hookonce.agents import decode
from hookonce.errors import UnknownName
from hookonce.model import SCHEMA
from tests.cases import cases

GOLDEN = Path(__file__).parent.parent / "golden"
FILES = sorted(GOLDEN.glob("*/*.json"))


def agent_of(file: Path) -> str:
    return "copilot-cli" if file.parent.name == "copilot-cli-pascal" else file.parent.name


@cases("file", FILES, by=lambda file: file.parent.name)
def test_golden(file: Path):
    """
    A recorded payload becomes the event that its file says, field for field: nothing more and nothing less.
    """
    golden = json.loads(file.read_text(encoding="utf-8"))

    event = decode(agents.load(agent_of(file)), golden["payload"], golden.get("event"), id="1")

    expected = {"id": "1", "schema": SCHEMA, "agent": agent_of(file), "native": golden["payload"]} | golden["expect"]
    assert to_builtins(event) == expected


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
