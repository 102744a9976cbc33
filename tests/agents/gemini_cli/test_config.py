"""Gemini CLI's settings: named hooks, groups in sequence, patterns without anchors, hooks that are turned off.

The examples are made up after gemini-cli-core 0.61.0 (registry, planner, runner) and the lab's matcher cases.
"""

import json

import pytest

from hookonce import agents
from hookonce.agents import point_of
from hookonce.configure.entries import build_entries
from hookonce.convert.conversion import convert
from tests.agents._config.node import plain_wording
from tests.shared import vector

GEMINI = agents.load("gemini-cli")
COMMAND = {"type": "command", "command": "./check.sh"}


def round_trip(document):
    """A configuration that was read and written, and whatever was said about it."""
    hooks, gaps = GEMINI.config.parse(GEMINI, document)
    made, lost = GEMINI.config.render(GEMINI, list(enumerate(hooks)), plain_wording)
    return made, gaps + lost


def settings(*entries, event="BeforeTool", **group):
    """Settings with one group."""
    return {"hooks": {event: [group | {"hooks": list(entries)}]}}


def manifest(**hook):
    """A manifest with one hook."""
    return {"spec": "hooks/1.0", "hooks": [{"event": "before_tool_execute", "blocking": True, "handler": {"type": "command", "command": "./x.sh"}} | hook]}


@pytest.mark.parametrize(
    "document",
    [
        settings({"name": "guard", "description": "no secrets", "timeout": 5000, "env": {"A": "1"}} | COMMAND, matcher="write_file|replace", sequential=False),
        settings(COMMAND, COMMAND | {"command": "./b.sh"}, sequential=True),
        settings({"type": "runtime", "name": "r"}, {"type": "plugin", "package": "p"}),
        settings(COMMAND | {"name": 5, "timeout": 0, "env": {}}, event="SessionStart", matcher="resume"),
        {"hooks": {"BeforeTool": [{"matcher": text, "hooks": [COMMAND]} for text in ("run_shell", "shell", "^shell", "*", "", "mcp_github", "mcp_.*", "(", "write_todos|read_file")]}},
    ],
)
def test_what_gemini_accepts_comes_back_as_it_was(document):
    """
    Names, sequences, every matcher and every field survive.
    """
    assert (document, []) == round_trip(document)


def test_settings_among_the_events_are_no_events():
    """
    enabled, disabled and notifications may stand under hooks, where older versions had them.
    """
    document = settings(COMMAND)
    older = {"hooks": document["hooks"] | {"enabled": True, "disabled": [], "notifications": True}, "hooksConfig": {"enabled": True}}

    assert (document, []) == round_trip(older)


def test_a_name_is_the_hooks_name_everywhere():
    """
    It crosses over from a manifest to the entry, and back.
    """
    made = convert(manifest(name="guard"), None, GEMINI).document

    assert "guard" == made["hooks"]["BeforeTool"][0]["hooks"][0]["name"]
    assert "guard" == convert(made, GEMINI, None).document["hooks"][0]["name"]


@pytest.mark.parametrize("where", [lambda names: {"hooksConfig": {"disabled": names}}, lambda names: {"hooks": {"disabled": names}}])
def test_a_hook_that_is_turned_off_runs_nowhere_else(where):
    """
    It is left out by name, by its own or by its command, and its neighbours keep their group.
    """
    groups = {"BeforeTool": [{"matcher": "a", "hooks": [COMMAND]}, {"matcher": "read_file", "hooks": [COMMAND | {"name": "off"}, {"type": "command", "command": "dead"}, COMMAND | {"name": "on"}]}]}
    more = where(["off", "dead", "other", 5])
    document = more | {"hooks": more.get("hooks", {}) | groups}

    made = convert(document, GEMINI, GEMINI)

    assert ["off is turned off, and left out", "dead is turned off, and left out"] == [gap.note for gap in made.gaps]
    assert {"lost"} == {gap.effect for gap in made.gaps}
    assert [COMMAND | {"name": "on"}] == made.document["hooks"]["BeforeTool"][1]["hooks"]
    assert "read_file" == made.document["hooks"]["BeforeTool"][1]["matcher"]


