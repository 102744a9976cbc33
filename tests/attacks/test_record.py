"""Attacks on the record: rows that are changed or kept out, texts that are left behind, decisions for another call."""

# ruff: noqa: S608  our own words
import json
import os
import signal
import sqlite3
from contextlib import closing, suppress
from time import sleep, time

import pytest

from hookonce.__main__ import main
from hookonce.base import ids, sealing
from hookonce.base.runtime_dir import runtime_file
from hookonce.cli.observe import event_verbs
from hookonce.cli.setup import purge
from hookonce.dispatch import dedup
from hookonce.handlers.operation import run_blocking
from hookonce.model import Record, Reply, Result, Tool
from hookonce.secrets.detect import mask_secrets
from hookonce.secrets.mask import mask_json
from hookonce.store import database, schema
from hookonce.store.entry import build_entry
from hookonce.store.integrity import checkpoint
from hookonce.store.integrity.write_guard import StoreTamperError
from hookonce.store.maintenance import erasure, retention
from hookonce.store.privacy.redact import redact
from hookonce.store.spool import files, overlay
from hookonce.store.spool.ingest import ingest_spool
from hookonce.store.writer import Writer
from tests.daemon.conftest import installed, shelf
from tests.daemon.installed_home import TOOL, Home, command, refused
from tests.dispatch.event_factory import event
from tests.handlers.processes import eventually
from tests.secrets.material import PUBLISHED
from tests.secrets.material import written as published
from tests.store.rows import append, flaws, signed, stored, tampering, verified

