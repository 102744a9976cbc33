"""Hooks and observers hear of derived events: once each, in the project of the session, whoever dies in between."""

import json
import os
import shutil
import signal
import subprocess
from functools import partial
from time import time
from unittest.mock import Mock

import pytest
from msgspec.structs import replace

from hookonce.base import ids, times
from hookonce.base.process_info import LongLivedRegistry
from hookonce.base.runtime_dir import find_runtime_dir
from hookonce.daemon.call_timer import CallTimer
from hookonce.daemon.dedup_cache import DedupCache
from hookonce.daemon.derived_events import DerivedEventHooks, owner_name
from hookonce.dispatch import dispatcher, pause
from hookonce.dispatch.context import CallContext
from hookonce.dispatch.derived_hooks import HOOK_RUNS_EVENT, _number_hooks, select_derived_hooks
from hookonce.handlers.operation import run_blocking
from hookonce.inspect.store_access import ingest_spool
from hookonce.model import Decision, Origin, Record, Result, Usage
from hookonce.sessions.derive.turns import IDLE_TIMEOUT_MS
from hookonce.sessions.reaper import END_GRACE_S
from hookonce.sessions.stored_records import redact_record
from hookonce.store import hook_queue
from hookonce.store.entry import build_entry
from hookonce.store.spool import files, overlay
from hookonce.trust.consent import list_proposals, trust_proposals
from tests.cli.command import run
from tests.handlers.processes import eventually
from tests.sessions.session_clock import SessionHarness
from tests.shared import ROOT

HALF_AN_HOUR = IDLE_TIMEOUT_MS / 1000
SEQUENCES = {
    "windsurf": ["pre_user_prompt", "pre_run_command", "post_run_command", "post_cascade_response"],
    "amp": ["session.start", "agent.start", "tool.call-shell", "tool.result-done", "agent.end"],
    "antigravity": ["PreInvocation", "PreToolUse-shell", "PostToolUse", "PostInvocation", "Stop"],
    "kiro": ["SessionStart", "UserPromptSubmit", "PreToolUse-write", "PostToolUse-write", "Stop"],
    "vs-code-copilot": ["SessionStart", "UserPromptSubmit", "PreToolUse-terminal", "PostToolUse", "Stop"],
}
END = b'{"session_id": "s", "cwd": "%s", "hook_event_name": "SessionEnd", "reason": "other"}'


