"""What becomes of lines that were cut, notes that nobody completed, clocks that were wrong, and records that wait."""

import os
import sqlite3
import time
from contextlib import closing

import pytest
from msgspec.structs import replace

from hookonce.agents import reports_session_start
from hookonce.base import paths
from hookonce.inspect.store_access import open_store
from hookonce.model import Gap
from hookonce.sessions import recorder as recording
from hookonce.store import database
from hookonce.store.entry import build_entry
from hookonce.store.maintenance import erasure, quarantine
from hookonce.store.query import RecordFilter, find_records
from hookonce.store.spool import files, ingest
from hookonce.store.spool import journal as journals
from hookonce.store.spool.journal import SpoolJournal
from hookonce.store.writer import Writer
from tests.store.rows import expire_days, stored, verified


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of its own for each test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def noted(one):
    """Only that it happened."""
    gap = Gap(where="$.event", capability="record", strategy="later", effect="observes")
    return replace(one, gaps=[gap], decision=None)


def kept():
    with Writer() as writer:
        return {one.event.id: one for one in find_records(writer.connection, RecordFilter())}


def folded():
    with Writer() as writer:
        return ingest.ingest_spool(writer.append)


# Lines


def test_half_a_line_is_no_damage_and_spoils_nothing():
    """
    Whoever was killed in writing has answered nobody; the lines above are what they were.
    """
    one, other = stored(1), stored(2)
    log = SpoolJournal()
    log.append(one)
    log.close()
    path = next(files.spool_dir().iterdir())
    path.write_bytes(path.read_bytes() + b"2 0123456789abcdef")

    assert ingest.IngestResult(1, 0) == folded()
    assert {one.event.id} == set(kept())
    files.append(other)


def test_what_is_written_below_half_a_line_can_be_read():
    """
    The first line of a cold call found no room for all of it; a moment later there was some.
    """
    one = stored(1)
    files.spool_dir().mkdir(parents=True)
    (files.spool_dir() / f"{one.event.id}.jsonl").write_bytes(b"1 0123456789abcdef 01234")

    assert files.append(one)
    assert one == files.load_last_record(one.event.id)
    assert ingest.IngestResult(1, 0) == folded()


def test_a_record_that_could_not_be_written_is_counted_once_and_found_again(monkeypatch):
    """
    A note that found no room is no loss yet: the call goes the long way, and that counts.
    """
    log, one = SpoolJournal(), stored(1)
    monkeypatch.setattr(journals.os, "write", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    assert not log.append_placeholder(one.event.id, b"{}")
    assert 0 == files.lost_record_count()
    assert not log.append(one)
    assert 1 == files.lost_record_count()
    log.confirm_stored([one.event.id, "another"])
    assert 0 == files.lost_record_count()


def test_a_placeholder_that_could_not_be_written_is_no_loss(monkeypatch):
    """
    Its record follows, and is counted if that cannot be written either.
    """
    monkeypatch.setattr(files, "_append_line", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))

    assert (False, 0) == (files.append_placeholder(noted(stored(1))), files.lost_record_count())
    assert (False, 1) == (files.append(stored(1)), files.lost_record_count())


def test_losses_are_counted_elsewhere_where_our_folder_takes_nothing(monkeypatch):
    monkeypatch.setattr(files, "_loss_file", lambda: paths.data_dir() / "not there" / "lost")
    files.fallback_loss_file().unlink(missing_ok=True)  # of a home that had the same path
    files.count_lost_record()
    files.count_lost_record()
    assert 2 == files.lost_record_count() == files.fallback_loss_file().stat().st_size
    files.count_lost_record(-1)
    assert 1 == files.lost_record_count()


def test_a_journal_that_was_taken_away_is_made_anew():
    log, one = SpoolJournal(), stored(1)
    log.append(stored(0))
    next(files.spool_dir().iterdir()).unlink()
    log.refresh()
    log.append(one)
    log.close()

    assert [one] == list(files.load_records())


@pytest.mark.parametrize("durability", ["normal", "full"])
def test_only_full_durability_waits_for_the_disk(home, monkeypatch, durability):
    """
    In the daemon's journal and in a file of a cold call, before anybody is told that it was written.
    """
    config = home / ".config" / "hookonce" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'durability = "{durability}"\n', encoding="utf-8")
    synced = []
    monkeypatch.setattr(files.os, "fdatasync", synced.append)
    log = SpoolJournal()
    log.append(stored(0))
    assert bool(synced) == (durability == "full")
    before = len(synced)
    log.append(stored(1))
    files.append(stored(2))
    assert (before + 2 if durability == "full" else 0) == len(synced)


# Notes


