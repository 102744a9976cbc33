"""hookonce up: sessions of several agents through the real client, daemon, hooks and store, and what is shown of them."""

import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from threading import Event
from time import sleep
from types import SimpleNamespace

import pytest

from hookonce.cli.daemon import up
from hookonce.demo.replay import list_recordings, load_steps, replay_steps
from tests.cli.command import environment, run


def world(home):
    """An environment in which a daemon is started."""
    return {name: value for name, value in environment(HOME=str(home)).items() if name != "HOOKONCE_COLD"}


def test_the_demonstration_shows_every_step_and_says_what_was_refused(tmp_path):
    """
    Piped into a file it is plain lines; every agent that is bundled has some.
    """
    words = [sys.executable, "-m", "hookonce", "up", "--demo", "--for", "60s"]
    done = subprocess.run(words, env=world(tmp_path), capture_output=True, text=True, check=False, timeout=120)

    lines = [line for line in done.stdout.splitlines() if re.match(r"\d\d:\d\d:\d\d  ", line)]
    assert 0 == done.returncode, done.stderr
    assert len(load_steps()) <= len(lines)
    assert any("retry_loop_detected" in line for line in lines)
    assert any("policy_blocked" in line for line in lines)
    assert set(list_recordings()) == {line.split()[1] for line in lines}
    assert 1 == sum(line.startswith("refused: ") and "rm -rf" in line for line in done.stdout.splitlines())
    assert "25 tool calls, 1 refused, 0 asked, 6 failed calls" in done.stdout
    assert not (tmp_path / ".local/share/hookonce/events.db").exists()


def test_the_story_has_a_refusal_a_loop_and_a_sub_agent():
    told = [(step.event, (step.payload.get("tool_input") or {}).get("command")) for step in load_steps() if "story" in json.dumps(step.payload)]

    assert ("PreToolUse", "rm -rf build /home/dev/photos") in told
    assert 6 == told.count(("PostToolUseFailure", "make test"))
    assert {"SubagentStart", "SubagentStop"} <= {step.event for step in load_steps()}


def test_it_starts_what_answers_and_says_where_events_are_kept(tmp_path):
    """
    In the user's own home; nothing is installed by it.
    """
    (tmp_path / ".codex").mkdir()
    words = [sys.executable, "-m", "hookonce", "up", "--for", "1s"]
    ran = subprocess.run(words, env=world(tmp_path), capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60)
    pid = int(re.search(r"process (\d+)", ran.stdout)[1])
    os.kill(pid, 15)

    assert 0 == ran.returncode, ran.stderr
    assert "Codex CLI: user: not installed" in ran.stdout
    assert "hookonce install --dry-run" in ran.stdout
    assert [] == list((tmp_path / ".codex").iterdir())


def test_on_a_terminal_it_is_a_screen_that_goes_away(tmp_path):
    """
    What happens is drawn again and again; what remains is the summary.
    """
    own, other = pty.openpty()
    words = [sys.executable, "-m", "hookonce", "up", "--demo", "--for", "60s"]
    with subprocess.Popen(words, env=world(tmp_path) | {"TERM": "xterm"}, stdin=other, stdout=other, stderr=other) as process:
        os.close(other)
        said = b""
        with suppress(OSError):  # the terminal is gone when nobody holds its other end
            while chunk := os.read(own, 1 << 16):
                said += chunk
        os.close(own)

    assert 0 == process.returncode
    assert "a demonstration" in said.decode()
    assert "refused: " in said.decode().rpartition("\x1b")[2]


def test_a_time_is_understood_or_refused(tmp_path):
    assert 64 == run("up", "--for", "soon", HOME=str(tmp_path)).code


def test_an_interrupted_demonstration_makes_no_further_call(monkeypatch, tmp_path):
    """
    Ctrl-C ends who plays before the home goes: a later call would start a daemon that nobody ends.
    """
    calls, ended = [], []

    def play(_home, _steps, _pause, _deadline, stop):
        while not stop.wait(0.01):
            calls.append(1)
            yield 0.0
        ended.append(1)

    def interrupt(*_):
        while not calls:
            sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(up, "replay_steps", play)
    monkeypatch.setattr(up, "show_live_view", interrupt)
    with pytest.raises(KeyboardInterrupt):
        up._play_demo(SimpleNamespace(path=tmp_path), 1e9, utc=False)

    assert [1] == ended


def test_a_replay_that_is_stopped_calls_nobody():
    stop = Event()
    stop.set()

    assert [] == [*replay_steps(None, load_steps(), 0.0, 1e18, stop)]
