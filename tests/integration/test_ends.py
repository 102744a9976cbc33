"""Ends that real agents do not tell, and what changes after a refusal, noticed by a real daemon."""

import os
import signal
import sqlite3
import subprocess
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from hookonce.agents import reports_session_end
from hookonce.base.jsontext import dump, load
from hookonce.client.sandbox_home import SandboxHome
from hookonce.lab import drivers
from hookonce.lab.fakes.model_server import ModelServer
from hookonce.lab.prove.bench import Bench, _run_folder
from tests.handlers.processes import eventually
from tests.integration.real import agent

pytestmark = pytest.mark.integration
SOON = 30  # seconds in which everybody has noticed
_SCENARIO = "refuse-shell"  # two commands, the second of which takes a second


@contextmanager
def playing(name, cache):
    """An agent that has begun to work in a home of its own."""
    driver = drivers.load_driver(name)
    with _run_folder() as scratch, ModelServer() as model:
        stage = Bench(driver, agent(name), cache)
        stand = stage._build_env(scratch, model.url, _SCENARIO, None)
        drivers.write_home(driver, stand)
        home = SandboxHome(stand.home, None, (name, *driver.install, "--events", stage.events))
        out = (scratch / "out").open("wb")
        try:
            assert home.start_daemon()
            process = subprocess.Popen(
                driver.command(stand),
                cwd=stand.project,
                env=stage._environment(stand),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
            yield home, process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            out.close()
            home.stop_daemon()


def kept(home, *kinds):
    """The events of these types."""
    place = home.path / ".local/share/hookonce/events.db"
    try:
        with closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT type, body FROM events ORDER BY seq").fetchall()
    except sqlite3.Error:
        return []
    return [load(body.decode())["event"] for kind, body in rows if kind in kinds]


def ends(home):
    return [
        (event["type"], event["data"]["reason"], event["data"].get("derived"))
        for event in kept(home, "session_end", "session_abort")
    ]


@pytest.mark.covers("AH-24")
@pytest.mark.parametrize("name", ["cline", "qwen-code"])
def test_an_agent_that_ends_without_a_word_has_one_end(name, tmp_path):
    """
    With the right reason, after its stop; and no other one comes later.
    """
    with playing(name, tmp_path) as (home, process):
        process.wait(120)
        noticed = eventually(lambda: ends(home), SOON)
        eventually(lambda: len(ends(home)) > 1, 6)

        assert not reports_session_end(name)
        assert noticed
        assert [("session_end", "exit", True)] == ends(home)


@pytest.mark.covers("AH-25")
def test_an_agent_that_is_killed_at_work_was_aborted(tmp_path):
    """
    Cline says nothing then either.
    """
    with playing("cline", tmp_path) as (home, process):
        assert eventually(lambda: len(kept(home, "before_tool_execute")) > 2, 120)  # the first is our own
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        noticed = eventually(lambda: ends(home), SOON)

        assert noticed
        assert [("session_abort", "aborted", True)] == ends(home)


def answered(home, given):
    """What the daemon says to a call; on a busy machine it may come too late, and is asked again."""
    for _ in range(10):
        before = home.status()["answered"]
        said = subprocess.run(home.command_line(), env=home.environment(), input=given, capture_output=True, check=False)
        if home.status()["answered"] > before:
            return said.stdout
    pytest.skip("this machine is too busy for a daemon")


def test_a_file_that_changes_after_its_write_was_refused_raises_an_alarm(tmp_path):
    """
    A hook refuses to write it, and it is written all the same.
    """
    refuses = {"type": "command", "command": "echo no >&2; exit 2"}
    hook = {"name": "no", "event": "before_tool_execute", "matcher": "file_write", "handler": refuses, "blocking": True}
    home, file = SandboxHome(tmp_path / "home", [hook]), tmp_path / "a.txt"
    given = {"session_id": "s", "transcript_path": "/t.jsonl", "cwd": str(tmp_path), "hook_event_name": "PreToolUse"}
    given |= {"tool_name": "Write", "tool_input": {"file_path": str(file), "content": "x"}}
    try:
        assert home.start_daemon()
        said = answered(home, dump(given))
        Path(file).write_text("x", encoding="utf-8")
        noticed = eventually(lambda: kept(home, "policy_violation"), SOON)

        assert b"deny" in said
        assert noticed
        (alarm,) = kept(home, "policy_violation")
        assert ("suspected", "file_created") == (alarm["data"]["status"], alarm["data"]["origin_event"])
    finally:
        home.stop_daemon()
