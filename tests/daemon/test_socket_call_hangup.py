"""Callers who hang up: one that is still there finds the answer where it looks for it, and no hook runs twice."""

import json
import os
import signal
import socket
import subprocess

from hookonce.base import ids, wire
from tests.daemon.installed_home import command, payload, refused
from tests.handlers.processes import eventually

WAITS = command('echo x >>"$HOME/ran"; until [ -e "$HOME/go" ]; do sleep 0.05; done; echo no >&2; exit 2')


def cold(home, frame, begun_by=None):
    """What Python answers to a frame, as the client starts it; if it has heard that hooks have begun, it says so."""
    if begun_by is not None:
        claim = json.dumps({"done": False, "pid": begun_by})
        (home.house / "calls").mkdir(exist_ok=True)
        (home.house / "calls" / wire.decode_fields(frame)[2].decode()).write_text(claim)
    python, _, shelf = (home.bin / "interpreter").read_text().splitlines()[:3]
    words = [python, "-I", "-S", f"{shelf}/hookonce/client/oneshot.py", home.bin, str(os.getpid()), "-"]
    file = home.home / "frame"
    file.write_bytes(frame)
    with file.open("rb") as stdin:
        return subprocess.Popen(words, stdin=stdin, stdout=subprocess.PIPE, env=home.env, cwd=home.where)


def test_a_caller_that_was_tired_of_waiting_hears_what_the_hooks_say_that_were_begun(warm):
    """
    The daemon has begun, the client has hung up all the same, and lets Python answer.
    """
    warm.hooks(WAITS)
    frame = warm.frame(payload(), name=ids.new_id())
    with warm.line() as line:
        line.sendall(frame)
        assert eventually(lambda: warm.lines("ran") == ["x"], 30)
    with cold(warm, frame, warm.status()["pid"]) as python:
        assert 1 == warm.status()["under_way"]
        (warm.home / "go").touch()
        out, _ = python.communicate(timeout=60)

    assert 100 == python.returncode
    assert refused((0, out, b""), "no")
    assert ["x"] == warm.lines("ran")
    assert eventually(lambda: not warm.status()["under_way"], 30)


def test_a_caller_that_does_not_listen_any_more_hears_what_hooks_said_that_are_done(warm):
    """
    The daemon notices only when it wants to tell the answer, and lives on.
    """
    warm.hooks(WAITS)
    pid = warm.status()["pid"]
    frame = warm.frame(payload(), name=ids.new_id())
    with warm.line() as line:
        line.sendall(frame)
        assert wire.ACK == line.recv(1)[0]
        line.shutdown(socket.SHUT_RD)  # whoever says something now is told that nobody listens
        (warm.home / "go").touch()
        assert eventually(lambda: not warm.status()["under_way"], 30)
    with cold(warm, frame) as python:
        out, _ = python.communicate(timeout=60)

    assert refused((0, out, b""), "no")
    assert ["x"] == warm.lines("ran")
    assert pid == warm.status()["pid"]


def test_a_caller_that_has_hung_up_before_it_was_heard_is_not_answered(warm):
    """
    Nothing is begun for it.
    """
    warm.hooks(WAITS)
    (warm.home / "go").touch()
    pid = warm.status()["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        with warm.line() as line:
            line.sendall(warm.frame(payload()))
    finally:
        os.kill(pid, signal.SIGCONT)
    assert warm.status() is not None
    assert [] == warm.lines("ran")
    assert refused(warm.tool(), "no")
    assert ["x"] == warm.lines("ran")


def test_a_caller_that_has_shut_its_end_before_hooks_begin_is_left_to_python(warm):
    """
    Nothing runs for it, and nothing is recorded: whoever answers does both.
    """
    warm.hooks(WAITS)
    (warm.home / "go").touch()
    pid = warm.status()["pid"]
    os.kill(pid, signal.SIGSTOP)
    frame = warm.frame(payload())
    with warm.line() as line:
        line.sendall(frame)
        line.shutdown(socket.SHUT_RD)
        os.kill(pid, signal.SIGCONT)
        assert eventually(lambda: not warm.status()["under_way"], 30)
        assert [] == warm.lines("ran")
        with cold(warm, frame) as python:
            out, _ = python.communicate(timeout=60)

    assert refused((0, out, b""), "no")
    assert ["x"] == warm.lines("ran")
