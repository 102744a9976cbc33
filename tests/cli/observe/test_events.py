"""hookonce events: what happened, as it is asked for."""

import csv
import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from select import select

import pytest
from msgspec import convert
from rich.cells import cell_len

from hookonce.model import Stored
from hookonce.store import database
from hookonce.store.entry import build_entry
from hookonce.store.spool import files
from hookonce.store.writer import Writer
from tests.cli.command import environment, run, shell
from tests.cli.recorded_home import FIRST, remember, stored, story


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home in which something has happened."""
    return remember(tmp_path, monkeypatch)


def ids_of(ran):
    return [int(one["event"]["id"][-12:]) for one in ran.documents()]


EVERYTHING = [30, 31, 1, 2, 3, 5, 6, 7, 8, 9, 20]


def test_everything_that_was_kept_or_spooled_is_shown_in_the_order_of_time(home):
    """
    Looking takes up what lies in the spool, and what it takes up is in the record from then on.
    """
    ran = run("events", "--json", HOME=str(home))

    assert (0, "") == (ran.code, ran.err)
    assert EVERYTHING == ids_of(ran)
    assert [] == list(files.spool_dir().glob("*.jsonl"))
    kept = {one.event.id: one for one in (convert(document, Stored) for document in ran.documents())}
    assert story()[:8] == [kept[one.event.id] for one in story()[:8]]


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("--agent", "opencode"), [30, 31]),
        (("--session", "ses"), [30, 31]),
        (("--session", FIRST[:8], "--last", "2"), [9, 20]),
        (("--type", "agent_stop"), [31, 9]),
        (("--type", "after_*"), [5, 8]),
        (("--tool", "file_write"), [7, 8]),
        (("--decision", "deny"), [6]),
        (("--decision", "none", "--tool", "shell"), [3, 5]),
        (("--path", "src/*.py"), [7, 8]),
        (("--project", "/v"), [30, 31]),
        (("--text", '"ä 漢字"'), [3, 5]),
        (("--since", "2026-11-15"), EVERYTHING[2:]),
        (("--since", "2026-11-15T10:00:09Z"), [9, 20]),
        (("--since", "2026-11-15T11:00:09+01:00"), [9, 20]),
        (("--until", "2026-11-14T10:15:00Z"), [30]),
        (("--since", "0s"), []),
        (("--last", "0"), []),
    ],
    ids=str,
)
def test_options_say_what_is_meant(home, words, meant):
    ran = run("events", "--json", *words, HOME=str(home))

    assert (0, "", meant) == (ran.code, ran.err, ids_of(ran))


def test_the_table_says_what_was_done_and_hides_nothing_that_a_terminal_would_obey(home):
    ran = run("events", HOME=str(home))
    lines = ran.out.splitlines()

    assert ["time", "(UTC)", "agent", "session", "type", "tool", "decision", "what"] == lines[0].split()
    assert 1 + len(EVERYTHING) == len(lines)
    (refused,) = [line for line in lines if "deny" in line]
    assert refused.endswith("rm -rf / · because it says [bold]no[/bold] \\x1b[31m")
    assert "\x1b" not in ran.out
    assert any(line.endswith("· failed") for line in lines)


def test_a_terminal_gets_lines_that_fit_it(home):
    """
    The newest fifty at most, each wrapped and cut off after four lines; a day stands above its events.
    """
    with Writer() as writer:
        writer.append([build_entry(stored(100 + n, "notification", time=f"2026-11-16T10:{n:02}:00Z", data={"message": "字" * 200})) for n in range(60)])
    shown = on_a_terminal("events", HOME=str(home), columns=80)

    lines = shown.splitlines()
    assert 50 == sum(line.startswith("10:") for line in lines)
    assert 50 == sum(line.endswith("…") for line in lines)
    assert ["2026-11-16"] == [line for line in lines if line.startswith("2026-")]
    assert all(cell_len(line) <= 80 for line in lines)
    assert "the newest 50 are shown; --last N shows more" in shown


def test_events_that_say_nothing_are_counted_in_one_line(home):
    """
    On a terminal, where several stand together; --all and a pipe have a row for each.
    """
    silent = [stored(60 + n, kind, time=f"2026-11-16T10:00:0{n}Z") for n, kind in enumerate(("message_display", "message_display", "tool_batch"))]
    with Writer() as writer:
        writer.append([build_entry(one) for one in silent])
    lines, every = on_a_terminal("events", HOME=str(home), columns=100), on_a_terminal("events", "--all", HOME=str(home), columns=100)

    assert "… 3 events without details: message_display 2, tool_batch (--all shows each)" in lines.splitlines()
    assert (0, 2) == (lines.count("codex        message_display"), every.count("message_display"))
    assert "session_start" in lines
    assert 3 + len(EVERYTHING) + 1 == len(run("events", HOME=str(home)).out.splitlines())


def on_a_terminal(*words, columns, **more):
    """What somebody at a terminal sees."""
    ours, theirs = pty.openpty()
    env = environment(**more, COLUMNS=str(columns), NO_COLOR="1", TERM="xterm")
    with subprocess.Popen([sys.executable, "-m", "hookonce", *words], stdin=theirs, stdout=theirs, stderr=theirs, env=env):
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 65536):
                seen += part
        except OSError:  # the other end is gone
            pass
    os.close(ours)
    return seen.decode().replace("\r\n", "\n")


def test_values_with_commas_are_read_by_others(home):
    rows = list(csv.DictReader(io.StringIO(run("events", "--csv", HOME=str(home)).out)))

    assert len(EVERYTHING) == len(rows)
    assert {"agent": "codex", "tool": "shell", "decision": "deny", "what": "rm -rf /"}.items() <= rows[6].items()
    assert 'echo "ä 漢字" | tr a b' == rows[4]["what"]
    assert FIRST == rows[4]["session"]


@pytest.mark.part(3)
@pytest.mark.parametrize("name", ["openhook", "agent-hooks", "cloudevents", "ocsf", "otel", "amplifier", "canonical", "openhook@cwd"])
def test_a_format_is_what_translate_makes_of_the_records(home, name):
    records = run("events", "--json", HOME=str(home)).out.encode()
    here = run("events", "--format", name, HOME=str(home))
    there = run("translate", "--from", "canonical", "--to", name, given=records, HOME=str(home))

    assert 0 == here.code
    assert there.documents() == here.documents() != []


def test_agent_hooks_keeps_texts_back_unless_they_are_asked_for(home):
    """
    The record may hold them; the format's own rule is that they are not told.
    """
    with Writer() as writer:
        writer.append([build_entry(Stored(event=stored(40, "before_prompt", prompt="a secret wish").event, level="full"))])

    told = [run("events", "--format", "agent-hooks", *more, HOME=str(home)).out for more in ((), ("--privacy", "full"))]
    assert ["a secret wish" in text for text in told] == [False, True]


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--session", "nobody"), 1, "no session begins with 'nobody'"),
        (("--agent", "codx"), 64, "did you mean codex?"),
        (("--type", "agent_stopp"), 64, "did you mean agent_stop?"),
        (("--since", "yesterday"), 64, "'yesterday' is not a time"),
        (("--since", "999999w"), 64, "earlier than any time"),
        (("--last", "-1"), 64, "'-1' is not a number"),
        (("--format", "nothing"), 64, "no format is called 'nothing'"),
        (("--format", "openhook@x"), 64, "no variant 'x'"),
        (("--json", "--csv"), 64, "not allowed with"),
        (("--privacy", "full"), 64, "--privacy needs --format"),
        (("sql",), 64, "one SQL query is needed"),
        (("sql", "SELECT 1", "--timeout", "0"), 64, "'0' is not a number of seconds"),
        (("--out", "x"), 64, "--out has no effect with events alone"),
        (("import", "x", "--csv"), 64, "--csv has no effect with events import"),
        (("sql", "SELECT 1", "--agent", "codex"), 64, "--agent has no effect with events sql"),
        (("sql", "DELETE FROM events"), 1, "only questions are answered"),
        (("sql", "SELECT anything"), 1, "no such column"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_said(home, words, code, told):
    ran = run("events", *words, HOME=str(home))

    assert (code, "") == (ran.code, ran.out)
    assert told in ran.err


def test_where_nothing_happened_nothing_is_shown_and_nothing_is_made(tmp_path):
    assert (0, "there is no such event\n", "") == run("events", "--agent", "codex", HOME=str(tmp_path))
    assert run("events", HOME=str(tmp_path)).out.startswith("nothing is recorded yet. Next: hookonce install")
    assert (0, "", "") == run("events", "--json", HOME=str(tmp_path))
    assert [] == list(tmp_path.rglob("*.db"))


def test_questions_in_sql(home):
    question = "SELECT agent, count(*) AS n, NULL AS absent, x'ff' AS raw FROM events GROUP BY agent"

    assert [{"agent": "codex", "n": 9, "absent": None, "raw": "ff"}, {"agent": "opencode", "n": 2, "absent": None, "raw": "ff"}] == run("events", "sql", question, "--json", HOME=str(home)).documents()
    assert "agent,n,absent,raw\ncodex,9,,ff\nopencode,2,,ff\n" == run("events", "sql", question, "--csv", HOME=str(home)).out
    assert ["agent     n  absent  raw", "codex     9          ff", "opencode  2          ff"] == run("events", "sql", question, HOME=str(home)).out.splitlines()
    command = run("events", "sql", "SELECT json_extract(CAST(body AS TEXT), '$.event.tool.input.command') AS c FROM events WHERE outcome = 'deny'", "--json", HOME=str(home))
    assert [{"c": "rm -rf /"}] == command.documents()


def test_a_reader_who_has_seen_enough_is_no_error(home):
    ran = shell("set -o pipefail; hookonce events --json | head -1 > /dev/null", HOME=str(home))

    assert (0, "") == (ran.code, ran.err)


def test_a_record_that_somebody_else_holds_is_shown_with_what_lies_in_the_spool(home):
    """
    Whoever cannot write looks at what is there and at what waits, and says so; nothing is lost.
    """
    with Writer() as writer:
        writer.connection.execute("BEGIN IMMEDIATE")
        ran = run("events", "--json", HOME=str(home))
        writer.connection.execute("ROLLBACK")

    assert 0 == ran.code
    assert EVERYTHING == [one for one in ids_of(ran) if one in EVERYTHING]
    assert "the newest events are in no sum and in no session, because the record cannot be written" in ran.err
    assert EVERYTHING == ids_of(run("events", "--json", HOME=str(home)))


def test_a_record_that_was_tampered_with_is_shown_as_far_as_it_can_be_read(home):
    with Writer() as writer:
        writer.connection.execute("UPDATE events SET body = x'7b' WHERE seq = 2")
    ran = run("events", "--json", HOME=str(home))

    assert [one for one in EVERYTHING if one != 2] == ids_of(ran)
    assert "1 record (the first is number 2) cannot be read" in ran.err


def test_what_is_no_record_is_said(tmp_path):
    place = tmp_path / ".local/share/hookonce/events.db"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"something else entirely, and long enough" * 200)
    ran = run("events", HOME=str(tmp_path))

    assert (1, "") == (ran.code, ran.out)
    assert "cannot be read as a record of events" in ran.err


# Following


def listening():
    """Whoever runs the tests in the background may have us ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def following(home, *words):
    """Somebody who follows, and is gone afterwards."""
    command = [sys.executable, "-m", "hookonce", "events", "--follow", "--json", *words]
    pipe = subprocess.PIPE
    world = environment(HOME=str(home))
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, bufsize=0, env=world, preexec_fn=listening) as process:  # noqa: PLW1509  no threads here
        try:
            yield process
        finally:
            process.kill()