def test_notes_hold_up_nothing_else_and_the_journal_of_one_who_is_gone_not_for_long():
    """
    What is known in full is kept at once; nobody completes a note of a daemon that was killed.
    """
    whole, note = stored(1), noted(stored(2))
    log = SpoolJournal()
    log.append(whole)
    log.append_placeholder(note.event.id, build_entry(note).body)
    log.close()
    path = next(files.spool_dir().iterdir())

    assert ingest.IngestResult(1, 0, 1) == folded()
    assert {whole.event.id} == set(kept())
    assert path.exists()
    os.utime(path, (time.time() - 5,) * 2)
    assert ingest.IngestResult(1, 0, 0) == folded()
    assert {whole.event.id, note.event.id} == set(kept())
    assert not path.exists()


def test_of_two_files_about_one_call_the_one_that_tells_more_counts():
    one = stored(1)
    log = SpoolJournal()
    log.append_placeholder(one.event.id, build_entry(noted(one)).body)
    log.close()
    path = next(files.spool_dir().iterdir())
    files.append(one)
    os.utime(path, (1, 1))
    folded()

    assert [] == kept()[one.event.id].gaps


def test_a_note_of_tomorrow_is_not_waited_for_until_then():
    """
    The clock was set back a day.
    """
    one = noted(stored(1))
    files.append(one)
    path = next(files.spool_dir().iterdir())
    os.utime(path, (time.time() + 86_400,) * 2)

    assert ingest.IngestResult(1, 0, 0) == folded()


def test_a_note_and_what_takes_it_back_stand_in_one_file(monkeypatch):
    """
    Else the note would become a record of its own when its file is taken up.
    """
    monkeypatch.setattr(journals, "_ROTATE_BYTES", 1)
    log, one, other = SpoolJournal(), stored(1), stored(2)
    log.append_placeholder(one.event.id, build_entry(noted(one)).body)
    log.append(other)
    log.forget(one.event.id)
    log.close()
    for path in files.spool_dir().iterdir():
        os.utime(path, (1, 1))
    folded()

    assert {other.event.id} == set(kept())


# Full files


def test_a_full_file_goes_once_its_records_are_stored_and_is_not_read_again(monkeypatch):
    """
    Megabytes that the process knows already would be read while agents wait.
    """
    monkeypatch.setattr(journals, "_MAX_FILE_BYTES", 1)
    log, told = SpoolJournal(), [stored(number) for number in range(3)]
    log.append(told[0])
    log.append_placeholder(told[1].event.id, build_entry(noted(told[1])).body)
    log.append(told[2])  # the first file is full; what it notes will be completed in this one
    second = log.path
    (first,) = {*files.spool_dir().iterdir()} - {second}
    assert ingest.IngestResult() == folded()
    log.confirm_stored([told[0].event.id])
    assert first.exists()
    log.append(told[1])
    log.confirm_stored(one.event.id for one in told[1:])
    log.close()

    assert not first.exists()
    assert second.exists()


def test_full_files_of_a_store_that_cannot_be_written_are_left_to_others(monkeypatch):
    monkeypatch.setattr(journals, "_ROTATE_BYTES", 1)
    log, told = SpoolJournal(on_rotate=lambda: True), [stored(number) for number in range(3)]
    for one in told:
        log.append(one)

    assert ingest.IngestResult(2, 0) == folded()
    assert {one.event.id for one in told[:2]} == set(kept())


def test_a_process_that_ends_leaves_full_files_with_what_is_not_stored(monkeypatch):
    monkeypatch.setattr(journals, "_ROTATE_BYTES", 1)
    log, told = SpoolJournal(), [stored(number) for number in range(3)]
    for one in told:
        log.append(one)
    log.confirm_stored([told[0].event.id])
    log.close()

    assert ingest.IngestResult(2, 0) == folded()


# Looking


