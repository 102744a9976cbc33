"""Daemon, client and cold process, killed by others at any moment and by themselves at every step of keeping a call.

Whatever an agent was answered is in the record, once; the chain holds, and the sums are those of the rows.
"""

import os
import random
import signal
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import pytest

from hookonce.client import daemon_endpoints
from hookonce.inspect.store_access import ingest_spool
from hookonce.store import database
from hookonce.store.integrity import audit
from hookonce.store.spool import files
from tests.daemon.http_client import Poster
from tests.daemon.installed_home import TOOL, command, payload, refused
from tests.handlers.processes import eventually
from tests.integration.killing import wrap
from tests.integration.test_killed_store import are_right, sums

pytestmark = pytest.mark.integration
ROUNDS = int(os.environ.get("HOOKONCE_KILL_ROUNDS", "40"))
EVERY = int(os.environ.get("HOOKONCE_KILL_EVERY", "5"))
AT_ONCE = 4
_LONG = 60
REFUSES = "grep -q forbidden && { echo no >&2; exit 2; } || exit 0"
AFTER = ["claude-code", "PostToolUse", "--via", "claude-code/user"]


class Told:
    """What agents were answered, by session; each call has one of its own."""

    def __init__(self, home):
        self.home, self.answered, self.number = home, {}, 0

    def ask(self, env=None):
        """Begin a call: of a hook that refuses, or of one that nobody has."""
        self.number += 1
        session, asks = f"call-{self.number:05d}", self.number % 2
        words = TOOL if asks else AFTER
        name = {"hook_event_name": words[1]} | ({} if asks else {"tool_response": {"stdout": "x"}})
        given = payload("forbidden" if self.number % 4 == 1 else "ls", session, **name)
        process = self.home.start(*words, **({"env": env} if env else {}))
        process.stdin.write(given)
        process.stdin.close()
        return session, process

    def hear(self, session, process, *, counts=True):
        """The end of a call; it was answered unless somebody has killed whoever had to answer."""
        with process:
            out, code = process.stdout.read(), process.wait(_LONG)
            process.stderr.read()
        if code == 0 and counts:
            self.answered[session] = out
        return code, out


def looked(home):
    """How often each session is in the record, as the next command sees it."""
    for file in (home.bin.parent / "spool").glob("*.jsonl"):
        with suppress(FileNotFoundError):
            os.utime(file, (1, 1))
    with home.inside():
        trouble = []
        ingest_spool(trouble.append)
        assert [] == trouble
        assert [] == list(files.spool_dir().glob("*.damaged"))
        assert 0 == files.lost_record_count()
        with closing(database.open_reader()) as connection:
            found = audit.verify(connection)
            assert found.ok, [one.what for one in found.flaws]
            own = "SELECT session FROM events WHERE type IN ('before_tool_execute', 'after_tool_execute')"
            rows = connection.execute(own).fetchall()
            assert found.rows == connection.execute("SELECT count(DISTINCT id) FROM events").fetchone()[0]
        assert are_right({"sums": sums()})
    return Counter(row[0] for row in rows)


def holds(told):
    """Nobody who was answered is missing, and nobody is there twice; calls whose words nobody came to read have none."""
    home = told.home
    assert eventually(lambda: not unread(home), _LONG)
    found = looked(home)
    poor = found.pop(None, 0)
    missing = [session for session in told.answered if session not in found]
    assert {1} >= set(found.values()), [session for session, times in found.items() if times > 1]
    assert len(missing) <= poor, (missing, poor)
    return poor


def unread(home):
    """Files of cold calls that a process is about to complete; of one that was killed nobody does."""
    return [one for one in _turns() if str(home.bin) in one]


