"""Decoding holds for anything that JSON can say."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce import agents
from hookonce.agents import decode, normalize
from hookonce.errors import PayloadError
from tests.agents.test_decode_goldens import FILES, agent_of
from tests.cases import cases
from tests.laws.strategies import json_values, payloads

NAMES = sorted(agents.AGENTS)


@pytest.mark.part(3)
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_arbitrary_json_raises_nothing_but_payload_errors(name, data):
    """
    Whatever stands in a payload, decoding gives an event or a PayloadError.
    """
    agent = agents.load(name)
    payload = data.draw(json_values | payloads(set(agent.keys) | set(agent.details)))
    event = data.draw(st.none() | st.sampled_from(sorted(agent.events)))

    try:
        decoded = decode(agent, payload, event)
    except PayloadError:
        return
    assert decoded.native is payload


def mutated(value, dice):
    """The same payload with something wrong in it."""
    wrong = [None, 1, -0.5, "x", [], {}, [1], {"a": 1}, True]
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(sorted(value))
        return {**value, key: mutated(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.8:
        spot = dice.randrange(len(value))
        return [*value[:spot], mutated(value[spot], dice), *value[spot + 1 :]]
    return dice.choice(wrong)


@cases("file", FILES, by=lambda file: file.parent.name)
def test_broken_recordings_raise_nothing_but_payload_errors(file):
    """
    A recorded payload with any value replaced by one of a wrong type is decoded or refused, never a crash.
    """
    golden = json.loads(file.read_text(encoding="utf-8"))
    dice = random.Random(file.name)  # noqa: S311  the same breakage in every run
    agent = agents.load(agent_of(file))

    for _ in range(60):
        try:
            decode(agent, mutated(golden["payload"], dice), golden.get("event"))
        except PayloadError:
            continue


@pytest.mark.covers("AH-61", "AH-67")
@given(name=st.sampled_from(NAMES), native=st.text(min_size=1, max_size=30))
def test_unknown_events_keep_their_name(name, native):
    """
    An event that no table knows becomes vendor.<agent>.<Native> and never another type.
    """
    agent = agents.load(name)
    known = {text.replace("_", "").replace("-", "").replace(" ", "").lower() for text in agent.events}
    if native.replace("_", "").replace("-", "").replace(" ", "").lower() in known:
        return

    assert normalize(agent, native) == f"vendor.{name}.{native}"