def test_what_waits_is_shown_beside_the_record_and_changes_nothing_of_it():
    first, second = stored(1), stored(2)
    with Writer() as writer:
        writer.append([build_entry(first)])
    files.append(second)
    told = []
    with closing(sqlite3.connect(database.database_file(), isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with open_store(told.append) as connection:
            shown = [one.event.id for one in find_records(connection, RecordFilter(last=5))]
            with pytest.raises(sqlite3.OperationalError):
                connection.execute("DELETE FROM main.events")
            with pytest.raises(sqlite3.OperationalError):
                connection.execute("DELETE FROM temp.spool_overlay")

    assert [first.event.id, second.event.id] == shown
    assert "cannot be written" in told[0]
    assert {first.event.id} == set(kept())


def test_a_record_of_which_nobody_can_say_what_follows_keeps_out_no_other(monkeypatch):
    """
    It is kept as it is, and nothing follows from it.
    """
    found = [stored(number, session=f"s{number}") for number in range(5)]
    usual = recording.derive_events

    def stumbles(state, record, *more):
        if record.event.session == "s3":
            raise KeyError("something that was never seen before")
        return usual(state, record, *more)

    monkeypatch.setattr(recording, "derive_events", stumbles)
    with Writer() as writer:
        assert 5 <= recording.Recorder(writer, reports_session_start).record([build_entry(one) for one in found])

    assert {one.event.id for one in found} <= set(kept())
    assert verified().ok
    assert "what follows from 1 records is not known" in paths.log_path().read_text(encoding="utf-8")


# A damaged record


def test_a_record_that_is_damaged_is_put_aside_with_all_that_can_be_read_taken_over():
    entries = [build_entry(stored(number)) for number in range(600)]
    with Writer() as writer:
        writer.append(entries)
    assert quarantine.find_damage() is None
    with database.database_file().open("r+b") as pages:
        pages.seek(4096 * 40)
        pages.write(os.urandom(4096 * 2))
    assert quarantine.find_damage() is not None

    made = quarantine.quarantine_database("a test")

    assert quarantine.find_damage() is None
    assert verified().ok
    found = kept()
    assert made.taken == len(set(found) & {one.record.event.id for one in entries})
    assert 500 < made.taken < 600 == made.rows
    assert quarantine.QUARANTINE_EVENT in {one.event.type for one in found.values()}


def test_what_somebody_else_put_into_a_record_is_not_taken_over():
    with Writer() as writer:
        writer.append([build_entry(stored(number)) for number in range(5)])
        writer.connection.execute("UPDATE events SET mac = zeroblob(32) WHERE seq = 3")

    assert 4 == quarantine.quarantine_database("a test").taken


def left_out():
    """What the record says of rows that were not taken over: the numbers, and why."""
    one = next(one for one in kept().values() if one.event.type == quarantine.QUARANTINE_EVENT)
    return one.event.data["left"]


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), '\"native\":\"ls\"', '\"native\":\"rm\"') AS BLOB) WHERE seq = 3",
        "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'deny', 'deni') AS BLOB) WHERE seq = 3",
        "UPDATE events SET mac = zeroblob(32) WHERE seq = 3",
        "UPDATE events SET hash = zeroblob(32) WHERE seq = 3",
        "UPDATE events SET tool = 'other' WHERE seq = 3",
    ],
)
def test_a_row_that_was_changed_is_left_aside_and_named_for_ever(statement):
    with Writer() as writer:
        writer.append([build_entry(stored(number)) for number in range(5)])
        writer.connection.execute(statement)

    made = quarantine.quarantine_database("a test")

    assert (4 if "hash" not in statement else 3) == made.taken
    assert 3 in {one["first"] for one in left_out()}
    found = verified()
    assert not found.ok
    assert any("record 3" in flaw.what for flaw in found.flaws)
    assert any(made.folder in flaw.what for flaw in found.flaws)
    quarantine.quarantine_database("again")
    assert not verified().ok  # also when that one is put aside in its turn


def test_a_row_without_the_row_before_it_is_not_taken_over():
    """Only with the row before it can a body be compared with what was written."""
    with Writer() as writer:
        writer.append([build_entry(stored(number)) for number in range(6)])
        writer.connection.execute("DELETE FROM events WHERE seq = 3")
        writer.connection.execute("UPDATE events SET body = ? WHERE seq = 4", (build_entry(stored(9)).body,))

    made = quarantine.quarantine_database("a test")

    assert 4 == made.taken
    assert [(3, 3), (4, 4)] == [(one["first"], one["last"]) for one in left_out()]
    assert not verified().ok


def test_an_end_that_was_cut_off_stays_known_when_a_record_is_put_aside():
    with Writer() as writer:
        writer.append([build_entry(stored(number)) for number in range(6)])
        writer.connection.execute("DELETE FROM events WHERE seq > 4")

    assert (4, 6) == (quarantine.quarantine_database("a test").taken, 6)
    assert [(5, 6)] == [(one["first"], one["last"]) for one in left_out()]


def test_what_retention_removed_and_what_was_erased_is_nothing_that_is_missing():
    with Writer() as writer:
        old = [build_entry(stored(number, received="2026-01-01T00:00:00Z")) for number in range(3)]
        new = [build_entry(stored(number)) for number in range(3)]
        writer.append([*old, *new])
        assert expire_days(writer, "2026-06-01")
        erasure.erase_records(writer, [new[1].record.event.id])

    assert 2 == quarantine.quarantine_database("a test").taken
    assert [] == left_out()
    assert verified().ok