class Listening(SessionHarness):
    """A daemon's sessions with hooks that write down what they hear, and a project with an observer."""

    def __init__(self, home):
        self.home, self.project = home, home / "project"
        self.project.mkdir()
        super().__init__()

    def begin(self):
        super().begin()
        self.derived = DerivedEventHooks(self.loop, self.store_writer, LongLivedRegistry(find_runtime_dir()))
        self.store_writer.connect_sessions(on_added=self.reaper.handle_entry, on_queued=self.derived.schedule)
        self.dedup, self.timer = DedupCache(), CallTimer()

    def hooks(self, *hooks):
        """Let these be the user's hooks: event and command, by default one that writes down what it hears."""
        place = self.home / ".config" / "hookonce"
        place.mkdir(parents=True, exist_ok=True)
        found = [
            {"name": f"h{number}", "handler": {"type": "command", "command": self.writes()}} | hook
            for number, hook in enumerate(hooks)
        ]
        (place / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": found}), encoding="utf-8")

    def writes(self, name="heard"):
        """A command that appends its input to a file, in one piece."""
        return f"read -r line; printf '%s\\n' \"$line\" >>{self.home}/{name}"

    def observe(self, *events, trusted=True):
        """Let the project have an observer of these types, by default of all."""
        observer = {"command": self.writes()} | ({"events": list(events)} if events else {})
        (self.project / ".openhook.json").write_text(
            json.dumps({"openhook": "0.1", "hooks": [observer]}), encoding="utf-8"
        )
        if trusted:
            trust_proposals(self.project, list_proposals(self.project))

    def heard(self, name="heard", **wanted):
        file = self.home / name
        found = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
        return [one for one in found if all(one.get(key) == value for key, value in wanted.items())]

    def settle(self):
        super().settle()
        assert eventually(
            lambda: (self.loop.run_once(0.005), not self.derived.is_busy and not self.loop.has_pending)[1]
        )

    def hears(self, count, name="heard", **wanted):
        """So many were heard, and no more: detached hooks take a moment."""
        return eventually(lambda: len(self.heard(name, **wanted)) >= count) and len(self.heard(name, **wanted)) == count

    def play(self, agent, *names, by=None, at=None):
        """Payloads of an agent, asked about as its client does; they belong to one session in our project."""
        for name in names:
            golden = json.loads((ROOT / "tests" / "golden" / agent / f"{name}.json").read_text(encoding="utf-8"))
            text = json.dumps(golden["payload"]).replace(golden["expect"]["session"], "s")
            text = text.replace(golden["expect"].get("cwd", "/nowhere"), str(self.project))
            words = [agent, golden.get("event") or name.partition("-")[0], "--via", f"{agent}/user"]
            self.call(words, text.encode(), by, at=at)

    def call(self, words, raw, by=None, environment=None, complete_end=None, at=None):
        """A call as the daemon answers it."""
        call_id = ids.new_id()
        context = CallContext(
            environment=environment or {},
            cwd=str(self.project),
            pid=os.getpid(),
            spool=self.journal,
            dedup_store=self.dedup,
            claim=lambda _: True,
            on_record=partial(self.timer.record_start, at=at),
            add_duration=partial(self.timer.add_duration, at=at),
            complete_end=complete_end or self.complete_end,
        )
        if by is not None:
            self.reaper.record_caller(call_id.encode(), by.told)
        run_blocking(dispatcher.answer_incoming(dispatcher.receive_call(words, raw, context, call_id)))
        self.settle()

    def complete_end(self, event, wait_s):
        """As the daemon does, whose loop goes on meanwhile."""
        event = self.store_writer.complete_end(event)
        for pause_s in self.derived.await_start(event, wait_s):
            self.loop.run_once(pause_s)
            yield 0.0
        return event

    def say(self, agent, *names, by=None, **more):
        """Payloads of an agent that tells its ends, in the words that Claude Code has for them."""
        for name in names:
            known = {"session_id": "s", "transcript_path": "/t.jsonl", "cwd": str(self.project), "hook_event_name": name}
            asked = {"prompt": "go on", "source": "startup", "reason": "other"}
            self.call([agent, name, "--via", f"{agent}/user"], json.dumps(known | asked | more).encode(), by)

    def cold(self, *names, agent="claude-code"):
        """The same, answered by a process for one call."""
        for name in names:
            known = {"session_id": "s", "transcript_path": "/t.jsonl", "cwd": str(self.project), "hook_event_name": name}
            raw = json.dumps(known | {"prompt": "go on", "reason": "other"}).encode()
            dispatcher.answer_call([agent, name, "--via", f"{agent}/user"], raw, {})

    def records(self, kind, agent=None):
        found = [record for record in overlay.latest_records() if record.event.type == kind]
        return [record for record in found if agent is None or record.event.agent == agent]

    def queue(self):
        rows = []
        self.store_writer.run_with_recorder(
            lambda recorder: rows.extend(hook_queue.load_queue(recorder.writer.connection, 99))
        )
        return [row.record and row.record.event.type for row in rows]

    def runs(self):
        """The records of hook runs that follow derived events."""
        return [record for record in overlay.latest_records() if record.event.type == HOOK_RUNS_EVENT]


@pytest.fixture
def daemon(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("hookonce.daemon.store_writer._QUIET_PERIOD_S", 0.0)
    found = Listening(tmp_path)
    yield found
    found.close()


# Ends


@pytest.mark.part(4)
@pytest.mark.covers("OH-17")
@pytest.mark.parametrize("agent_name", SEQUENCES)
@pytest.mark.parametrize("way", ["gone", "idle"])
def test_an_observer_of_everything_hears_one_end_of_each_session(daemon, agent, agent_name, way):
    """
    Of agents that tell none; also when a session goes on after it, which is another start and another end.
    """
    daemon.observe()
    daemon.play(agent_name, *SEQUENCES[agent_name], by=agent if way == "gone" else None)
    before = daemon.heard(type="session.end")
    if way == "gone":
        agent.end()
    for _ in range(2):
        daemon.wait(HALF_AN_HOUR if way == "idle" else 0)

    assert [] == before
    assert daemon.hears(1, type="session.end")
    assert daemon.hears(1, type="session.start")
    (end,) = daemon.heard(type="session.end")
    assert (agent_name, "s", f"file://{daemon.project}") == (end["source"], end["session_id"], end["context"])
    assert end["extensions"]["dev.hookonce"]["derived_from"]
    assert [] == daemon.queue()


def test_a_session_that_goes_on_after_its_end_begins_and_ends_once_more(daemon):
    daemon.observe("session.start", "session.end")
    for _ in range(2):
        daemon.play("windsurf", "pre_user_prompt", "post_cascade_response")
        daemon.wait(HALF_AN_HOUR)

    assert daemon.hears(4)
    assert daemon.hears(2, type="session.end")


@pytest.mark.parametrize("agent_name", ["claude-code", "gemini-cli", "factory-droid"])
def test_an_end_that_its_agent_tells_after_a_derived_one_is_not_told_again(daemon, agent_name):
    """
    Nor one that it tells twice; but the end of a session that has gone on meanwhile is.
    """
    daemon.observe("session.end")
    daemon.say(agent_name, "SessionStart", "UserPromptSubmit" if agent_name != "gemini-cli" else "BeforeAgent")
    daemon.wait(HALF_AN_HOUR)
    first = daemon.hears(1)
    for _ in range(2):
        daemon.say(agent_name, "SessionEnd")
        daemon.dedup = DedupCache()  # as if it came an hour later
    second = daemon.hears(1)
    daemon.say(agent_name, "UserPromptSubmit" if agent_name != "gemini-cli" else "BeforeAgent", "SessionEnd", "SessionEnd")

    assert (True, True, True) == (first, second, daemon.hears(2))
    assert ["repeat"] == [gap.capability for gap in daemon.records("session_end")[1].gaps if gap.capability]


def test_a_process_that_answers_without_the_daemon_tells_an_end_once(daemon, monkeypatch):
    """
    It looks into the store and the spool: an end that was derived is not told again, one after more work is.
    """
    monkeypatch.chdir(daemon.project)
    daemon.observe("session.end")
    daemon.say("claude-code", "SessionStart", "UserPromptSubmit")
    daemon.wait(HALF_AN_HOUR)
    first = daemon.hears(1)
    daemon.cold("SessionEnd")
    second = daemon.hears(1)
    shutil.rmtree(find_runtime_dir() / "doors", ignore_errors=True)  # as if it came an hour later
    daemon.cold("UserPromptSubmit", "SessionEnd")

    assert (True, True, True) == (first, second, daemon.hears(2))


PROMPTS = {"claude-code": "UserPromptSubmit", "factory-droid": "UserPromptSubmit", "gemini-cli": "BeforeAgent"}


@pytest.mark.part(4)
@pytest.mark.parametrize("agent_name", PROMPTS)
@pytest.mark.parametrize("way", ["told", "told at once", "cold", "gone", "idle"])
def test_hooks_and_the_record_have_a_start_before_each_end(daemon, agent, agent_name, way):
    """
    Of a short session whose agent tells starts and did not tell this one, whoever tells the end, and how soon.
    """
    daemon.observe("session.start", "session.end")
    tell = partial(daemon.cold, agent=agent_name) if way == "cold" else partial(daemon.say, agent_name, by=agent)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(daemon.project)
        if way == "told at once":
            patch.setattr("hookonce.daemon.store_writer._QUIET_PERIOD_S", 60.0)
            patch.setattr(daemon, "settle", lambda: None)
        tell(PROMPTS[agent_name], PROMPTS[agent_name])
        if way in ("gone", "idle"):
            agent.end()
            daemon.wait(END_GRACE_S if way == "gone" else HALF_AN_HOUR)
            daemon.wait(END_GRACE_S)
        else:
            tell("SessionEnd")
    heard = daemon.hears(2) and [one["type"] for one in daemon.heard()]
    daemon.store_writer.close()
    daemon.begin()
    daemon.store_writer.maintain()
    daemon.derived.schedule()
    daemon.settle()
    kept = [record.event.type for record in overlay.latest_records()]

    assert ["session.start", "session.end"] == heard
    end = "session_abort" if way == "gone" else "session_end"
    assert ["session_start", end] == [kind for kind in kept if kind in ("session_start", end)]
    assert daemon.hears(2)


@pytest.mark.parametrize("way", ["told", "cold"])
def test_a_start_that_waits_for_its_hooks_is_told_before_the_end(daemon, way, monkeypatch):
    """
    Its hook takes longer than the end's, and none is asked twice.
    """
    monkeypatch.chdir(daemon.project)
    slow = {"type": "command", "command": f"sleep 0.2; {daemon.writes()}"}
    daemon.hooks({"event": "session_start", "handler": slow}, {"event": "session_end"})
    daemon.derived.stop()
    for moment in (-60, 0):
        now = times.from_seconds(daemon.clock() + moment)
        daemon.tell("before_prompt", agent="claude-code", time=now, cwd=str(daemon.project))
    before = daemon.queue()
    daemon.begin()
    daemon.say("claude-code", "SessionEnd") if way == "told" else daemon.cold("SessionEnd")

    assert ["session_start"] == before
    assert daemon.hears(2)
    assert ["session_start", "session_end"] == [one["type"] for one in daemon.heard()]
    assert ([], 1) == (daemon.queue(), len(daemon.runs()))


@pytest.mark.covers("OH-27")
@pytest.mark.parametrize("way", ["told", "derived"])
def test_a_live_end_carries_model_duration_tokens_and_reason(daemon, way):
    """
    As far as transcript and calls have told them by then; the agent's own words win.
    """
    daemon.observe("session.end")
    daemon.say("claude-code", "SessionStart", "UserPromptSubmit")
    usage = Usage(input_tokens=1200, output_tokens=34, total_tokens=1234)
    call = daemon.event("after_model", agent="claude-code", model="claude-x", usage=usage, origin=Origin(via=["transcript"]))
    daemon.store_writer.run_with_recorder(lambda recorder: recorder.record([build_entry(redact_record(Record(event=call)))]))
    if way == "told":
        daemon.say("claude-code", "SessionEnd", reason="logout")
    else:
        daemon.wait(HALF_AN_HOUR)
    assert daemon.hears(1)
    (end,) = daemon.heard()

    assert {"model": "claude-x", "input_tokens": 1200, "output_tokens": 34} == {key: end["data"][key] for key in ("model", "input_tokens", "output_tokens")}
    assert {"told": "user_exit", "derived": "timeout"}[way] == end["data"]["reason"]
    assert (int, "/t.jsonl") == (type(end["data"]["duration_ms"]), end["data"]["transcript_path"])
    (kept,) = daemon.records("session_end")
    assert ("claude-x", 1200) == (kept.event.model, kept.event.usage.input_tokens)


def test_an_end_is_completed_after_its_caller_was_acknowledged(daemon):
    """
    What the session came to may take a while to find, and a client waits for the acknowledgement a moment only.
    """
    daemon.observe("session.end")
    daemon.say("claude-code", "SessionStart", "UserPromptSubmit")
    order = []

    def receive(*words):
        found = usual(*words)
        order.append("received")
        return found

    def complete(event, wait_s):
        order.append("completed")
        return daemon.complete_end(event, wait_s)

    usual = dispatcher.receive_call
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatcher, "receive_call", receive)
        daemon.call(["claude-code", "SessionEnd"], END % daemon.project.as_posix().encode(), complete_end=complete)

    assert ["received", "completed"] == order
    assert daemon.hears(1)
    assert int is type(daemon.heard()[0]["data"]["duration_ms"])


@pytest.mark.covers("OH-30")
def test_the_end_of_a_tool_carries_its_duration(daemon):
    """
    From the moment at which its start was answered, for hooks and in the record; what the agent tells wins.
    """
    daemon.observe("tool.end")
    daemon.play("windsurf", "pre_run_command", at=1.0)
    daemon.play("windsurf", "post_run_command", at=3.0)
    daemon.play("vs-code-copilot", "PostToolUse")
    (end, other) = daemon.heard()
    (kept,) = daemon.records("after_tool_execute", agent="windsurf")

    assert 2000 == end["data"]["duration_ms"]
    assert end["data"]["duration_ms"] == kept.event.tool.result.duration_ms
    assert "duration_ms" not in other["data"]


def test_a_call_is_timed_by_its_id_or_by_what_it_does(daemon):
    """
    A refused call has no start, the newest equal one counts, and a duration that is told stays.
    """
    timer = CallTimer()
    start = Record(event=daemon.event("before_tool_execute", tool="shell", given={"command": "make"}))
    end = with_result(daemon.event("after_tool_execute", tool="shell", given={"command": "make"}), ok=True)
    timer.record_start(replace(start, decision=Decision(outcome="deny")), at=1.0)
    unknown = timer.add_duration(end, at=3.0)
    timer.record_start(start, at=1.0)
    timer.record_start(start, at=2.5)

    assert unknown is end
    assert 500 == timer.add_duration(end, at=3.0).tool.result.duration_ms
    assert 7 == timer.add_duration(with_result(end, duration_ms=7), at=3.0).tool.result.duration_ms
    named = replace(start, event=replace(start.event, tool=replace(start.event.tool, call_id="c")))
    timer.record_start(named, at=1.0)
    other = replace(end, tool=replace(end.tool, call_id="c", input={}))
    assert 2000 == timer.add_duration(other, at=3.0).tool.result.duration_ms


@pytest.mark.parametrize("between", ["before_prompt", "session_end", "after_tool_execute"])
def test_an_old_call_is_not_the_start_of_an_equal_one_without_an_id(daemon, between):
    """
    Nor one that has ended; but an end that comes through two entries at once has the same start, and ids are unique.
    """
    timer = CallTimer()
    start = Record(event=daemon.event("before_tool_execute", tool="shell", given={"command": "make"}))
    named = replace(start, event=replace(start.event, tool=replace(start.event.tool, call_id="c")))
    end = with_result(daemon.event("after_tool_execute", tool="shell", given={"command": "make"}), ok=True)
    timer.record_start(start, at=1.0)
    timer.record_start(named, at=1.0)
    if between == "after_tool_execute":
        assert [1000, 1500] == [timer.add_duration(end, at=at).tool.result.duration_ms for at in (2.0, 2.5)]
    else:
        timer.record_start(Record(event=daemon.event(between, session="another")), at=2.0)
        assert 1000 == timer.add_duration(end, at=2.0).tool.result.duration_ms
        timer.record_start(Record(event=daemon.event(between)), at=2.0)
        assert timer.add_duration(end, at=2.5) is end

    assert timer.add_duration(end, at=60.0) is end
    assert 59_000 == timer.add_duration(replace(end, tool=replace(end.tool, call_id="c")), at=60.0).tool.result.duration_ms
    timer.record_start(start, at=61.0)
    assert 1000 == timer.add_duration(end, at=62.0).tool.result.duration_ms


# Once


def killed(work):
    """Whether a copy of us was killed while it did something."""
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_daemon_that_is_killed_after_the_record_leaves_the_event_to_the_next_one(daemon):
    """
    The end was stored, nobody was told: the next daemon tells it, and the one after that does not.
    """
    daemon.observe("session.end")
    daemon.play("windsurf", *SEQUENCES["windsurf"])

    def live_on():
        daemon.store_writer.connect_sessions(on_added=daemon.reaper.handle_entry, on_queued=die)
        daemon.wait(HALF_AN_HOUR)

    daemon.store_writer._close_recorder()
    assert killed(live_on)
    before = daemon.heard()
    for _ in range(2):
        daemon.begin()
        daemon.derived.schedule()
        daemon.settle()

    assert [] == before
    assert daemon.hears(1, type="session.end")
    assert 1 == len(daemon.runs())


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_daemon_that_is_killed_between_hooks_leaves_the_others_to_the_next_one(daemon, monkeypatch, number):
    """
    None is begun twice: of one that had begun nobody knows how it ended, and the record says so.
    """
    daemon.hooks(
        *[
            {"event": "retry_triggered", "handler": {"type": "command", "command": daemon.writes(f"h{n}")}}
            for n in range(3)
        ]
    )
    calls = []

    def live_on():
        usual = hook_queue.note_start

        def note(*words):
            calls.append(words)
            found = usual(*words)
            return die() if len(calls) == number else found

        monkeypatch.setattr(hook_queue, "note_start", note)
        fail_twice(daemon)

    daemon.store_writer._close_recorder()
    assert killed(live_on)
    daemon.begin()
    daemon.derived.schedule()
    daemon.settle()

    assert [n != number - 1 for n in range(3)] == [len(daemon.heard(f"h{n}")) == 1 for n in range(3)]
    (record,) = daemon.runs()
    assert [f"h{n}" for n in range(3)] == [run.hook for run in record.runs]
    assert ["the process that ran it was killed"] * number == [run.failure for run in record.runs if run.failure]


def fail_twice(daemon):
    """A call that fails and is made again."""
    for _ in range(2):
        daemon.tell("before_tool_execute", tool="shell", given={"command": "make"}, cwd=str(daemon.project))
        failed = daemon.event("after_tool_execute", tool="shell", given={"command": "make"}, cwd=str(daemon.project))
        daemon.journal.append(redact_record(Record(event=with_result(failed, exit_code=1, ok=False))))
        daemon.settle()


def with_result(event, **fields):
    return replace(event, tool=replace(event.tool, result=Result(**fields)))


def test_two_daemons_that_see_one_event_begin_a_hook_once(daemon):
    """
    One that leaves while its hooks run, and the next one: who notes a hook second does not run it.
    """
    daemon.hooks({"event": "session_start"})
    daemon.derived.stop()
    daemon.tell("before_prompt")
    found = []

    def both(recorder):
        connection = recorder.writer.connection
        (event,) = hook_queue.load_queue(connection, 9)
        found.extend(hook_queue.note_start(connection, event.id, digest) for digest in ("a.1", "a.1", "a.11", "b.1"))
        found.append(hook_queue.note_start(connection, "nobody's", "a.1"))

    daemon.store_writer.run_with_recorder(both)

    assert [True, False, True, True, False] == found


def test_a_hook_that_has_ended_is_told_of_though_the_next_one_had_to_wait(daemon, monkeypatch):
    """
    The store was busy for a moment: nobody was killed, and the record says how each has ended.
    """
    commands = (f"{daemon.writes(f'h{n}')}; exit {n}" for n in range(3))
    daemon.hooks(*({"event": "retry_triggered", "handler": {"type": "command", "command": one}} for one in commands))
    usual, calls = hook_queue.note_start, []

    def note(*words):
        calls.append(words)
        return len(calls) != 2 and usual(*words)

    monkeypatch.setattr(hook_queue, "note_start", note)
    fail_twice(daemon)
    before = daemon.runs()
    daemon.derived.schedule()
    daemon.settle()

    assert ([], 4) == (before, len(calls))
    assert [0, 1, 2] == [run.exit for run in daemon.runs()[0].runs]
    assert [1, 1, 1] == [len(daemon.heard(f"h{n}")) for n in range(3)]


def test_a_hook_that_runs_in_a_daemon_that_leaves_is_left_to_it(daemon):
    """
    Later events of its session wait. Only when it is gone without a record does nobody know how its hook has ended.
    """
    daemon.hooks({"event": "session_start"}, {"event": "policy_blocked"})
    daemon.derived.stop()
    daemon.tell("before_prompt", cwd=str(daemon.project))
    daemon.tell("before_tool_execute", tool="shell", outcome="deny", cwd=str(daemon.project))
    digests = _number_hooks(select_derived_hooks(daemon.kinds("session_start")[0]).hooks)
    with subprocess.Popen(["sleep", "60"]) as other:
        daemon.store_writer.run_with_recorder(
            lambda recorder: hook_queue.note_start(
                recorder.writer.connection, daemon.kinds("session_start")[0].id, next(iter(digests)), owner_name(other.pid)
            )
        )
        daemon.begin()
        daemon.derived.schedule()
        daemon.settle()
        before = daemon.runs(), daemon.queue()
        other.kill()
    daemon.derived.schedule()
    daemon.settle()

    assert ([], ["session_start", "policy_blocked"]) == before
    assert [["the process that ran it was killed"], [None]] == [[run.failure for run in record.runs] for record in daemon.runs()]
    assert ["policy_blocked"] == [one["type"] for one in daemon.heard()]


def test_what_a_command_has_ingested_is_told_when_a_daemon_is_there(daemon):
    """
    Nobody was there when the calls were made, and nobody when they were stored.
    """
    daemon.observe("session.start")
    for kind in ("before_prompt", "agent_stop"):
        files.append(redact_record(Record(event=daemon.event(kind, cwd=str(daemon.project)))))
    ingest_spool(print)
    ingest_spool(print)
    before = daemon.queue()
    for _ in range(2):
        daemon.derived.schedule()
        daemon.settle()

    assert ["session_start"] == before
    assert daemon.hears(1, type="session.start")


def test_events_that_were_imported_are_not_told(daemon):
    """
    Nor is the end of a session that somebody else has recorded.
    """
    daemon.hooks({"event": "session_start"}, {"event": "session_end"})
    event = daemon.event("before_prompt", origin=Origin(via=["import"]))
    daemon.store_writer.run_with_recorder(
        lambda recorder: recorder.record([build_entry(redact_record(Record(event=event)))])
    )
    daemon.wait(HALF_AN_HOUR)

    assert ([], []) == (daemon.queue(), daemon.heard())


def test_events_that_a_transcript_tells_of_before_we_were_there_are_not_told(daemon):
    """
    A failed call of the model is read in files alone; one that failed since the session began here is told.
    """
    daemon.hooks({"event": "model_failed"})
    daemon.tell("before_prompt", cwd=str(daemon.project))
    for moment in ("2026-01-01T00:00:00Z", times.from_seconds(daemon.clock() + 1)):
        event = daemon.event("model_failed", cwd=str(daemon.project), time=moment, origin=Origin(via=["transcript"]))
        daemon.store_writer.run_with_recorder(
            lambda recorder, event=event: recorder.record([build_entry(redact_record(Record(event=event)))])
        )
    daemon.settle()

    assert daemon.hears(1, type="model_failed")
    assert "2026-01-01T00:00:00Z" != daemon.heard()[0]["time"]


# As for a call


@pytest.mark.parametrize("event", [None, "session_end", "session_start"])
def test_an_event_that_no_hook_is_there_for_is_not_queued(daemon, event, monkeypatch):
    """
    A hook for it is enough, trusted or not; what keeps it from being asked is found when it would be.
    """
    queue = Mock(wraps=hook_queue.enqueue_events)
    monkeypatch.setattr(hook_queue, "enqueue_events", queue)
    daemon.hooks(*([{"event": event}] if event else []))
    daemon.tell("before_prompt")
    daemon.settle()

    assert daemon.records("session_start")
    assert (event == "session_start") == queue.called
    assert daemon.hears(event == "session_start", type="session_start")


def test_nobody_waits_for_the_answer(daemon):
    """
    A refusal is named in the record of the runs and in the log; a failure is an event of its own.
    """
    daemon.hooks(
        {
            "event": "retry_triggered",
            "blocking": True,
            "handler": {"type": "command", "command": "echo no >&2; exit 2"},
        },
        {"event": "retry_triggered", "handler": {"type": "command", "command": "exit 7"}},
    )
    fail_twice(daemon)
    (record,) = daemon.runs()
    derived = daemon.kinds("retry_triggered")[0]
    (error,) = daemon.kinds("error_occurred")

    assert [("h0", 2, "deny"), ("h1", 7, None)] == [(run.hook, run.exit, run.outcome) for run in record.runs]
    assert (derived.id, derived.session, derived.time) == (record.event.derived_from, record.event.session, record.event.time)
    assert ["derived"] == [gap.capability for gap in record.gaps]
    assert (derived.id, "retry_triggered", "h1") == (error.derived_from, error.data["origin_event"], error.data["hook"])
    assert "gave deny to retry_triggered" in (daemon.home / ".local/share/hookonce/hookonce.log").read_text(
        encoding="utf-8"
    )


def test_why_and_show_tell_which_hooks_were_asked(daemon):
    daemon.hooks({"event": "retry_triggered", "name": "bell"})
    fail_twice(daemon)
    derived = daemon.kinds("retry_triggered")[0]
    why = run("why", derived.id, HOME=str(daemon.home)).out
    whole = json.loads(run("why", derived.id, "--json", HOME=str(daemon.home)).out)
    shown = run("show", "s", "--all", HOME=str(daemon.home)).out
    told = [record for record in overlay.latest_records() if record.runs]

    assert "bell (user): no decision, exit code 0" in why
    assert ["bell"] == [one["hook"] for one in whole["runs"]]
    assert "hooks of retry_triggered: bell (exit code 0)" in shown
    assert [derived.id] == [record.event.derived_from for record in told]


def test_a_project_that_nobody_trusts_hears_nothing(daemon):
    daemon.observe("session.start", trusted=False)
    daemon.play("windsurf", "pre_user_prompt")

    assert [] == daemon.heard()
    assert [["trust"]] == [[gap.capability for gap in record.gaps] for record in daemon.runs()]


def test_in_a_pause_nobody_is_asked_and_nothing_is_left_for_later(daemon):
    daemon.hooks({"event": "session_start"})
    pause.pause(60)
    daemon.play("windsurf", "pre_user_prompt")
    daemon.tell("before_prompt", session="t")
    pause.resume()
    daemon.derived.schedule()
    daemon.settle()

    assert ([], []) == (daemon.heard(), daemon.queue())


def test_the_environment_is_that_of_the_installation(daemon, monkeypatch):
    """
    And the directory that of the session; nothing of whoever called or started us.
    """
    monkeypatch.setenv("SECRET_OF_A_CALLER", "x")
    monkeypatch.setenv("PATH", f"/nowhere:{os.environ['PATH']}")
    command = f"env >{daemon.home}/env; pwd >{daemon.home}/cwd"
    daemon.hooks({"event": "session_start", "handler": {"type": "command", "command": command}})
    daemon.tell("before_prompt", cwd=str(daemon.project))
    found = dict(line.partition("=")[::2] for line in (daemon.home / "env").read_text(encoding="utf-8").splitlines())

    assert (str(daemon.home), "1") == (found["HOME"], found["HOOKONCE_DEPTH"])
    assert "SECRET_OF_A_CALLER" not in found
    assert "/nowhere" not in found["PATH"]
    assert f"{daemon.project}\n" == (daemon.home / "cwd").read_text(encoding="utf-8")


@pytest.mark.parametrize(("depth", "asked"), [(0, True), (2, True), (3, False)])
def test_a_session_below_hooks_keeps_its_depth(daemon, depth, asked):
    """
    An end that starts an agent whose end starts an agent comes to an end.
    """
    daemon.hooks(
        {
            "event": "session_start",
            "handler": {"type": "command", "command": f"echo $HOOKONCE_DEPTH >>{daemon.home}/depth"},
        }
    )
    registry = LongLivedRegistry(find_runtime_dir())
    environment = {"HOOKONCE_PARENT": registry.register_handlers(depth)} if depth else {}
    parent = os.fork()
    if not parent:  # an agent below a handler of ours
        try:
            daemon.store_writer._close_recorder()
            raw = (ROOT / "tests/golden/windsurf/pre_user_prompt.json").read_text(encoding="utf-8")
            daemon.call(
                ["windsurf", "pre_user_prompt"],
                json.dumps(json.loads(raw)["payload"]).encode(),
                environment=environment,
            )
        finally:
            os._exit(0)
    os.waitpid(parent, 0)
    found = daemon.home / "depth"

    assert asked == found.exists()
    assert not asked or f"{depth + 1}\n" == found.read_text(encoding="utf-8")


def test_no_hook_costs_nothing_that_stays(daemon):
    """
    What no hook is there for is taken out of the queue, and leaves no record behind.
    """
    daemon.play("windsurf", *SEQUENCES["windsurf"])
    daemon.wait(HALF_AN_HOUR)

    assert ([], []) == (daemon.queue(), daemon.runs())
    assert [("session_end", "idle_timeout")] == daemon.ends("s")


def test_hooks_hear_of_loops_policies_and_context(daemon):
    """
    With what each is derived from; a hook for another event hears nothing.
    """
    daemon.hooks(*({"event": kind} for kind in ("retry_loop_detected", "policy_blocked", "plan_end")))
    for _ in range(4):
        daemon.tell(
            "before_tool_execute", tool="shell", given={"command": "make"}, outcome="deny", cwd=str(daemon.project)
        )

    assert daemon.hears(4, type="policy_blocked")
    assert daemon.hears(1, type="retry_loop_detected")
    assert 5 == len({one["derived_from"] + one["type"] for one in daemon.heard()})


@pytest.mark.parametrize("privacy", ["minimal", "standard", "full"])
def test_hooks_hear_which_decision_a_policy_event_is_about(daemon, privacy):
    """
    As the record has it, in every dialect that has a place for it; below full no hook in an open one hears an address.
    """
    dialects = {name: {"dialect": name, "privacy": privacy} for name in ("agent-hooks", "cloudevents", "otel", "amplifier")}
    daemon.hooks(
        *(
            {"event": "policy_blocked", "handler": {"type": "command", "command": daemon.writes(name)}} | more
            for name, more in (dialects | {"canonical": {}}).items()
        )
    )
    denial = Decision(outcome="deny", reason="not here, ask a.person@example.org")
    record = Record(event=daemon.event("before_tool_execute", tool="shell"), decision=denial)
    daemon.journal.append(redact_record(record))
    daemon.settle()
    heard = {name: daemon.heard(name)[0] for name in dialects}
    canonical = daemon.heard("canonical")[0]
    decisions = [canonical["decision"], heard["agent-hooks"]["data"]["decision"], heard["cloudevents"]["data"]["decision"]]

    assert ["deny"] * 3 == [one["outcome"] for one in decisions]
    assert all(one["reason"].startswith("not here") for one in decisions)
    assert all(word in json.dumps(heard["otel"]) for word in ("hookonce.decision.reason", "not here"))
    assert "denied" == heard["amplifier"]["status"]
    assert privacy == "full" or "a.person" not in json.dumps(heard)


def test_events_beyond_what_may_wait_are_dropped_aloud(daemon, monkeypatch):
    monkeypatch.setattr(hook_queue, "MAX_QUEUE_ROWS", 2)
    daemon.hooks({"event": "session_start"})
    daemon.derived.stop()
    for session in "abcd":
        daemon.tell("before_prompt", session=session)
    waiting = daemon.queue()
    daemon.begin()
    daemon.tell("before_prompt", session="e")
    daemon.derived.schedule()
    daemon.settle()
    log = (daemon.home / ".local/share/hookonce/hookonce.log").read_text(encoding="utf-8")

    assert 4 == len(waiting)
    assert daemon.hears(2, type="session_start")
    assert "no hook was asked about 3 derived events" in log


def test_what_has_waited_for_a_day_is_told_to_nobody(daemon, monkeypatch):
    daemon.hooks({"event": "session_start"})
    daemon.derived.stop()
    daemon.tell("before_prompt")
    daemon.begin()
    monkeypatch.setattr("hookonce.daemon.derived_events.time", lambda: time() + 24 * 3600 + 9)
    daemon.derived.schedule()
    daemon.settle()
    log = (daemon.home / ".local/share/hookonce/hookonce.log").read_text(encoding="utf-8")

    assert ([], []) == (daemon.queue(), daemon.heard())
    assert "no hook is asked about session_start" in log
    assert "it has waited for a day" in log


def test_sessions_do_not_wait_for_one_that_has_many_events(daemon, monkeypatch):
    """
    Its hook takes its time, and all that is looked at together belongs to it.
    """
    monkeypatch.setattr("hookonce.daemon.derived_events._BATCH_ROWS", 2)
    waits = f"while [ ! -e {daemon.home}/go ]; do sleep 0.01; done; {daemon.writes('first')}"
    daemon.hooks(
        {"event": "policy_blocked", "handler": {"type": "command", "command": waits}}, {"event": "session_start"}
    )
    daemon.derived.stop()
    for _ in range(4):
        daemon.tell("before_tool_execute", tool="shell", outcome="deny", cwd=str(daemon.project))
    daemon.tell("before_prompt", session="t", cwd=str(daemon.project))
    daemon.begin()
    daemon.derived.schedule()
    others = eventually(lambda: (daemon.loop.run_once(0.005), daemon.heard(session="t"))[1])
    (daemon.home / "go").touch()
    daemon.settle()

    assert others
    assert daemon.hears(4, "first", type="policy_blocked")


@pytest.mark.parametrize("session", ["s", "é ' \\ \n", None])
def test_the_queue_is_read_without_busy_sessions(daemon, session):
    """
    Of others, and of another agent's session of the same name, nothing is left out; nor what nobody has a record of.
    """
    daemon.hooks({"event": "session_start"}, {"event": "policy_blocked"})
    daemon.derived.stop()
    for one in (session, "t"):
        daemon.tell("before_tool_execute", session=one, tool="shell", outcome="deny")
    found = []

    def look(recorder):
        connection = recorder.writer.connection
        connection.execute("INSERT INTO hook_queue (id, queued_at) VALUES ('nobody''s', '')")
        for busy in ([], [("windsurf", session)], [("amp", session)], [("windsurf", session), ("windsurf", "t")]):
            rows = hook_queue.load_queue(connection, 99, busy)
            found.append([row.record and row.record.event.session for row in rows])

    daemon.store_writer.run_with_recorder(look)
    everything, without, other, nothing = found

    assert {None, session, "t"} == set(everything)
    assert [one for one in everything if one == "t"] == without[1:]
    assert (everything, [None]) == (other, nothing)


def test_a_queue_that_grows_under_one_daemon_is_bounded(daemon, monkeypatch):
    """
    Every so many events it is looked at; none goes whose hooks run.
    """
    monkeypatch.setattr(hook_queue, "MAX_QUEUE_ROWS", 2)
    monkeypatch.setattr("hookonce.sessions.recorder._TRIM_INTERVAL_ROWS", 3)
    daemon.hooks({"event": "session_start"})
    daemon.derived.stop()
    daemon.tell("before_prompt", session="a")
    first = daemon.records("session_start")[0].event.id
    daemon.store_writer.run_with_recorder(
        lambda recorder: hook_queue.note_start(recorder.writer.connection, first, "d.1")
    )
    for session in "bcdefghi":
        daemon.tell("before_prompt", session=session)
    found = []
    daemon.store_writer.run_with_recorder(
        lambda recorder: found.extend(row.id for row in hook_queue.load_queue(recorder.writer.connection, 99))
    )

    assert first in found
    assert len(found) <= 2 + 3
