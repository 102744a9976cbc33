"""purge while agents call: it waits for what is under way, ends a daemon that has just begun, and nothing comes back."""

import subprocess
import sys
import time

import pytest

from hookonce.base import paths
from hookonce.cli.setup import purge
from tests.manifest.projects import house

WRITER = "import pathlib, sys, time\ntime.sleep(0.2)\nfile = pathlib.Path(sys.argv[1]).parent / 'spool/late'\nfile.parent.mkdir(parents=True, exist_ok=True)\nfile.touch()\n"


@pytest.fixture
def data(monkeypatch, tmp_path):
    """Data of ours, with a client."""
    house(monkeypatch, tmp_path)
    monkeypatch.setattr(purge, "_RETURN_WAIT_S", 0.05)
    paths.client_path().parent.mkdir(parents=True)
    paths.client_path().touch()
    (paths.data_dir() / "events.db").touch()
    return paths.data_dir()


def begin(script, data, *more):
    """A process with the words of one of ours."""
    return subprocess.Popen([sys.executable, *more, str(script), str(data / "bin")])


def test_what_a_call_writes_at_its_end_goes_too(data, tmp_path):
    (tmp_path / "oneshot.py").write_text(WRITER)
    call = begin(tmp_path / "oneshot.py", data)
    failures = purge._delete_folders([data])

    assert (0, []) == (call.wait(5), failures)
    assert not data.exists()


def test_a_call_that_is_seen_only_after_all_was_deleted_is_waited_for(data, monkeypatch):
    looks = iter([False, True, True, False, False, False])
    monkeypatch.setattr(purge, "has_active_calls", lambda: next(looks))

    assert [] == purge._delete_folders([data])


def test_a_call_that_does_not_end_is_told_and_is_not_ended(data, tmp_path, monkeypatch):
    """
    Its hook may be about to refuse something.
    """
    monkeypatch.setattr(purge, "_MAX_CALLS_WAIT_S", 0.1)
    (tmp_path / "oneshot.py").write_text("import time\ntime.sleep(60)")
    call = begin(tmp_path / "oneshot.py", data)
    failures = purge._delete_folders([data])

    assert None is call.poll()
    call.kill()
    call.wait()
    assert [("", "a call of an agent is under way, and may write something again: stop your agents, then run hookonce purge again")] == failures
    assert not data.exists()


def test_a_daemon_that_has_just_begun_is_ended(data, tmp_path):
    script = tmp_path / "hookonce/daemon/__main__.py"
    script.parent.mkdir(parents=True)
    script.write_text("import time\ntime.sleep(60)")
    daemon, started_at = begin(script, data), time.monotonic()
    failures = purge._delete_folders([data])

    assert ([], True) == (failures, time.monotonic() - started_at < 5)
    assert 0 != daemon.wait(5)
    assert not data.exists()
