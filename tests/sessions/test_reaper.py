"""Ends that no agent tells: a process that is gone, a session that rests, and those that were open before."""

import sys

import pytest

from hookonce.base.settings import Settings
from hookonce.model import Origin
from hookonce.sessions import reaper
from hookonce.sessions.derive.turns import IDLE_TIMEOUT_MS
from hookonce.sessions.reaper import END_GRACE_S, find_ancestry, is_running, parse_caller
from tests.sessions.session_clock import Agent

HALF_AN_HOUR, LONG_ENOUGH = IDLE_TIMEOUT_MS / 1000, END_GRACE_S
TURN = ("session_start", "before_prompt", "agent_stop")


def turn(harness, by, *kinds, **fields):
    for kind in kinds or TURN:
        harness.tell(kind, by, **fields)


# Gone


@pytest.mark.covers("AH-24")
def test_a_process_that_is_gone_after_a_stop_has_ended_its_session(harness, agent):
    """
    Once, however often one looks; not before it is gone.
    """
    turn(harness, agent)
    harness.wait(60)
    before = harness.ends()
    agent.end()
    harness.wait()
    harness.wait()

    assert ([], [("session_end", "exit")]) == (before, harness.ends())


@pytest.mark.covers("AH-25")
def test_a_process_that_is_gone_in_mid_turn_has_aborted_it(harness, agent):
    """
    What it had begun will never end: the call is not open any more.
    """
    turn(harness, agent, "session_start", "before_prompt")
    harness.tell("before_tool_execute", agent, tool="shell", given={"command": "make"})
    agent.end()
    harness.wait()

    assert [("session_abort", "aborted")] == harness.ends()
    assert [] == harness.open_calls()


def test_an_agent_that_tells_its_ends_is_given_time_to(harness, agent):
    """
    From the moment at which it was seen to be gone, however long it had rested before.
    """
    turn(harness, agent, agent="codex")
    harness.wait(600)
    agent.end()
    harness.wait(60)
    early = harness.ends()
    harness.wait(LONG_ENOUGH)

    assert ([], [("session_end", "exit")]) == (early, harness.ends())


def test_an_end_that_its_agent_tells_is_the_only_one(harness, agent):
    """
    Also of a process that is gone by then.
    """
    turn(harness, agent, agent="codex")
    agent.end()
    harness.tell("session_end", agent="codex", data={"reason": "other"})
    harness.wait(LONG_ENOUGH)
    harness.wait(HALF_AN_HOUR)

    assert [("session_end", "other")] == harness.ends()


def test_an_end_that_is_told_too_late_is_a_repeat(harness, agent):
    """
    It is kept, and nothing follows from it.
    """
    turn(harness, agent, agent="codex")
    agent.end()
    harness.wait(LONG_ENOUGH)
    harness.wait(LONG_ENOUGH)
    harness.tell("session_end", agent="codex", data={"reason": "other"})

    assert [None, True] == [end.data.get("repeat") for end in harness.kinds("session_end")]


def test_who_works_again_after_an_end_has_begun_again_and_ends_again(harness, agent):
    """
    From another process.
    """
    turn(harness, agent)
    agent.end()
    harness.wait()
    again = Agent()
    turn(harness, again, "before_prompt", "agent_stop")
    again.end()
    harness.wait()

    assert [("session_end", "exit")] * 2 == harness.ends()
    assert "resume" in [start.data.get("source") for start in harness.kinds("session_start")]


def test_what_only_runs_hooks_is_not_the_agent(harness):
    """
    It is gone after each of them; nothing has ended by that.
    """
    for kind in TURN:
        helper = Agent()
        harness.tell(kind, helper)
        helper.end()
    harness.wait()

    assert [] == harness.ends()


def test_one_call_does_not_tell_whose_it_was(harness, agent):
    """
    Nobody knows whether that process was the agent's.
    """
    harness.tell("before_prompt", agent)
    agent.end()
    harness.wait()

    assert [] == harness.ends()


def test_whoever_has_the_number_of_a_process_that_is_gone_is_another(agent):
    """
    Numbers are used again; the moment of the start tells.
    """
    process = parse_caller(agent.told)

    assert is_running(process)
    assert not is_running(process._replace(start_time="1"))
    assert process == find_ancestry(process)[0]
    assert () == find_ancestry(process._replace(start_time="1"))
    assert parse_caller(b"") is None


def test_shells_are_nobody():
    """
    An agent starts its hooks with one, and is started in one.
    """
    shell = Agent(["/bin/sh", "-c", "sleep 600; :"])
    python = Agent([sys.executable, "-c", "import time; time.sleep(600)"])
    found = [parse_caller(one.told) in find_ancestry(parse_caller(one.told)) for one in (shell, python)]
    shell.end()
    python.end()

    assert [False, True] == found


# Resting


@pytest.mark.parametrize("known", [True, False])
def test_half_an_hour_of_rest_is_an_end(harness, agent, known):
    """
    Whatever is known of the process; a minute before it is none.
    """
    turn(harness, agent if known else None)
    harness.wait(HALF_AN_HOUR - 60)
    before = harness.ends()
    harness.wait(90)

    assert ([], [("session_end", "idle_timeout")]) == (before, harness.ends())


def test_a_session_of_yesterday_that_is_played_again_has_not_rested(harness):
    """
    What counts is when it came to us.
    """
    turn(harness, None, time="2020-01-01T00:00:00Z")
    harness.wait(60)

    assert [] == harness.ends()


# Before us


def test_sessions_that_were_open_before_end_when_they_have_rested(harness):
    """
    Also those of a tool that sends its own events; those that have ended, and imported ones, are left alone.
    """
    turn(harness, None, session="open")
    turn(harness, None, session="ended")
    harness.tell("session_end", session="ended", data={"reason": "other"})
    turn(harness, None, session="live", origin=Origin(format="openhook", id="1"))
    turn(harness, None, session="foreign", origin=Origin(format="openhook", id="1", via=["import"]))
    harness.close()
    harness.begin()
    harness.wait(HALF_AN_HOUR)
    found = {name: harness.ends(name) for name in ("open", "live", "ended", "foreign")}
    rested = [("session_end", "idle_timeout")]

    assert {"open": rested, "live": rested, "ended": [("session_end", "other")], "foreign": []} == found


def test_nothing_is_kept_where_nothing_is_recorded(harness, agent, monkeypatch):
    """
    Nor an end.
    """
    turn(harness, agent)
    monkeypatch.setattr(reaper.settings, "load", lambda: Settings(record=False))
    agent.end()
    harness.wait()

    assert [] == harness.ends()


def test_a_daemon_stays_while_a_session_may_end(harness, agent):
    """
    And leaves when all have.
    """
    before = harness.reaper.has_open_sessions
    turn(harness, agent)
    during = harness.reaper.has_open_sessions
    harness.wait(HALF_AN_HOUR)

    assert (False, True, False) == (before, during, harness.reaper.has_open_sessions)
