"""Session files are read when nobody waits; what is wrong with one is counted, and harms nobody."""

import os
import shutil
from contextlib import closing
from time import monotonic

import pytest

from hookonce.agents import transcripts
from hookonce.agents.claude_code import transcript
from hookonce.base import times
from hookonce.base.event_loop import EventLoop
from hookonce.daemon import store_writer
from hookonce.daemon.store_writer import BackgroundStoreWriter
from hookonce.model import Usage
from hookonce.sessions import tailer
from hookonce.sessions.tailer import TranscriptTailer
from hookonce.store import database
from hookonce.store.query import RecordFilter, find_records
from tests.agents.transcripts.material import GOLDEN, golden
from tests.store.rows import stored

LONG = 20  # seconds that nothing takes
KEY = "ghp_" + "Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j"


class TailerHarness:
    """As much of a daemon as listens."""

    def __init__(self):
        self.busy = False
        self.loop = EventLoop()
        self.store_writer = BackgroundStoreWriter(self.loop)
        self.journal = self.store_writer.journal
        self.tailer = TranscriptTailer(self.loop, self.store_writer, transcripts.load, lambda: self.busy)
        self.store_writer.connect_sessions(self.tailer, on_close=self.tailer.read_before_close)

    def tell(self, kind, path=None, agent="claude-code", **more):
        """Something happens in a session, whose file is named."""
        data = {"transcript_path": str(path)} if path is not None else {}
        record = stored(0, type=kind, agent=agent, session="s", tool=None, model=None, data=data | more.pop("data", {}), **more)
        self.journal.append(record)
        return record

    def until(self, done):
        """Live until something is true."""
        end = monotonic() + LONG
        while not done() and monotonic() < end:
            self.loop.run_once(0.02)
        assert done(), self.status

    @property
    def status(self):
        return self.tailer.status()

    def close(self):
        self.store_writer.close()
        self.journal.close()
        self.loop.close()


