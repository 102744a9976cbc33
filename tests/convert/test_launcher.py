"""The launcher of wrapped hooks in a project's files: it runs on the machine of whoever works there."""

import json
import subprocess

import pytest

from hookonce import agents
from hookonce.agents import config_event_of, point_of
from hookonce.base.invocation import parse_command, unwrap_command
from hookonce.convert.conversion import WrapperOptions, convert
from hookonce.dispatch.fail_mode import build_reply, encode_reply, open_reply
from hookonce.model import Reply

ADAPT = WrapperOptions("/home/author/.local/share/hookonce/bin/hookonce-on")
CLIENT = ".local/share/hookonce/bin/hookonce-on"
EVENTS = ("before_tool_execute", "session_start", "agent_stop")
ABLE = [(name, event) for name in agents.AGENTS for event in EVENTS if config_event_of(agents.load(name), event)]


def command_for(agent, event="before_tool_execute", **fields):
    """The command that a project's file of an agent has for a hook, as it stands there; None if it has none."""
    handler = {"type": "command", "command": "./guard.sh 'a b'", "timeout": 5}
    hook = {"event": event, "blocking": True, "handler": handler} | fields
    document = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, agent, adapt=ADAPT).document
    return next((text for text in texts(document) if parse_command(text) is not None), None)


def texts(node):
    """Every text in a document, also in the table of a generated file."""
    if isinstance(node, str):
        start = max(node.find("# table: "), node.find("const TABLE = "))
        yield node
        if start >= 0:
            yield from texts(json.JSONDecoder().raw_decode(node, node.index("{", start))[0])
    elif isinstance(node, dict | list):
        for inner in node.values() if isinstance(node, dict) else node:
            yield from texts(inner)


def run(command, home, *, account="", **env):
    """How a command ends for a user of that home, whose account has another one or none."""
    command = command.replace('eval "home=~$user"', f"home={account}")
    assert "~$user" not in command
    done = subprocess.run(["/bin/sh", "-c", command], input=b"{}" * 50_000, capture_output=True, check=False, cwd=home, env={"HOME": str(home), **env}, timeout=20)
    return done.returncode, done.stdout, done.stderr


def put_client(home):
    """A client that tells that it was asked, and for what."""
    client = home / CLIENT
    client.parent.mkdir(parents=True)
    client.write_text(f'#!/bin/sh\nprintf "%s\\n" {home.name} "$@"\n')
    client.chmod(0o755)
    return home


@pytest.mark.part(4)
@pytest.mark.parametrize(("name", "event"), ABLE)
@pytest.mark.parametrize("mode", ["open", "closed"])
def test_a_colleague_has_the_hook_or_the_fail_mode(tmp_path, name, event, mode):
    """
    With a client in the colleague's own home it is asked; without one the agent reads the fail mode as it honours it.
    """
    agent = agents.load(name)
    command = command_for(agent, event, on_failure=mode)
    if command is None:
        pytest.skip("a hook that this agent never calls")
    assert "/home/" not in command
    assert ("./guard.sh 'a b'", "./guard.sh 'a b'") == (unwrap_command(command, "/mine"), parse_command(command).run)
    native = parse_command(command).event

    code, out, err = run(command, tmp_path)
    is_closed = mode == "closed" and "prevent" in point_of(agent, native).capabilities
    label = f"{event} ./guard.sh 'a b'"
    reply = build_reply(agent, native, f"{label} is required, and hookonce is not installed here" if is_closed else None)
    assert (reply.code, encode_reply(reply)) == (code, out)
    assert reply.stderr.strip() == err.decode().strip()
    assert is_closed == (reply != open_reply(agent))
    if event == "before_tool_execute" and is_closed and agent.read_reply is not None:
        assert "deny" == agent.read_reply(native, Reply(code=code, stdout=out.decode(), stderr=err.decode())).outcome

    can_refuse = point_of(agent, native).capabilities & {"prevent", "retry"}
    asked = run(command, put_client(tmp_path / "colleague"))
    words = ["colleague", name, native, "--dialect", "canonical", "--run", "./guard.sh 'a b'", "--scope", "project", "--timeout", "5"]
    words += ["--on-failure", "closed"] if mode == "closed" and can_refuse else []
    assert (0, words, b"") == (asked[0], asked[1].decode().splitlines(), asked[2])


