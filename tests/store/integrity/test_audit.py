"""The audit: whoever writes the database, but neither the keys nor the head file, is found out."""

# ruff: noqa: S608  our own words
import os
import sqlite3
from contextlib import closing, suppress
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce.errors import HookonceError
from hookonce.store import database, schema
from hookonce.store.entry import StoreEntry, build_entry
from hookonce.store.integrity import audit, chain, checkpoint, head_file, keys, tombstone
from hookonce.store.maintenance import erasure
from hookonce.store.schema import transaction
from hookonce.store.writer import Writer, read_chain_head
from tests.store.rows import UNAUDITED_TABLES, append, flaws, signed, stored, tampering, verified

COLUMNS = ("id", "time", "received", "type", "agent", "session", "subagent", "tool", "outcome", "model", "project", "path")

AUDITED = ["events", "head", "checkpoints", "tombstones"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of its own for each test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def ten():
    """Ten rows, of which the first six are signed; the ids."""
    with Writer() as writer:
        return signed(writer, 3) + signed(writer, 3) + append(writer, 4)


def query(text, *values):
    with closing(sqlite3.connect(database.database_file())) as connection:
        return connection.execute(text, values).fetchall()


def relinked(connection, first):
    """Compute the hashes of all rows from one on anew, and the head, as one would who knows how but has no key."""
    before = connection.execute("SELECT hash FROM events WHERE seq = ?", (first - 1,)).fetchone()
    before = before[0] if before else chain.GENESIS_HASH
    for seq, body in connection.execute("SELECT seq, body FROM events WHERE seq >= ? ORDER BY seq", (first,)).fetchall():
        before = chain.hash_row(seq, before, chain.digest_body(body))
        connection.execute("UPDATE events SET hash = ? WHERE seq = ?", (before, seq))
    last = connection.execute("SELECT max(seq) FROM events").fetchone()[0]
    connection.execute("UPDATE head SET seq = ?, hash = ?, count = ?", (last, before, last))


# What is right


def test_a_record_that_nobody_touched_is_right(ten):
    found = verified()
    assert (True, 10, 0, 0, [], []) == (found.ok, found.rows, found.removed, found.erased, found.flaws, found.notes)
    assert [(1, 6, "signed"), (7, 10, "chained only")] == [(one.first, one.last, one.state) for one in found.ranges]


def test_nothing_at_all_is_right_and_looking_makes_no_key(home):
    found = verified()
    assert (True, 0, [], []) == (found.ok, found.rows, found.notes, found.ranges)
    assert not keys.keys_dir().exists()


def test_whoever_waits_is_told_how_far_it_is(ten, monkeypatch):
    monkeypatch.setattr(audit, "_PROGRESS_ROWS", 4)
    told = []
    with closing(database.connect_reader()) as connection:
        audit.verify(connection, report_progress=lambda done, everything: told.append((done, everything)))
    assert [(4, 10), (8, 10)] == told


def test_somebody_who_appends_meanwhile_is_not_taken_for_one_who_cuts(ten, monkeypatch):
    """
    The head file is read first: when rows come after that, it is behind the rows and never before them.
    """
    monkeypatch.setattr(audit, "_PROGRESS_ROWS", 2)
    with Writer() as writer, closing(database.connect_reader()) as connection:
        wrong = audit.verify(connection, report_progress=lambda *_: append(writer, 1)).flaws
    assert [] == wrong


# Rows


@pytest.mark.parametrize("seq", [1, 4, 10])
def test_one_byte_of_a_body(ten, seq):
    tampering(f"UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'ls', 'rm') AS BLOB) WHERE seq = {seq}")
    assert [(seq, "the body is not what was written, or another row stood before it")] == flaws()
    assert ten[seq - 1] == verified().flaws[0].id


@pytest.mark.part(2)
@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_beside_a_body(ten, column):
    tampering(f"UPDATE events SET {column} = 'other' WHERE seq = 5")
    assert [(5, f"{column}: the column says something else than the body")] == flaws()


def test_times_that_were_set_back(ten):
    tampering("UPDATE events SET time = replace(time, '2026', '2025'), received = replace(received, '2026', '2025')")
    assert [(seq, "time, received: the column says something else than the body") for seq in range(1, 11)] == flaws()


@pytest.mark.parametrize(("seq", "wanted"), [(1, 1), (5, 5), (9, 9)])
def test_a_row_that_is_gone(ten, seq, wanted):
    tampering(f"DELETE FROM events WHERE seq = {seq}")
    assert (wanted, f"rows {seq} to {seq} are missing") in flaws()


def test_two_rows_that_changed_places(ten):
    tampering(
        "UPDATE events SET seq = 99 WHERE seq = 7", "UPDATE events SET seq = 7 WHERE seq = 8", "UPDATE events SET seq = 8 WHERE seq = 99"
    )
    assert {7, 8} <= {seq for seq, _ in flaws()}


def test_a_row_that_was_put_in_again_under_another_number(ten):
    """
    Even in a table that takes the same id twice, with hashes that fit.
    """
    with closing(sqlite3.connect(database.database_file(), isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL UNIQUE', 'NOT NULL') WHERE name = 'events'")
        connection.execute("DELETE FROM sqlite_schema WHERE name LIKE 'sqlite_autoindex_events%'")
    with closing(sqlite3.connect(database.database_file(), isolation_level=None)) as connection:
        connection.execute(f"INSERT INTO events SELECT 11, {', '.join(COLUMNS)}, body, erased, hash, mac FROM events WHERE seq = 2")
        relinked(connection, 11)
    found = flaws()
    assert (11, "the row was written by somebody without this machine's key") in found
    assert (0, "the table events of the database was built anew") in found


@pytest.mark.parametrize("first", [1, 5, 8, 10])
def test_everything_after_a_point_with_hashes_that_fit(ten, first):
    with closing(sqlite3.connect(database.database_file(), isolation_level=None)) as connection:
        body = connection.execute("SELECT body FROM events WHERE seq = ?", (first,)).fetchone()[0]
        connection.execute("UPDATE events SET body = ? WHERE seq = ?", (body.replace(b'"ls"', b'"rm"'), first))
        relinked(connection, first)
    found = flaws()
    assert all((seq, "the row was written by somebody without this machine's key") in found for seq in range(first, 11))
    assert (10, "the row is not the one that the head file knows") in found
    assert ((6, "the row is not the one that was signed") in found) is (first <= 6)


def test_a_body_that_somebody_else_took_away(ten):
    """
    Erasing needs the key: the hash in place of the body is not enough.
    """
    digest = sha256(query("SELECT body FROM events WHERE seq = 4")[0][0]).digest()
    tampering("UPDATE events SET body = ?, erased = 1 WHERE seq = 4", values=(digest,))
    assert [(4, "the row was written by somebody without this machine's key")] == flaws()


# The end


@pytest.mark.parametrize("left", [9, 8, 6, 3, 0])
def test_the_last_rows_with_the_head_set_back(ten, left):
    seq, known = query("SELECT seq, hash FROM events WHERE seq = ?", left)[0] if left else (0, chain.GENESIS_HASH)
    _cut(seq, known)
    assert (10, f"the record went to 10 and ends at {left}: its end was cut off") in flaws()


def _cut(seq, known):
    with closing(sqlite3.connect(database.database_file(), isolation_level=None)) as connection:
        connection.execute("DELETE FROM events WHERE seq > ?", (seq,))
        connection.execute("DELETE FROM checkpoints WHERE seq > ?", (seq,))
        connection.execute("UPDATE head SET seq = ?, count = ?, hash = ?", (seq, seq, known))


def test_the_last_row_without_the_head(ten):
    tampering("DELETE FROM events WHERE seq = 10")
    assert {"the record ends at 9, and its head says 10, or another row there"} < {what for _, what in flaws()}


def test_an_end_that_was_cut_off_is_not_forgotten_when_the_record_goes_on(ten):
    """
    Whoever appends sees that the row is not there that was there the last time, and keeps the old note.
    """
    _cut(*query("SELECT seq, hash FROM events WHERE seq = 7")[0])
    with Writer() as writer:
        for _ in range(9):
            append(writer, 1)
        checkpoint.sign_checkpoint(writer.connection)
    assert [(10, "the row is not the one that the head file knows")] == flaws()
    assert 10 == head_file.load_cuts()[0].seq


def test_a_database_that_was_taken_away_whole(ten):
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            database.database_file().with_name(f"events.db{suffix}").unlink()
    with Writer() as writer:
        append(writer, 2)
    found = flaws()
    assert (10, "the record went to 10 once, was cut off, and has gone on with other rows") in found


def test_a_head_that_is_behind_is_no_flaw(ten):
    """
    A process may be killed after its rows were kept and before it wrote down how far they go.
    """
    before = head_file.head_file().read_bytes()
    with Writer() as writer:
        append(writer, 3)
        head_file.head_file().write_bytes(before)
    assert [] == flaws()


def test_who_is_later_does_not_set_the_head_back(ten):
    with Writer() as writer:
        old = read_chain_head(writer.connection)
        append(writer, 2)
        head_file.write_head(old, None, writer.connection)
        head_file.write_head(old)
    assert 12 == head_file.read_head().seq


def test_a_head_file_of_somebody_else(ten):
    line = head_file.head_file().read_bytes()
    head_file.head_file().write_bytes(line.replace(b"10 ", b"09 "))
    assert [(10, "the head file is not what this machine's hookonce has written")] == flaws()


def test_a_head_file_that_is_gone_is_named_and_no_flaw(ten):
    head_file.head_file().unlink()
    found = verified()
    assert found.ok
    assert ["the head file is not there: whether rows were cut off after the last checkpoint cannot be told"] == found.notes


# Checkpoints and tombstones


@pytest.mark.parametrize("seq", [3, 6])
def test_a_checkpoint_that_is_gone(ten, seq):
    tampering(f"DELETE FROM checkpoints WHERE seq = {seq}")
    assert [(6, "a checkpoint is not the one that was signed, or the one before it is gone" if seq == 3 else "the checkpoint at row 6 is gone")] == flaws()


def test_a_checkpoint_that_was_signed_by_another_key(ten, tmp_path, monkeypatch):
    real = query("SELECT * FROM checkpoints WHERE seq = 6")
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    (tmp_path / "other").mkdir()
    name, key = keys.load_signing_key()
    monkeypatch.setenv("HOME", str(tmp_path))
    tampering("UPDATE checkpoints SET key = ?, signature = ? WHERE seq = 6", values=(name, key.sign(b"anything")))
    assert [(6, "a checkpoint is not the one that was signed, or the one before it is gone")] == flaws()
    assert real != query("SELECT * FROM checkpoints WHERE seq = 6")


@pytest.mark.parametrize("harm", ["hash = zeroblob(32)", "count = 7", "signed_at = '2026-01-01T00:00:00Z'"])
def test_a_checkpoint_of_which_something_was_changed(ten, harm):
    tampering(f"UPDATE checkpoints SET {harm} WHERE seq = 6")
    assert [(6, "a checkpoint is not the one that was signed, or the one before it is gone")] == flaws()


def test_rows_that_were_removed_under_a_tombstone_that_nobody_signed(ten):
    first, last = query("SELECT hash FROM events WHERE seq IN (2, 5) ORDER BY seq")
    values = (3, 5, 3, first[0], last[0], "2026-11-15T00:00:00Z", "retention", keys.load_signing_key()[0], bytes(64))
    with closing(sqlite3.connect(database.database_file(), isolation_level=None)) as connection:
        connection.execute("DELETE FROM events WHERE seq BETWEEN 3 AND 5")
        connection.execute("INSERT INTO tombstones VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
    found = flaws()
    assert (3, "rows 3 to 5 were removed, and not by us") in found
    assert (3, "rows 3 to 5 are missing") in found


def remove(writer, last):
    """Remove all rows up to that one, as retention does."""
    with transaction(writer.connection):
        tombstone.remove_rows(writer.connection, last, "retention")


@pytest.fixture
def buried(ten):
    """The same with the first four rows removed by us."""
    with Writer() as writer:
        remove(writer, 4)
    return ten


def test_rows_that_we_removed_are_told_apart(buried):
    found = verified()
    assert (True, 6, 4) == (found.ok, found.rows, found.removed)
    assert [(1, 4, "removed"), (5, 6, "signed"), (7, 10, "chained only")] == [(one.first, one.last, one.state) for one in found.ranges]


def test_a_tombstone_that_is_gone(buried):
    tampering("DELETE FROM tombstones")
    assert (1, "rows 1 to 4 are missing") in flaws()


def test_rows_that_came_back_after_they_were_removed(ten):
    old = query("SELECT * FROM events WHERE seq = 4")[0]
    with Writer() as writer:
        remove(writer, 4)
    tampering(f"INSERT INTO events VALUES ({', '.join('?' * len(old))})", values=old)
    assert flaws()


@pytest.mark.parametrize("harm", ["DELETE FROM events WHERE seq = 2", "UPDATE events SET agent = 'other' WHERE seq = 2"])
def test_what_was_changed_is_not_forgotten_when_its_rows_go(ten, harm):
    tampering(harm)
    with Writer() as writer:
        remove(writer, 4)
    assert (1, "rows 1 to 4 were removed, though not all of it was what was written") in flaws()


def test_rows_that_were_gone_before_they_were_removed_are_counted(ten):
    tampering("DELETE FROM events WHERE seq = 2")
    with Writer() as writer:
        remove(writer, 4)
    assert (1, "rows 1 to 4 were removed, and there were only 3 of them") in flaws()


def test_a_tombstone_of_another_past(ten):
    """
    One that we have signed in another state of the record does not fit what stood before it here.
    """
    with Writer() as writer:
        remove(writer, 2)
        remove(writer, 4)
        removal = replace(tombstone.load_tombstones(writer.connection)[1], previous_hash=bytes(32))
    signature = keys.load_signing_key()[1].sign(tombstone._signature_text(removal))
    tampering("UPDATE tombstones SET previous_hash = ?, signature = ? WHERE first = 3", values=(removal.previous_hash, signature))
    assert [(3, "what stands before a removed part is not what stood there")] == flaws()


def test_all_rows_may_be_removed(ten):
    with Writer() as writer:
        remove(writer, 10)
        assert verified().ok
        append(writer, 2)
    found = verified()
    assert (True, 2, 10) == (found.ok, found.rows, found.removed)


# Keys


def test_what_old_keys_have_signed_still_counts(ten):
    old = keys.load_signing_key()[0]
    keys.rotate_signing_key()
    with Writer() as writer:
        signed(writer, 2)
    assert keys.load_signing_key()[0] != old
    assert [(old, False), (keys.load_signing_key()[0], True)] == [(one.name, one.signs) for one in keys.list_signing_keys()]
    assert verified().ok
    names = ["hash", "mark", "sign-0001.pub", "sign-0002", "since-0001", "since-0002"]
    assert names == sorted({path.name for path in keys.keys_dir().iterdir()} | {"hash"})


def test_a_key_that_is_gone_is_named_once(ten):
    (keys.keys_dir() / "mark").unlink()
    assert [(0, "the key that marks rows is not there: whether this machine has written them cannot be told")] == flaws()
    assert not (keys.keys_dir() / "mark").exists()


def test_keys_that_others_can_read_are_named(ten):
    (keys.keys_dir() / "mark").chmod(0o644)
    found = verified()
    assert found.ok
    assert [f"{keys.keys_dir() / 'mark'} can be read or written by others"] == found.notes


# Anything


def test_bytes_of_the_file_itself(ten):
    with Writer() as writer:
        writer.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw = bytearray(database.database_file().read_bytes())
    place = raw.rindex(b"/w/")  # in a body or in an index
    raw[place] ^= 1
    database.database_file().write_bytes(raw)
    assert flaws()


@pytest.mark.parametrize(
    "harm",
    [
        "DROP INDEX events_by_session",
        "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events WHERE seq = new.seq; END",
        "DROP TABLE checkpoints",
        "DELETE FROM head",
        "UPDATE events SET id = CAST(x'ff' AS TEXT) WHERE seq = 3",
        "UPDATE events SET seq = -5 WHERE seq = 3",
        "PRAGMA user_version = 9",
        "ALTER TABLE events RENAME TO others",
    ],
)
def test_a_database_that_was_built_otherwise_is_told_and_stops_nothing(ten, harm):
    tampering(harm)
    assert flaws()


def test_a_rewritten_record_is_told_in_as_many_lines_as_can_be_read(ten, monkeypatch):
    monkeypatch.setattr(audit, "_MAX_FLAWS", 3)
    tampering("UPDATE events SET agent = 'other'")
    found = verified()
    assert (3, 7) == (len(found.flaws), found.more)


def test_every_table_is_audited_or_named_as_outside_of_the_promise():
    tables = {name for kind, name, *_ in schema.load_expected_schema(schema.VERSION) if kind == "table"}
    assert tables == {*AUDITED} | UNAUDITED_TABLES


def _everything():
    """A store with rows that are signed, erased, removed and neither."""
    with Writer() as writer:
        names = signed(writer, 3) + signed(writer, 4)
        remove(writer, 2)
        erasure.erase_records(writer, names[3:4])
        append(writer, 2)
        writer.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Its home, made once: each example puts the database back."""
    home, before = tmp_path_factory.mktemp("whole"), os.environ["HOME"]
    os.environ["HOME"] = str(home)
    _everything()
    os.environ["HOME"] = before
    return home


def _put_back(sound):
    database.database_file().write_bytes(sound)
    for suffix in ("-wal", "-shm"):
        database.database_file().with_name(f"events.db{suffix}").unlink(missing_ok=True)


def _content():
    with closing(sqlite3.connect(database.database_file())) as connection:
        connection.text_factory = bytes
        return [connection.execute(f"SELECT * FROM {table}").fetchall() for table in AUDITED]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_any_bit_of_the_file_is_found_or_changes_no_record(whole, monkeypatch, place, bit):
    monkeypatch.setenv("HOME", str(whole))
    sound, before = database.database_file().read_bytes(), _content()
    raw = bytearray(sound)
    raw[int(place * len(raw))] ^= 1 << bit
    try:
        _put_back(bytes(raw))
        with suppress(HookonceError), closing(database.open_reader()) as connection:
            assert not audit.verify(connection).ok or before == _content()
    finally:
        _put_back(sound)


VALUES = st.one_of(st.none(), st.integers(-5, 20), st.text(max_size=12), st.binary(max_size=70), st.just(bytes(32)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=150)
@given(data=st.data())
def test_any_change_of_any_cell_is_found(whole, monkeypatch, data):
    monkeypatch.setenv("HOME", str(whole))
    sound = database.database_file().read_bytes()
    try:
        table = data.draw(st.sampled_from(AUDITED))
        columns = [row[1] for row in query(f"PRAGMA table_info({table})")]
        column = data.draw(st.sampled_from(columns))
        row = data.draw(st.sampled_from(query(f"SELECT rowid FROM {table}")))[0]
        before, new = query(f"SELECT {column} FROM {table}"), data.draw(VALUES)
        with suppress(sqlite3.IntegrityError):
            tampering("PRAGMA ignore_check_constraints = ON", f"UPDATE {table} SET {column} = ? WHERE rowid = {row}", values=(new,))
        assume(before != query(f"SELECT {column} FROM {table}"))
        assert flaws()
    finally:
        _put_back(sound)



def test_a_record_that_we_wrote_and_cannot_read_is_told(ten):
    """
    A newer hookonce may have written it: its link and its mark are right, and nothing more can be said.
    """
    with Writer() as writer:
        known = build_entry(stored())
        writer.append([StoreEntry(known.record, known.body.replace(b'"deny"', b'"later"'))])
    assert [(11, "the record cannot be read by this hookonce, so that its columns cannot be compared with it")] == flaws()
