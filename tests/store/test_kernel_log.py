"""The kernel's log is forgotten together with the record: by name, by age, and while others write to it."""

import json
from threading import Thread

import pytest

from hookonce.base.ids import new_id
from hookonce.inspect.store_access import open_store
from hookonce.sessions.stored_records import record_kernel_event
from hookonce.store import kernel_log
from hookonce.store.maintenance.erasure import erase_records
from hookonce.store.writer import Writer


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    kernel_log.kernel_log_file().parent.mkdir(parents=True)


def told(name, ts=0.0):
    return json.dumps({"id": name, "ts": ts, "event": "x", "component": "kernel"}).encode() + b"\n"


def names():
    return [json.loads(line)["id"] for line in kernel_log.kernel_log_file().read_bytes().splitlines()]


def test_events_go_by_their_ids_and_nothing_is_left_of_them():
    kernel_log.append(told("a") + told("b") + told("c"))
    kernel_log.remove_events(["a", "c", "never there"])
    assert ["b"] == names()


def test_events_go_by_their_age():
    kernel_log.append(told("old", 1794614400.0) + b"no event\n" + told("new", 1794700800.0))
    kernel_log.remove_before("2026-11-15")
    assert [b"no event", told("new", 1794700800.0).strip()] == kernel_log.kernel_log_file().read_bytes().splitlines()


def test_without_a_log_nothing_is_made():
    kernel_log.remove_events(["a"])
    kernel_log.remove_before("2026-11-15")
    assert not kernel_log.kernel_log_file().exists()


def test_what_is_written_meanwhile_stays():
    kernel_log.append(b"".join(told(f"old {number}") for number in range(200)))

    def write(number):
        for turn in range(50):
            kernel_log.append(told(f"new {number} {turn}"))

    threads = [Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for number in range(0, 200, 10):
        kernel_log.remove_events([f"old {one}" for one in range(number, number + 10)])
    for thread in threads:
        thread.join()
    assert {f"new {number} {turn}" for number in range(4) for turn in range(50)} == {*names()}


@pytest.mark.covers("AMP-31")
def test_what_is_erased_from_the_record_is_gone_from_the_log_too():
    one, two = new_id(), new_id()
    for name in (one, two):
        record_kernel_event({"id": name, "ts": 1.0, "event": "session:end", "component": "kernel", "session_id": "s"})
    with open_store(print) as connection:
        known = dict(connection.execute("SELECT id, seq FROM events").fetchall())
    assert {one, two} == known.keys() == {*names()}
    with Writer() as writer:
        erase_records(writer, [one])
    assert [two] == names()
