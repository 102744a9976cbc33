"""hookonce audit, and what is taken out of the record, brought in and erased."""

import json
import os
import sqlite3
from contextlib import closing

import pytest

from hookonce.__main__ import main
from hookonce.base import paths
from hookonce.store import database
from hookonce.store.entry import build_entry
from hookonce.store.integrity import chain, keys
from hookonce.store.spool import files
from hookonce.store.writer import Writer
from hookonce.translation import import_events
from hookonce.translation.pipeline import translate
from tests.cli.command import PAYLOAD
from tests.cli.setup.test_install import at_a_terminal
from tests.manifest.projects import house, put
from tests.store.rows import append, signed, stored, tampering, verified


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    return house(monkeypatch, tmp_path)


@pytest.fixture
def unattended(tmp_path):
    """The machine's owner lets scripts say yes."""
    put(tmp_path / "etc/config.toml", 'consent = "unattended"\n').chmod(0o644)


@pytest.fixture
def ten():
    with Writer() as writer:
        return signed(writer, 6) + append(writer, 4)


def hookonce(capsys, *words):
    """Run hookonce in this process; its exit code and what it said."""
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


# Audit


def test_a_sound_record(ten, capsys):
    code, out, err = hookonce(capsys, "audit", "verify")
    assert (0, "") == (code, err)
    assert ["records 1 to 6: signed", "records 7 to 10: chained only", "10 records: nothing was changed"] == out.splitlines()


def test_a_record_that_was_changed_says_which(ten, capsys):
    tampering("UPDATE events SET tool = 'other' WHERE seq = 4")
    code, out, _ = hookonce(capsys, "audit", "verify")
    assert (1, f"record 4 ({ten[3]}): tool: the column says something else than the body") == (code, out.splitlines()[0])
    assert "10 records: 1 flaw" == out.splitlines()[-1]


def test_the_same_as_json(ten, capsys):
    tampering("DELETE FROM events WHERE seq = 10")
    code, out, _ = hookonce(capsys, "audit", "verify", "--json")
    found = json.loads(out)
    assert (1, False, 9) == (code, found["ok"], found["rows"])
    assert {"seq", "what", "id"} == set(found["flaws"][0])
    assert {"first": 1, "last": 6, "state": "signed"} == found["ranges"][0]


def test_nothing_was_ever_kept(capsys):
    assert (0, "0 records: nothing was changed\n", "") == hookonce(capsys, "audit", "verify")
    assert not keys.keys_dir().exists()


def test_a_file_that_is_no_database(capsys):
    put(paths.data_dir() / "events.db", "this is no database" * 100)
    code, _, err = hookonce(capsys, "audit", "verify")
    assert (1, True) == (code, "cannot be read as a record of events" in err)


def test_what_still_lies_in_the_spool_is_part_of_the_record(capsys):
    files.append(stored())
    code, out, _ = hookonce(capsys, "audit", "verify")
    assert (0, True) == (code, out.startswith("records 1 to "))


def test_a_checkpoint_by_hand(ten, capsys):
    name = keys.load_signing_key()[0]
    assert (0, f"all records up to 10 are signed with the key {name}\n", "") == hookonce(capsys, "audit", "checkpoint")
    assert (0, "nothing to do: all 10 records are signed already\n", "") == hookonce(capsys, "audit", "checkpoint")
    assert {"signed": 10, "new": False} == json.loads(hookonce(capsys, "audit", "checkpoint", "--json")[1])
    assert ["signed"] == [one.state for one in verified().ranges]


def test_keys_are_listed_and_only_a_person_begins_a_new_one(ten, capsys):
    code, out, _ = hookonce(capsys, "audit", "keys")
    assert (0, 1) == (code, len(out.splitlines()))
    code, _, err = hookonce(capsys, "audit", "keys", "--rotate")
    assert (1, True) == (code, "a person" in err)
    assert 1 == len(keys.list_signing_keys())


def test_a_new_key_signs_from_then_on(ten, unattended, capsys):
    old = keys.load_signing_key()[0]
    code, out, _ = hookonce(capsys, "audit", "keys", "--rotate", "--json")
    assert (0, [(old, False), (keys.load_signing_key()[0], True)]) == (code, [(one["name"], one["signs"]) for one in json.loads(out)])
    hookonce(capsys, "audit", "checkpoint")
    assert verified().ok


# Out, and in again


def exported(capsysbinary, *words):
    assert 0 == events("export", *words)
    return capsysbinary.readouterr().out


def events(*words):
    """Run a verb of `events`; its exit code."""
    return main(["events", *map(str, words)])


