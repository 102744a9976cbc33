"""A harness's vigil: a store, those who keep and watch it, clocks that tests turn, and agents that are real processes."""

import subprocess
import time

import pytest

from hookonce.agents import reports_session_end
from hookonce.base import ids, times
from hookonce.base.event_loop import EventLoop
from hookonce.daemon import store_writer
from hookonce.daemon.denied_files import DeniedFileWatcher
from hookonce.daemon.store_writer import BackgroundStoreWriter
from hookonce.model import SCHEMA, Decision, Event, Record, Tool
from hookonce.sessions.reaper import SessionReaper
from hookonce.sessions.stored_records import redact_record
from hookonce.store.spool import overlay
from tests.handlers.processes import eventually


class SessionHarness:
    """Everything that a daemon has for it, without the daemon."""

    def __init__(self):
        self.later = 0.0  # seconds by which the clocks are ahead
        self.begin()

    def begin(self):
        """Know nothing but what is in the store."""
        self.loop = EventLoop()
        self.store_writer = BackgroundStoreWriter(self.loop)
        self.journal = self.store_writer.journal
        self.reaper = SessionReaper(self.loop, self.store_writer, reports_session_end, self.clock, lambda: time.monotonic() + self.later)
        self.store_writer.connect_sessions(on_added=self.reaper.handle_entry)
        self.files = DeniedFileWatcher(self.loop, self.store_writer, self.journal)

    def clock(self):
        return time.time() + self.later

    def event(self, kind, agent="windsurf", session="s", tool=None, given=None, **fields):
        told = None if tool is None else Tool(name=tool, native=tool, input=given or {})
        now = times.from_seconds(self.clock())
        known = {"schema": SCHEMA, "type": kind, "agent": agent, "session": session, "time": now, "received": now}
        return Event(id=ids.new_id(), **known | fields, time_source="received", tool=told)

    def tell(self, kind, by=None, outcome=None, **fields):
        """A call of an agent, answered by us if a process has made it."""
        decision = None if outcome is None else Decision(outcome=outcome)
        record = Record(event=self.event(kind, **fields), decision=decision)
        if by is not None:
            self.reaper.record_caller(record.event.id.encode(), by.told)
        self.files.watch_record(record)
        self.journal.append(redact_record(record))
        self.settle()
        return record.event

    def settle(self):
        """Until everything is kept, and nothing is left to do."""

        def is_done():
            self.loop.run_once(0.01)
            return self.store_writer.status()["waiting"] == 0 and not self.loop.has_pending

        assert eventually(is_done), self.store_writer.status()

    def wait(self, seconds=0.0):
        """Let time pass, and look as often as the daemon would at its end."""
        self.later += seconds
        for _ in range(2):
            self.reaper.check_sessions()
            self.later += 3
            self.settle()

    def kinds(self, *names, session="s"):
        found = [record.event for record in overlay.latest_records() if record.event.session == session]
        return [event for event in found if event.type in names]

    def open_calls(self):
        """The calls of all sessions that nobody has ended."""
        found = []
        self.store_writer.run_with_recorder(lambda recorder: found.extend(state.calls.open for state in recorder.states.values()))
        return [calls for calls in found if calls]

    def ends(self, session="s"):
        """How a session has ended, each time."""
        return [(end.type, end.data["reason"]) for end in self.kinds("session_end", "session_abort", session=session)]

    def close(self):
        self.store_writer.close()
        self.journal.close()
        self.loop.close()


class Agent:
    """A process that may be above a client."""

    def __init__(self, words=("sleep", "600")):
        self.process = subprocess.Popen(words)
        self.told = b"%d" % self.process.pid

    def end(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def harness(tmp_path, monkeypatch):
    """A store and those who keep and watch it, in a home of its own; nothing waits for others to come."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(store_writer, "_QUIET_PERIOD_S", 0.0)
    found = SessionHarness()
    yield found
    found.close()


@pytest.fixture
def agent():
    """A process that could be an agent."""
    found = Agent()
    yield found
    found.end()
