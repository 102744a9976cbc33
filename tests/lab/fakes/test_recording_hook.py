"""The lab's hook, as hookonce starts it: it keeps what it was given, and does what the first rule that fits says."""

import json
import os
import signal
import subprocess
import sys

import pytest

from hookonce.lab.fakes import recording_hook
from tests.handlers.processes import eventually

EVENT = {
    "type": "before_tool_execute",
    "agent": "codex",
    "tool": {"name": "shell", "native": "Bash", "input": {"command": "echo ä > shell.txt"}},
}
DENY = {"decision": "deny", "reason": "the lab refuses"}
_LONG = 30  # seconds that nothing takes, however busy the machine is


class Folder:
    """Where rules lie and notes are kept, and how a hook is asked there."""

    def __init__(self, path):
        self.path = path
        self.rules()

    def rules(self, *rules):
        """Let these be the rules."""
        (self.path / "rules.json").write_text(json.dumps(rules), encoding="utf-8")

    def start(self, name="witness"):
        """A hook that waits for its event."""
        words = [sys.executable, "-I", "-S", recording_hook.__file__, str(self.path), name]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(words, env={"HOME": str(self.path)}, **pipes)

    def ask(self, event=EVENT, name="witness"):
        """Its exit code, and what it says on both outputs."""
        with self.start(name) as process:
            out, err = process.communicate(json.dumps(event).encode(), timeout=_LONG)
        return process.returncode, out, err

    def said(self, *rules, **more):
        """What it says under these rules, which has to be all that it does."""
        self.rules(*rules)
        code, out, err = self.ask(**more)
        assert (0, b"") == (code, err)
        return json.loads(out) if out else None

    def notes(self, name="heard"):
        """What was kept, line by line."""
        file = self.path / f"{name}.jsonl"
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


@pytest.fixture
def folder(tmp_path):
    """A folder for one test."""
    return Folder(tmp_path)


def test_it_keeps_what_it_was_given(folder):
    """
    With its own name, in order, and readable by nobody else.
    """
    assert folder.said() is None
    assert folder.said(name="other", event={"type": "agent_stop"}) is None
    assert [("witness", EVENT), ("other", {"type": "agent_stop"})] == [(one["hook"], one["event"]) for one in folder.notes()]
    assert 0o600 == (folder.path / "heard.jsonl").stat().st_mode & 0o777


@pytest.mark.parametrize(
    "rule",
    [
        {},
        {"hook": "witness"},
        {"event": "before_tool_execute"},
        {"tool": "shell"},
        {"holds": "shell.txt"},
        {"hook": "witness", "event": "before_tool_execute", "tool": "shell", "holds": "echo"},
    ],
)
def test_a_rule_that_fits_is_followed(folder, rule):
    """
    Everything that it names has to be so.
    """
    assert DENY == folder.said({**rule, "say": DENY})


@pytest.mark.parametrize(
    "rule",
    [
        {"hook": "other"},
        {"event": "after_tool_execute"},
        {"tool": "file_read"},
        {"holds": "secret.txt"},
        {"holds": "before_tool_execute"},
        {"holds": "Bash"},
        {"event": "before_tool_execute", "tool": "shell", "holds": "secret.txt"},
    ],
)
def test_a_rule_that_does_not_fit_is_not(folder, rule):
    """
    One thing that is not so is enough; what a rule holds stands in the tool's input and nowhere else.
    """
    assert folder.said({**rule, "say": DENY}) is None


def test_the_first_rule_that_fits_counts(folder):
    """
    Whatever those after it say.
    """
    said = [{"holds": "secret.txt", "say": {"decision": "ask"}}, {"tool": "shell", "say": DENY}, {"say": {"decision": "allow"}}]
    assert DENY == folder.said(*said)


def test_a_prompt_is_looked_into(folder):
    """
    Where there is no tool.
    """
    event = {"type": "before_prompt", "prompt": "Please go on."}
    assert DENY == folder.said({"holds": "go on", "say": DENY}, event=event)
    assert folder.said({"holds": "shell.txt", "say": DENY}, event=event) is None


