"""A record in trouble: agents are answered as their hooks say; what is lost is counted, and commands say what to do."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager

import pytest

from hookonce.daemon.lifecycle import lock_path
from hookonce.inspect.store_access import ingest_spool
from hookonce.store import database
from hookonce.store.entry import build_entry
from hookonce.store.integrity import audit
from hookonce.store.maintenance import quarantine
from hookonce.store.spool import files
from hookonce.store.writer import Writer
from tests.cli.command import run
from tests.daemon.installed_home import SILENT, TOOL, command, payload, refused
from tests.handlers.processes import eventually
from tests.integration.test_killed_processes import unread
from tests.store.rows import stored

pytestmark = pytest.mark.integration
NO = command("grep -q forbidden && { echo no >&2; exit 2; } || exit 0")
AFTER = ["claude-code", "PostToolUse", "--via", "claude-code/user"]
_LONG = 60


@pytest.fixture
def busy(home):
    """A home with a hook and a daemon, in which something was kept."""
    home.hooks(NO)
    home.warm()
    with home.inside(), Writer() as writer:
        writer.append([build_entry(stored(number, session="before")) for number in range(300)])
    return home


def are_right(home, prefix, number=4, **options):
    """Whether calls are answered as they should be: refused, let pass, and not asked about."""
    for index in range(number):
        assert refused(home.tool("forbidden", session=f"{prefix}-a{index}", **options), "no")
        assert SILENT == home.tool("ls", session=f"{prefix}-b{index}", **options)
        after = payload("ls", f"{prefix}-c{index}", hook_event_name="PostToolUse", tool_response={"stdout": ""})
        assert SILENT == home.call(*AFTER, given=after, **options)
    return 3 * number


def told(home, *prefixes):
    """How many calls are in the record, each of them once; of one whose teller was killed only that it happened."""
    assert eventually(lambda: not unread(home), _LONG)
    settle(home)
    with home.inside():
        ingest_spool(lambda _: None)
        with closing(database.open_reader()) as connection:
            rows = connection.execute(
                "SELECT coalesce(session, id), count(*) FROM events WHERE type LIKE '%_tool_execute' GROUP BY 1"
            ).fetchall()
    assert {1} >= {row[1] for row in rows if row[0] != "before"}
    return sum(row[0].startswith(prefixes) or row[0].count("-") == 4 for row in rows)


def settle(home):
    for file in (home.bin.parent / "spool").glob("*.jsonl"):
        os.utime(file, (1, 1))


def is_sound(home):
    with home.inside(), closing(database.open_reader()) as connection:
        found = audit.verify(connection)
    assert found.ok, [one.what for one in found.flaws]
    return True


def cli(home, *words):
    return run(*words, HOME=str(home.home))


@contextmanager
def mounted(*words, on):
    """Something else in the place of a folder."""
    if os.getuid() != 0 or subprocess.run(["mount", *words, on], capture_output=True, check=False).returncode:
        pytest.skip("that needs the right to mount something")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", on], check=True)


# The disk


def test_a_full_disk(home):
    """
    Everything of ours lies on a disk that is full: what is not kept is counted, and after it the record goes on.
    """
    home.hooks(NO)
    data = home.bin.parent
    kept = home.home / "kept"
    shutil.copytree(data, kept)
    with mounted("-t", "tmpfs", "-o", "size=16m", "small", on=data):
        shutil.copytree(kept, data, dirs_exist_ok=True)
        home.warm()
        calls = are_right(home, "before")
        with (data / "filler").open("wb", buffering=0) as filler:
            while True:
                try:
                    filler.write(b"x" * 512)
                except OSError:
                    break
        calls += are_right(home, "full", 6)
        calls += are_right(home, "cold", 2, env=home.cold_env)
        with home.inside():
            lost = files.lost_record_count()
            status = cli(home, "status")
        (data / "filler").unlink()
        home.kill()
        assert eventually(lambda: not home.daemons(), _LONG)
        calls += are_right(home, "after")
        found = told(home, "before", "full", "cold", "after")
        with home.inside():
            lost = max(lost, files.lost_record_count())
        assert is_sound(home)
        assert calls <= found + lost, (calls, found, lost)
        assert lost == 0 or f"{lost} record" in status.out + cli(home, "status").out
        home.end()


def test_a_home_that_cannot_be_written(home):
    """
    The answers are right, every record that is lost is counted, and `status` says how many.
    """
    home.hooks(NO)
    home.warm()
    are_right(home, "before")
    told(home, "before")
    home.kill()
    assert eventually(lambda: not home.daemons(), _LONG)
    with mounted("--bind", home.home, on=home.home):
        subprocess.run(["mount", "-o", "remount,ro,bind", home.home], check=True)
        calls = are_right(home, "cold", 2, env=home.cold_env)
        with home.inside():
            assert calls == files.lost_record_count()
        calls += are_right(home, "warm", 2)
        home.kill()
        with home.inside():
            assert calls == files.lost_record_count()
        seen = cli(home, "status")
        events = cli(home, "events")
    assert f"{calls} records could not be written" in seen.out
    assert (0, True) == (events.code, "before-a0" in cli(home, "sessions").out)
    assert is_sound(home)


# The database


def test_a_database_that_somebody_holds_for_ten_seconds(busy):
    """
    Nobody waits for it, nothing is lost, and the newest events are shown all the same.
    """
    with busy.inside(), closing(sqlite3.connect(database.database_file(), isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        until = time.monotonic() + 10
        calls = are_right(busy, "held") + are_right(busy, "cold", 1, env=busy.cold_env)
        shown = cli(busy, "events", "--json", "--session", "held-a0")
        listed = cli(busy, "events", "--json")
        assert eventually(lambda: "database is locked" in cli(busy, "status").out, _LONG)  # while it is tried again
        while time.monotonic() < until:
            time.sleep(0.1)
        holder.execute("ROLLBACK")

    assert 1 == shown.code  # no session of that name is in the record yet
    assert "held-a0" in listed.out
    assert eventually(lambda: not busy.status()["store"]["waiting"], _LONG)
    assert calls == told(busy, "held", "cold")
    assert is_sound(busy)


def test_a_damaged_page(busy):
    """
    Calls are answered and wait in the spool; doctor says what to do; after it the record goes on, with a gap that is told.
    """
    with busy.inside():
        ingest_spool(lambda _: None)
    busy.kill()
    damage(busy)
    calls = are_right(busy, "damaged") + are_right(busy, "cold", 1, env=busy.cold_env)
    assert eventually(lambda: busy.status()["store"]["problem"], _LONG)
    assert "Next: hookonce doctor" in cli(busy, "status").out
    found = cli(busy, "doctor")
    assert "hookonce audit set-aside" in found.out
    for words in (("events", "--json"), ("audit", "verify"), ("stats", "--rebuild"), ("sessions",)):
        ran = cli(busy, *words)
        assert ran.code in {0, 1}, (words, ran.err)
        assert "internal error" not in ran.err

    with busy.inside():
        made = quarantine.quarantine_database("a test")
    assert made.taken > 250
    assert eventually(lambda: busy.status()["store"]["problem"] is None, _LONG)
    assert calls == told(busy, "damaged", "cold")
    assert is_sound(busy)
    told_of = cli(busy, "events", "--type", quarantine.QUARANTINE_EVENT, "--json").out
    assert f"{made.taken} of {made.rows} records were taken over" in told_of
    assert "damaged" not in cli(busy, "doctor").out
    assert calls == told(busy, "damaged", "cold")


def damage(home):
    """Write nonsense over the last page that holds rows."""
    with home.inside(), closing(sqlite3.connect(database.database_file())) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file = home.bin.parent / "events.db"
    with file.open("r+b") as pages:
        pages.seek(-4096, os.SEEK_END)
        pages.write(os.urandom(4096))
        pages.seek(4096 * 20)
        pages.write(os.urandom(4096))


def test_no_database_at_all(busy):
    """
    Something else in its place: the same.
    """
    busy.kill()
    with busy.inside():
        database.database_file().write_bytes(b"something else entirely" * 1000)
        for suffix in ("-wal", "-shm"):
            database.database_file().with_name(f"events.db{suffix}").unlink(missing_ok=True)
    calls = are_right(busy, "nothing", 2)
    assert "Next: hookonce doctor" in cli(busy, "events").err
    assert "hookonce audit set-aside" in cli(busy, "doctor").out
    with busy.inside():
        assert 0 == quarantine.quarantine_database("a test").taken
    assert eventually(lambda: busy.status()["store"]["problem"] is None, _LONG)
    assert calls == told(busy, "nothing")
    assert is_sound(busy)


@pytest.mark.parametrize("left", [0, 1, 32, 2000, 9000])
def test_a_log_that_was_cut(busy, left):
    """
    Of the database's own log only a part is left: what is missing is named by the audit, and the record goes on.
    """
    with busy.inside(), closing(sqlite3.connect(database.database_file())) as reading, Writer() as writer:
        reading.execute("SELECT count(*) FROM events").fetchall()
        writer.append([build_entry(stored(number, session="before")) for number in range(50)])
        copy = [one.read_bytes() for one in (database.database_file(), database.database_file().with_name("events.db-wal"))]
    busy.kill()
    assert eventually(lambda: not busy.daemons(), _LONG)
    with busy.inside():
        for name in ("events.db-shm", "events.db-wal"):
            database.database_file().with_name(name).unlink(missing_ok=True)
        database.database_file().write_bytes(copy[0])
        database.database_file().with_name("events.db-wal").write_bytes(copy[1][:left])
    calls = are_right(busy, "cut", 2)
    assert calls == told(busy, "cut")
    ran = cli(busy, "audit", "verify")
    with busy.inside(), closing(database.open_reader()) as connection:
        rows = connection.execute("SELECT count(*) FROM events WHERE session = 'before'").fetchone()[0]
    assert rows == 350 or (ran.code == 1 and "was cut off" in ran.out), (rows, ran.out)


def test_a_database_that_was_taken_away(busy):
    """
    A daemon that had it open does not go on writing where nobody looks.
    """
    are_right(busy, "old", 1)
    told(busy, "old")
    with busy.inside():
        for suffix in ("", "-wal", "-shm"):
            database.database_file().with_name(f"events.db{suffix}").unlink(missing_ok=True)
    calls = are_right(busy, "new", 2)

    assert calls == told(busy, "new")
    assert "was cut off" in cli(busy, "audit", "verify").out


def test_a_spool_that_was_taken_away(busy):
    """
    What the daemon has not kept yet is in its memory, and its journal is made anew.
    """
    are_right(busy, "old", 1)
    shutil.rmtree(busy.bin.parent / "spool")
    time.sleep(2.5)  # it looks every two seconds
    calls = are_right(busy, "new", 1)
    busy.kill()
    assert calls + 3 == told(busy, "new", "old")


# Time, and company


def test_a_clock_that_is_set_back_a_day(home):
    """
    Files of tomorrow are taken up today, and rows are kept in the order of their arrival.
    """
    home.hooks(NO)
    calls = are_right(home, "tomorrow", 2, env=home.cold_env)
    ahead = time.time() + 86_400
    for file in (home.bin.parent / "spool").glob("*.jsonl"):
        os.utime(file, (ahead, ahead))
    with home.inside():
        ingest_spool(lambda _: None)
        assert [] == [file for file in files.spool_dir().glob("*.jsonl") if file.stat().st_size]
    calls += are_right(home, "tomorrow-then", 2)
    assert calls == told(home, "tomorrow")
    assert is_sound(home)


def test_two_daemons(busy):
    """
    The second one sees the lock and leaves; one that was started without it disturbs nobody.
    """
    python, _, package = (busy.bin / "interpreter").read_text(encoding="utf-8").splitlines()[:3]
    words = [python, "-I", "-S", f"{package}/hookonce/daemon/__main__.py", busy.bin]
    second = subprocess.run(words, env=busy.env, timeout=_LONG, check=False)
    assert (0, 1) == (second.returncode, len(busy.daemons()))

    with busy.inside():
        lock_path().unlink()  # somebody has cleaned up
    other = subprocess.Popen(words, env=busy.env)
    try:
        calls = are_right(busy, "two", 6)
        assert eventually(lambda: len(busy.daemons()) == 1, _LONG)  # the first one has no socket any more
        calls += are_right(busy, "two-then", 2)
    finally:
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert calls == told(busy, "two")
    assert is_sound(busy)


def test_a_storm_of_fifty_cold_processes(home):
    """
    All at once, and a look at the record meanwhile.
    """
    home.hooks(NO)
    asked = [(TOOL, payload("forbidden" if number % 2 else "ls", f"storm-{number}")) for number in range(50)]
    looks = subprocess.Popen(
        [sys.executable, "-m", "hookonce", "events", "--follow"], env={**os.environ, "HOME": str(home.home)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    try:
        endings = home.crowd(asked, at_once=50, env=home.cold_env)
    finally:
        looks.kill()
        looks.wait()
    for number, ending in enumerate(endings):
        assert refused(ending, "no") if number % 2 else ending == SILENT
    assert 50 == told(home, "storm")
    assert is_sound(home)


# Looking


def test_what_was_just_answered_is_shown(busy):
    """
    The daemon lives, and has not kept it yet.
    """
    before = int(cli(busy, "status", "--json").documents()[0]["record"]["records"])
    calls = are_right(busy, "now", 2)
    shown = cli(busy, "events", "--json")
    calls += are_right(busy, "then", 2)
    after = cli(busy, "status", "--json").documents()[0]["record"]["records"]

    assert all(f"now-{kind}{index}" in shown.out for kind in "abc" for index in range(2))
    assert calls <= after - before
