"""hookonce try: a hook on an event that never happened."""

import json
import os

import pytest

from hookonce import agents
from hookonce.__main__ import main
from hookonce.agents import config_event_of
from hookonce.base import paths
from hookonce.dispatch import pause
from hookonce.dispatch.dispatcher import answer_call
from hookonce.dispatch.fast_path import manifest_stamps
from hookonce.model import Reply
from tests.cli.command import run
from tests.manifest.projects import command, house, manifest, put

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


@pytest.mark.parametrize("failing", ["exit 1", "./nowhere.py", "echo nonsense"])
def test_a_hook_that_fails_is_no_success(tmp_path, failing):
    """
    No opinion and a failure are told apart, for people and for scripts.
    """
    done = tried(tmp_path, failing)

    assert (1, True) == (done.code, "the failure counts as: no decision" in done.out)


def closed_guard(monkeypatch, tmp_path):
    """A home with a guard that must answer, as the daemon has seen it."""
    file = put(house(monkeypatch, tmp_path) / ".config/hookonce/hooks.json", manifest(command("exit 0", name="guard", blocking=True, on_failure="closed")))
    monkeypatch.setattr(manifest_stamps, "_SETTLE_NS", 0)
    monkeypatch.chdir(tmp_path)
    put(paths.client_path(), "#!/bin/sh\n")
    return file


def real_reply(tmp_path):
    """What Claude Code is answered about the command that is tried."""
    payload = {"session_id": "s", "cwd": str(tmp_path), "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}
    return answer_call(["claude-code", "PreToolUse"], json.dumps(payload).encode(), dict(os.environ))


def tried_here(capsys, *words):
    """What it says, and the reply that it tells."""
    capsys.readouterr()
    main(["try", "guard", *words])
    text = capsys.readouterr().out
    main(["try", "guard", *words, "--json"])
    return text, Reply(**json.loads(capsys.readouterr().out)["reply"])


def test_a_broken_manifest_is_told_first_and_refuses_as_it_does_in_the_agent(tmp_path, monkeypatch, capsys):
    """
    The last good version answers nothing, and the agent is refused all the same.
    """
    file = closed_guard(monkeypatch, tmp_path)
    calm, calm_reply = tried_here(capsys)
    real_reply(tmp_path)
    put(file, "{")

    text, reply = tried_here(capsys)

    assert calm.startswith("the hook got on stdin: ")
    assert Reply() == calm_reply
    assert text.startswith(f"{file}, line 1, column 2: not valid JSON: ")
    assert "\nwithout this hook it is deny, because the file of your hooks" in text
    assert "\ndecision: no decision\n" in text
    assert real_reply(tmp_path) == reply != Reply()


def test_during_a_pause_no_agent_is_told_what_the_hook_says(tmp_path, monkeypatch, capsys):
    file = closed_guard(monkeypatch, tmp_path)
    put(file, manifest(command("exit 2", name="guard", blocking=True)))
    refused = tried_here(capsys)[1]
    pause.pause(600)

    text, reply = tried_here(capsys)

    assert text.startswith("hooks are paused until ")
    assert ": no agent asks this hook now; hookonce resume ends the pause\n" in text
    assert "decision: deny" in text
    assert (Reply(), True) == (reply, refused != Reply())
    assert real_reply(tmp_path) == reply


def test_a_hook_that_is_not_asked_decides_nothing(tmp_path, monkeypatch, capsys):
    """
    What the agent would get is said without it.
    """
    put(closed_guard(monkeypatch, tmp_path), manifest(command("exit 2", name="guard", blocking=True, matcher="file_read")))

    text, reply = tried_here(capsys)

    assert text.startswith("no agent would run this hook for this event: its matcher ")
    assert Reply() == reply == real_reply(tmp_path)