def test_our_own_door_is_seen_even_if_it_is_turned_off():
    """
    Whoever installs or removes must find it.
    """
    command = "/opt/hookonce-on gemini-cli BeforeTool --via gemini-cli/user"
    document = settings({"type": "command", "command": command}) | {"hooksConfig": {"disabled": [command]}}

    hooks, gaps = GEMINI.config.parse(GEMINI, document)

    assert ([command], []) == ([hook.handler.command for hook in hooks], gaps)


@pytest.mark.parametrize(
    ("text", "natives"),
    [("run_shell", "Bash"), ("shell", "Bash"), ("write_file", "Write"), ("file", "Read|Write|Grep"), ("mcp_", "mcp__.*__.*")],
)
def test_part_of_a_name_is_what_it_fits(text, natives):
    """
    The lab saw run_shell and shell fire for run_shell_command; elsewhere the tools are named that it fits.
    """
    made = convert(settings(COMMAND, matcher=text), GEMINI, agents.load("claude-code")).document

    assert natives == made["hooks"]["PreToolUse"][0]["matcher"]


def test_a_name_of_nobodys_is_anchored():
    """
    Without anchors `file` would fit half of all tools; the lab saw that an anchor holds.
    """
    made = convert(manifest(matcher=["file", "MyOwnTool", "run_shell_command"]), None, GEMINI).document

    assert "^file$|^MyOwnTool$|run_shell_command" == made["hooks"]["BeforeTool"][0]["matcher"]


@pytest.mark.parametrize("wanted", [{"server": "github", "tool": "create_issue"}, {"server": "my_srv"}])
def test_an_mcp_name_that_cannot_be_taken_apart_is_named(wanted):
    """
    Server and tool are joined by the sign that both may contain.
    """
    made = convert(manifest(matcher={"mcp": wanted}), None, GEMINI)

    assert made.is_verified
    assert ["matcher"] == [gap.capability for gap in made.gaps]
    assert "which may mean others too" in made.gaps[0].note


def test_timeouts_are_in_milliseconds():
    """
    Five seconds are five thousand, and an entry without a timeout has a minute.
    """
    (hook,), _ = GEMINI.config.parse(GEMINI, settings(COMMAND | {"timeout": 5500}))

    assert (5.5, 60) == (hook.handler.timeout, GEMINI.config.timeout)


def test_what_comes_with_every_model_call_is_taken_on_request_only():
    """
    PreCompress announces every call of the model too.
    """
    taken = {hook.provider_data["gemini-cli"]["hookonce"]["event"] for hook in build_entries(GEMINI, "user", "/opt/hookonce-on")}

    assert {"BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "SessionStart", "SessionEnd", "Notification"} == taken
    assert all(point_of(GEMINI, event).why for event in ("BeforeModel", "AfterModel", "BeforeToolSelection", "PreCompress"))


@pytest.mark.covers("HIF-X6")
@pytest.mark.parametrize("name", ["simple-blocking", "multi-event", "full-featured", "degradation-input-rewrite"])
def test_the_published_shapes_are_read(name):
    """
    Two flat shapes that no Gemini CLI reads become hooks all the same, in the shape that it does read.
    """
    published = json.loads(vector(f"hif/test-vectors/gemini-cli/{name}.json").read_bytes())
    agent = agents.load("gemini-cli")

    hooks, (gap, *more) = agent.config.parse(agent, published)

    assert [entry["command"] for entry in published["hooks"]] == [hook.handler.command for hook in hooks]
    assert [entry.get("timeoutMs", entry.get("timeout")) / 1000 for entry in published["hooks"]] == [hook.handler.timeout for hook in hooks]
    assert "no Gemini CLI reads" in gap.note
    assert [] == more
