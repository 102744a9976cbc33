"""The store, killed between every two of its steps: what was acknowledged is there, once, and the chain holds."""

import json
import os
import shutil
import sqlite3
from contextlib import closing
from itertools import count
from time import monotonic

import pytest
from msgspec.structs import replace

from hookonce.agents import reports_session_start
from hookonce.base import paths
from hookonce.base.event_loop import EventLoop
from hookonce.daemon import store_writer as keeping
from hookonce.inspect.store_access import ingest_spool
from hookonce.model import Decision, Gap, HookRun, Stored
from hookonce.sessions.recorder import Recorder
from hookonce.store import database, schema
from hookonce.store.entry import build_entry
from hookonce.store.integrity import audit, checkpoint
from hookonce.store.maintenance import erasure, retention
from hookonce.store.maintenance.rebuild import rebuild_summaries
from hookonce.store.spool import files
from hookonce.store.spool.journal import SpoolJournal
from hookonce.store.writer import Writer
from tests.integration.killing import lived
from tests.store.rows import DERIVED_TABLES, expire_days, stored

pytestmark = pytest.mark.integration
EVERY = int(os.environ.get("HOOKONCE_KILL_EVERY", "5"))  # which of the steps are died at: 1 is every one
_LATER = Gap(where="$.event", capability="record", strategy="later", effect="observes")


