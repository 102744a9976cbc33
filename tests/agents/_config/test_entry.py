"""Hooks in shapes that their agent would not read."""

import pytest

from hookonce import agents

ENTRY = {"type": "command", "command": "./x.sh"}
GROUP = {"matcher": "Bash", "hooks": [ENTRY]}
GROUPED = ["claude-code", "codex", "devin", "qwen-code", "factory-droid", "augment", "gemini-cli"]
TABLES = [*GROUPED, "cursor", "copilot-cli", "vs-code-copilot", "windsurf"]


def lost_paths(name, document):
    """Where hooks were kept out; none was understood."""
    agent = agents.load(name)
    hooks, gaps = agent.config.parse(agent, document)
    assert [] == hooks
    return [gap.where for gap in gaps if gap.effect == "lost"]


def first_event(name):
    """An event about tools as it is configured there."""
    agent = agents.load(name)
    events = agent.config.events or agent.events
    return next(native for native, kind in events.items() if kind == "before_tool_execute")


@pytest.mark.parametrize("name", TABLES)
def test_a_list_in_the_place_of_events_is_lost_by_name(name):
    """
    Several agents want an object of events, and would leave out the file without a word.
    """
    assert lost_paths(name, {"hooks": [{"event": first_event(name), "command": "./x.sh"}]})


@pytest.mark.parametrize("name", [name for name in TABLES if name not in ("factory-droid", "devin")])
def test_events_outside_of_hooks_are_lost_by_name(name):
    """
    Events that stand at the top of a file run nowhere.
    """
    assert [f"$.{first_event(name)}"] == lost_paths(name, {first_event(name): [GROUP]})


@pytest.mark.parametrize("name", GROUPED)
def test_a_matcher_that_is_no_text_keeps_its_group_out(name):
    """
    Without its matcher the hook would run for every tool.
    """
    event = first_event(name)

    assert [f"$.hooks.{event}[0]"] == lost_paths(name, {"hooks": {event: [GROUP | {"matcher": ["Bash"]}]}})


def test_an_entry_without_its_group_is_lost_by_name():
    """
    Antigravity reads groups at the events for tools.
    """
    assert ["$.set.PreToolUse[0]"] == lost_paths("antigravity", {"set": {"PreToolUse": [ENTRY]}})
