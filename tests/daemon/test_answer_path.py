"""What the daemon does before the answer to a call with hooks, and what it leaves for the time after it."""

import json
import os
import socket
import sys
import time
from collections import Counter
from unittest.mock import Mock

import pytest

from hookonce.base import ids, paths, settings, wire
from hookonce.base.event_loop import READ
from hookonce.daemon import deferred_calls, observer_runs, socket_call
from hookonce.daemon.connection import ClientConnection, ClientRequest
from hookonce.daemon.server import Daemon
from hookonce.daemon.socket_call import SocketCall
from hookonce.daemon.stream import BufferedStream
from hookonce.dispatch import dedup
from hookonce.dispatch.fast_path import manifest_stamps as manifest_stamps_module
from hookonce.dispatch.fast_path.manifest_stamps import manifest_stamps
from hookonce.dispatch.request import call_record
from hookonce.handlers.command import CommandOperation
from hookonce.handlers.operation import OperationResult
from hookonce.inspect.summary import with_derived_runs
from hookonce.store.spool.files import load_records
from hookonce.store.spool.ingest import ingest_spool
from hookonce.store.spool.journal import SpoolJournal
from hookonce.trust.consent import list_proposals, trust_proposals
from tests.daemon.installed_home import TOOL, command, payload, refused
from tests.sessions.session_clock import Agent

MOST_BEFORE, MOST_AFTER = 185, 78  # functions of ours
PACKAGE = f"{os.sep}hookonce{os.sep}"
SECRET = "kanarienvogel"
REFUSAL = OperationResult(code=2, stderr=SECRET.encode())


class Ended:
    def cancel(self):
        """It has ended already."""


class House:
    """A daemon in this process, whose hook refuses at once, and the steps that it takes for a call."""

    def __init__(self, home, monkeypatch):
        self.steps, self.home = [], home
        self.daemon = Daemon(home / "socket")
        for owner, name in (
            (SpoolJournal, "append_placeholder"),
            (SpoolJournal, "append"),
            (dedup, "publish_decision"),
            (dedup, "update_page"),
            (dedup, "save_answer"),
            (call_record, "redact_record"),
        ):
            monkeypatch.setattr(owner, name, self.log_call(name, getattr(owner, name)))
        monkeypatch.setattr(CommandOperation, "begin", self.begin)
        send = ClientConnection.send
        monkeypatch.setattr(ClientConnection, "send", lambda line, data, **more: self.log_call("answer" if data[:1] == bytes([wire.ANSWER]) else "ack", send)(line, data, **more))

    def log_call(self, name, function):
        """The same function, whose calls are among the steps."""

        def call(*values, **more):
            self.steps.append(name)
            return function(*values, **more)

        return call

    @staticmethod
    def begin(_, loop, __, on_result):
        """Refuse as soon as the loop turns."""
        loop.call_at(0, lambda: on_result(REFUSAL))
        return Ended()

    def call(self, **more):
        """A caller that has asked about a shell command; its end of the line."""
        self.steps.clear()
        ours, theirs = socket.socketpair()
        ours.settimeout(0)
        client = ClientConnection(self.daemon.loop, ours, lambda *_: None)
        facts = {"version": wire.VERSION, "build": "", "id": ids.new_id(), "argv": TOOL, "environment": {}, "cwd": str(self.home), "umask": 18}
        request = ClientRequest(**facts | {"stdin": payload(SECRET, cwd=str(self.home))} | more)
        SocketCall(self.daemon, client, request, os.getpid()).start(manifest_stamps(None), is_paused=False)
        return theirs

    def turn(self, until, most=2000):
        """Let the loop turn until something is so."""
        while not until() and (most := most - 1):
            self.daemon.loop.run_once(0.005)
        assert until()

    def has_answered(self):
        return not self.daemon.active_calls


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A home with a hook, and its daemon."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(settings, "SYSTEM", tmp_path / "etc")
    paths.config_dir().mkdir(parents=True)
    (paths.config_dir() / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [command("exit 2")]}))
    return House(tmp_path, monkeypatch)


