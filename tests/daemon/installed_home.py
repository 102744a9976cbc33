"""A home with the real client in it, the daemon that comes with it, and how both are asked."""

import json
import os
import signal
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

import pytest

from hookonce.base import ids, paths, wire
from hookonce.base.process_info import read_proc_stat
from hookonce.base.runtime_dir import find_runtime_dir
from hookonce.client.daemon_endpoints import with_address
from hookonce.trust.consent import list_proposals, trust_proposals
from tests.handlers.processes import eventually, running

PIPES = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
HOOK = {"name": "guard", "event": "before_tool_execute", "blocking": True}
TOOL = ["claude-code", "PreToolUse", "--via", "claude-code/user"]
SILENT = (0, b"", b"")
_LONG = 30  # seconds that nothing takes, however busy the machine is


class Home:
    """A home that exists for one test."""

    def __init__(self, home, client):
        self.home, self.bin = home, home / ".local" / "share" / "hookonce" / "bin"
        self.client = self.bin / "hookonce-on"
        self.env = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        self.cold_env = {**self.env, "HOOKONCE_COLD": "1"}
        self.where = home / "where"
        self.where.mkdir()
        paths.make_private_dir(self.bin)
        for file in client.iterdir():
            (self.bin / file.name).write_bytes(file.read_bytes())
        self.client.chmod(0o755)
        with self.inside():
            self.house = find_runtime_dir()
        self.socket = self.house / "socket"

    # What is in it

    def hooks(self, *hooks, scope="user"):
        """Let these be its hooks."""
        place = self.home / ".config" / "hookonce" if scope == "user" else self.where / ".hookonce"
        place.mkdir(parents=True, exist_ok=True)
        file = place / "hooks.json"
        draft = file.with_suffix(".draft")
        draft.write_text(json.dumps({"spec": "hooks/1.0", "hooks": list(hooks)}), encoding="utf-8")
        draft.replace(file)
        return file

    def trust(self):
        """Agree to the hooks of the project."""
        with self.inside():
            trust_proposals(self.where, list_proposals(self.where))

    @contextmanager
    def inside(self):
        """Let this process live in this home for a while."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOME", str(self.home))
            yield

    def lines(self, name):
        """What a hook has written, line by line."""
        file = self.home / name
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    # Its client

    def start(self, *words, **options):
        """The client, started as an agent does."""
        return subprocess.Popen([self.client, *words], **{"env": self.env, "cwd": self.where, **PIPES, **options})

    def call(self, *words, given=b"{}", **options):
        """Call it; its exit code, and what it says on both outputs."""
        with self.start(*words, **options) as process:
            out, err = process.communicate(given, timeout=_LONG)
        return process.returncode, out, err

    def tool(self, command="ls", words=TOOL, session="s", **options):
        """Call it about a shell command."""
        return self.call(*words, given=payload(command, session), **options)

    def crowd(self, asked, at_once=64, first=0, **options):
        """Make many calls, so many at a time, each with words and a payload; their endings in order.

        The number of a call stands in its environment, so that its hooks can tell which one it is.
        """
        waiting, under_way, endings = list(enumerate(asked, first))[::-1], {}, {}
        while waiting or under_way:
            while waiting and len(under_way) < at_once:
                number, (words, given) = waiting.pop()
                env = {**options.get("env", self.env), "NUMBER": str(number)}
                under_way[number] = process = self.start(*words, **options | {"env": env})
                process.stdin.write(given)
                process.stdin.close()
            for number in [number for number, process in under_way.items() if process.poll() is not None]:
                with under_way.pop(number) as process:
                    endings[number] = process.returncode, process.stdout.read(), process.stderr.read()
            time.sleep(0.002)
        return [endings[number] for number in sorted(endings)]

    # Its daemon

    def status(self, *, flush=False):
        """What the daemon says of itself, after it has recorded all that it has heard if it is asked to; None without one."""
        frame = wire.encode_frame([b"status", b"keep" if flush else b"", b"x", *[b""] * (wire.FIELD_COUNT - 3)])
        with suppress(OSError):
            found, _ = wire.decode_replies(self.say(frame))
            return json.loads(found[0][3]) if found else None
        return None

    def say(self, data, timeout=_LONG):
        """Say something to the daemon, and hear its answer; whoever has not said all of a frame hangs up."""
        with self.line() as line:
            line.settimeout(timeout)
            with suppress(BrokenPipeError, ConnectionResetError):
                line.sendall(data)
                if not _is_whole(data):
                    line.shutdown(socket.SHUT_WR)
            return heard(line)

    def line(self):
        """A line to the daemon."""
        line = socket.socket(socket.AF_UNIX)
        try:
            with_address(str(self.socket), line.connect)
        except OSError:
            line.close()
            raise
        return line

    def frame(self, given=b"{}", words=TOOL, name=None, **fields):
        """A frame as the client makes it; fields may be other ones."""
        build = (self.bin / "interpreter").read_bytes().splitlines()[1]
        told = {
            "version": wire.VERSION,
            "build": build,
            "id": (name or ids.new_id()).encode(),
            "words": b"".join(os.fsencode(word) + b"\0" for word in words),
            "environment": b"".join(os.fsencode(f"{key}={value}") + b"\0" for key, value in self.env.items()),
            "cwd": bytes(self.where),
            "umask": b"18",
            "stdin": given,
            "parent": b"",
        }
        return wire.encode_frame([*(told | fields).values()])

    def warm(self):
        """Have a daemon; its status."""
        until = time.monotonic() + _LONG
        while (found := self.status()) is None and time.monotonic() < until:
            (self.house / "daemon.failed").unlink(missing_ok=True)
            self.call("claude-code", given=b'{"hookonce":"trial"}')
        assert found is not None, (self.bin.parent / "hookonce.log").read_text(encoding="utf-8")[-2000:]
        return found

    def daemons(self):
        """The processes that are daemons of this home."""
        return [pid for pid in running("/hookonce/daemon/__main__.py") if str(self.bin) in _words(pid)]

    def kill(self):
        """End the daemon as nobody wants to be ended; whether there was one.

        A child of it is left alone: one that has just been forked looks like it, and becomes a hook's watchdog.
        """
        found = self.daemons()
        for pid in found:
            stat = read_proc_stat(pid)
            with suppress(ProcessLookupError):
                if stat is not None and int(stat[1]) not in found:
                    os.kill(pid, signal.SIGKILL)
        return bool(found)

    def orphans(self):
        """The watchdogs of hooks whose daemon is gone."""
        parents = {pid: read_proc_stat(pid) for pid in running(str(self.house / "calls"))}
        return [pid for pid, stat in parents.items() if stat is not None and int(stat[1]) not in self.daemons()]

    def is_locked(self):
        """Whether somebody is the daemon."""
        with (self.house / "daemon.lock").open("ab") as file:
            try:
                flock(file, LOCK_EX | LOCK_NB)
            except OSError:
                return True
        return False

    def end(self):
        """Leave nothing running."""
        (self.house / "daemon.failed").write_bytes(b"")  # nobody starts another one now
        assert eventually(lambda: not self.kill(), _LONG)


def _words(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def _is_whole(data):
    try:
        return wire.frame_length(data[:8]) == len(data)
    except ValueError:
        return False


def heard(line):
    """All that is said until an answer is there, or the other end hangs up."""
    data = b""
    with suppress(ConnectionResetError):
        while all(kind in {wire.ACK, wire.BEGIN} for kind, *_ in wire.decode_replies(data)[0]) and (chunk := line.recv(1 << 16)):
            data += chunk
    return data


def payload(command="ls", session="s", **more):
    """A tool call of Claude Code."""
    known = {"session_id": session, "transcript_path": "/t.jsonl", "cwd": "/", "hook_event_name": "PreToolUse"}
    return json.dumps({**known, "tool_name": "Bash", "tool_input": {"command": command}, **more}).encode()


def command(line, **more):
    """A hook that is a shell command."""
    handler = {"type": "command", "command": line} | more.pop("handler", {})
    return {**HOOK, "handler": handler, **more}


def refused(ending, reason):
    """Whether Claude Code was told that something may not be, and why."""
    if not ending[1]:
        return False
    said = json.loads(ending[1])["hookSpecificOutput"]
    return (said.get("permissionDecision"), said.get("permissionDecisionReason")) == ("deny", reason)