def test_an_export_holds_the_very_bytes_that_were_hashed(ten, capsysbinary):
    rows = [json.loads(line) for line in exported(capsysbinary).splitlines()]
    before = chain.GENESIS_HASH
    for line in sorted(exported(capsysbinary).splitlines(), key=lambda one: json.loads(one)["seq"]):
        body, _, tail = line.rpartition(b',"seq":')
        told = json.loads(b'{"seq":' + tail)
        before = chain.hash_row(told["seq"], before, chain.digest_body(body + b"}"))
        assert before.hex() == told["hash"]
    assert set(ten) == {row["event"]["id"] for row in rows}


def test_an_export_into_a_file_is_for_nobody_else(ten, tmp_path, capsysbinary):
    assert b"" == exported(capsysbinary, "--out", tmp_path / "out.jsonl", "--agent", "codex", "--last", "3")
    assert (3, 0o600) == (len((tmp_path / "out.jsonl").read_text().splitlines()), (tmp_path / "out.jsonl").stat().st_mode & 0o777)
    assert ["out.jsonl"] == [path.name for path in tmp_path.glob("out*")]
    assert 1 == events("export", "--out", tmp_path / "none" / "out.jsonl")
    assert b"cannot write" in capsysbinary.readouterr().err


def test_lines_of_one_event_are_told_from_events_that_were_there(home, tmp_path, capsys):
    """A written file is an event of its own in OpenHook, and part of the call that wrote it here."""
    payload = {"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Write", "tool_input": {"file_path": "/a", "content": "b"}, "tool_response": {}}
    documents = [document for _ in "ab" for document in translate(payload, "claude-code", "openhook")]
    file = put(tmp_path / "written.jsonl", "".join(json.dumps(document) + "\n" for document in documents))

    for notes in ("", "; 2 events recorded before"):
        assert 0 == events("import", file)
        kept = "0 events" if notes else "2 events"
        assert f"{kept} imported, of 4 lines; 2 lines merged into the events that they belong to{notes}\n" == capsys.readouterr().out


def test_an_id_that_repeats_in_a_file_was_not_there_before(home, tmp_path, capsys, monkeypatch):
    """In one batch as in several, and told from what the record has had."""
    document = {"openhook": "0.1", "source": "cursor", "type": "session.end", "time": "2026-02-23T10:15:30Z", "session_id": "s"}
    lines = [json.dumps(document | {"id": name}) + "\n" for name in "abacab"]
    old, file = put(tmp_path / "old.jsonl", lines[1]), put(tmp_path / "new.jsonl", "".join(lines))
    for size in (500, 1):
        monkeypatch.setattr(import_events, "_BATCH_EVENTS", size)
        (tmp_path / str(size)).mkdir()
        monkeypatch.setenv("HOME", str(tmp_path / str(size)))
        assert 0 == events("import", old)
        assert "1 event imported, of 1 line\n" == capsys.readouterr().out
        assert 0 == events("import", file)
        notes = "2 events recorded before; 2 events left out, because their id repeats in the file"
        assert f"2 events imported, of 6 lines; {notes}\n" == capsys.readouterr().out


def test_what_was_exported_is_imported_once(ten, tmp_path, home, monkeypatch, capsysbinary):
    text = exported(capsysbinary)
    file = put(tmp_path / "all.jsonl", text)
    assert 0 == events("import", file)
    assert b"0 events imported, of 10 lines; 10 events recorded before\n" == capsysbinary.readouterr().out
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    for kept in (10, 0):
        assert 0 == events("import", *[file, file] if kept else [file])
        assert f"{kept} events imported".encode() in capsysbinary.readouterr().out
    again = [json.loads(line) for line in exported(capsysbinary).splitlines()]
    for line, one in zip(text.splitlines(), again, strict=True):
        first = json.loads(line)
        assert ["import"] == one["event"].pop("origin")["via"]
        assert {**first, "seq": 0, "hash": ""} == {**one, "seq": 0, "hash": ""}
    assert verified().ok


def test_lines_of_any_agent_and_format_are_imported_and_bad_ones_told(tmp_path, capsys):
    event = translate(PAYLOAD, "claude-code", "openhook")[0]
    file = put(tmp_path / "mixed.jsonl", "\n".join([json.dumps(PAYLOAD), json.dumps(event), "{", "5", '{"what": 1}']))
    assert 1 == events("import", file)
    out, err = capsys.readouterr()
    assert "2 events imported, of 5 lines\n" == out
    assert [f"hookonce: {file}:{number}" for number in (3, 4, 5)] == [line.rpartition(":")[0][: len(f"hookonce: {file}:3")] for line in err.splitlines()[:3]]
    assert 1 == events("import", file)
    assert "0 events imported" in capsys.readouterr().out