def answer(line):
    """What a caller has heard."""
    found, _ = wire.decode_replies(line.recv(1 << 16))
    kind, _, code, out, err = found[-1]
    assert wire.ANSWER == kind
    return code, out, err


def test_before_the_answer_a_line_of_the_spool_is_written_and_nothing_else(house):
    """
    No text of anybody is masked, no page and no answer is put into a file; all of it comes after the answer.
    """
    with house.call() as line:
        house.turn(house.has_answered)
        assert refused(answer(line), SECRET)
    before = house.steps[: house.steps.index("answer")]
    house.turn(lambda: "append" in house.steps)

    assert ["append_placeholder"] == before
    assert "update_page" in house.steps
    assert "save_answer" not in house.steps


def test_what_is_written_before_the_answer_is_the_outcome_and_no_text(house, monkeypatch):
    """
    If the daemon is killed now, the record says that the rest of it never came.
    """
    monkeypatch.setattr(deferred_calls, "_QUIET_PERIOD_S", 60)
    with house.call():
        house.turn(house.has_answered)
    (record,) = load_records()
    file = house.daemon.journal.path
    (file.parent / "killed.jsonl").write_bytes(file.read_bytes())
    os.utime(file.parent / "killed.jsonl", (0, 0))
    entries = []
    ingest_spool(lambda found: entries.extend(found) or len(found))

    assert ("deny", ["later"]) == (record.decision.outcome, [gap.strategy for gap in record.gaps])
    assert SECRET.encode() not in file.read_bytes()
    assert [record] == [entry.record for entry in entries]


def test_the_rest_of_the_record_follows_when_nobody_waits(house):
    """
    Under the same id, with the hook that ran, and without the gap.
    """
    with house.call():
        house.turn(house.has_answered)
    (first,) = load_records()
    house.turn(lambda: "append" in house.steps)
    (record,) = load_records()

    assert (first.event.id, "deny", ["guard"]) == (record.event.id, record.decision.outcome, [run.hook for run in record.runs])
    assert "later" not in [gap.strategy for gap in record.gaps]


def test_a_daemon_that_stops_writes_the_rest_first(house):
    """
    However soon after the answer.
    """
    with house.call():
        house.turn(house.has_answered)
    house.daemon.stop()
    house.daemon.run()
    entries = house.daemon.store_writer.stored_count

    assert 1 == entries


def test_a_caller_that_does_not_listen_finds_the_answer_in_a_file(house):
    """
    It is saved before the results of hooks are forgotten.
    """
    call_id = ids.new_id()
    with house.call(id=call_id) as line:
        house.turn(lambda: house.daemon.loop.has_pending or house.has_answered())
        house.daemon.loop.run_once(0)
        line.shutdown(socket.SHUT_RD)
        house.turn(house.has_answered)
        saved = dedup._load_claim(call_id, payload(SECRET, cwd=str(house.home)))

    assert saved.done
    assert SECRET in saved.reply.stdout


def test_others_know_of_a_call_that_takes_long(house, monkeypatch):
    """
    Twenty milliseconds after its hooks have begun.
    """
    monkeypatch.setattr(CommandOperation, "begin", lambda *_: Ended())
    monkeypatch.setattr(socket_call, "_LONG_CALL_S", 0.001)
    with house.call():
        house.turn(lambda: "update_page" in house.steps)

    assert not house.has_answered()
    assert "answer" not in house.steps


@pytest.mark.parametrize("is_long", [False, True])
def test_other_entries_are_told_after_the_answer_unless_they_may_know_of_the_call(house, monkeypatch, is_long):
    """
    Of a call that takes long a page says that it is being decided: if the daemon is killed, nobody shall find that.
    """
    if is_long:
        monkeypatch.setattr(socket_call, "_LONG_CALL_S", 0)
        monkeypatch.setattr(CommandOperation, "begin", lambda _, loop, __, on_result: loop.call_later(0.01, lambda: on_result(REFUSAL)) and Ended())
    with house.call():
        house.turn(house.has_answered)
    house.turn(lambda: "append" in house.steps)

    assert is_long == (house.steps.index("publish_decision") < house.steps.index("answer"))
    assert 1 == house.steps.count("publish_decision")


