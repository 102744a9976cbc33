"""Wrappers in an agent's file: what takes them off, and what is said of those that stay."""

import json

import pytest

from hookonce import agents
from hookonce.agents import config_event_of
from hookonce.base import paths
from hookonce.base.invocation import PORTABLE_CLIENT, Invocation, format_launcher, parse_command, parse_handler
from hookonce.configure.changes import apply_change
from hookonce.configure.install import plan_install, plan_removal
from hookonce.configure.locations import ConfigRoots, hooks_in, target_file
from hookonce.configure.status import install_status
from hookonce.configure.wrappers import describe_wrapped_hooks, find_wrappers, leftover_wrappers
from hookonce.convert.conversion import WrapperOptions, convert
from hookonce.diagnose.agent_check import check_agent
from hookonce.diagnose.diagnosis import NOTE_KINDS
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


@pytest.mark.part(2)
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


RUNS = {
    "a script that is there": ("./guard.sh", None),
    "a script with its interpreter": ("sh hooks/guard.sh", None),
    "a script of the project": ('"$CLAUDE_PROJECT_DIR"/hooks/guard.sh -x', None),
    "a word of the shell": ("test -e x || exit 2", None),
    "no script": ("./gone.sh", "gone.sh does not exist"),
    "no script of the project": ("${CLAUDE_PROJECT_DIR}/gone.sh", "gone.sh does not exist"),
    "no script for its interpreter": ("python3 hooks/gone.py", "gone.py does not exist"),
    "no program": ("/nowhere/guard", "/nowhere/guard does not exist"),
    "a text": ("./notes.txt", "is not executable"),
    "a server that we would not call": ('{"type":"http","url":"http://a.example/x"}', "https"),
}


def test_status_and_doctor_say_what_is_wrapped_and_whether_it_is_there(place):
    """
    How many hooks of which file, and for each whose script is gone what to do; a note alone is no problem.
    """
    agent, client = agents.load("codex"), str(paths.client_path())
    for name in ("guard.sh", "hooks/guard.sh", "notes.txt"):
        (place.project / name).parent.mkdir(exist_ok=True)
        (place.project / name).write_text("#!/bin/sh\n")
        (place.project / name).chmod(0o644 if name.endswith("txt") else 0o755)
    calls = [Invocation(PORTABLE_CLIENT, "codex", "PreToolUse", None, "claude-code", run, "project") for run, _ in RUNS.values()]
    path = target_file(agent, "project", place)
    path.parent.mkdir()
    for part, is_problem in ((calls[:4], False), (calls, True)):
        entries = [{"hooks": [{"type": "command", "command": format_launcher(call, 0, "", "")}]} for call in part]
        path.write_text(json.dumps({"hooks": {"PreToolUse": entries}}))
        wrapped = install_status(agent, place, client).wrappers
        found = [one for one in check_agent(agent, place, client) if one.kind != "unvouched"]

        (sentence,) = describe_wrapped_hooks(wrapped)
        assert f"{len(part)} hooks of {path} run through our wrapper" in sentence
        assert is_problem == any(one.kind not in NOTE_KINDS for one in found)
        assert ["wrapped"] == [one.kind for one in found if sentence in one.message]
    for hook, (run, reason) in zip(wrapped, RUNS.values(), strict=True):
        assert ([] if reason is None else [True]) == [reason in fault.sentence for fault in hook.faults], run
        assert reason is None or any(hook.label in one.message and reason in one.message and one.kind != "wrapped" for one in found)