@pytest.fixture
def harness(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for module, name, value in (
        (store_writer, "_QUIET_PERIOD_S", 0.0),
        (tailer, "_READ_DELAY_S", 0.01),
        (tailer, "_BUSY_RETRY_S", 0.01),
        (tailer, "_FINAL_READ_DELAYS_S", [0.01, 0.02]),
    ):
        monkeypatch.setattr(module, name, value)
    found = TailerHarness()
    yield found
    found.close()


def answers():
    with closing(database.connect_reader()) as connection:
        return [one.event for one in find_records(connection, RecordFilter(type="after_model"))]


def ends():
    with closing(database.connect_reader()) as connection:
        return [one.event for one in find_records(connection, RecordFilter(type="session_end"))]


def projects(home, agent="claude-code"):
    """Where the golden session files are, in this home."""
    return shutil.copytree(GOLDEN / agent, home / ".claude/projects/p")


def test_what_an_agent_writes_is_read_as_it_grows(harness, tmp_path):
    """
    Also the files of its sub-agents, which nobody names.
    """
    folder = projects(tmp_path)
    whole = (folder / "tour.jsonl").read_bytes()
    (folder / "tour.jsonl").write_bytes(whole[: len(whole) // 2])
    harness.tell("before_prompt", folder / "tour.jsonl")
    harness.until(lambda: harness.status["events"] > 3)
    first = len(answers())
    (folder / "tour.jsonl").write_bytes(whole)
    harness.tell("agent_stop", folder / "tour.jsonl")
    harness.until(lambda: len(answers()) == 11)

    assert 0 < first < 11
    assert 2 == sum(event.subagent is not None for event in answers())
    assert {"s"} == {event.session for event in answers()}


def test_the_end_of_a_session_knows_what_it_came_to(harness, tmp_path):
    """
    The last lines were read before it is kept; what comes after it is read too, and then nothing is followed any more.
    """
    folder = projects(tmp_path)
    whole = (folder / "pair.jsonl").read_bytes()
    half = whole.index(b"\n", whole.index(b"msg_pair_0")) + 1
    (folder / "pair.jsonl").write_bytes(whole[:half])
    harness.tell("session_start", folder / "pair.jsonl")
    harness.tell("session_end", folder / "pair.jsonl")
    harness.until(ends)
    (folder / "pair.jsonl").write_bytes(whole)
    harness.until(lambda: not harness.status["sessions"])

    (end,) = ends()
    assert Usage(input_tokens=100, output_tokens=10, total_tokens=110) == Usage(
        input_tokens=end.usage.input_tokens, output_tokens=end.usage.output_tokens, total_tokens=end.usage.total_tokens
    )
    assert 2 == len(answers())


def test_while_somebody_waits_nothing_is_read(harness, tmp_path, monkeypatch):
    """
    But not for ever.
    """
    monkeypatch.setattr(tailer, "_MAX_BUSY_RETRIES", 1 << 30)
    harness.busy = True
    harness.tell("before_prompt", projects(tmp_path) / "pair.jsonl")
    for _ in range(30):
        harness.loop.run_once(0.02)
    before = harness.status["events"]
    monkeypatch.setattr(tailer, "_MAX_BUSY_RETRIES", 3)
    harness.until(lambda: harness.status["events"] >= 2)

    assert 0 == before


def test_files_that_are_none_are_counted_once(harness, tmp_path):
    """
    A pipe, a folder, somebody's key: nobody hangs, nothing is read, and what it was is said.
    """
    pipe, key = tmp_path / "pipe.jsonl", tmp_path / "id_rsa"
    os.mkfifo(pipe)
    key.write_text("secret")
    for path in (pipe, key, tmp_path, "/dev/zero", "relative", pipe):
        harness.tell("before_prompt", path)
    harness.until(lambda: harness.status["refused_files"] == 5)
    harness.tell("agent_stop", pipe)
    harness.until(lambda: not harness.store_writer.status()["waiting"])

    assert 5 == harness.status["refused_files"]
    assert "no session file of claude-code" in harness.status["problem"]


def test_a_file_that_breaks_its_reader_breaks_nothing_else(harness, tmp_path, monkeypatch):
    """
    It is named in the status and in the log, and not tried again; lines that are none are only counted.
    """
    folder = projects(tmp_path)
    (folder / "bad.jsonl").write_bytes(b"\x00\xff no JSON\n" + (folder / "pair.jsonl").read_bytes())
    harness.tell("before_prompt", folder / "bad.jsonl")
    harness.until(lambda: len(answers()) == 2)

    def broken(*_):
        raise LookupError("unforeseen")

    monkeypatch.setattr(transcript.READER.__class__, "find_subagent_files", property(lambda _: broken), raising=False)
    harness.tell("before_prompt", folder / "refuse.jsonl")
    harness.until(lambda: harness.status["broken_files"] == 1)

    assert 1 == harness.status["unreadable_lines"]
    assert "cannot be understood: LookupError" in harness.status["problem"]
    assert "cannot be understood" in (tmp_path / ".local/share/hookonce/hookonce.log").read_text()


def test_a_path_that_was_masked_is_known_from_the_call_itself(harness, tmp_path):
    """
    What is kept never shows it.
    """
    file = tmp_path / ".claude/projects" / KEY / "s.jsonl"
    file.parent.mkdir(parents=True)
    shutil.copy(golden("claude-code", "pair"), file)
    record = stored(0, type="before_prompt", agent="claude-code", session="s", tool=None, data={"transcript_path": "/[masked]"})
    harness.tailer.remember_payload(record.event.id.encode(), b'{"transcript_path":"%s"}' % str(file).encode())
    harness.journal.append(record)
    harness.until(lambda: len(answers()) == 2)

    assert KEY not in "\n".join(map(repr, answers()))


def test_session_files_are_followed_where_the_environment_of_the_agent_puts_them(harness, tmp_path_factory):
    """
    Outside of the home too, where it is a file of this user in such a folder; any other is refused by name.
    """
    moved = tmp_path_factory.mktemp("moved")
    source = golden("cline", "tour")
    for session, folder in (("s1", "data/sessions"), ("s2", "elsewhere")):
        (moved / folder / session).mkdir(parents=True)
        shutil.copy(source, moved / folder / session / f"{session}.messages.json")
    variables = {"s1": f"CLINE_DIR={moved}", "s2": f"CLINE_SESSION_DATA_DIR={moved}/elsewhere"}
    for session, variable in variables.items():
        record = stored(0, type="before_prompt", agent="cline", session=session, tool=None, data={})
        harness.tailer.remember_payload(record.event.id.encode(), b"{}", f"A=b\0{variable}\0".encode())
        harness.journal.append(record)
    harness.until(lambda: answers() and harness.status["refused_files"])

    assert {"s1"} == {one.session for one in answers()}
    assert 1 == harness.status["refused_files"]
    assert f"{moved}/elsewhere/s2/s2.messages.json does not lie where it keeps them" in harness.status["problem"]


def test_whoever_begins_anew_goes_on_with_what_others_have_left(harness, tmp_path):
    """
    A daemon was killed; the next one reads what was written since, without being told.
    """
    folder = projects(tmp_path)
    whole = (folder / "pair.jsonl").read_bytes()
    (folder / "pair.jsonl").write_bytes(whole[: len(whole) // 2])
    now = times.now()
    harness.tell("before_prompt", folder / "pair.jsonl", time=now, received=now)
    harness.until(lambda: harness.status["events"] and not harness.store_writer.status()["waiting"])
    (folder / "pair.jsonl").write_bytes(whole)
    other = TailerHarness()
    other.tailer.maintain()
    other.until(lambda: len(answers()) == 2)
    other.close()


def test_whoever_leaves_reads_what_is_there(harness, tmp_path):
    """
    Without waiting for it to become due.
    """
    harness.tailer._due = lambda *_: None
    harness.tell("session_end", projects(tmp_path) / "compact.jsonl")
    harness.tailer.stop()
    harness.store_writer.close()

    assert 5 == len(answers())


def test_an_agent_whose_files_nobody_can_read_is_not_followed(harness, tmp_path):
    """
    Nor is what was imported.
    """
    harness.tell("before_prompt", projects(tmp_path) / "pair.jsonl", agent="cursor")
    harness.until(lambda: not harness.store_writer.status()["waiting"])

    assert 0 == harness.status["sessions"]