def test_what_is_imported_is_kept_at_our_own_level(tmp_path, home, capsys):
    loud = json.dumps({"event": json.loads(build_entry(stored(prompt="a whole secret sentence")).body)["event"], "level": "full"})
    file = put(tmp_path / "loud.jsonl", loud)
    events("import", file)
    with closing(sqlite3.connect(database.database_file())) as connection:
        body = connection.execute("SELECT body FROM events").fetchone()[0]
    assert b"secret sentence" not in body
    assert "minimal" == json.loads(body)["level"]


def test_a_file_that_is_not_there_is_told_and_the_next_is_read(tmp_path, capsys):
    file = put(tmp_path / "one.jsonl", json.dumps(PAYLOAD))
    assert 1 == events("import", tmp_path / "none", file)
    out, err = capsys.readouterr()
    assert ("1 event imported, of 1 line\n", True) == (out, "cannot read" in err)


def test_many_lines_come_in_several_steps(tmp_path, capsys):
    lines = "\n".join(json.dumps(PAYLOAD | {"session_id": f"s{number}"}) for number in range(1200))
    assert 0 == events("import", put(tmp_path / "many.jsonl", lines))
    assert "1,200 events imported, of 1,200 lines\n" == capsys.readouterr().out
    assert verified().ok


# Erased


def test_only_a_person_erases(ten, capsys):
    assert 1 == events("erase", ten[2])
    assert "a person" in capsys.readouterr().err
    assert 0 == verified().erased


def test_a_person_types_what_is_shown(ten, home):
    code, said = at_a_terminal(home, "events", "erase", ten[2], typed="nonsense")
    assert (1, True, 0) == (code, ten[2] in said, verified().erased)
    code, said = at_a_terminal(home, "events", "erase", ten[2])
    assert (0, True) == (code, "1 record erased" in said)
    found = verified()
    assert (True, 1) == (found.ok, found.erased)


def test_records_and_whole_sessions_are_erased(ten, unattended, capsys):
    assert 0 == events("erase", ten[1], ten[1])
    assert "1 record erased\n" == capsys.readouterr().out
    assert 0 == events("erase", "--session", "s0")
    assert "5 records erased\n" == capsys.readouterr().out
    assert 0 == events("erase", ten[1])
    assert "0 records erased\n" == capsys.readouterr().out
    found = verified()
    assert (True, 6) == (found.ok, found.erased)


def test_what_is_erased_is_not_exported(ten, unattended, capsysbinary):
    events("erase", ten[1])
    capsysbinary.readouterr()
    assert 9 == len(exported(capsysbinary, "--agent", "codex").splitlines())


def test_which_records_has_to_be_said_and_they_have_to_be_there(ten, unattended, capsys):
    for words in ([], [ten[0], "--session", "s0"]):
        assert 64 == events("erase", *words)
    assert 1 == events("erase", ten[0], "nobody")
    assert "no record is called nobody" in capsys.readouterr().err
    assert 0 == verified().erased


# Putting a record aside


def test_a_record_that_is_sound_is_not_put_aside(ten, unattended, capsys):
    code, _, err = hookonce(capsys, "audit", "set-aside")
    assert (1, True) == (code, "the record is not damaged" in err)
    assert 10 == verified().rows


def test_a_forged_record_is_not_called_sound_nor_taken_over(ten, unattended, capsys):
    body = build_entry(stored(5)).body
    with closing(sqlite3.connect(database.database_file(), isolation_level=None)) as connection:
        connection.execute("UPDATE events SET body = ? WHERE seq = 4", (body,))

    code, out, err = hookonce(capsys, "audit", "set-aside")

    assert 0 == code, err
    assert "not damaged" not in out + err
    assert "record 4: the body is not what was written" in out
    assert "9 of 10 records copied" in out
    code, out, _ = hookonce(capsys, "audit", "verify")
    assert (1, True) == (code, "record 4 of the record that was put aside" in out)


def test_an_old_key_is_as_old_as_it_was(ten, unattended, capsys):
    from hookonce.store.integrity import keys as kept

    [old], [note] = kept.keys_dir().glob("sign-*"), kept.keys_dir().glob("since-*")
    note.unlink()  # as with a key of before
    os.utime(old, (1_700_000_000, 1_700_000_000))
    hookonce(capsys, "audit", "keys", "--rotate")
    first, second = kept.list_signing_keys()
    assert ("2023-11-14T22:13:20.000Z", False, True) == (first.since, first.signs, second.signs)
    assert first.since < second.since
    for path in kept.keys_dir().glob("sign-*"):
        os.utime(path, (1, 1))  # as a copy of a home does
    assert (first, second) == tuple(kept.list_signing_keys())


def test_a_key_that_is_rotated_by_nobody_stays(ten, capsys):
    """Whoever says it with another verb is told so."""
    code, _, err = hookonce(capsys, "audit", "verify", "--rotate")
    assert (64, True) == (code, "audit keys --rotate" in err)
