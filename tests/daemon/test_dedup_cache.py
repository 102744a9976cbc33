"""Two doors, one call, where a daemon stands at one of them: what others write on the disk counts as well."""

import os
import subprocess
from contextlib import suppress
from fcntl import LOCK_EX, flock
from time import monotonic

import pytest
from msgspec.structs import replace

from hookonce.daemon.dedup_cache import DedupCache
from hookonce.dispatch import dedup
from hookonce.dispatch.dedup import CallDecision, disk_store, join_call, publish_decision
from hookonce.model import Decision, HookRun
from tests.daemon.installed_home import TOOL, command, payload, refused
from tests.daemon.test_socket_call_hangup import WAITS
from tests.dispatch.event_factory import event
from tests.handlers.processes import eventually

DENY = CallDecision(decision=Decision(outcome="deny", reason="no"), runs=[HookRun(hook="guard")])
NOTHING = CallDecision(decision=Decision())
USER, PROJECT = "claude-code/user", "claude-code/project"
OTHER = ["claude-code", "PreToolUse", "--via", PROJECT]


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def other():
    """Another process, which ends when it is told to."""
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as process:
        yield process


def came(process, via=USER):
    """A call that another process decides, and has written so."""
    one = event()
    next(join_call(one, via, monotonic() + 60, disk_store), None)
    disk_store(dedup.dedup_key(one), lambda entries: [replace(entry, pid=process.pid) for entry in entries])
    return one


def end(walk):
    """How a call is known when nobody has to wait for it any more."""
    with pytest.raises(StopIteration) as found:
        next(walk)
    return found.value.value


def known(one, book, via=USER):
    """How a call is known that has just come."""
    return end(join_call(one, via, monotonic() + 60, book))


def gone(process):
    """Let a process end."""
    process.stdin.close()
    process.wait()


def test_what_somebody_without_us_decided_while_we_waited_is_the_decision(other):
    """
    Even when whoever decided is gone at our next look.
    """
    first, doors = came(other), DedupCache()
    second = join_call(event(), PROJECT, monotonic() + 60, doors)
    assert [dedup._DEDUP_POLL_INTERVAL_S] * 2 == [next(second) for _ in range(2)]

    publish_decision(first, DENY, disk_store)
    gone(other)
    found = end(second)

    assert (first.id, DENY, [USER, PROJECT]) == (found.first_id, found.decided, list(found.ids))


def test_who_ended_without_a_word_is_not_waited_for(other):
    """
    Then it is ours to decide, and everybody without us knows.
    """
    _, doors, mine = came(other), DedupCache(), event()
    walk = join_call(mine, PROJECT, monotonic() + 60, doors)
    next(walk)
    gone(other)

    assert mine.id == end(walk).by
    assert publish_decision(mine, DENY, doors).decided == DENY
    assert known(event(), disk_store, "third/door").decided == DENY


def test_what_was_told_is_decided_for_everybody_at_once():
    """
    Nobody has to wait until the daemon finds the time to write it down.
    """
    first, doors = event(), DedupCache()
    known(first, doors)
    doors.flush()
    second = join_call(event(), PROJECT, monotonic() + 60, disk_store)
    assert [dedup._DEDUP_POLL_INTERVAL_S] == [next(second)]

    publish_decision(first, DENY, doors)

    found = end(second)
    assert (first.id, DENY) == (found.first_id, found.decided)


def test_what_concerned_nobody_is_written_nowhere_and_known_here():
    """
    Until somebody without us begins the same page: then both stand on it.
    """
    first, doors = event(), DedupCache()
    known(first, doors)
    publish_decision(first, NOTHING, doors)
    doors.flush()
    page = dedup.dedup_file(dedup.dedup_key(first))
    assert not page.exists()
    without = event()
    known(without, disk_store)
    publish_decision(without, DENY, disk_store)

    assert known(event(), doors, PROJECT).decided == DENY
    assert {first.id, without.id} == {one.first_id for one in disk_store(dedup.dedup_key(first), lambda page: page)}


def test_a_page_that_somebody_holds_for_ever_stops_nobody():
    """
    A process may be stopped at any moment.
    """
    first, doors = event(), DedupCache()
    known(first, doors)
    doors.flush()
    with dedup.dedup_file(dedup.dedup_key(first)).open("rb") as held:
        flock(held, LOCK_EX)
        assert publish_decision(first, DENY, doors).decided == DENY
        assert known(event(), doors, PROJECT).decided == DENY

    doors.flush()

    assert known(event(), disk_store, "third/door").decided == DENY