class House:
    """A home in which something was prepared, and copies of it in which somebody dies."""

    def __init__(self, folder, monkeypatch):
        self.folder, self._set, self._number = folder, monkeypatch.setenv, count()
        self.first = self.copy(None)

    def copy(self, of):
        """Live in a new home, as that one is."""
        here = self.folder / f"home{next(self._number)}"
        if of is None:
            here.mkdir()
        else:
            shutil.copytree(of, here)
        self._set("HOME", str(here))
        assert here == paths.home()
        return here


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A home of its own, and as many copies as are needed."""
    monkeypatch.setattr(keeping, "_QUIET_PERIOD_S", 0.001)
    return House(tmp_path, monkeypatch)


def killed(house, work, check):
    """Do a work once to its end, and then once for every step of it, at which it dies; how often it died."""
    house.copy(house.first)
    _, ending, steps = lived(work)
    assert 0 == ending
    unharmed = looked()
    check([], unharmed, None)
    times = 0
    for number in range(1, steps + 1, EVERY):
        here = house.copy(house.first)
        told, ending, taken = lived(work, number)
        if not ending and times and taken < number:  # it had less to wait for, and was done
            break
        assert -9 == ending, number
        found = looked()
        check(told, found, unharmed)
        assert set(told) <= set(found["ids"]), number
        lived(work)  # and whoever comes afterwards can go on
        check(told, looked(), unharmed)
        shutil.rmtree(here)
        times += 1
    return times


def looked():
    """The record as the next command sees it; the chain has to hold, and the sums to be those of the rows."""
    for file in files.spool_dir().glob("*.jsonl"):
        os.utime(file, (1, 1))  # nobody is about to say more
    trouble = []
    ingest_spool(trouble.append)
    assert [] == trouble
    with closing(database.open_reader()) as connection:
        found = audit.verify(connection)
        assert found.ok, [one.what for one in found.flaws]
        rows = connection.execute("SELECT id, type, body, erased FROM events ORDER BY seq").fetchall()
    return {
        "ids": [row[0] for row in rows],
        "kinds": {row[0]: row[1] for row in rows},
        "bodies": {row[0]: bytes(row[2]) for row in rows},
        "erased": sum(row[3] for row in rows),
        "removed": found.removed,
        "signed": sum(one.state == "signed" for one in found.ranges),
        "sums": sums(),
    }


def sums():
    """Every summary, row by row; times were added in another order perhaps."""
    with closing(database.open_reader()) as connection:
        found = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in sorted(DERIVED_TABLES)}  # noqa: S608
    return {
        name: [tuple(round(one, 6) if type(one) is float else one for one in row) for row in rows]
        for name, rows in found.items()
    }


def are_right(found, but=frozenset()):
    """Whether the summaries, but for some, are what counting again would say."""
    with Writer() as writer:
        rebuild_summaries(writer, lambda *_: None)
    again = sums()
    return {name for name in again if found["sums"][name] != again[name]} <= {*but}


def follows(found, unharmed):
    """Nothing is there that would not be there without the kill; what follows from a record is there with it.

    A record that comes after its placeholder was stored repeats it.
    """
    events = {name: json.loads(body)["event"] for name, body in found["bodies"].items()}
    repeats = {name for name, event in events.items() if event.get("data", {}).get("repeat") and event["caused_by"] in unharmed["ids"]}
    assert set(found["ids"]) <= {*unharmed["ids"], *repeats}
    assert len(set(found["ids"])) == len(found["ids"])


def records(number, session="s1"):
    """Some records of a session, of which others follow: the same tool fails again and again."""
    found = []
    for index in range(number):
        one = stored(index, session=session)
        one = replace(one, decision=Decision(outcome="deny", reason="no"), runs=[HookRun(hook="h", duration_ms=2.0)])
        found.append(one)
    return found


def test_append(house):
    """
    A line of the journal, the answer, the rows, the head file, and the journal begins anew.
    """
    found = records(6)
    noted = Stored(event=found[5].event, gaps=[_LATER], level="minimal")

    def work(tell):
        loop = EventLoop()
        keeper = keeping.BackgroundStoreWriter(loop)
        journal = keeper.journal
        for one in found[:3]:
            assert journal.append(one)
            tell(one.event.id)
        _until_kept(loop, keeper)
        for one in found[3:5]:
            assert journal.append(one)
            tell(one.event.id)
        assert journal.append_placeholder(noted.event.id, build_entry(noted).body)
        tell(noted.event.id)
        journal.append(found[5])
        _until_kept(loop, keeper)
        keeper.close()
        journal.close()

    def check(_, now, unharmed):
        if unharmed is not None:
            follows(now, unharmed)
        assert are_right(now)

    assert killed(house, work, check) > 0


def _until_kept(loop, keeper):
    until = monotonic() + 10
    while keeper.status()["waiting"]:
        assert monotonic() < until, keeper.status()
        loop.run_once(0.05)


def test_fold(house):
    """
    Files of cold processes and the journal of a daemon that is gone: rows, then the files go.
    """
    found = records(4)
    for one in found[:2]:
        files.append(one)
    journal = SpoolJournal()
    for one in found[1:]:  # one is there twice
        journal.append(one)
    journal.close()
    names = {one.event.id for one in found}

    def work(_):
        with Writer() as writer:
            Recorder(writer, reports_session_start).ingest_spool()

    def check(_, now, unharmed):
        assert names <= set(now["ids"])
        if unharmed is not None:
            assert unharmed["ids"] == now["ids"]
        assert are_right(now)
        assert [] == list(files.spool_dir().glob("*.jsonl"))

    assert killed(house, work, check) > 0


def test_cold(house):
    """
    A process without a daemon writes a file of its own; what was acknowledged stands in it.
    """
    found = records(3)

    def work(tell):
        for one in found:
            files.append(Stored(event=one.event, gaps=[_LATER], level="minimal"))
            tell(one.event.id)
            files.append(one)

    def check(_, now, unharmed):
        assert len(set(now["ids"])) == len(now["ids"])
        assert unharmed is None or set(now["kinds"].values()) <= set(unharmed["kinds"].values())
        assert are_right(now)
        assert [] == list(files.spool_dir().glob("*.damaged"))

    assert killed(house, work, check) > 0


def test_retention(house, monkeypatch):
    """
    Days that are too old go, slice by slice; the others stay, and so do the sums of those that went.
    """
    monkeypatch.setattr(retention, "_BATCH_ROWS", 2)
    old = [build_entry(stored(n, received="2026-11-01T10:00:00Z", time="2026-11-01T10:00:00Z")) for n in range(5)]
    new = [build_entry(stored(n)) for n in range(3)]
    with Writer() as writer:
        writer.append(old)
        checkpoint.sign_checkpoint(writer.connection)
        writer.append(new)
    before, names = sums(), {one.record.event.id for one in new}

    def work(_):
        with Writer() as writer:
            expire_days(writer, "2026-11-10")

    def check(_, now, unharmed):
        assert names <= set(now["ids"])
        assert before == now["sums"]
        assert 8 == now["removed"] + len(now["ids"])
        if unharmed is None:
            assert 5 == now["removed"]

    assert killed(house, work, check) > 0


def test_checkpoint(house):
    """
    A signature is there, or it is not; the head file is never ahead.
    """
    with Writer() as writer:
        writer.append([build_entry(stored(n)) for n in range(3)])

    def work(_):
        with Writer() as writer:
            checkpoint.sign_checkpoint(writer.connection)
            writer.append([build_entry(stored(9, id="01a1dde4-3215-77eb-851b-eb5e5647ff91"))])
            checkpoint.sign_checkpoint(writer.connection)

    def check(_, now, unharmed):
        assert len(now["ids"]) in {3, 4}
        assert are_right(now)
        if unharmed is None:
            assert (1, 4) == (now["signed"], len(now["ids"]))

    assert killed(house, work, check) > 0


def test_erasure(house):
    """
    All of what was to be erased is, or nothing is; killed afterwards it is done again.
    """
    entries = [build_entry(replace(stored(n, session="gone"), level="minimal")) for n in range(3)]
    with Writer() as writer:
        writer.append([*entries, build_entry(stored(9))])
    names = [one.record.event.id for one in entries]

    def work(_):
        with Writer() as writer:
            erasure.erase_records(writer, names)

    def check(_, now, unharmed):
        assert now["erased"] in {0, 3}
        assert 4 == len(now["ids"])
        if unharmed is None or now["erased"] == 3:
            assert "gone" not in str(now["sums"])

    assert killed(house, work, check) > 0


def test_migration(house):
    """
    A database of the first version is the old one, or the new one; its bodies are the same bytes. Quarter hours are
    counted once somebody asks for that.
    """
    with Writer() as writer:
        writer.append([build_entry(stored(n)) for n in range(3)])
        checkpoint.sign_checkpoint(writer.connection)
    _first_version()
    with closing(sqlite3.connect(database.database_file())) as connection:
        bodies = dict(connection.execute("SELECT id, body FROM events").fetchall())

    def work(_):
        Writer().close()

    def check(_, now, unharmed):
        assert bodies == now["bodies"]
        assert are_right(now, {"quarter_counts", "quarter_hook_runs", "undivided_days"})

    assert killed(house, work, check) > 0


_DAYS = """INSERT INTO days SELECT substr(time, 1, 10), agent, coalesce(model, ''), coalesce(project, ''),
    coalesce(tool, ''), type, coalesce(outcome, ''), count(*), 0, 0, 0, 0, 0, 0 FROM main.events
    GROUP BY 1, 2, 3, 4, 5, 6, 7"""


def _first_version():
    """Make the database anew as the first hookonce would have made it."""
    place = database.database_file()
    new = place.with_name("old.db")
    with closing(sqlite3.connect(new, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS now", (str(place),))
        for statement in schema.MIGRATIONS[0]:
            connection.execute(statement)
        connection.execute("DELETE FROM head")
        for name in ("events", "head", "checkpoints", "tombstones", "sessions"):
            connection.execute(f"INSERT INTO main.{name} SELECT * FROM now.{name}")  # noqa: S608
        connection.execute("INSERT INTO main.hooks SELECT * FROM now.hook_runs")
        connection.execute(_DAYS)
        connection.execute("PRAGMA user_version = 1")
    for suffix in ("-wal", "-shm"):
        place.with_name(place.name + suffix).unlink(missing_ok=True)
    new.replace(place)