def test_a_decision_of_which_nobody_can_be_told_is_recorded_all_the_same(house, monkeypatch):
    """
    And answered.
    """

    def fail(*_):
        raise RuntimeError("broken")

    monkeypatch.setattr(dedup, "publish_decision", fail)
    with house.call() as line:
        house.turn(house.has_answered)
        assert refused(answer(line), SECRET)
    house.turn(lambda: "append" in house.steps)
    (record,) = load_records()

    assert ["guard"] == [run.hook for run in record.runs]


# Hooks that nobody waits for


OBSERVER = {"name": "looks-on", "event": "before_tool_execute", "dialect": "openhook", "handler": {"type": "command", "command": "true"}}
ASIDE = {"name": "aside", "event": "before_tool_execute", "handler": {"type": "command", "command": "exit 3", "async": True}}


def settle(house, *hooks):
    """Let these be the hooks."""
    (paths.config_dir() / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": list(hooks)}))


def runs(records):
    """Hooks and how they ended, by the type of their record."""
    return [(record.event.type, run.hook, run.exit, run.failure) for record in records for run in record.runs]


@pytest.mark.parametrize("hook", [OBSERVER, ASIDE], ids=["in an open format", "async"])
def test_a_hook_that_nobody_waits_for_begins_after_the_answer(house, monkeypatch, hook):
    """
    How it went is in a record that follows; that of the call names it until then.
    """
    ended = []
    monkeypatch.setattr(CommandOperation, "begin", house.log_call("hook", lambda _, __, ___, on_result: ended.append(on_result) or Ended()))
    settle(house, hook)
    with house.call() as line:
        house.turn(lambda: ended)
        assert (0, b"", b"") == answer(line)
    house.turn(lambda: "append" in house.steps)
    (record,) = load_records()
    ended[0](OperationResult(code=3))
    house.turn(lambda: house.steps.count("append") == 3)
    followers = [one for one in load_records() if one.event.id != record.event.id]

    assert house.steps.index("answer") < house.steps.index("hook")
    assert [("observer", "later", True)] == [(gap.capability, gap.strategy, hook["name"] in gap.note) for gap in record.gaps if gap.where == "$.runs"]
    assert [("vendor.hookonce.hook_runs", hook["name"], 3, "exit code 3")] == runs(followers)
    assert ["error_occurred"] == [one.event.type for one in followers if not one.runs]
    assert [*runs([record]), *runs(followers)] == [("vendor.hookonce.hook_runs", run.hook, run.exit, run.failure) for run in with_derived_runs(record, {found.event.id: found for found in followers}.get).runs]


def test_hooks_that_judge_are_waited_for_and_observers_see_the_input_that_they_have_left(house, monkeypatch):
    """
    An observer in between is told what the hook before it made of the input, whatever comes after it.
    """
    told = []
    says = {"first": {"updated_input": {"command": "second"}}, "last": {"updated_input": {"command": "third"}}}

    def begin(operation, loop, _, on_result):
        word = operation.command.split()[-1]
        told.append((word, json.loads(operation.payload)))
        loop.call_at(0, lambda: on_result(OperationResult(code=0, stdout=json.dumps(says.get(word, {})).encode())))
        return Ended()

    monkeypatch.setattr(CommandOperation, "begin", begin)
    settle(house, command("echo first", name="first"), OBSERVER | {"privacy": "full"}, command("echo last", name="last"))
    with house.call() as line:
        house.turn(lambda: len(told) == 3)
        assert b"third" in answer(line)[1]

    assert ["first", "last", "true"] == [word for word, _ in told]
    assert "second" in json.dumps(told[2][1])


def test_a_killed_caller_does_not_keep_a_hook_from_running_whose_turn_had_come(house, monkeypatch):
    """
    It belongs to nobody.
    """
    begun = []
    monkeypatch.setattr(CommandOperation, "begin", lambda operation, *_: begun.append(operation.command) or Ended())
    monkeypatch.setattr(socket_call, "_HANGUP_POLL_S", 0.001)
    monkeypatch.setattr(socket_call.process_info, "is_process_alive", lambda _: False)
    settle(house, ASIDE, command("sleep 60"))
    with house.call():
        house.turn(lambda: begun)
    house.turn(lambda: len(begun) == 2)

    assert ["sleep 60", "exit 3"] == begun


def test_eight_of_a_project_run_at_once_and_more_than_can_wait_are_told_of(house, monkeypatch):
    """
    Nothing that an agent does in a loop fills the machine.
    """
    ended = []
    monkeypatch.setattr(CommandOperation, "begin", lambda _, __, ___, on_result: ended.append(on_result) or Ended())
    monkeypatch.setattr(observer_runs, "_MAX_WAITING_RUNS", 2)
    settle(house, OBSERVER)
    for _ in range(11):
        with house.call():
            house.turn(house.has_answered)
    house.turn(lambda: not house.daemon.loop.has_pending and len(ended) == 8)
    house.turn(house.daemon._deferred_calls.drain)
    assert ["not started: 10 hooks of this project run or wait already"] == [failure for *_, failure in runs(load_records())]
    while ended:
        ended.pop(0)(OperationResult(code=0))
        house.turn(lambda: not house.daemon.loop.has_pending)

    assert not house.daemon.observer_runs.is_busy
    assert 10 == house.daemon.observer_runs.status()["asked"]


def test_a_hook_is_told_several_events_of_a_call_one_after_the_other(house, monkeypatch):
    """
    The end of a tool, and then the file that it has written.
    """
    told = []

    def begin(operation, _, __, on_result):
        told.append((json.loads(operation.payload)["type"], on_result))
        return Ended()

    monkeypatch.setattr(CommandOperation, "begin", begin)
    observer = {"openhook": "0.1", "hooks": [{"command": "true"}]}
    (house.home / ".openhook.json").write_text(json.dumps(observer))
    trust_proposals(house.home, list_proposals(house.home))
    wrote = {"hook_event_name": "PostToolUse", "tool_name": "Write", "tool_input": {"file_path": "/a/b", "content": "x"}, "tool_response": {}}
    given = {"argv": ["claude-code", "PostToolUse", "--via", "claude-code/user"], "stdin": payload(cwd=str(house.home), **wrote)}
    with house.call(**given):
        house.turn(lambda: told and not house.daemon.loop.has_pending)
        assert ["tool.end"] == [word for word, _ in told]
        told[0][1](OperationResult(code=0))
        house.turn(lambda: len(told) == 2)

    assert "file.write" == told[1][0]


def test_a_call_that_no_hook_concerns_costs_few_steps(house):
    """
    Functions of Python, the same on every machine: whoever adds one to each of these calls should know it.
    """
    (paths.config_dir() / "hooks.json").unlink()
    words = "".join(f"{word}\0" for word in TOOL).encode()
    fields = [b"", b"", ids.new_id().encode(), words, b"", bytes(house.home), b"", payload(cwd=str(house.home)), b""]
    counts = Counter()
    time.sleep(0.11)  # files of this very moment may change once more
    for _ in range(2):  # the first of them makes the table
        counts.clear()
        stamps = manifest_stamps(None)
        sys.setprofile(lambda frame, kind, _: counts.update([frame.f_code.co_name] if kind == "call" else ()))
        silence = house.daemon._deferred_calls.answer_silently([fields], stamps)
        sys.setprofile(None)

    assert [b""] == silence
    assert counts.total() <= 32, counts


def test_a_call_with_a_hook_costs_few_steps(house, monkeypatch):
    """
    From the frame to the hook, and from its result to the answer.
    """
    monkeypatch.setattr(manifest_stamps_module, "time_ns", lambda: time.time_ns() + 10**10)  # files are old
    monkeypatch.setattr(paths, "_home_of_call", [house.home])
    monkeypatch.setattr(deferred_calls, "_QUIET_PERIOD_S", 60)
    words, counts = "".join(f"{word}\0" for word in TOOL).encode(), {}
    result = OperationResult(code=0)

    def count(step):
        steps = counts[step] = Counter()
        sys.setprofile(lambda frame, kind, _: steps.update([frame.f_code.co_qualname] if kind == "call" and PACKAGE in frame.f_code.co_filename else ()))

    def begin(_, loop, __, on_result):
        sys.setprofile(None)
        loop.call_at(0, lambda: count("after") or on_result(result))
        return Ended()

    monkeypatch.setattr(CommandOperation, "begin", begin)
    close = BufferedStream.close
    monkeypatch.setattr(ClientConnection, "close", lambda client: sys.setprofile(None) or close(client))
    for _ in range(3):  # the first ones look everything up
        given = payload(cwd=str(house.home), session_id=ids.new_id(), transcript_path=f"{house.home}/.claude/projects/p/s.jsonl")
        fields = [b"", b"", ids.new_id().encode(), words, b"PATH=/bin\0", bytes(house.home), b"18", given, b""]
        ours, theirs = socket.socketpair()
        ours.settimeout(0)
        client = ClientConnection(house.daemon.loop, ours, lambda *_: None)
        count("before")
        house.daemon._answer_calls([(client, fields)])
        house.turn(house.has_answered)
        sys.setprofile(None)
        theirs.close()

    assert counts["before"].total() <= MOST_BEFORE, counts["before"]
    assert counts["after"].total() <= MOST_AFTER, counts["after"]


@pytest.mark.parametrize("hooks", [[], [command("exit 2")], [command("exit 2", event="agent_stop")]])
def test_a_shell_that_ends_with_the_answer_has_told_the_agent_above_it(house, monkeypatch, hooks):
    """
    Nothing can be read of it any more a moment later.
    """
    (paths.config_dir() / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": hooks}))
    words, found = "".join(f"{word}\0" for word in TOOL).encode(), []
    monkeypatch.setattr(house.daemon.reaper, "_callers", found_callers := {})
    for _ in range(3):
        shell = Agent(["/bin/sh", "-c", "sleep 600; :"])
        ours, theirs = socket.socketpair()
        ours.settimeout(0)
        client = ClientConnection(house.daemon.loop, ours, lambda *_: None)
        monkeypatch.setattr(client, "send", lambda _, shell=shell, **__: shell.end())
        fields = [b"", b"", ids.new_id().encode(), words, b"PATH=/bin\0", bytes(house.home), b"18", payload(cwd=str(house.home)), shell.told]
        house.daemon._answer_calls([(client, fields)])
        house.turn(lambda shell=shell: shell.process.returncode is not None)
        found.append(found_callers.pop(fields[2], ((0,),))[0][0])
        ours.close()
        theirs.close()

    assert [os.getpid()] * 3 == found


def test_a_caller_that_is_killed_right_away_takes_its_hook_along(house, monkeypatch):
    """
    Also where the daemon has read from it in two steps, and is told of its end before the hook counts as a long one.
    """
    steps, cancelled, clients, problems, connect = [], [], [], [], ClientConnection.__init__
    hook = Mock(cancel=lambda: cancelled.append("hook"))
    monkeypatch.setattr(CommandOperation, "begin", lambda *_: steps.append("hook") or hook)
    monkeypatch.setattr(ClientConnection, "__init__", lambda client, *values: (clients.append(client), connect(client, *values))[1])
    monkeypatch.setattr(socket_call.process_info, "is_process_alive", lambda _: False)
    with house.call():
        clients[0].watch(READ)
        house.turn(lambda: steps)
    house.turn(house.has_answered)

    assert ["hook"] == steps == cancelled
    monkeypatch.setattr(house.daemon.loop, "_on_error", problems.append)
    end = time.monotonic() + 0.1
    while time.monotonic() < end:  # until it would have been a long one
        house.daemon.loop.run_once(0.02)
    assert [] == problems


def test_settings_are_looked_up_once_for_a_call(house, monkeypatch):
    """
    Before the answer; what is written after it is redacted by the settings of that moment.
    """
    monkeypatch.setattr(settings, "load", house.log_call("settings", settings.load))
    monkeypatch.setattr(CommandOperation, "begin", lambda _, loop, __, on_result: loop.call_at(0, lambda: on_result(OperationResult(code=0))) or Ended())
    settle(house, *(command("true", name=name) for name in "abc"))
    for _ in range(2):  # the first of them opens the spool
        with house.call():
            house.turn(house.has_answered)

    assert 1 == house.steps[: house.steps.index("answer")].count("settings")
