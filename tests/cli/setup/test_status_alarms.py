"""What somebody should look at is told by status and doctor."""

import json
import os
import sqlite3
from time import time

import pytest

from hookonce.base import times
from hookonce.model import SCHEMA, Event, Stored
from hookonce.store import database, status
from hookonce.store.entry import build_entry
from hookonce.store.integrity import head_file
from hookonce.store.spool import files
from hookonce.store.writer import Writer
from tests.cli.command import run


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def keep(*events):
    """Alarms, by how many seconds ago they were."""
    with Writer() as writer:
        for number, (kind, ago, data) in enumerate(events):
            now = times.from_seconds(time() - ago)
            known = {"id": f"e{number}", "schema": SCHEMA, "type": kind, "agent": "codex", "session": "s", "time": now}
            event = Event(**known, received=now, time_source="received", data=data)
            writer.append([build_entry(Stored(event=event, level="minimal"))])


def told(home):
    plain, data = run("status", HOME=str(home)), run("status", "--json", HOME=str(home))
    return plain.out, json.loads(data.out)


def findings(home):
    return json.loads(run("doctor", "codex", "--json", HOME=str(home)).out)["findings"]


def test_alarms_of_the_last_day_are_told_with_how_to_see_them(home):
    """
    Those before that are not; without any nothing is said.
    """
    before = told(home)
    suspected = {"status": "suspected"}
    keep(
        ("policy_violation", 90_000, {"status": "certain"}),
        ("policy_violation", 600, {"status": "certain"}),
        ("policy_violation", 60, suspected),
        ("retry_loop_detected", 300, {}),
    )
    plain, data = told(home)

    assert ("ALARM" not in before[0], None) == (True, before[1]["alarms"]["newest"])
    assert "ALARM: 2 policy violations, 1 of them suspected, 1 retry loop in the last 24 hours" in plain
    assert "hookonce events --type policy_violation --since 24h" in plain
    assert (2, 1, 1, "e2") == tuple(
        data["alarms"][name] if name != "newest" else data["alarms"]["newest"]["id"]
        for name in ("violations", "suspected", "loops", "newest")
    )
    assert 2 == len(run("events", "--type", "policy_violation", "--since", "24h", "--json", HOME=str(home)).documents())


def test_an_agent_that_works_in_silence_is_told_of(home):
    """
    By status and by doctor.
    """
    (home / ".codex").mkdir()
    run("install", "codex", HOME=str(home))
    later = time() + 3600
    file = home / ".codex/sessions/2026/11/15/rollout-1.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("{}\n")
    os.utime(file, (later, later))
    plain, data = told(home)
    (agent,) = [one for one in data["agents"] if one["agent"] == "codex"]

    assert "codex: silent since" in plain
    assert str(file) == agent["silent"]["path"]
    assert ["silent"] == [one["kind"] for one in findings(home) if one["path"] == str(file)]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("DELETE FROM events WHERE seq = 2", "ends before row 2"),
        ("UPDATE events SET type = 'x' WHERE seq = 2", "row 2: type"),
        ("UPDATE head SET seq = 1, hash = (SELECT hash FROM events WHERE seq = 1)", "put in after row 1"),
        (None, None),
    ],
)
def test_a_record_whose_end_is_not_as_it_was_left_is_told_of(home, wrong, words):
    """
    At a glance; audit looks at everything.
    """
    keep(("agent_stop", 10, {}), ("agent_stop", 5, {}))
    if wrong:
        with sqlite3.connect(database.database_file()) as connection:
            connection.execute(wrong)
        connection.close()
    found = status.find_record_troubles()

    assert [] == found if words is None else words in found[0] and "hookonce audit verify" in found[0]


def test_records_that_are_lost_or_damaged_are_told_of(home):
    """
    Each with how many.
    """
    keep(("agent_stop", 10, {}))
    files.spool_dir().mkdir(parents=True, exist_ok=True)
    files.spool_dir().joinpath("x.damaged").write_text("?")
    files.count_lost_record()
    head_file.head_file().write_bytes(b"nonsense")
    found = " ".join(one["message"] for one in findings(home) if one["kind"] == "record")

    assert all(words in found for words in ("1 file of the spool", "1 record could not be written", "the head file"))