def _turns():
    """Command lines of cold processes."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                line = (entry / "cmdline").read_bytes().decode(errors="replace")
                found += [line] if "oneshot.py" in line else []
    return found


@pytest.mark.parametrize("victim", ["daemon", "client", "cold"])
def test_at_any_moment(home, victim, show):
    """
    Again and again: some call, one is killed, and everybody else has been told the truth.
    """
    home.hooks(command(REFUSES))
    told, chance, kills = Told(home), random.Random(victim), 0  # noqa: S311
    home.warm()
    poor = 0
    for number in range(max(1, ROUNDS // 3)):
        env = home.cold_env if victim == "cold" else None
        if victim == "daemon":
            home.warm()
        calls = [told.ask(env) for _ in range(AT_ONCE)]
        time.sleep(chance.uniform(0, 0.12 if victim == "cold" else 0.03))
        killed = _kill(home, victim, calls)
        kills += bool(killed)
        for session, process in calls:
            told.hear(session, process, counts=victim == "daemon" or process.pid not in killed)
        if number % 25 == 24:
            poor = holds(told)
    poor = holds(told)
    show(f"{victim}: {told.number} calls, {kills} kills, {len(told.answered)} answered, {poor} known by name only")
    assert kills


def _kill(home, victim, calls):
    """Whom it hit: the clients whose call it was."""
    if victim == "daemon":
        return {0} if home.kill() else set()
    _, process = calls[0]
    if victim == "client":
        process.send_signal(signal.SIGKILL)
        return {process.pid}
    children = _children(process.pid)
    for pid in children:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return {process.pid} if children else set()


def _children(pid):
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(word) for word in found.split()]


@pytest.mark.parametrize("victim", ["warm", "cold"])
def test_at_every_step(home, victim, show):
    """
    Each write, statement, truncation and removal, before it and after it, in the daemon and in a cold process.
    """
    home.hooks(command(REFUSES))
    told, deaths, poor = Told(home), 0, 0
    last, every = (140, EVERY * 4) if victim == "warm" else (24, EVERY)
    for number in range(1, last + 1, every):
        deaths += _dies(told, victim, number)
        poor = holds(told)
    show(f"{victim}: {told.number} calls, {deaths} deaths, {len(told.answered)} answered, {poor} known by name only")
    assert deaths


def _dies(told, victim, number):
    """Have two calls answered, by processes that die at a step if they come so far; whether they did."""
    home = told.home
    home.kill()
    assert eventually(lambda: not home.daemons(), _LONG)
    wrap(home, **{victim: number})
    if victim == "cold":
        heard = [told.hear(*told.ask(home.cold_env), counts=False) for _ in range(2)]
        refusals = 0
        for offset, (code, out) in enumerate(heard, told.number - 1):
            if refused((code, out, b""), "no"):  # nobody but the process itself can have said so
                told.answered[f"call-{offset:05d}"] = out
                refusals += 1
        return refusals < len(heard)
    (home.house / "daemon.failed").unlink(missing_ok=True)
    home.call("claude-code", given=b'{"hookonce":"trial"}')
    eventually(lambda: home.status() is not None, 2)
    known = home.daemons()
    for _ in range(2):
        told.hear(*told.ask())
    with home.inside():
        daemon_endpoints.query_status(daemon_endpoints.FLUSH, 1)
    return known != home.daemons()


@pytest.mark.parametrize("door", ["native", "cold", "python", "http"])
@pytest.mark.parametrize("durability", ["normal", "full"])
def test_right_after_the_answer(home, door, durability):
    """
    Whoever has answered is killed as soon as the answer is heard; through every door the call is in the record.
    """
    home.hooks(command(REFUSES))
    (home.home / ".config" / "hookonce" / "config.toml").write_text(f'durability = "{durability}"\n', encoding="utf-8")
    told = Told(home)
    if door == "python":
        _put_twin(home)
    for number in range(4):
        if door == "http":
            _post(told, "forbidden" if number % 2 else "ls")
        else:
            home.warm()
            told.hear(*told.ask(home.cold_env if door == "cold" else None))
        home.kill()
    holds(told)
    assert 4 == len(told.answered)
    assert any(b"deny" in out for out in told.answered.values())
    assert any(out in {b"", b"{}"} for out in told.answered.values())


def _post(told, line):
    """Post a call, as an agent does that needs no client."""
    told.number += 1
    session = f"call-{told.number:05d}"
    status, out = Poster(told.home).post(payload(line, session))
    assert 200 == status
    told.answered[session] = out


def _put_twin(home):
    """Let the client of Python stand in the place of the one of C."""
    package = Path((home.bin / "interpreter").read_text(encoding="utf-8").splitlines()[2])
    twin = package / "hookonce" / "client" / "hookonce-on.sh"
    if not twin.exists():
        pytest.skip("there is no client of Python here")
    home.client.write_bytes(twin.read_bytes())
    home.client.chmod(0o755)
