"""hookonce try: a hook on an event that never happened."""

import json

import pytest

from hookonce import agents
from hookonce.agents import config_event_of
from tests.cli.command import run

GUARD = "grep -q 'rm -rf' && { echo not today >&2; exit 2; } || exit 0"


def tried(home, *words):
    """Run it in a home of its own."""
    return run("try", *words, HOME=str(home))


@pytest.mark.parametrize("agent", ["claude-code", "cline", "gemini-cli", "windsurf"])
def test_a_command_is_tried_on_any_agent(tmp_path, agent):
    """
    What the hook was given, what it said, and what the agent would be answered, in its own words.
    """
    done = tried(tmp_path, GUARD, "--agent", agent, "--json")

    (found,) = done.documents()
    assert (0, "deny", "not today") == (done.code, found["told"]["decision"]["outcome"], found["told"]["decision"]["reason"])
    assert "rm -rf /" in found["stdin"]
    one = agents.load(agent)
    reply = {"stdout": "", "stderr": "", "code": 0} | found["reply"]
    assert "deny" == one.read_reply(config_event_of(one, "before_tool_execute"), type("Said", (), reply)()).outcome


def test_a_hook_of_the_manifest_is_tried_by_its_name(tmp_path):
    """
    In the words of a dialect, if that is asked for.
    """
    folder = tmp_path / ".config/hookonce"
    folder.mkdir(parents=True)
    hook = {"name": "guard", "event": "before_tool_execute", "blocking": True, "handler": {"type": "command", "command": GUARD}}
    (folder / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [hook]}))

    done = tried(tmp_path, "guard", "--agent", "codex", "--dialect", "claude-code")

    assert 0 == done.code
    assert '"tool_input":{"command":"rm -rf /"}' in done.out
    assert "decision: deny, because not today" in done.out
    assert "Codex" in done.out
    assert "would get: exit code 0" in done.out
    assert "note: $.transcript_path /dev/null" in done.out


def test_what_is_lost_on_the_way_is_told(tmp_path):
    """
    An agent that cannot ask refuses, and the user learns why.
    """
    done = tried(tmp_path, "echo '{\"decision\": \"ask\", \"reason\": \"sure?\"}'", "--agent", "cline")

    assert "decision: ask, because sure?" in done.out
    assert "needs approval: sure?" in done.out
    assert "no person can be asked here" in done.out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("true", "--agent", "nobody"), "no agent is called"),
        (("true", "--event", "worktree_create", "--agent", "cline"), "has no event for worktree_create"),
        (("true", "--input", "{"), "--input is not JSON"),
        (("true", "--input", "[]"), "--input must be a JSON object"),
    ],
)
def test_what_cannot_be_tried_is_said_in_one_sentence(tmp_path, words, complaint):
    """
    Without a trace of our own.
    """
    done = tried(tmp_path, *words)

    assert done.code in {1, 64}
    assert complaint in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("name", ["guard.py", "./guard.py", "guard.sh"])
def test_a_file_is_tried_as_the_program_that_it_is(tmp_path, name):
    """
    The five lines of the README, without a bit that says that they may be run.
    """
    (tmp_path / "guard.py").write_text(
        "from hookonce import deny, hook\n\n\n@hook\ndef no_rm(event):\n    return deny('not here')\n"
    )
    (tmp_path / "guard.sh").write_text("#!/bin/sh\necho not here >&2\nexit 2\n")
    (tmp_path / "guard.sh").chmod(0o755)

    done = run("try", name, HOME=str(tmp_path), cwd=tmp_path)

    assert (0, True) == (done.code, "decision: deny, because not here" in done.out), done


@pytest.mark.parametrize("command", ["exit 1", "./nowhere.py", "echo nonsense"])
def test_a_hook_that_fails_is_no_success(tmp_path, command):
    """
    No opinion and a failure are told apart, for people and for scripts.
    """
    done = tried(tmp_path, command)

    assert (1, True) == (done.code, "the failure counts as: no decision" in done.out)
