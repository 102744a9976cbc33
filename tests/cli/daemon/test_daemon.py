"""hookonce daemon."""

import json
import os
import re
from argparse import Namespace
from time import sleep

import pytest

from hookonce.__main__ import main
from hookonce.base import paths
from hookonce.cli.daemon import daemon
from hookonce.client import daemon_endpoints
from hookonce.client.installation import install_client
from hookonce.daemon import control
from hookonce.errors import HookonceError
from tests.cli.command import run


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with our client in it, whose daemon is ended."""
    monkeypatch.setenv("HOME", str(tmp_path))
    install_client()
    yield str(tmp_path)
    control.stop_daemon()


def test_it_is_started_once_and_told_about(home):
    none = run("daemon", "status", HOME=home)
    first = run("daemon", "start", "--json", HOME=home).documents()[0]
    again = run("daemon", "start", HOME=home)
    known = run("daemon", "status", "--json", HOME=home).documents()[0]

    assert (0, "daemon: not running, and hookonce is not installed for any agent. Next: hookonce install\n") == (none.code, none.out)
    assert first["running"]
    assert first["pid"] == known["pid"]
    assert re.fullmatch(rf"daemon: process {first['pid']}, 0 calls answered, 0 in progress(, \d+ MB)?\n", again.out)
    assert run("status", "--json", HOME=home).documents()[0]["daemon"]["pid"] == first["pid"]
    assert f"daemon: process {first['pid']}" in run("status", HOME=home).out


def test_who_would_start_it_is_told_where_somebody_would(home, tmp_path):
    """
    An entry of an agent is enough, and the client alone is not.
    """
    entry = {"matcher": "*", "hooks": [{"type": "command", "command": f"{paths.client_path()} claude-code PreToolUse --via claude-code/user"}]}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [entry]}}))

    assert "daemon: not running; the next call of an agent starts it\n" == daemon.format_status(None) + "\n" == run("daemon", "status", HOME=home).out
    assert "daemon: not running; the next call of an agent starts it\n" in run("status", HOME=home).out


def test_only_a_person_stops_it(home):
    known = control.start_daemon()
    asked = run("daemon", "stop", HOME=home)

    assert 1 == asked.code
    assert "needs a person at a terminal" in asked.err
    assert known["pid"] == control.query_status()["pid"]


def test_it_leaves_when_it_is_told_to(home):
    known = control.start_daemon()
    os.kill(known["pid"], 0)

    assert known["pid"] == control.stop_daemon()["pid"]
    assert control.query_status() is None
    assert control.stop_daemon() is None
    assert "the daemon was not running" in run("daemon", "stop", HOME=home).out


def test_it_leaves_when_nobody_can_call_it_any_more(home, tmp_path):
    known = control.start_daemon()
    (tmp_path / ".local/share/hookonce/bin/hookonce-on").unlink()
    for _ in range(100):
        if control.query_status() is None:
            break
        sleep(0.1)

    assert control.query_status() is None
    install_client()
    assert known["pid"] != control.start_daemon()["pid"]


def test_without_an_installation_there_is_nothing_to_start(tmp_path):
    asked = run("daemon", "start", HOME=str(tmp_path))

    assert (1, True) == (asked.code, "hookonce install" in asked.err)


def test_with_an_open_door_it_says_who_goes_on_without_hooks(tmp_path, monkeypatch):
    """
    Whoever posts is answered by nobody while there is no daemon; status tells of the door.
    """
    plain = {"pid": 7, "answered": 1, "under_way": 0}
    opened = plain | {"http": {"open": True, "port": 23456, "problem": None}}
    asked = []
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(daemon, "require_consent", lambda _, text: asked.append(text))
    monkeypatch.setattr(control, "stop_daemon", lambda: plain)
    for known in (plain, opened):
        monkeypatch.setattr(control, "query_status", lambda known=known: known)
        assert 0 == main(["daemon", "stop"])

    assert ["send events over HTTP run without hooks" in text for text in asked] == [False, True]
    assert daemon.format_status(opened).endswith("0 in progress, HTTP port open: 23456")
    shut = plain | {"http": {"open": False, "port": None, "problem": "taken"}}
    assert daemon.format_status(shut).endswith(", HTTP port closed: taken")


def test_without_a_daemon_posts_go_unanswered(home):
    """
    That is said only where some agent may post.
    """
    daemon_endpoints.save_http_address(daemon_endpoints.HttpAddress(23456, "x"))
    assert daemon.format_status(None).endswith("run without hooks until it runs: hookonce daemon start")
    daemon_endpoints.remove_http_address()
    assert daemon.format_status(None).endswith("Next: hookonce install")


@pytest.mark.parametrize("ending", [KeyboardInterrupt, HookonceError("nobody answers")])
def test_an_address_at_which_nobody_answers_is_not_kept(ending, tmp_path, monkeypatch):
    """
    Also if somebody interrupts the wait for it.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(daemon, "require_consent", lambda *_: None)

    def wait(*_):
        assert daemon_endpoints.load_http_address() is not None
        raise ending

    monkeypatch.setattr(daemon, "await_answer", wait)
    with pytest.raises((KeyboardInterrupt, HookonceError)):
        daemon.run(Namespace(verb="http", close=False, json=False))
    assert daemon_endpoints.load_http_address() is None
