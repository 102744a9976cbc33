"""The two lower levels of the Hook Interchange Format: every part of them, shown on every agent from end to end."""

import json
import re
import subprocess
from functools import cache
from time import monotonic, sleep

import pytest
import yaml

from hookonce import agents
from hookonce.agents import config_event_of, point_of
from hookonce.convert.conversion import convert
from hookonce.diagnose.trial import sample_event
from hookonce.dispatch import dispatcher
from hookonce.dispatch.identification import payload_event
from hookonce.manifest import load
from hookonce.manifest.degrade import capabilities_of, strategy_of
from hookonce.model import Decision
from hookonce.translation.pipeline import translate
from hookonce.vocabulary.decision_merge import CAPABILITIES, weaken
from hookonce.vocabulary.events import CANONICAL_EVENTS
from hookonce.vocabulary.tools import ARGUMENTS
from tests.dispatch.pipeline_cases import PLAIN, goldens
from tests.shared import seed_text

CHECK = {"type": "command", "command": "./check.sh"}
SHELL = {"command": "git push"}
INPUTS = {
    "shell": SHELL,
    "file_write": {"path": "/a", "content": "b"},
    "file_edit": {"path": "/a", "old_text": "a", "new_text": "b"},
    "web_fetch": {"url": "https://example.com", "prompt": "p"},
}
PATIENCE = 30  # seconds for a hook that nobody waits for
# A hook that needs one thing of the agent, and says so by what it is.
NEEDING = {
    "structured_output": {"blocking": True},
    "input_rewrite": {"degradation": {"input_rewrite": "block"}},
    "llm_evaluated": {"handler": {"type": "prompt", "prompt": "Is this wise?"}},
    "http_handler": {"handler": {"type": "http", "url": "https://hooks.example.com/x"}},
    "async_execution": {"handler": CHECK | {"async": True}},
    "platform_commands": {"handler": CHECK | {"platform": {"windows": "check.bat"}}},
    "custom_env": {"handler": CHECK | {"env": {"A": "b"}}},
    "configurable_cwd": {"handler": CHECK | {"cwd": "tools"}},
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".config/hookonce").mkdir(parents=True)
    (tmp_path / "seen").mkdir()
    return tmp_path


@cache
def payloads():
    """Each payload of the repository by what it is about: the agent, the canonical event, whether an MCP tool is used."""
    found = {}
    for agent, native, payload, _ in goldens():
        event = agents.decode(agents.load(agent), payload, native)
        server = event.tool is not None and re.match(r"mcp:[^?]", event.tool.name) is not None
        found.setdefault((agent, event.type, server), (native, payload, event))
    return found


def called(agent, kind, tool="shell", given_input=None):
    """How the agent tells of an event: as it was recorded or documented, else as it would be; None where it does not."""
    native = config_event_of(agent, kind)
    if native is None:
        return None
    if tool == "shell" and kind != "before_tool_execute" and (agent.name, kind, False) in payloads():
        return payloads()[agent.name, kind, False]
    event = sample_event(agent, kind, tool, given_input or SHELL)
    own = payload_event(agent, event.native)  # one event of ours may be several of the agent's
    return own if own in agent.config.points else native, event.native, event


def document(*hooks):
    """A manifest; hooks are for tools, and have a command, unless they say otherwise."""
    return {"spec": "hooks/1.0", "hooks": [{"event": "before_tool_execute", "handler": CHECK} | hook for hook in hooks]}


def answered(home, agent, call, *hooks, ending="true"):
    """The agent calls the hooks of the user's manifest, who note what they are told: what it hears, and their notes."""
    named = [{"name": f"hook{index}", "handler": {"type": "command", "command": _noting(home, index, ending)}} | hook for index, hook in enumerate(hooks)]
    (home / ".config/hookonce/hooks.json").write_text(json.dumps(document(*named)))
    for note in (home / "seen").iterdir():
        note.unlink()
    native, payload, _ = call
    reply = dispatcher.answer_call([agent.name, native], json.dumps(payload).encode(), PLAIN)
    return agent.read_reply(native, reply) or Decision()


def _noting(home, index, ending):
    return f"cat > {home}/part; mv {home}/part {home}/seen/hook{index}; {ending}"


def notes(home, wanted=0):
    """What the hooks were told, by their names; a hook that nobody waits for may come late."""
    end = monotonic() + PATIENCE
    while len(list((home / "seen").iterdir())) < wanted and monotonic() < end:
        sleep(0.01)
    return {note.name: json.loads(note.read_bytes()) for note in sorted((home / "seen").iterdir())}


