"""Calls that are much work, which a copy of the daemon does: hung up on, they are treated as all others are."""

import json
import os
import socket
from time import monotonic
from unittest.mock import MagicMock

from hookonce.daemon import socket_call
from hookonce.daemon.connection import ClientRequest
from hookonce.daemon.socket_call import LARGE_PAYLOAD_BYTES, SocketCall
from hookonce.dispatch.context import CallContext
from hookonce.dispatch.fast_path.manifest_stamps import manifest_stamps
from tests.daemon.installed_home import TOOL, command, payload, refused
from tests.daemon.step_client import asking, step
from tests.daemon.test_socket_call_hangup import WAITS
from tests.dispatch.live_events import OPENHOOK
from tests.dispatch.live_events import raw as raw_event
from tests.handlers.processes import eventually

HEAVY = payload("x" * (1 << 20))


def calls(home):
    """The calls that are under way, or whose answer nobody has read yet."""
    return [file.name for file in (home.house / "calls").iterdir()]


def test_a_caller_that_was_tired_of_waiting_hears_what_the_hooks_say_that_were_begun(warm):
    """
    The copy lives on while its caller does.
    """
    warm.hooks(WAITS)
    with asking(warm, warm.frame(HEAVY)) as caller:
        assert eventually(lambda: warm.lines("ran") == ["x"], 30)
        step(caller)
        assert not eventually(lambda: not warm.status()["under_way"], 0.5)
        step(caller)
        (warm.home / "go").touch()
        out, _ = caller.communicate(timeout=60)

    assert refused((0, out, b""), "no")
    assert ["x"] == warm.lines("ran")
    assert eventually(lambda: not warm.status()["under_way"], 30)


def test_a_caller_that_is_killed_takes_its_hooks_along(warm):
    """
    And nothing is left of the call.
    """
    warm.hooks(WAITS)
    with warm.start(*TOOL) as process:
        process.stdin.write(HEAVY)
        process.stdin.close()
        assert eventually(lambda: warm.lines("ran") == ["x"], 30)
        process.kill()

    assert eventually(lambda: not warm.status()["under_way"], 30)
    assert eventually(lambda: not calls(warm), 30)


def test_nothing_is_kept_of_a_call_whose_answer_was_read(warm):
    """
    What it held was for somebody who had not heard it.
    """
    warm.hooks(WAITS)
    (warm.home / "go").touch()

    assert refused(warm.tool("x" * (1 << 20)), "no")
    assert eventually(lambda: not calls(warm), 30)
    assert 0 == warm.status()["under_way"]


def test_a_large_event_of_an_open_format_is_known_when_it_comes_again(warm):
    """
    Its client answers it: a copy of the daemon cannot look into the record, which the daemon has open.
    """
    warm.hooks(command(f"echo x >> {warm.home}/ran", event="session_end", blocking=False))
    warm.call("openhook", given=raw_event(OPENHOOK | {"id": "small"}))
    assert eventually(lambda: warm.status()["store"]["kept"], 30)
    document = raw_event(OPENHOOK | {"data": {"padding": ["x" * 99] * (LARGE_PAYLOAD_BYTES // 100)}})
    started_at = monotonic()

    assert [(0, b"", b"")] * 2 == [warm.call("openhook", given=document) for _ in range(2)]

    assert monotonic() - started_at < 9  # as long as SQLite waits before it gives up
    assert eventually(lambda: ["x", "x"] == warm.lines("ran"))


def test_the_copy_uses_nothing_that_the_daemon_has_open(tmp_path, monkeypatch):
    """
    A long end of a session is completed by the files: what waits in the daemon is stored there, and only there.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    place = tmp_path / ".config" / "hookonce"
    place.mkdir(parents=True)
    hook = {"name": "h", "event": "session_end", "handler": {"type": "command", "command": f"cat >{tmp_path}/heard; mv {tmp_path}/heard {tmp_path}/all"}}
    (place / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [hook]}), encoding="utf-8")
    services, forked = MagicMock(calls_dir=str(tmp_path), active_calls=0), []
    shared = ("spool", "dedup_store", "on_record", "complete_end", "handler_registry", "find_event")
    services.call_context = CallContext(environment={}, cwd="/", **{name: getattr(services, name) for name in shared})
    monkeypatch.setattr(socket_call.ForkedCall, "start", lambda _, *words: forked.append(words))
    known = {"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/", "hook_event_name": "SessionEnd"}
    raw = json.dumps(known | {"reason": "other", "more": "x" * LARGE_PAYLOAD_BYTES}).encode()
    words = ["claude-code", "SessionEnd", "--via", "claude-code/user"]
    known_fields = {"version": b"", "build": "", "environment": {}, "cwd": str(tmp_path), "umask": 0o022}
    request = ClientRequest(id="c", argv=words, stdin=raw, **known_fields)
    call = SocketCall(services, MagicMock(), request, os.getpid())
    call.start(manifest_stamps(None), is_paused=False)
    services.loop.call_soon.call_args.args[0]()
    services.reset_mock()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        socket_call._run_child(*forked[0][:2], theirs.fileno(), monotonic())

    assert eventually((tmp_path / "all").exists)
    assert "session_end" == json.loads((tmp_path / "all").read_text(encoding="utf-8"))["type"]
    assert [] == services.mock_calls