def test_a_page_in_the_middle_of_a_write_is_read_when_it_is_whole(other):
    """
    Whoever changes a page empties it first; what was on it then is not nothing.
    """
    first, doors = came(other), DedupCache()
    file = dedup.dedup_file(dedup.dedup_key(first))
    whole = file.read_bytes()
    with file.open("r+b") as held:
        flock(held, LOCK_EX)
        held.truncate()
        walk = join_call(event(), PROJECT, monotonic() + 60, doors)
        assert next(walk)
        file.write_bytes(whole)
        assert next(walk)
    publish_decision(first, DENY, disk_store)

    assert end(walk).decided == DENY


def test_a_page_whose_writer_was_stopped_costs_a_second(monkeypatch):
    """
    Then hooks are asked, at worst once more.
    """
    one, doors, now = event(), DedupCache(), monotonic()
    file = dedup.dedup_file(dedup.dedup_key(one))
    with file.open("wb") as held:
        flock(held, LOCK_EX)
        walk = join_call(one, USER, now + 60, doors)
        assert next(walk)
        monkeypatch.setattr(dedup, "monotonic", lambda: now + 2)

        assert end(walk).by == one.id
        assert publish_decision(one, DENY, doors) is None


def test_what_cannot_be_written_is_known_here(monkeypatch):
    """
    A full disk costs what others would have known.
    """
    first, doors = event(), DedupCache()
    known(first, doors)
    with monkeypatch.context() as patch:
        patch.setattr("hookonce.dispatch.dedup.update_locked", _full)
        doors.flush()
        publish_decision(first, DENY, doors)
        doors.flush()
        assert known(event(), doors, PROJECT).decided == DENY


def _full(*_):
    raise OSError(28, "No space left on device")


def test_what_nobody_asks_for_any_more_is_forgotten(monkeypatch):
    """
    After as long as a call's id counts, however few calls there were.
    """
    doors = DedupCache()
    old, young = event(command="old"), event(command="young")
    now = dedup.time()
    for one, age in [(old, 601), (young, 590)]:
        monkeypatch.setattr(dedup, "time", lambda age=age: now - age)
        known(one, doors)
        publish_decision(one, NOTHING, doors)
    monkeypatch.setattr(dedup, "time", lambda: now)

    doors.evict_expired()

    assert [dedup.dedup_key(young)] == list(doors._pages)


def test_hooks_run_once_for_a_call_that_comes_without_us_first(warm):
    """
    Python is at one door and waits for the hook; the daemon is at the other one, and waits for Python.
    """
    warm.hooks(WAITS)
    with started(warm, TOOL, env=warm.cold_env) as first:
        assert eventually(lambda: warm.lines("ran") == ["x"], 30)
        with started(warm, OTHER) as second:
            assert eventually(lambda: warm.status()["under_way"] == 1, 30)
            (warm.home / "go").touch()
            assert [True, True] == [refused((0, one.stdout.read(), b""), "no") for one in (first, second)]

    assert ["x"] == warm.lines("ran")


def test_hooks_run_once_for_a_call_that_was_decided_by_a_daemon_that_has_left(warm):
    """
    Whoever comes later reads what it has decided, which is written right after the answer.
    """
    warm.hooks(command('echo x >>"$HOME/ran"; echo no >&2; exit 2'))
    assert refused(warm.tool(), "no")
    assert warm.status()  # it does one thing after the other
    warm.kill()
    assert refused(warm.tool(words=OTHER, env=warm.cold_env), "no")

    assert ["x"] == warm.lines("ran")


def started(home, words, **options):
    """A call under way."""
    process = home.start(*words, **options)
    with suppress(BrokenPipeError):
        process.stdin.write(payload())
        process.stdin.close()
    return process


def test_a_daemon_takes_away_what_nobody_will_ask_for_any_more(home):
    """
    Also where no session begins or ends.
    """
    room = home.house / "doors"
    room.mkdir(mode=0o700)
    old, young = room / "old", room / "young"
    for file in (old, young):
        file.touch()
    os.utime(old, (0, 0))
    home.warm()

    assert eventually(lambda: not old.exists(), 30)
    assert young.exists()