def manifests(agent, home):
    """
    JSON and YAML are the same manifest; written for the agent and read back, it is still the same.
    """
    given = document({"matcher": "shell", "blocking": True, "handler": CHECK | {"timeout": 10}}, {"event": "before_prompt"})

    for text in (json.dumps(given), yaml.safe_dump(given)):
        (home / "hooks").write_text(text)
        made = convert(load.parse_document((home / "hooks").read_bytes()), None, agent)
        back = convert(made.document, agent, None, beside=made.side).document
        assert (True, given["spec"], load.build_manifest(given)) == (made.is_verified, back["spec"], load.build_manifest(back))


def events_of(group):
    """A part of a level: the events of a group of the registry."""

    def fired(agent, home):
        """
        A hook runs for each of them that the agent has, with its canonical name; where it has none, conversion says so.
        """
        for kind in (row.name for row in CANONICAL_EVENTS if row.group == group):
            hook = {"event": kind}
            if (call := called(agent, kind)) is None:
                assert ["lost"] == [gap.effect for gap in convert(document(hook), None, agent).gaps if gap.where == "$.hooks[0]"]
                continue
            answered(home, agent, call, hook)
            assert {"hook0": kind} == {name: told["type"] for name, told in notes(home, 1).items()}

    return fired


def exit_codes(agent, home):
    """
    0 goes on, 2 refuses if the hook is blocking, everything else is a hook that failed and stops nothing.
    """
    call = called(agent, "before_tool_execute")
    for blocking in (True, False):
        for code in (0, 1, 2, 3, 77):
            heard = answered(home, agent, call, {"matcher": "shell", "blocking": blocking}, ending=f"echo because >&2; exit {code}")
            expected, _ = weaken(Decision(outcome="deny", reason="because"), point_of(agent, call[0])) if (blocking, code) == (True, 2) else (Decision(), [])
            assert (expected.outcome, expected.reason) == (heard.outcome, heard.reason), (blocking, code)
            assert "hook0" in notes(home)


def bare_matchers(agent, home):
    """
    A tool's canonical name matches the agent's own tool, and no other one.
    """
    tools = sorted(ARGUMENTS)
    for tool in {*agent.tools.values()} & ARGUMENTS.keys():
        call = called(agent, "before_tool_execute", tool, INPUTS.get(tool, {"path": "/a", "query": "q", "prompt": "p", "pattern": "z"}))
        answered(home, agent, call, *({"matcher": each} for each in tools))
        assert [tool] == [tools[int(hook.removeprefix("hook"))] for hook in notes(home)]


def translation(agent, home):
    """
    Events and tools go from this agent's configuration and payloads to another one's, and back.
    """
    other = agents.load("claude-code" if agent.name != "claude-code" else "gemini-cli")
    given = document({"matcher": "shell", "blocking": True})
    here, there = (convert(given, None, one) for one in (agent, other))
    native, payload, _ = called(agent, "before_tool_execute")

    assert there.document == convert(here.document, agent, other, beside=here.side).document
    for one, config in ((agent, convert(there.document, other, agent).document), (other, there.document)):
        (hook,) = one.config.parse(one, config)[0]
        assert ("before_tool_execute", "./check.sh") == (hook.event, hook.handler.command)
        answered(home, one, called(one, "before_tool_execute"), {"event": hook.event, "matcher": hook.matcher})
        assert {"shell"} == {told["tool"]["name"] for told in notes(home).values()}
    (told,) = translate(payload, agent.name, other.name, event=native, privacy="full")
    seen = agents.decode(other, told, config_event_of(other, "before_tool_execute"))
    assert ("before_tool_execute", "shell", "git push") == (seen.type, seen.tool.name, seen.tool.input["command"])


def all_matchers(agent, home):
    """
    Names, patterns, servers with and without a tool, lists and none at all, on a shell and on an MCP tool.
    """
    mcp = payloads()[agent.name, "before_tool_execute", True]
    server, _, tool = mcp[2].tool.name.removeprefix("mcp:").partition("/")
    matchers = [None, "shell", {"pattern": "^sh.ll$"}, ["file_read", "shell"], {"mcp": {"server": server}}, {"mcp": {"server": server, "tool": tool}}, {"mcp": {"server": "another"}}, ["shell", {"mcp": {"server": server}}], {"mcp": {"server": server, "tool": "another"}}]
    hooks = [{} if matcher is None else {"matcher": matcher} for matcher in matchers]

    for call, expected in ((called(agent, "before_tool_execute"), [0, 1, 2, 3, 7]), (mcp, [0, 4, 5, 7])):
        answered(home, agent, call, *hooks)
        assert [f"hook{index}" for index in expected] == list(notes(home))