def test_the_users_own_files_name_their_client():
    """
    In a user's file the path of the client stands as it does for our own entries.
    """
    hook = {"event": "before_tool_execute", "blocking": True, "handler": {"type": "command", "command": "./x.sh"}}
    adapt = WrapperOptions(ADAPT.client, "user")
    made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, agents.load("codex"), adapt=adapt).document

    assert made["hooks"]["PreToolUse"][0]["hooks"][0]["command"].startswith(f"{ADAPT.client} codex PreToolUse ")


HANDLERS = {
    "http": {"type": "http", "url": "https://a.example/x", "method": "PUT", "headers": {"A": "it's $T"}, "allowed_env": ["T"], "timeout": 5},
    "prompt": {"type": "prompt", "prompt": "Is it safe?\n$ARGUMENTS", "model": "m"},
}


@pytest.mark.parametrize("name", agents.AGENTS)
@pytest.mark.parametrize("kind", HANDLERS)
def test_a_handler_that_an_agent_lacks_is_run_by_our_wrapper(name, kind):
    """
    It is told as a gap, read again as what it is, and no shell of ours stands in its place.
    """
    agent = agents.load(name)
    if config_event_of(agent, "before_tool_execute") is None or kind in agent.config.handlers:
        pytest.skip("it has such handlers, or no such event")
    hook = {"event": "before_tool_execute", "blocking": True, "dialect": "claude-code", "handler": HANDLERS[kind]}
    made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, agent, adapt=ADAPT)

    calls = [call for text in texts(made.document) if (call := parse_command(text)) is not None]
    assert calls
    for call in calls:
        assert HANDLERS[kind] == json.loads(call.run) | ({"timeout": call.timeout} if call.timeout else {})
        assert ("claude-code", "project") == (call.dialect, call.scope)
    assert "curl" not in "".join(texts(made.document))
    assert not any(unwrap_command(text, "/mine") for text in texts(made.document))
    read = {(found.handler.type, found.handler.target or found.handler.prompt) for found in agent.config.parse(agent, made.document)[0]}
    assert {(kind, HANDLERS[kind].get("url") or HANDLERS[kind]["prompt"])} == read
    assert {"http": "http_handler", "prompt": "llm_evaluated"}[kind] in [gap.capability for gap in made.gaps]
    assert "curl" in "".join(texts(convert({"spec": "hooks/1.0", "hooks": [hook]}, None, agent).document)) or kind == "prompt"


@pytest.mark.parametrize("name", [name for name in agents.AGENTS if "http" in agents.load(name).config.handlers])
@pytest.mark.parametrize("dialect", [None, "own", "cursor", "openhook"])
def test_a_server_of_another_dialect_is_posted_to_by_our_wrapper(name, dialect):
    """
    It would not read what the agent posts; one that was written for the agent stays an entry of the agent's own.
    """
    agent = agents.load(name)
    hook = {"event": "before_tool_execute", "handler": HANDLERS["http"] | {"timeout": 9}} | ({"dialect": name if dialect == "own" else dialect} if dialect else {})
    made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, agent, adapt=ADAPT)
    calls = [call for text in texts(made.document) if (call := parse_command(text)) is not None]

    assert [] == [gap for gap in made.gaps if gap.capability in {"dialect", "privacy"}]
    assert ([] if dialect == "own" else [dialect or "canonical"]) == [call.dialect for call in calls]
    assert all(HANDLERS["http"]["url"] == json.loads(call.run)["url"] for call in calls)


@pytest.mark.parametrize("kind", HANDLERS)
def test_what_an_agent_tells_in_its_own_words_is_a_gap(kind):
    """
    A prompt that was written for another agent, and without our wrapper a server too.
    """
    agent = agents.load("claude-code")
    for dialect, adapt, is_gap in (("cursor", ADAPT, kind == "prompt"), ("cursor", None, True), ("claude-code", ADAPT, False)):
        hook = {"event": "before_tool_execute", "blocking": True, "dialect": dialect, "handler": HANDLERS[kind]}
        made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, agent, adapt=adapt)

        assert (["prevents"] if is_gap else []) == [gap.effect for gap in made.gaps if gap.capability == "dialect"]