def test_an_event_without_a_tool_is_of_no_tool(folder):
    """
    And holds nothing.
    """
    assert folder.said({"tool": "shell", "say": DENY}, event={"type": "agent_stop"}) is None
    assert folder.said({"holds": "x", "say": DENY}, event={"type": "agent_stop", "tool": None}) is None


def test_an_input_is_changed_in_part(folder):
    """
    What the rule does not name stays as it was.
    """
    given = {"command": "ls", "timeout": 5}
    event = {"type": "before_tool_execute", "tool": {"name": "shell", "input": given}}
    said = folder.said({"change": {"command": "pwd"}}, event=event)
    assert {"updated_input": {"command": "pwd", "timeout": 5}} == said


def test_a_crash_is_one(folder):
    """
    Killed, without a word, after it has heard.
    """
    folder.rules({"do": "crash", "say": DENY})
    assert (-signal.SIGKILL, b"", b"") == folder.ask()
    assert 1 == len(folder.notes())


def test_garbage_is_no_json(folder):
    """
    And the hook is content with it.
    """
    folder.rules({"do": "garbage"})
    code, out, err = folder.ask()
    assert (0, b"") == (code, err)
    with pytest.raises(json.JSONDecodeError):
        json.loads(out)


def test_whoever_is_late_has_heard_and_says_nothing(folder):
    """
    Until it is ended.
    """
    folder.rules({"do": "late", "say": DENY})
    with folder.start() as process:
        process.stdin.write(json.dumps(EVENT).encode())
        process.stdin.close()
        assert eventually(folder.notes, _LONG)
        assert process.poll() is None
        process.kill()
        assert b"" == process.stdout.read()


def daemon(home):
    """A process that looks like the daemon of a home."""
    place = home / ".local/share/hookonce/bin"
    words = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)", "/shelf/hookonce/daemon/__main__.py", str(place)]
    found = subprocess.Popen(words, stdout=subprocess.PIPE)
    found.stdout.readline()
    return found


@pytest.mark.slow
def test_the_daemon_of_its_home_is_killed_and_no_other(folder, tmp_path):
    """
    It is named in the notes; what the rule says is said afterwards.
    """
    other = tmp_path / "other"
    with daemon(tmp_path) as mine, daemon(other) as theirs:
        try:
            assert DENY == folder.said({"do": "death", "say": DENY})
            assert -signal.SIGKILL == mine.wait(_LONG)
            assert theirs.poll() is None
        finally:
            for process in (mine, theirs):
                process.kill()
    assert [mine.pid] == folder.notes("killed")


def test_where_no_daemon_is_none_is_found(tmp_path, monkeypatch):
    """
    Which is noted as nought.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    assert 0 == recording_hook.find_daemon()


def test_hooks_that_run_at_once_do_not_mix_their_notes(folder):
    """
    However much they have to say.
    """
    events = [{**EVENT, "prompt": str(number) * 50_000} for number in range(8)]
    hooks = [folder.start(str(number)) for number in range(8)]
    for hook, event in zip(hooks, events, strict=True):
        hook.stdin.write(json.dumps(event).encode())
    for hook in hooks:
        hook.stdin.close()
    assert [0] * 8 == [hook.wait(_LONG) for hook in hooks]
    for hook in hooks:
        hook.stdout.close()
        hook.stderr.close()
    assert events == [one["event"] for one in sorted(folder.notes(), key=lambda one: one["hook"])]


def test_it_needs_nothing_but_python(folder):
    """
    Neither an environment nor packages: it runs wherever an agent does.
    """
    folder.rules({"say": DENY})
    words = [sys.executable, "-I", "-S", recording_hook.__file__, str(folder.path), "bare"]
    done = subprocess.run(words, input=json.dumps(EVENT).encode(), capture_output=True, env={}, cwd=os.sep, timeout=_LONG, check=True)
    assert DENY == json.loads(done.stdout)
