"""Two doors, one call."""

from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep

import pytest
from msgspec.structs import replace

from hookonce.base import ids, sealing
from hookonce.dispatch import dedup
from hookonce.dispatch.dedup import CallDecision, abandon_call, dedup_key, disk_store, publish_decision
from hookonce.handlers.operation import run_blocking
from hookonce.model import Decision, HookRun
from tests.dispatch.event_factory import below, event

DENY = CallDecision(decision=Decision(outcome="deny", reason="no"), runs=[HookRun(hook="guard")])
USER, PROJECT = "claude-code/user", "claude-code/project"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))


def comes(via, patience=0.05, **more):
    """A call through a door: its event, and how it is known there."""
    one = event(**more)
    return one, run_blocking(dedup.join_call(one, via, monotonic() + patience, disk_store))


def test_the_second_door_gets_the_decision_of_the_first():
    """
    With the runs behind it; and both doors are known.
    """
    first, alone = comes(USER)
    assert (first.id, None) == (alone.first_id, alone.decided)
    assert [USER] == list(publish_decision(first, DENY, disk_store).ids)

    _, second = comes(PROJECT)

    assert (first.id, DENY, [USER, PROJECT]) == (second.first_id, second.decided, list(second.ids))


def test_the_same_door_twice_is_two_calls():
    """
    An agent that asks again about the same thing wants to know again.
    """
    first, _ = comes(USER, call_id="c1")
    publish_decision(first, DENY, disk_store)

    again, known = comes(USER, call_id="c1")

    assert (again.id, None) == (known.first_id, known.decided)


def test_calls_that_look_alike_find_their_own_pair():
    """
    Two equal calls through each of two doors are two calls, in whatever order they come.
    """
    one, _ = comes(USER)
    other, _ = comes(USER)
    publish_decision(one, DENY, disk_store)
    publish_decision(other, CallDecision(decision=Decision()), disk_store)

    found = [comes(PROJECT)[1] for _ in range(2)]
    third, known = comes(PROJECT)

    assert [(one.id, "deny"), (other.id, None)] == [(each.first_id, each.decided.decision.outcome) for each in found]
    assert third.id == known.first_id


@pytest.mark.parametrize(
    "other",
    [
        {"agent": "codex"},
        {"session": "s2"},
        {"subagent": below(1)},
        {"kind": "after_tool_execute"},
        {"command": "pwd"},
        {"call_id": "c1"},
    ],
)
def test_another_call_is_another_call(other):
    """
    The key is the agent, session, sub-agent, event, the call's id and its content.
    """
    first, _ = comes(USER)
    publish_decision(first, DENY, disk_store)

    second, known = comes(PROJECT, **other)

    assert second.id == known.first_id


def test_with_an_id_the_content_matters_too():
    """
    Ids are what a model's server says: it may say the same of two calls.
    """
    assert dedup_key(event(command="ls", call_id="c1")) != dedup_key(event(command="dir", call_id="c1"))
    assert dedup_key(event(call_id="c1")) != dedup_key(event(call_id="c2"))


def test_what_a_call_says_of_its_door_is_no_part_of_it():
    """
    One that came through another agent's entry has that in its data.
    """
    plain = event("agent_stop", data={"stop_hook_active": True})
    through = event("agent_stop", data={"stop_hook_active": True, "called_through": "claude-code Stop"})

    assert dedup_key(plain) == dedup_key(through) != dedup_key(event("agent_stop"))
    assert dedup_key(event("before_prompt", prompt="a")) != dedup_key(event("before_prompt", prompt="b"))


@pytest.mark.parametrize(("call_id", "later", "is_same"), [(None, 9, True), (None, 11, False), ("c1", 11, True), ("c1", 700, False)])
def test_the_same_content_is_the_same_call_for_ten_seconds(monkeypatch, call_id, later, is_same):
    """
    After the decision, not after the call: hooks may take their time. A call's own id holds longer.
    """
    first, _ = comes(USER, call_id=call_id)
    publish_decision(first, DENY, disk_store)
    now = dedup.time()
    monkeypatch.setattr(dedup, "time", lambda: now + later)

    _, known = comes(PROJECT, call_id=call_id)

    assert is_same == (known.first_id == first.id)


def test_who_comes_second_waits_for_the_first():
    """
    For longer than content is remembered, if need be, and until its own time is over.
    """
    first, _ = comes(USER)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(comes, PROJECT, 5)
        sleep(0.05)
        assert not waiting.done()
        both = publish_decision(first, DENY, disk_store)
        _, known = waiting.result()

    assert (DENY, [USER, PROJECT]) == (known.decided, list(both.ids))
    comes(USER, command="slow")
    with pytest.raises(dedup.DedupTimeoutError):
        comes(PROJECT, command="slow")


def test_who_is_gone_without_a_word_is_not_waited_for():
    """
    The next one decides, if the first was killed or has failed.
    """
    gone, _ = comes(USER)
    disk_store(dedup_key(gone), lambda entries: [replace(one, pid=4194304) for one in entries])
    heir, known = comes(PROJECT)
    assert heir.id == known.first_id

    failed, _ = comes(USER, command="pwd")
    abandon_call(failed, disk_store)
    heir, known = comes(PROJECT, command="pwd")
    assert heir.id == known.first_id


def test_a_file_that_cannot_be_read_is_as_good_as_none():
    """
    Somebody was killed while writing it.
    """
    one = event()
    dedup.dedup_file(dedup.dedup_key(one)).write_bytes(b'[{"ids": {"x"')

    assert one.id == run_blocking(dedup.join_call(one, USER, 0, disk_store)).first_id
    assert publish_decision(event(id=ids.new_id()), DENY, disk_store) is None


def test_of_many_doors_at_once_one_decides():
    """
    However they race, one decides and all others hear it.
    """
    doors = [f"door/{number}" for number in range(8)]

    def through(via):
        one, known = comes(via, 5)
        if known.first_id == one.id:
            sleep(0.02)
            publish_decision(one, DENY, disk_store)
            return "decided"
        return known.decided

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(through, doors))

    assert (1, 7) == (found.count("decided"), found.count(DENY))


def test_a_page_that_nobody_else_has_written_is_not_read_again(monkeypatch):
    """
    What somebody else has written meanwhile is read, and so is the page of another key.
    """
    reads = []
    parse = dedup.parse_entries
    monkeypatch.setattr(dedup, "parse_entries", lambda data, key: reads.append(key) or parse(data, key))
    one, other = dedup.DedupEntry({}, 1, 1.0), dedup.DedupEntry({}, 2, 2.0)

    disk_store("key", lambda _: [one])
    assert [one] == disk_store("key", lambda entries: entries)
    assert ["key"] == reads
    monkeypatch.setattr(sealing, "_last_values", {})  # as another process
    disk_store("key", lambda entries: [*entries, other])
    monkeypatch.setattr(sealing, "_last_values", {"key": (b"older", [one])})
    assert [one, other] == disk_store("key", lambda entries: entries)
    assert [] == disk_store("another", lambda entries: entries)
    assert ["key", "key", "key", "another"] == reads