SAID = [
    ({"decision": "allow"}, Decision(outcome="allow")),
    ({"decision": "deny", "reason": "r"}, Decision(outcome="deny", reason="r")),
    ({"decision": "ask", "reason": "r"}, Decision(outcome="ask", reason="r")),
    ({"continue": False, "reason": "r"}, Decision(proceed=False, reason="r")),
    ({"context": "c"}, Decision(context="c")),
    ({"updated_input": {"command": "git status"}}, Decision(updated_input={"command": "git status"})),
    ({"suppress_output": True}, Decision(suppress_output=True)),
    ({"system_message": "m"}, Decision(system_message="m")),
]


def output(agent, home):
    """
    The agent hears every field of an answer, or what is safer where it has no ear for it.
    """
    call = called(agent, "before_tool_execute")
    for said, meant in SAID:
        heard = answered(home, agent, call, {"may_allow": True, "blocking": True}, ending=f"echo '{json.dumps(said)}'")
        expected, _ = weaken(meant, point_of(agent, call[0]), call[2].tool.input)
        for field in ("outcome", "reason", "proceed", "context", "suppress_output", "system_message"):
            assert getattr(expected, field) == getattr(heard, field), (said, field)
        assert (expected.updated_input is not None) == ("git status" in json.dumps(heard.updated_input))  # in its own words


def inference(agent, home):
    """
    What a hook needs is seen from what it is, never from what it lists, and each need that the agent cannot meet is named.
    """
    for capability, needing in NEEDING.items():
        given = document(needing)
        (hook,) = load.build_manifest(given).hooks
        assert capability in capabilities_of(hook)
        named = {gap.capability for gap in convert(given, None, agent).gaps} & CAPABILITIES.keys()
        assert capabilities_of(hook) - agent.config.capabilities == named
    (boaster,) = load.build_manifest(document({"capabilities": [*CAPABILITIES]})).hooks
    assert frozenset() == capabilities_of(boaster)


def degradation(agent, home):
    """
    Where the agent lacks something, a hook refuses, runs with less or is left out, as its author or the registry says.
    """
    lacking = CAPABILITIES.keys() - agent.config.capabilities
    for capability in sorted(lacking):
        for strategy in (None, "block", "warn", "exclude"):
            chosen = {} if strategy is None else {"degradation": {capability: strategy}}
            _shown(agent, capability, document(NEEDING[capability] | chosen))


def _shown(agent, capability, given):
    (hook,) = load.build_manifest(given).hooks
    fate, made = strategy_of(hook, capability), convert(given, None, agent)
    left = [each.handler for each in agent.config.parse(agent, made.document)[0]]
    unsayable = hook.handler.type == "prompt" and "prompt" not in agent.config.handlers  # no command asks a model

    assert fate in {gap.strategy for gap in made.gaps if gap.capability == capability}
    if fate == "block":
        (guard,) = left
        ran = subprocess.run(["sh", "-c", guard.command], capture_output=True, check=False)
        assert ran.returncode == 2 or b'"decision":"deny"' in ran.stdout  # an agent that reads no exit codes is told
    elif fate == "exclude" or unsayable:
        assert ([], {"lost"}) == (left, {gap.effect for gap in made.gaps})
    else:
        (kept,) = left
        assert (hook.handler.command or hook.handler.url or hook.handler.prompt) in (kept.command or kept.prompt)


CORE = {
    "Parse/produce manifests": manifests,
    "core events": events_of("core"),
    "exit codes": exit_codes,
    "bare string matchers": bare_matchers,
    "event+tool translation": translation,
}
EXTENDED = {
    "All matcher types": all_matchers,
    "output schema": output,
    "capability inference": inference,
    "degradation": degradation,
    "extended events": events_of("extended"),
}


@pytest.mark.covers("HIF-62", "HIF-63")
def test_the_parts_of_both_levels_are_those_of_the_text():
    """
    None is left out here, and none is added.
    """
    levels = dict(re.findall(r"^\| (Core|Extended) \| (?:\+ )?(.+) \|$", seed_text("003"), re.MULTILINE))

    assert {"Core": ", ".join(CORE), "Extended": ", ".join(EXTENDED)} == levels


@pytest.mark.part(3)
@pytest.mark.covers("HIF-62")
@pytest.mark.parametrize("part", CORE)
@pytest.mark.parametrize("name", agents.AGENTS)
def test_core(name, part, home):
    """
    The lowest level holds on every agent.
    """
    CORE[part](agents.load(name), home)


@pytest.mark.part(3)
@pytest.mark.covers("HIF-63")
@pytest.mark.parametrize("part", EXTENDED)
@pytest.mark.parametrize("name", agents.AGENTS)
def test_extended(name, part, home):
    """
    And so does the one above it.
    """
    EXTENDED[part](agents.load(name), home)
