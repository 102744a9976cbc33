"""Ends that no agent tells: a process that is gone, a session that rests, and those that were open before."""

import os
import shutil
import subprocess
import sys
import time
from unittest.mock import Mock

import pytest

from hookonce.base.settings import Settings
from hookonce.client.oneshot_call import _list_ancestors
from hookonce.inspect.store_access import ingest_spool
from hookonce.model import Origin, Record
from hookonce.sessions import agent_process, reaper
from hookonce.sessions.agent_process import (
    AgentProcess,
    drop_shells,
    find_ancestry,
    identify_process,
    is_running,
    load_process,
    note_call,
)
from hookonce.sessions.derive.turns import IDLE_TIMEOUT_MS
from hookonce.sessions.reaper import END_GRACE_S
from hookonce.sessions.stored_records import redact_record
from hookonce.store.spool import files
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
    process = identify_process(agent.process.pid)

    assert is_running(process)
    assert not is_running(process._replace(start_time="1"))
    known = {process.pid: (process._replace(start_time="1"), ())}
    assert process == find_ancestry(process.pid, known)[0]
    assert () == find_ancestry(process.pid, {process.pid: (process, ())})


def test_a_number_that_another_caller_has_now_is_looked_up_again(harness, agent):
    """
    What was known of the one before it goes when that one is gone.
    """
    harness.reaper.record_caller(b"1", agent.told)
    harness.reaper.record_caller(b"2", b"")
    harness.reaper.record_caller(b"3", b"999999999")
    assert [agent.process.pid] == list(harness.reaper._ancestries)
    harness.reaper.check_sessions()
    assert [agent.process.pid] == list(harness.reaper._ancestries)
    agent.end()
    harness.reaper.check_sessions()

    assert {} == harness.reaper._ancestries


def test_shells_are_nobody():
    """
    An agent starts its hooks with one, and is started in one.
    """
    shell = Agent(["/bin/sh", "-c", "sleep 600; :"])
    python = Agent([sys.executable, "-c", "import time; time.sleep(600)"])
    found = [identify_process(one.process.pid) in find_ancestry(one.process.pid) for one in (shell, python)]
    shell.end()
    python.end()

    assert [False, True] == found


@pytest.mark.parametrize("shown", [True, False])
def test_an_orphan_is_not_the_child_of_who_took_it_in(tmp_path, monkeypatch, shown):
    """
    Cline does not wait for the last of its hooks, and may be gone before that calls us. systemd does not show its file.
    """
    shutil.copy(shutil.which("sleep"), tmp_path / "systemd")
    init = Agent([str(tmp_path / "systemd"), "600"])
    if not shown:
        monkeypatch.setattr(os, "readlink", Mock(side_effect=PermissionError))
    found = find_ancestry(init.process.pid)
    init.end()

    assert os.getpid() == found[0].pid


def test_a_shell_of_a_known_agent_is_looked_up_no_further(harness, agent, monkeypatch):
    """
    The next hook of an agent has another shell, and the same processes above it.
    """
    shells = [Agent(["/bin/sh", "-c", "sleep 600; :"]) for _ in range(2)]
    reads = []
    read = agent_process.read_proc_stat
    monkeypatch.setattr(agent_process, "read_proc_stat", lambda pid: reads.append(pid) or read(pid))
    for shell in shells:
        reads.clear()
        harness.reaper.record_caller(shell.told, shell.told)
        shell.end()

    assert [shells[1].process.pid] * 2 + [os.getpid()] == reads
    assert find_ancestry(os.getpid()) == harness.reaper._callers[shells[1].told]


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


# Of others


def oneshot(harness, kind, by, **fields):
    """A call that a process for one call has answered."""
    record = Record(event=harness.event(kind, **fields))
    files.append(redact_record(record))
    note_call(record.event, find_ancestry(by.process.pid))
    time.sleep(0.002)  # the spool is in the order of ids, which are those of milliseconds


@pytest.mark.parametrize("way", ["killed", "stopped"])
def test_the_next_daemon_knows_the_process(harness, agent, way):
    """
    Of a session that was open before it: it ends as soon as under the daemon that has heard its calls.
    """
    turn(harness, agent)
    harness.close() if way == "stopped" else harness.journal.close()
    harness.begin()
    harness.wait(60)
    before = harness.ends()
    agent.end()
    harness.wait()
    harness.wait()

    assert ([], [("session_end", "exit")]) == (before, harness.ends())


@pytest.mark.parametrize("when", ["before", "meanwhile"])
@pytest.mark.parametrize("ingested", [True, False])
def test_calls_without_a_daemon_tell_it_the_process(harness, agent, when, ingested):
    """
    Whether one was there, and whether it or a command has stored them.
    """
    if when == "meanwhile":
        harness.tell("before_prompt", session="other")
        harness.wait()
    for kind in TURN:
        oneshot(harness, kind, agent)
    if ingested:
        ingest_spool(print)
    harness.store_writer.maintain()
    harness.wait(60)
    before = harness.ends()
    agent.end()
    harness.wait()
    harness.wait()

    assert ([], [("session_end", "exit")]) == (before, harness.ends())


def test_a_process_for_one_call_finds_its_agent(tmp_path, monkeypatch):
    """
    Nothing that it was started with is taken for the agent; what ended with an earlier call is not either.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    script = """import os, sys
from hookonce.client.oneshot_call import main
for kind in ("UserPromptSubmit", "Stop"):
    read_fd, write_fd = os.pipe()
    os.write(write_fd, b'{"session_id": "s", "hook_event_name": "%s", "prompt": "x"}' % kind.encode())
    os.close(write_fd)
    if not (child := os.fork()):
        os.dup2(read_fd, 0)
        os._exit(main(["claude-code", kind]))
    os.waitpid(child, 0)
sys.stdout.write(open("/proc/self/stat").read())"""
    stat = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    found = load_process("claude-code", "s").identity

    assert (int(stat.split()[0]), stat.rpartition(")")[2].split()[19]) == found
    assert find_ancestry(os.getpid()) == drop_shells(_list_ancestors())


def test_a_number_means_nothing_elsewhere_and_after_a_restart_of_the_machine(harness, agent, monkeypatch):
    """
    What another namespace or the day before has kept is nobody's process here.
    """
    with monkeypatch.context() as patch:
        patch.setattr(agent_process, "_number_scope", lambda: "another machine")
        for kind in TURN:
            oneshot(harness, kind, agent)
    harness.store_writer.maintain()
    agent.end()
    harness.wait(60)
    harness.wait()

    assert [] == harness.ends()


def test_a_session_that_goes_on_elsewhere_does_not_end_with_its_first_process(harness, agent):
    """
    Though nobody but processes for one call has heard of the second.
    """
    turn(harness, agent)
    second = Agent()
    for kind in TURN:
        oneshot(harness, kind, second)
    agent.end()
    harness.store_writer.maintain()
    harness.wait()
    harness.wait(60)
    before = harness.ends()
    second.end()
    harness.wait()
    harness.wait()

    assert ([], [("session_end", "exit")]) == (before, harness.ends())


def test_an_end_that_another_process_has_stored_is_the_only_one(harness, agent):
    """
    The daemon has followed the session, and was not asked about its end.
    """
    turn(harness, agent, agent="codex")
    oneshot(harness, "session_end", agent, agent="codex", data={"reason": "other"})
    ingest_spool(print)
    agent.end()
    for _ in range(2):
        harness.wait(LONG_ENOUGH)
    harness.wait(HALF_AN_HOUR)

    assert [("session_end", "other")] == harness.ends()
    assert AgentProcess() == load_process("codex", "s")