def line(process):
    """The next line, for which nobody waits for ever."""
    ready, _, _ = select([process.stdout], [], [], 20)
    assert ready, "nothing came"
    return number_of(process.stdout.readline())


def ended(process):
    """Ctrl-C, and how it ended."""
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    return process.returncode, err.decode()


def number_of(line):
    return int(json.loads(line)["event"]["id"][-12:])


def test_following_shows_what_comes_from_wherever_it_comes(home):
    """
    From the record or the spool; also what was told before, ten at most; Ctrl-C is a good end.
    """
    with following(home, "--agent", "codex", "--last", "1") as process:
        assert 20 == line(process)
        with Writer() as writer:
            writer.append([build_entry(stored(41, "notification")), build_entry(stored(42, "notification", agent="cline"))])
        assert 41 == line(process)
        assert files.append(stored(43, "notification"))
        assert 43 == line(process)

        assert (0, "") == ended(process)


def test_following_begins_before_there_is_a_record(tmp_path, monkeypatch):
    """
    And goes on when it is made anew.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    with following(tmp_path, "--session", "01a1") as process:
        time.sleep(1)
        assert process.poll() is None
        with Writer() as writer:
            writer.append([build_entry(stored(1, "notification")), build_entry(stored(2, "notification"))])
        assert [1, 2] == [line(process), line(process)]
        for file in database.database_file().parent.glob("events.db*"):
            file.unlink()
        with Writer() as writer:
            writer.append([build_entry(stored(3, "notification"))])
        assert 3 == line(process)

        assert (0, "") == ended(process)
