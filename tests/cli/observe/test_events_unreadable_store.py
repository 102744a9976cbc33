"""What is said where files are not there, or the record cannot be read."""

import json
import shlex
import sqlite3
from contextlib import closing

import pytest

from hookonce.store import database, schema
from hookonce.store.spool import files, overlay
from hookonce.store.status import load_store_summary
from tests.cli.command import PAYLOAD, run
from tests.cli.recorded_home import remember, story


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home in which something has happened."""
    return remember(tmp_path, monkeypatch)


def test_a_file_that_cannot_be_imported_is_no_line(home):
    ran = run("events", "import", "nofile", cwd=home, HOME=str(home))

    assert (1, "") == (ran.code, ran.out)
    assert [
        "cannot read nofile: No such file or directory",
        "1 file could not be read; name files with one event per line, or - for stdin",
    ] == ran.complaints()


def test_the_other_files_are_imported_all_the_same(home):
    exported = run("events", "export", "--out", home / "out.jsonl", HOME=str(home))
    ran = run("events", "import", "nofile", "out.jsonl", cwd=home, HOME=str(home))

    assert (0, 1) == (exported.code, ran.code)
    assert ran.out.startswith("0 events imported, of ")


def test_the_name_of_a_format_is_looked_at_first(home):
    ran = run("events", "import", "nofile", "--from", "nothing", HOME=str(home))

    assert (64, "") == (ran.code, ran.out)
    assert "nofile" not in ran.err


def test_an_export_names_the_folder_that_has_to_be_made(home):
    (home / "a").mkdir()
    missing = run("events", "export", "--out", "not there/x.jsonl", cwd=home, HOME=str(home))
    folder = run("events", "export", "--out", "a", cwd=home, HOME=str(home))

    assert ["cannot write not there/x.jsonl: there is no folder not there. Next: mkdir -p 'not there'"] == missing.complaints()
    assert (1, ["cannot write a: that is a folder; name a file in it"]) == (folder.code, folder.complaints())
    assert not list(home.glob("*.part"))


@pytest.mark.parametrize("trouble", ["damaged", "newer"])
def test_why_tells_what_is_wrong_with_the_record_and_looks_into_the_spool(home, trouble):
    """
    Nothing fails: what waits in the spool is found, and what is wrong is named.
    """
    if trouble == "newer":
        with sqlite3.connect(database.database_file()) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
    else:
        for file in database.database_file().parent.glob("events.db*"):
            file.write_bytes(b"x" * 9000)
    told = []

    refused = next(one for one in story() if one.decision is not None)
    assert files.append(refused)
    assert refused.event.id in [one.event.id for one in overlay.latest_records(report_problem=told.append)]
    assert refused.event.id == overlay.find_record(refused.event.id, told.append).event.id
    ran = run("why", HOME=str(home))

    word = {"newer": "written by a newer hookonce", "damaged": "cannot be read as a record of events"}[trouble]
    assert [True, True] == [word in text for text in told]
    assert (0, 1) == (ran.code, ran.err.count(word))
    assert "because it says" in ran.out
    assert word in load_store_summary().problem
    assert word in run("status", HOME=str(home)).out


# A home that cannot be written


@pytest.fixture
def shut(tmp_path):
    """A home in which the folder of our data cannot be made."""
    (tmp_path / ".local").write_text("in the way")
    return tmp_path


def test_where_nothing_can_be_written_doctor_status_events_and_audit_say_so(shut):
    told = f"{shut}/.local is no folder"

    doctor, status = run("doctor", HOME=str(shut)), run("status", HOME=str(shut))

    assert f"record: {told}: agents are answered, but their events are lost" in doctor.out
    assert f"{told}: agents are answered, but their events are lost" in status.out
    assert f"nothing is recorded: {told}\n" == run("events", HOME=str(shut)).out
    assert [f"{told}: new events are not recorded"] == run("audit", "verify", HOME=str(shut)).complaints()


def test_where_nothing_can_be_written_nothing_can_be_installed(shut):
    (shut / ".codex").mkdir()

    ran = run("install", "codex", HOME=str(shut))

    assert 1 == ran.code
    assert 1 == len(ran.complaints()), ran.err
    assert "Not a directory" in ran.err
    assert "internal error" not in ran.err


def test_settings_that_cannot_be_read_are_named_and_keep_nothing_out_of_the_record(home):
    (home / ".config/hookonce").mkdir(parents=True, exist_ok=True)
    (home / ".config/hookonce/config.toml").write_text("record = \n")
    files.append(story()[0])

    ran = run("events", HOME=str(home))

    assert 0 == ran.code
    assert ["config.toml cannot be read" in line for line in ran.complaints()] == [True]
    assert "no sum" not in ran.err
    assert "cannot be read" in run("status", HOME=str(home)).out


def test_prices_that_make_no_sense_are_named(home):
    (home / ".config/hookonce").mkdir(parents=True, exist_ok=True)
    (home / ".config/hookonce/prices.toml").write_text("[m]\ninput = 1\n")

    assert "prices.toml cannot be used: m needs input and output" in run("doctor", HOME=str(home)).out


@pytest.fixture(scope="module")
def newer(tmp_path_factory):
    """A home whose record a newer hookonce has gone on with."""
    with pytest.MonkeyPatch.context() as patch:
        home = remember(tmp_path_factory.mktemp("newer"), patch)
        set_version(99)
    return home


def set_version(number):
    with closing(sqlite3.connect(database.database_file())) as connection:
        connection.execute(f"PRAGMA user_version = {number}")


OPENING = ["events", "events --json", "events sql 'SELECT 1'", "events export", "events erase --session s1", "sessions", "show s1", "show last", "stats", "stats --rebuild", "cost", "audit verify", "audit checkpoint", "audit set-aside"]  # fmt: skip


@pytest.mark.part(2)
@pytest.mark.parametrize("words", OPENING)
def test_a_record_of_a_newer_hookonce_is_refused_in_one_sentence(newer, words):
    """
    Which says what to do; nothing of it is changed.
    """
    ran = run(*shlex.split(words), HOME=str(newer))

    assert (1, "") == (ran.code, ran.out)
    (sentence,) = ran.complaints()
    assert "the record was written by a newer hookonce (its version is 99, this one knows" in sentence
    assert "upgrade hookonce" in sentence


def test_calls_are_answered_below_a_record_of_a_newer_hookonce(home):
    """
    They wait in the spool, doctor says so once, and with the newer hookonce they are in the record.
    """
    set_version(99)
    payload = json.dumps(PAYLOAD | {"session_id": "meanwhile"}).encode()
    answered = run("on", "claude-code", "PreToolUse", given=payload, HOME=str(home))
    told = [run(word, HOME=str(home)).out.count("written by a newer hookonce") for word in ("doctor", "status")]
    set_version(schema.VERSION)
    found = run("events", "--session", "meanwhile", "--json", HOME=str(home)).documents()

    assert (0, "", "") == answered
    assert [1, 1] == told
    assert ["before_tool_execute"] == [one["event"]["type"] for one in found if one["event"]["agent"] == "claude-code"]
