"""Callers that come at once: one look at the files and one write for all that no hook concerns, and each for itself."""

import json
import os
import socket
import time
from types import SimpleNamespace

import pytest

from hookonce.base import build_id, ids, settings, wire
from hookonce.daemon import server, stream
from hookonce.daemon.server import Daemon
from hookonce.store.spool import files
from hookonce.store.spool import journal as journals
from tests.daemon.installed_home import TOOL, payload

PROJECT_HOOK = {"spec": "hooks/1.0", "hooks": []}


@pytest.fixture
def crowd(tmp_path, monkeypatch):
    """A daemon in this process without hooks, and the steps that it takes."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(settings, "SYSTEM", tmp_path / "etc")
    daemon = Daemon(tmp_path / "socket")
    steps, asked = [], []
    stamps, write, encode = server.manifest_stamps, os.write, wire.encode_reply
    monkeypatch.setattr(server, "manifest_stamps", lambda *_: steps.append("look") or stamps(None))
    monkeypatch.setattr(journals.os, "write", lambda fd, data: steps.append(f"write {data.count(b'later')}") or write(fd, data))
    monkeypatch.setattr(server.wire, "encode_reply", lambda *values: steps.append("answer") or encode(*values))
    # Whether a call goes the long way, which is told nothing here.
    monkeypatch.setattr(server, "SocketCall", lambda _, client, request, __: SimpleNamespace(start=lambda *_, **__: asked.append(request.id) or client.close()))
    time.sleep(0.11)  # files of this very moment may change once more
    yield SimpleNamespace(daemon=daemon, home=tmp_path, steps=steps, asked=asked)
    daemon.stop()
    daemon.journal.close()


def connect(crowd, call_id=None, cwd=None, stdin=None):
    """A caller that has said everything and waits."""
    line = socket.socket(socket.AF_UNIX)
    line.connect(str(crowd.home / "socket"))
    words, folder = "".join(f"{word}\0" for word in TOOL).encode(), str(cwd or crowd.home)
    call_id = ids.new_id().encode() if call_id is None else call_id
    fields = [wire.VERSION, build_id.running_build_id().encode(), call_id, words, b"PATH=/bin\0", folder.encode(), b"18", stdin or payload(cwd=folder), b""]
    line.sendall(wire.encode_frame(fields))
    return line


def read_reply(line):
    """What a caller is told; nothing where the line is closed."""
    with line:
        line.settimeout(10)
        return line.recv(1 << 16)


SILENCE = wire.encode_reply(wire.ANSWER, 0, 0, b"")


def test_one_look_and_one_write_is_enough_for_all_that_wait(crowd):
    """
    The look comes after all of them, so that each sees what was there before it called; the write before any answer.
    """
    lines = [connect(crowd) for _ in range(5)]
    crowd.daemon.loop.run_once(1)

    assert ["look", "write 5", *["answer"] * 5] == crowd.steps
    assert [SILENCE] * 5 == [read_reply(line) for line in lines]
    assert [] == crowd.asked
    assert 5 == crowd.daemon.answered_count


def test_a_hook_that_comes_between_two_callers_is_seen_by_the_second(crowd, monkeypatch):
    decode = wire.decode_fields

    def decode_fields(frame):
        fields = decode(frame)
        if fields[2] == b"second":
            (crowd.home / "project" / ".hookonce").mkdir()
            (crowd.home / "project" / ".hookonce" / "hooks.json").write_text(json.dumps(PROJECT_HOOK))
        return fields

    (crowd.home / "project").mkdir()
    monkeypatch.setattr(server.wire, "decode_fields", decode_fields)
    lines = [connect(crowd, name, crowd.home / "project") for name in (b"first", b"second", b"third")]
    lines.append(connect(crowd, b"elsewhere"))
    crowd.daemon.loop.run_once(1)

    assert {"second", "third"} <= {*crowd.asked}
    assert SILENCE == read_reply(lines[3])
    for line in lines:
        line.close()


def test_what_one_of_them_says_ends_nobody_else(crowd):
    """
    Neither an id that is none, nor a payload that is none or too deep, nor a line that is closed.
    """
    deep = b'{"tool_response": ' + b"[" * 5000 + b"]" * 5000 + b"}"
    lines = [connect(crowd), connect(crowd, b"../no"), connect(crowd, b"no-json", stdin=b"{"), connect(crowd, b"deep", stdin=deep), connect(crowd), connect(crowd)]
    lines[4].close()
    crowd.daemon.loop.run_once(1)

    assert [SILENCE, b"", b"", b"", SILENCE] == [read_reply(line) for line in (*lines[:4], lines[5])]
    assert ["no-json", "deep"] == crowd.asked
    assert 1 == crowd.steps.count("look")


def test_a_disk_that_takes_nothing_sends_all_of_them_the_long_way(crowd, monkeypatch):
    """
    Half a write is none: no line of it stays.
    """
    write = os.write
    monkeypatch.setattr(journals.os, "write", lambda fd, data: write(fd, data[:-9]))
    lines = [connect(crowd) for _ in range(3)]
    crowd.daemon.loop.run_once(1)

    assert (3, 0) == (len(crowd.asked), crowd.daemon.answered_count)
    assert b"" == b"".join(file.read_bytes() for file in files.spool_dir().iterdir())
    for line in lines:
        line.close()


def test_nobody_waits_for_nothing_where_the_look_fails(crowd, monkeypatch):
    problem, problems = RuntimeError("no look"), []
    monkeypatch.setattr(server, "_log_error", problems.append)
    monkeypatch.setattr(server, "manifest_stamps", lambda _: (_ for _ in ()).throw(problem))
    lines = [connect(crowd) for _ in range(3)]
    crowd.daemon.loop.run_once(1)

    assert [b""] * 3 == [read_reply(line) for line in lines]
    assert {problem} == {*problems}


def test_others_have_their_turn_between_many_callers(crowd, monkeypatch):
    monkeypatch.setattr(stream, "_MAX_ACCEPTS", 4)
    lines = [connect(crowd) for _ in range(10)]
    crowd.daemon.loop.call_at(0, lambda: crowd.steps.append("timer"))
    for _ in range(3):
        crowd.daemon.loop.run_once(1)

    assert ["write 4", "timer", "write 4", "write 2"] == [step for step in crowd.steps if step not in ("look", "answer")]
    assert [SILENCE] * 10 == [read_reply(line) for line in lines]