__all__ = ["installed", "shelf"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of its own for each test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def writer():
    """A writer that stays open, as the daemon's does, with ten rows of which six are signed."""
    with Writer() as writer:
        signed(writer, 3)
        signed(writer, 3)
        append(writer, 4)
        yield writer


@pytest.fixture
def warm(home, installed):
    """The same with the client in it, and a daemon."""
    found = Home(home, installed)
    found.warm()
    yield found
    found.house.mkdir(mode=0o700, parents=True, exist_ok=True)
    found.end()


# What is changed in the database, by somebody who has neither the keys nor the head file

_LAST_HASH = "(SELECT hash FROM events WHERE seq = 7)"
TAMPERING = {
    "a body": ["UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'ls', 'rm') AS BLOB) WHERE seq = 4"],
    "an empty body": ["UPDATE events SET body = x'' WHERE seq = 4"],
    "a time": ["UPDATE events SET time = '2025-01-01T00:00:00Z' WHERE seq = 4"],
    "a type": ["UPDATE events SET type = 'session_start' WHERE seq = 4"],
    "an agent": ["UPDATE events SET agent = 'other' WHERE seq = 4"],
    "a session": ["UPDATE events SET session = 'other' WHERE seq = 4"],
    "a decision": ["UPDATE events SET outcome = 'allow' WHERE seq = 4"],
    "an id": ["UPDATE events SET id = 'other' WHERE seq = 4"],
    "a hash": ["UPDATE events SET hash = zeroblob(32) WHERE seq = 4"],
    "a mark": ["UPDATE events SET mac = zeroblob(32) WHERE seq = 4"],
    "a record gone": ["DELETE FROM events WHERE seq = 4"],
    "the end gone": ["DELETE FROM events WHERE seq > 7", f"UPDATE head SET seq = 7, count = 7, hash = {_LAST_HASH}"],
    "everything gone": ["DELETE FROM events", "DELETE FROM checkpoints", "UPDATE head SET seq = 0, count = 0, hash = zeroblob(32)"],
    "a record twice": ["CREATE TABLE c AS SELECT * FROM events WHERE seq = 4", "UPDATE c SET seq = 11, id = 'x'", "INSERT INTO events SELECT * FROM c", "DROP TABLE c"],
    "two exchanged": ["UPDATE events SET seq = -4 WHERE seq = 4", "UPDATE events SET seq = 4 WHERE seq = 5", "UPDATE events SET seq = 5 WHERE seq = -4"],
    "a checkpoint gone": ["DELETE FROM checkpoints WHERE seq = 3"],
    "the last checkpoint gone": ["DELETE FROM checkpoints WHERE seq = 6"],
    "a checkpoint moved": ["UPDATE checkpoints SET seq = 5 WHERE seq = 6"],
    "a tombstone of their own": [
        f"INSERT INTO tombstones SELECT 1, 3, 3, zeroblob(32), hash, '2026-11-15T00:00:00Z', 'retention', '{'0' * 16}', zeroblob(64) FROM events WHERE seq = 3",
        "DELETE FROM events WHERE seq <= 3",
    ],
    "an erasure of their own": ["UPDATE events SET erased = 1, body = zeroblob(32), session = NULL WHERE seq = 4"],
    "the head": ["UPDATE head SET count = 12"],
    "no head": ["DELETE FROM head"],
    "an index gone": ["DROP INDEX events_by_time"],
    "a partial index": ["DROP INDEX events_by_session", "CREATE INDEX events_by_session ON events (session, time, seq) WHERE agent <> 'codex'"],
    "a unique index": ["CREATE UNIQUE INDEX once ON events (tool) WHERE seq > 10"],
    "a view": ["CREATE VIEW seen AS SELECT * FROM events"],
    "a table": ["CREATE TABLE more (a)"],
    "a column": ["ALTER TABLE events ADD COLUMN more TEXT"],
    "an older version": ["PRAGMA user_version = 2"],
    "a newer version": ["PRAGMA user_version = 99"],
}  # fmt: skip


@pytest.mark.part(4)
@pytest.mark.parametrize("attack", TAMPERING)
def test_what_is_changed_in_the_database_is_noticed(writer, attack):
    assert [] == flaws()
    writer.close()
    tampering(*TAMPERING[attack])
    assert flaws()


# Triggers

_DROP = "BEFORE INSERT ON events WHEN NEW.tool = 'file_read' BEGIN SELECT RAISE(IGNORE); END"
_HIDDEN = "INSERT INTO sqlite_schema VALUES ('{}', '{}', '{}', 0, 'CREATE TRIGGER {} ' || '{}')"


def hidden(kind, name, table="events", trigger=None, body=_DROP):
    """A row in the schema that says what it likes of itself, and makes a trigger."""
    words = (part.replace("'", "''") for part in (kind, name, table, trigger or name, body))
    version = "PRAGMA schema_version = 4242"
    return ["PRAGMA writable_schema = ON", _HIDDEN.format(*words), version]


TRIGGERS = {
    "sqlite_stat, as it was tried": hidden("trigger", "sqlite_stat_evil"),
    "sqlite_stat1": hidden("trigger", "sqlite_stat1"),
    "sqlite_stat4 on another table": hidden("trigger", "sqlite_stat4", "sqlite_stat4"),
    "sqlite_autoindex": hidden("trigger", "sqlite_autoindex_events_1"),
    "sqlite_sequence": hidden("trigger", "sqlite_sequence"),
    "it says that it is a table": hidden("table", "sqlite_stat1", "sqlite_stat1", "t"),
    "it says that it is one of our indexes": hidden("index", "events_by_time", "events", "t"),
    "named as our table": [f"CREATE TRIGGER events {_DROP}"],
    "any name": [f"CREATE TRIGGER t {_DROP}"],
    "an empty name": [f'CREATE TRIGGER "" {_DROP}'],
    "a name in other letters": [f'CREATE TRIGGER "Ünï\n\x1b[2J" {_DROP}'],
    "a row that is deleted afterwards": ["CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events WHERE seq = NEW.seq; END"],
    "a row that is changed afterwards": ["CREATE TRIGGER t AFTER INSERT ON events BEGIN UPDATE events SET body = x'00' WHERE seq = NEW.seq; END"],
    "a head that stays": ["CREATE TRIGGER t BEFORE UPDATE ON head BEGIN SELECT RAISE(IGNORE); END"],
    "an id that another row takes": ["CREATE TRIGGER t BEFORE INSERT ON events BEGIN UPDATE events SET id = NEW.id WHERE seq = 4; END"],
    "a row put in first": ["CREATE TRIGGER t BEFORE INSERT ON events BEGIN INSERT INTO events SELECT NEW.seq, NEW.id, time, received, type, agent, session, subagent, tool, outcome, model, project, path, body, erased, hash, mac FROM events WHERE seq = 4; END"],
    "checkpoints that are not kept": ["CREATE TRIGGER t BEFORE INSERT ON checkpoints BEGIN SELECT RAISE(IGNORE); END"],
    "a view in the table's place": ["ALTER TABLE events RENAME TO e", "CREATE VIEW events AS SELECT * FROM e", "CREATE TRIGGER t INSTEAD OF INSERT ON events BEGIN SELECT 1; END"],
    "ON CONFLICT IGNORE": ["PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql, 'tool TEXT,', 'tool TEXT CHECK (tool IS NULL) ,') WHERE name = 'events'", "PRAGMA schema_version = 4242"],
    "NOT NULL ON CONFLICT IGNORE": ["PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql, 'subagent TEXT', 'subagent TEXT NOT NULL ON CONFLICT IGNORE') WHERE name = 'events'", "PRAGMA schema_version = 4242"],
    "PRIMARY KEY ON CONFLICT IGNORE": ["PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql, 'PRIMARY KEY', 'PRIMARY KEY ON CONFLICT IGNORE') WHERE name = 'events'", "PRAGMA schema_version = 4242"],
    "a unique index over tools": ["CREATE UNIQUE INDEX once ON events (tool) WHERE seq > 10"],
}  # fmt: skip
SPOOL_COUNT = 5


def spool():
    """Five records that wait for the store, as calls leave them; their ids."""
    records = [stored(number) for number in range(SPOOL_COUNT)]
    assert all(map(files.append, records))
    return sorted(record.event.id for record in records)


def ingest(writer=None):
    """What the daemon does with them, with a new writer if need be; whether it could."""
    try:
        if writer is None:
            with Writer() as new_writer:
                return ingest(new_writer)
        ingest_spool(writer.append)
    except (sqlite3.Error, StoreTamperError):
        return False
    return True


def rows_of(names):
    with closing(sqlite3.connect(database.database_file())) as connection:
        return [connection.execute("SELECT count(*) FROM events WHERE id = ?", (name,)).fetchone()[0] for name in names]


@pytest.mark.part(3)
@pytest.mark.parametrize("has_new_writer", [False, True], ids=["open writer", "new writer"])
@pytest.mark.parametrize("attack", TRIGGERS)
def test_what_would_keep_rows_out_is_noticed_and_nothing_is_lost(writer, attack, has_new_writer):
    """The structure is looked at in the transaction that writes; what was to be written waits in the spool."""
    names = spool()
    tampering(*TRIGGERS[attack])
    assert not ingest(None if has_new_writer else writer)
    writer.close()
    assert flaws()
    assert names == sorted(record.event.id for record in files.load_records())
    assert 0 == files.lost_record_count()


@pytest.mark.parametrize("name", ["t", "events", "sqlite_stat_evil"])
def test_a_trigger_for_ten_seconds_loses_nothing_and_stays_known(writer, name):
    names = spool()
    with closing(sqlite3.connect(database.database_file(), isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        if name.startswith("sqlite"):
            for statement in hidden("trigger", name):
                connection.execute(statement)
        else:
            connection.execute(f"CREATE TRIGGER {name} {_DROP}")
        assert not ingest(writer)
        assert not ingest(writer)
        connection.execute("DELETE FROM sqlite_schema WHERE type = 'trigger'")
        connection.execute("PRAGMA schema_version = 4243")
    assert ingest(writer)
    assert [1] * SPOOL_COUNT == rows_of(names)
    (flaw,) = verified().flaws
    assert flaw.what.endswith(f"the trigger {name} of the database is not ours")


def test_a_trigger_that_a_connection_knows_though_its_row_is_gone_drops_nothing(writer):
    """SQLite reads the schema anew only when its number changes, which whoever writes it may leave as it is."""
    names = spool()
    with closing(sqlite3.connect(database.database_file(), isolation_level=None)) as connection:
        connection.execute(f"CREATE TRIGGER t {_DROP}")
        writer.connection.execute("SELECT count(*) FROM events").fetchone()  # it has read the trigger
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_schema WHERE name = 't'")
    assert not ingest(writer)
    assert [0] * SPOOL_COUNT == rows_of(names)
    assert ingest()
    assert [1] * SPOOL_COUNT == rows_of(names)
    assert [f"the database did not take the record {names[0]}"] == [what.partition("Z ")[2] for _, what in flaws()]


def test_a_record_that_another_row_stands_for_is_kept_out_of_nothing(writer, monkeypatch):
    """An insert that did nothing counts only where our own row of that id is there."""
    monkeypatch.setattr(schema, "find_schema_faults", lambda _: iter(()))
    (record, *_) = names = spool()
    tampering(f"UPDATE events SET id = '{record}' WHERE seq = 4")
    assert not ingest(writer)
    tampering("UPDATE events SET id = json_extract(CAST(body AS TEXT), '$.event.id') WHERE seq = 4")
    assert ingest(writer)
    assert [1] * SPOOL_COUNT == rows_of(names)


def test_a_temporary_trigger_is_of_its_own_connection_alone(writer):
    names = spool()
    with closing(sqlite3.connect(database.database_file(), isolation_level=None)) as connection:
        connection.execute(f"CREATE TEMP TRIGGER t {_DROP.replace('ON events', 'ON main.events')}")
        assert ingest(writer)
    assert [1] * SPOOL_COUNT == rows_of(names)
    assert [] == flaws()


def test_what_was_kept_before_is_no_loss(writer):
    """The same records again, and one that was erased since: nothing is new, and nothing is wrong."""
    entries = [build_entry(stored(number)) for number in range(3)]
    assert 3 == writer.append(entries)
    erasure.erase_records(writer, [entries[0].record.event.id])
    assert 0 == writer.append(entries)
    assert [] == flaws()


@pytest.mark.parametrize(
    "write",
    [
        lambda writer: checkpoint.sign_checkpoint(writer.connection),
        lambda writer: erasure.erase_records(writer, ["x"]),
        lambda writer: retention.remove_batch(writer.connection, 2),
    ],
    ids=["checkpoint", "erase", "retention"],
)
def test_nobody_signs_erases_or_removes_below_a_foreign_trigger(writer, write):
    """A trigger could leave in place what somebody wanted to be gone."""
    tampering("CREATE TRIGGER t BEFORE UPDATE ON events BEGIN SELECT RAISE(IGNORE); END")
    with pytest.raises(StoreTamperError, match="hookonce audit verify"):
        write(writer)


def test_what_analyze_makes_is_no_flaw(writer):
    tampering("ANALYZE")
    append(writer, 2)
    assert [] == flaws()
    with suppress(sqlite3.OperationalError):
        tampering("PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = 'CREATE TABLE sqlite_stat1(tbl,idx,stat,more)' WHERE name = 'sqlite_stat1'")
    assert flaws()


# Texts in the runtime directory

CANARY = "ghp_" + "Ab1" * 12
PRIVATE = "the-merger-with-Acme-is-on-friday"
PAGES = ("doors", "calls", "questions")
SAYS = f"echo x >>\"$HOME/ran\"; echo 'no: {CANARY} and {PRIVATE}' >&2; exit 2"
OTHER = ["claude-code", "PreToolUse", "--via", "claude-code/project"]


def call_payload(command=f"deploy {CANARY} {PRIVATE}", **more):
    known = {"session_id": "s1", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "call_0"}
    return json.dumps({**known, "tool_input": {"command": command}, **more}).encode()


def found_in(folder, *words):
    """The files below a folder in which one of these words stands."""
    found = []
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError, IsADirectoryError):  # a call that has ended takes its files away
            if path.is_file() and any(word.encode() in path.read_bytes() for word in words):
                found.append(path)
    return found


def pages(house):
    """Files that are about a call; those of processes that supervise hooks have numbers alone, and stay."""
    files = [path for name in PAGES for path in (house / name).glob("*")]
    return [path for path in files if not path.name.startswith(("watchdog-", "worker-"))]


def is_empty_slot(page):
    return page.name.startswith("watchdog-") and not page.read_bytes()[:128].strip(b"\0")


@pytest.mark.parametrize("way", ["warm", "cold", "killed in the call"])
def test_nothing_that_a_hook_or_an_agent_says_is_plain_in_the_runtime_directory(warm, way):
    """Not while it is of use either, so that it does not matter who is killed, and when."""
    warm.hooks(command(SAYS if way != "killed in the call" else f"touch $HOME/on; sleep 30; {SAYS}"))
    env = warm.cold_env if way == "cold" else warm.env
    if way == "killed in the call":
        with warm.start(*TOOL) as caller:
            caller.stdin.write(call_payload())
            caller.stdin.close()
            assert eventually((warm.home / "on").exists, 30)
            warm.kill()
            caller.kill()
    else:
        assert refused(warm.call(*TOOL, given=call_payload(), env=env), f"no: {CANARY} and {PRIVATE}")
    assert [] == found_in(warm.house, CANARY, PRIVATE)


def test_the_other_entry_is_told_the_very_reason_though_nobody_else_could_read_it(warm):
    """Warm and cold read the same pages, whichever decided."""
    warm.hooks(command(SAYS))
    reason = f"no: {CANARY} and {PRIVATE}"
    for number, envs in enumerate([(warm.env, warm.cold_env), (warm.cold_env, warm.env)]):
        for words, env in zip((TOOL, OTHER), envs, strict=True):
            assert refused(warm.call(*words, given=call_payload(tool_use_id=f"c{number}"), env=env), reason)
    assert ["x", "x"] == warm.lines("ran")
    assert [] == found_in(warm.house, CANARY, PRIVATE)


def test_without_the_key_that_lies_with_our_data_a_page_cannot_be_read(home):
    page = sealing.seal("c1", CANARY.encode())
    assert CANARY.encode() == sealing.unseal("c1", page)
    for text, changed in [("c2", page), ("c1", page[:-1] + bytes([page[-1] ^ 1])), ("c1", page[:9]), ("c1", b"")]:
        with pytest.raises(ValueError, match="somebody else"):
            sealing.unseal(text, changed)
    key = home / ".local/share/hookonce/keys/seal"
    assert (0o600, 0o700) == (key.stat().st_mode & 0o777, key.parent.stat().st_mode & 0o777)
    key.unlink()
    with pytest.raises(ValueError, match="somebody else"):
        sealing.unseal("c1", page)


def test_a_daemon_that_leaves_takes_old_pages_along(warm):
    warm.hooks(command(f"sleep 0.2; {SAYS}"))
    warm.call(*TOOL, given=call_payload())
    (page,) = (warm.house / "doors").iterdir()
    os.utime(page, (time() - 70, time() - 70))
    for pid in warm.daemons():
        os.kill(pid, signal.SIGTERM)
    assert eventually(lambda: not page.exists(), 30)


@pytest.fixture
def person(monkeypatch):
    """Somebody who says yes."""
    for module in (purge, event_verbs):
        monkeypatch.setattr(module, "require_consent", lambda *_: None)


def test_erase_reaches_the_runtime_directory(warm, person):
    warm.hooks(command(f"sleep 0.2; {SAYS}"))  # longer than a call that leaves no file
    warm.call(*TOOL, given=call_payload())
    assert pages(warm.house)
    (warm.house / "questions").mkdir(exist_ok=True)
    (warm.house / "questions" / "ABCDEF").write_bytes(b"x")
    assert 0 == main(["events", "erase", "--session", "s1"])
    # The daemon takes an answer away that was just read; the slots of its watchdogs name no call any more.
    assert eventually(lambda: all(is_empty_slot(page) for page in pages(warm.house)), 30)


def test_purge_reaches_the_runtime_directory_and_the_daemon_writes_nothing_afterwards(warm, person):
    warm.hooks(command(SAYS))
    warm.call(*TOOL, given=call_payload())
    assert 0 == main(["purge"])
    assert not warm.house.exists()
    sleep(0.5)
    assert not (warm.home / ".local/share/hookonce").exists()


# A decision for another call


@pytest.mark.part(3)
@pytest.mark.parametrize("way", ["warm", "cold"])
@pytest.mark.parametrize(
    "change",
    [
        {"tool_input": {"command": "rm -rf /"}},
        {"tool_input": {"command": "ls", "rm": True}},
        {"tool_name": "Write", "tool_input": {"file_path": "/etc/passwd", "content": "x"}},
        {"cwd": "/tmp"},
    ],
    ids=["command", "argument", "tool", "cwd"],
)
def test_a_decision_is_for_its_content_not_for_an_id_that_a_model_server_chose(warm, way, change):
    """Through the other entry, with the same id, within moments: hooks are asked again, and the first record stays."""
    asked = 'echo x >>"$HOME/ran"; [ "$(wc -l <"$HOME/ran")" = 1 ] || { echo no >&2; exit 2; }'
    warm.hooks(command(asked, on_failure="closed"))
    env = warm.cold_env if way == "cold" else warm.env
    assert b"deny" not in warm.call(*TOOL, given=call_payload("ls"), env=env)[1]
    assert refused(warm.call(*OTHER, given=call_payload("ls", **change), env=env), "no")
    assert 2 == len(warm.lines("ran"))
    assert eventually(lambda: 2 == len({one.event.id for one in overlay.latest_records() if one.event.tool is not None}), 10)


def test_what_a_tool_said_is_part_of_what_is_judged():
    def told(output):
        return event("after_tool_execute", call_id="c1", tool=Tool(name="shell", native="Bash", call_id="c1", result=Result(ok=True, output=output)))

    assert dedup.dedup_key(told("a")) != dedup.dedup_key(told("b"))
    assert dedup.dedup_key(told("a")) == dedup.dedup_key(told("a"))


def test_an_answer_in_a_claim_is_for_its_payload():
    """Whoever has the id of a call and other words gets no answer from its file, and so the fail mode of the call."""
    call_id = ids.new_id()
    dedup.claim_call(call_id)
    dedup.save_answer(call_id, Reply(stdout=f"yes {CANARY}"), b"{}")
    assert run_blocking(dedup.await_answer(call_id, b'{"other":1}', time() + 5)).reply is None
    assert f"yes {CANARY}" == run_blocking(dedup.await_answer(call_id, b"{}", time() + 5)).reply.stdout
    assert CANARY.encode() not in runtime_file("calls", call_id).read_bytes()


# Secrets that are structured, or that a shell joins

FIELDS = ("password", "passwd", "DB_PASSWORD", "apiKey", "X-Api-Key", "client_secret", "access_token", "authorization", "credentials", "private_key")
SECRET = "hunter2Zq9xK"
STRUCTURES = {
    "as it was tried": lambda name: {name: {"value": SECRET}},
    "deep": lambda name: {name: {"a": {"b": {"c": SECRET}}}},
    "in a list": lambda name: {name: [{"value": SECRET}]},
    "lists in lists": lambda name: {name: [[SECRET], {"old": [SECRET]}]},
    "beside a name": lambda name: {"env": [{"name": name, "value": {"plain": SECRET}}]},
    "below another secret": lambda name: {"secrets": {name: {"value": SECRET}}},
    "a default": lambda name: {"fields": [{name: {"type": "string", "default": SECRET}}]},
    "a hash of it": lambda name: {name: {"value": {"hash": "sha256:hunter2Zq9xK", "length": 12, "lines": 1}}},
}  # fmt: skip


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("name", FIELDS)
def test_what_stands_anywhere_below_a_telling_name_is_masked(name, structure):
    document = STRUCTURES[structure](name)
    assert SECRET not in json.dumps(mask_json(document)[0])
    record = redact(Record(event=stored(tool=Tool(name="x", native="x", input=document)).event), "full")
    assert SECRET not in json.dumps(record.event.tool.input)
    assert any(gap.strategy == "masked" for gap in record.gaps)


@pytest.mark.parametrize("name", FIELDS)
def test_the_same_in_a_text(name):
    document = {name: {"value": SECRET}}
    for text in (json.dumps(document), json.dumps(json.dumps(document)), json.dumps({name: [SECRET]}), f'{name}: {{ value: "{SECRET}" }}'):
        assert SECRET not in mask_secrets(text)[0]


def test_what_is_no_secret_below_a_telling_name_stays():
    document = {"password": {"type": "string", "required": True, "value": None}, "tokens": {"input": 5}, "max_tokens": {"value": "many"}}
    assert document == mask_json(document)[0]
    assert {"password": "[secret:password]", "token": 7} == mask_json({"password": 12345678, "token": 7})[0]


JOINS = {
    "empty quotes": "{}''{}{}", "empty double quotes": '{}""{}{}', "two words": '"{}""{}{}"', "a backslash": "{}\\{}{}",
    "a part in quotes": "{}'{}'{}", "a part in double quotes": '{}"{}"{}', "both": "'{}'\"{}\"{}", "a dollar": "{}$'{}'{}",
    "the end": "{}{}'{}'", "nothing": "{}``{}{}", "no command": "{}$(){}{}", "no arguments": "{}$@{}{}", "the next line": "{}''\\\n{}{}",
}  # fmt: skip


@pytest.mark.part(2)
@pytest.mark.parametrize("join", JOINS)
def test_a_token_that_a_shell_joins_is_found(join):
    """In every published format whose secret is one word, cut early, in the middle and late; also in a whole record."""
    tokens = [text for text in (published(parts) for _, *parts in PUBLISHED) if text.replace("_", "").replace("-", "").isalnum()]
    assert len(tokens) >= 34
    for token in tokens:
        inner = [place for place in range(3, len(token) - 3) if token[place - 1 : place + 1].isalnum() and token[place] not in "nrt"]
        for first, second in ((inner[0], inner[-1]), (inner[len(inner) // 3], inner[len(inner) // 2]), (inner[-2], inner[-1])):
            parts = (token[:first], token[first:second], token[second:])
            command_text = f"run {JOINS[join].format(*parts)} -v"
            record = redact(Record(event=stored(tool=Tool(name="shell", native="Bash", input={"command": command_text})).event), "full")
            for clean in (mask_secrets(command_text)[0], record.event.tool.input["command"]):
                assert "[secret:" in clean, command_text
                assert [] == [part for part in parts if len(part) > 9 and part in clean], (command_text, clean)
