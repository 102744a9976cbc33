"""Where a hook's event lands at an agent: never later than it was meant, and never weaker without a word."""

import json

import pytest

from hookonce import agents
from hookonce.agents import config_event_of, config_events, point_of
from hookonce.convert.conversion import convert
from hookonce.vocabulary.events import CANONICAL_EVENTS
from tests.cli.command import run

ABLE = list(agents.AGENTS)
EVENTS = [row.name for row in CANONICAL_EVENTS if row.group in {"core", "extended", "exclusive"}]
COMMAND = {"type": "command", "command": "./x.sh"}


def manifest(event, **fields):
    """A manifest with one hook."""
    return {"spec": "hooks/1.0", "hooks": [{"event": event, "blocking": True, "handler": COMMAND} | fields]}


@pytest.mark.part(2)
@pytest.mark.covers("HIF-100", "HIF-97")
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("name", ABLE)
def test_a_refusal_that_nobody_would_heed_is_told(name, event):
    """
    At an event that can only be observed there it is a gap that says so, at one that can be refused it is none, and
    what has no event there is lost by name.
    """
    agent = agents.load(name)
    native = config_event_of(agent, event)

    made = convert(manifest(event), None, agent)
    arrived, _ = agent.config.parse(agent, made.document)
    effects = [gap.effect for gap in made.gaps if gap.capability in {"blocking", "event"}]

    if not arrived:
        assert ["lost"] == effects
        return
    can_refuse = bool(point_of(agent, native).capabilities & {"prevent", "retry"})
    # Where an answer in JSON is the only refusal, an exit code is not heard, and that is told as well.
    assert can_refuse == (effects == []) or (can_refuse and ["observes"] == effects)
    assert all(effect in {"later", "observes"} for effect in effects)


@pytest.mark.covers("HIF-101", "HIF-98")
@pytest.mark.parametrize("event", [name for name in EVENTS if name.startswith("before_") or name == "permission_request"])
@pytest.mark.parametrize("name", ABLE)
def test_a_hook_that_comes_before_is_never_put_behind(name, event):
    """
    It stands at an event of the same kind or nowhere, whatever its matcher picks; nobody finds it after the act.
    """
    agent = agents.load(name)

    for matcher in (None, "shell", "file_read", ["file_write", "file_edit"], {"mcp": {"server": "s"}}):
        made = convert(manifest(event, matcher=matcher), None, agent)
        arrived, _ = agent.config.parse(agent, made.document)

        assert {hook.event for hook in arrived} <= {event}
        natives = made.document.get("hooks") if agent.config.language == "json" else None
        kinds = {config_events(agent).get(native.partition(" with ")[0], event) for native in natives} if type(natives) is dict else {event}
        assert kinds <= {event}
        assert arrived or any(gap.effect == "lost" for gap in made.gaps)


@pytest.mark.part(2)
@pytest.mark.covers("HIF-100", "HIF-101")
@pytest.mark.parametrize(("target", "event"), [("claude-code", "session_start"), ("cursor", "session_start"), ("kiro", "agent_stop"), ("windsurf", "agent_stop")])
def test_the_loss_of_a_refusal_is_told_loudly(target, event):
    """
    On the terminal before everything else, in the report with its place.
    """
    ran = run("convert", "--from", "hif", "--to", target, given=json.dumps(manifest(event)).encode())

    (gap,) = [gap for gap in convert(manifest(event), None, agents.load(target)).gaps if gap.capability == "blocking"]
    assert f"hookonce: WARNING: {gap.effect}: {gap.note}" == ran.err.splitlines()[0]
    assert ("$.hooks[0]", True) == (gap.where, "can only be observed" in gap.note)


@pytest.mark.covers("HIF-98")
@pytest.mark.parametrize(
    ("name", "natives", "event", "written"),
    [
        ("cline", ["TaskStart", "TaskResume"], "session_start", "TaskStart"),
        ("copilot-cli", ["errorOccurred"], "error_occurred", "errorOccurred"),
        ("copilot-cli", ["postToolUseFailure"], "tool_use_failure", "postToolUseFailure"),
        ("kiro", ["preToolUse", "PreToolUse", "pre-tool-use"], "before_tool_execute", "PreToolUse"),
        ("windsurf", ["pre_run_command", "pre_read_code", "pre_write_code", "pre_mcp_tool_use"], "before_tool_execute", None),
        ("cursor", ["beforeShellExecution", "beforeReadFile", "beforeMCPExecution", "preToolUse"], "before_tool_execute", "preToolUse"),
    ],
)
def test_split_and_shared_events_of_an_agent(name, natives, event, written):
    """
    All of them are read as the canonical event, and it is written as one of them.
    """
    agent = agents.load(name)

    assert {event} == {agents.normalize(agent, native) for native in natives if native != "pre-tool-use"}
    if written is not None:
        assert written == config_event_of(agent, event)
        document = convert(manifest(event, blocking=False), None, agent).document
        assert written in json.dumps(document)
        assert not any(f'"{native}"' in json.dumps(document) for native in natives if native != written)


@pytest.mark.covers("HIF-98")
@pytest.mark.parametrize(
    ("matcher", "natives"),
    [
        ("shell", {"pre_run_command"}),
        ("file_read", {"pre_read_code"}),
        (["file_write", "file_edit"], {"pre_write_code"}),
        ({"mcp": {"server": "s"}}, {"pre_mcp_tool_use"}),
        (["shell", "file_read"], {"pre_run_command", "pre_read_code"}),
    ],
)
def test_a_matcher_chooses_among_split_events(matcher, natives):
    """
    Windsurf has one for each kind of tool, and reading them gives the matcher back.
    """
    windsurf = agents.load("windsurf")

    made = convert(manifest("before_tool_execute", matcher=matcher), None, windsurf)
    arrived, _ = windsurf.config.parse(windsurf, made.document)

    assert natives == set(made.document["hooks"])
    assert {"before_tool_execute"} == {hook.event for hook in arrived}
    tools = {tool for hook in arrived for tool in (hook.matcher if type(hook.matcher) is list else [json.dumps(hook.matcher).strip('"')])}
    assert len(tools) == (len(matcher) if type(matcher) is list else 1)
