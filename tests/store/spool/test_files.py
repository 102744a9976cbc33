"""The spool: what is known of an event stands in its last line, and a lost record is counted."""

import os
from itertools import count

import pytest
from msgspec.structs import replace

from hookonce.base import paths
from hookonce.base.spawn import fork
from hookonce.model import SCHEMA, Event, Gap, Record
from hookonce.secrets import log
from hookonce.store.privacy.redact import redact
from hookonce.store.spool import files, lookup


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of our own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


NUMBERS = count(1)


def stored(note=None, **more):
    """A record as it may be kept, later than those before it."""
    known = {"id": f"00000000-0000-7000-8000-{next(NUMBERS):012}", "schema": SCHEMA, "type": "session_start", "agent": "codex", "time": "2026-01-01T00:00:00Z"}
    event = Event(**known | {"time_source": "agent"} | more)
    return redact(Record(event=event, gaps=[Gap(where="$", note=note)] if note else []), "minimal")


def test_records_come_back_in_the_order_of_their_ids():
    """
    Each from a file of its own, which nobody else may read.
    """
    written = [stored(note=str(number)) for number in range(5)]
    assert [True] * 5 == [files.append(record) for record in written]

    assert written == list(files.load_records())
    assert {0o600} == {file.stat().st_mode & 0o777 for file in files.spool_dir().iterdir()}


def test_what_is_known_later_stands_below_and_counts():
    """
    Lines are numbered, and none is ever changed.
    """
    first = stored(note="first")
    second = replace(first, gaps=[Gap(where="$", note="second")])
    files.append(first)
    files.append(second)
    (file,) = files.spool_dir().iterdir()

    assert [b"1", b"2"] == [line.split()[0] for line in file.read_bytes().splitlines()]
    assert [second] == list(files.load_records())
    assert second == files.load_last_record(first.event.id)


@pytest.mark.parametrize("harm", [lambda line: line[:-20], lambda line: line.replace(b"codex", b"xedoc"), lambda _: b"", lambda _: b"\xff x"])
def test_a_line_that_was_harmed_does_not_count(harm):
    """
    What stood above it counts then, and the other files as ever.
    """
    first, other = stored(note="first"), stored(note="other")
    files.append(first)
    files.append(other)
    files.append(replace(first, gaps=[]))
    file = files.spool_dir() / f"{first.event.id}.jsonl"
    above, below = file.read_bytes().splitlines()
    file.write_bytes(above + b"\n" + harm(below))

    assert [first, other] == list(files.load_records())


def test_twenty_at_once_write_twenty_lines():
    """
    Nobody writes into another's line.
    """
    record = stored()
    children = []
    for number in range(20):
        if not (pid := fork()):
            files.append(replace(record, gaps=[Gap(where="$", note=f"{number}" * 5000)]))
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    lines = (files.spool_dir() / f"{record.event.id}.jsonl").read_bytes().splitlines()

    assert list(range(1, 21)) == [int(line.split()[0]) for line in lines]
    assert all(files._parse_record(line) for line in lines)


def test_text_that_only_javascript_would_write_is_kept():
    """
    Half a character in a name is no reason to lose a record.
    """
    record = stored(model="\ud83d")
    files.append(record)

    assert ["\ud83d"] == [one.event.model for one in files.load_records()]


def test_a_disk_that_is_full_leaves_no_half_record_and_counts_the_loss(monkeypatch):
    """
    Nor does it harm what was written before.
    """
    known = stored()
    files.append(known)
    with monkeypatch.context() as patch:
        patch.setattr(files, "_append_line", half_of(files._append_line))
        assert [False, False] == [files.append(known), files.append(stored())]

    assert [known] == list(files.load_records())
    assert 1 == len([*files.spool_dir().iterdir()])
    assert (2, 0) == (files.lost_record_count(), (paths.data_dir() / "lost").stat().st_blocks)


def half_of(add):
    """A disk on which a line ends before its end."""

    class Line(bytes):
        def __radd__(self, number):
            raise OSError(28, "No space left on device")

    return lambda path, line: add(path, Line(line))


def test_a_spool_that_was_never_used_is_empty():
    """
    Nothing is made by looking.
    """
    assert ([], None, 0) == (list(files.load_records()), files.load_last_record("x"), files.lost_record_count())
    assert not paths.data_dir().exists()


def test_the_log_is_ours_alone_and_begins_anew_when_it_is_full(monkeypatch, home):
    """
    The one before is kept, the one before that is not; a link in its place is not followed.
    """
    monkeypatch.setattr(log, "_ROTATE_BYTES", 100)
    for number in range(10):
        log.write(f"line {number}", b"x" * 50)
    older = paths.log_path().with_suffix(".log.1")

    assert 0o600 == paths.log_path().stat().st_mode & 0o777
    assert "line 9" in paths.log_path().read_text() + older.read_text()
    assert paths.log_path().stat().st_size + older.stat().st_size < 600
    paths.log_path().unlink()
    paths.log_path().symlink_to(home / "elsewhere")
    log.write("x")
    assert not (home / "elsewhere").exists()


def test_a_line_of_the_log_never_fails():
    """
    Neither for what stands in it nor for where it should stand.
    """
    log.write("half a character \ud83d", b"\xff\n\n")
    assert "half a character \\ud83d" in paths.log_path().read_text(errors="replace")
    paths.log_path().unlink()
    paths.log_path().mkdir()
    log.write("x")
    assert [] == [*paths.log_path().iterdir()]


def test_the_beginning_of_a_spool_file_is_read_once(monkeypatch):
    """
    Whether it is a journal or the file of one event: there may be thousands of those.
    """
    folder = files.spool_dir()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "one.jsonl").write_text('{"event":{"id":"one"}}')
    looks = []
    monkeypatch.setattr(lookup, "_is_journal", lambda path: looks.append(path.name))
    index = lookup.SpoolIndex()
    for _ in range(3):
        index.find_record("another")

    assert ["one.jsonl"] == looks
