"""Wrappers in an agent's file: what takes them off, and what is said of those that stay."""

import json

import pytest

from hookonce import agents
from hookonce.agents import config_event_of
from hookonce.base import paths
from hookonce.base.invocation import parse_command, parse_handler
from hookonce.configure.changes import apply_change
from hookonce.configure.install import plan_install, plan_removal
from hookonce.configure.locations import ConfigRoots, hooks_in, target_file
from hookonce.configure.wrappers import find_wrappers, leftover_wrappers
from hookonce.convert.conversion import WrapperOptions, convert
from hookonce.manifest.http_script import to_http_handler
from tests.convert.test_launcher import HANDLERS

EVENT = "before_tool_execute"
COMMAND = {"type": "command", "command": "./guard.sh 'a b'", "timeout": 5}
ABLE = [name for name in agents.AGENTS if config_event_of(agents.load(name), EVENT) and "project" in agents.load(name).config.files]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A home and a project of our own."""
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    return ConfigRoots(tmp_path, tmp_path / "project")


def put_wrapped(agent, place, *handlers, scope="project"):
    """A file of the agent with these hooks in our wrapper, as `convert` writes it."""
    hooks = [{"event": EVENT, "blocking": True, "dialect": "augment" if agent.name != "augment" else "codex", "handler": handler} for handler in handlers]
    document = convert({"spec": "hooks/1.0", "hooks": hooks}, None, agent, adapt=WrapperOptions(str(paths.client_path()), scope)).document
    path = target_file(agent, scope, place)
    if agent.config.language == "code":
        ((name, text),) = document["files"].items()
        path = path / name if agent.config.files[scope].endswith("/") else path
    else:
        text = json.dumps(document, indent=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def unwrap(agent, place, scope="project"):
    """What `uninstall --all` does, and what it says of the rest."""
    client = str(paths.client_path())
    changes = plan_removal(agent, scope, place, client, unwrap=True)
    for change in changes:
        apply_change(change, is_removal=True)
    return leftover_wrappers(agent, scope, place, client, changes)


@pytest.mark.parametrize("name", ABLE)
def test_a_wrapped_server_is_posted_to_without_us(name, place):
    """
    As it was, by a command that needs no hookonce and reads back as that server; scripts run bare.
    """
    agent = agents.load(name)
    path = put_wrapped(agent, place, COMMAND, HANDLERS["http"])
    assert {COMMAND["command"], HANDLERS["http"]["url"]} == {handler.url if (handler := parse_handler(call.run)) else call.run for call in find_wrappers(agent, path, path.read_bytes())}

    assert [] == unwrap(agent, place)
    assert "hookonce-on" not in path.read_text()
    command, server = [to_http_handler(hook.handler) for hook in hooks_in(agent, path, path.read_bytes())[0]]
    assert COMMAND["command"] == command.command
    told = {field: getattr(server, field) for field in ("type", "url", "method", "headers", "allowed_env")}
    assert {field: value for field, value in HANDLERS["http"].items() if field != "timeout"} == told


@pytest.mark.parametrize("name", [name for name in ABLE if "prompt" not in agents.load(name).config.handlers])
@pytest.mark.parametrize("scope", ["user", "project"])
def test_what_only_we_can_run_is_named_with_what_to_do(name, place, scope):
    """
    A question to a model stays as it stands, our own entries leave, and nothing of it is silent.
    """
    agent = agents.load(name)
    path = put_wrapped(agent, place, HANDLERS["prompt"], scope=scope)
    before = path.read_bytes()
    if agent.config.language != "code":
        for change in plan_install(agent, scope, place, str(paths.client_path())):
            apply_change(change)

    lefts = unwrap(agent, place, scope)
    assert lefts
    assert all(str(path) in left and "Is it safe?" in left and "take the entry out" in left for left in lefts)
    assert before == path.read_bytes()


def test_a_wrapper_of_somebody_else_is_left_alone(place):
    """
    Whose client it names is theirs to say.
    """
    agent = agents.load("codex")
    path = put_wrapped(agent, place, COMMAND, scope="user")
    path.write_text(path.read_text().replace(str(paths.client_path()), "/other/hookonce-on"))

    assert [] == unwrap(agent, place, "user")
    assert "/other/hookonce-on" == find_wrappers(agent, path, path.read_bytes())[0].client
    assert parse_command(json.loads(path.read_text())["hooks"]["PreToolUse"][0]["hooks"][0]["command"]).run
