"""A session file that grows, is cut off or becomes another one."""

import os

import pytest

from hookonce.agents import transcripts
from hookonce.agents.transcripts.follower import follow_file
from hookonce.agents.transcripts.types import TranscriptBatch
from hookonce.errors import HookonceError
from tests.agents.transcripts.material import GOLDEN, lines

GEMINI = transcripts.load("gemini-cli")
CLAUDE = transcripts.load("claude-code")


def answer(known):
    tokens = {"input": 7, "output": 3, "cached": 2, "thoughts": 1, "tool": 1, "total": 12}
    return {"id": known, "type": "gemini", "tokens": tokens, "model": "m", "timestamp": "2026-01-01T00:00:00Z"}


def ids(reading):
    return [one.id for one in reading.calls]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "session.jsonl"


def test_only_what_is_new_is_told(file):
    """
    A file that has grown tells what was added, one that has not tells nothing.
    """
    file.write_bytes(lines(answer("a")))
    cursor, first = follow_file(GEMINI, file)
    same, nothing = follow_file(GEMINI, file, cursor)
    with file.open("ab") as more:
        more.write(lines(answer("b")))
    _, second = follow_file(GEMINI, file, cursor)
    assert (["a"], ["b"]) == (ids(first), ids(second))
    assert (cursor, TranscriptBatch()) == (same, nothing)


def test_half_a_line_is_left_for_the_next_time(file):
    """
    A line counts when it is whole.
    """
    whole = lines(answer("a"), answer("b"))
    file.write_bytes(whole[:-5])
    cursor, first = follow_file(GEMINI, file)
    file.write_bytes(whole)
    _, second = follow_file(GEMINI, file, cursor)
    assert (["a"], ["b"], 0) == (ids(first), ids(second), first.unreadable)


@pytest.mark.parametrize("shorter", [True, False])
def test_a_file_that_was_written_anew_is_begun_anew(file, shorter):
    """
    Whether it is shorter than before or longer, with the same number or not: what stood there stands there no more.
    """
    file.write_bytes(lines(answer("a"), answer("b")))
    cursor, _ = follow_file(GEMINI, file)
    new = [answer("c")] if shorter else [answer(name) for name in "cdefg"]
    file.write_bytes(lines(*new))
    _, reading = follow_file(GEMINI, file, cursor)
    assert [one["id"] for one in new] == ids(reading)


def test_a_file_that_was_replaced_is_begun_anew(file):
    """
    Another file in its place is another file, even if it begins alike.
    """
    file.write_bytes(lines(answer("a")))
    cursor, _ = follow_file(GEMINI, file)
    other = file.with_name("other")
    other.write_bytes(lines(answer("a"), answer("b")))
    other.replace(file)
    _, reading = follow_file(GEMINI, file, cursor)
    assert ["a", "b"] == ids(reading)


def test_much_is_read_in_steps(file):
    """
    No step reads more than its limit, and together they tell all.
    """
    file.write_bytes(lines(*(answer(f"m{n}") for n in range(40))))
    cursor, reading = follow_file(GEMINI, file, max_bytes=500)
    while True:
        moved, more = follow_file(GEMINI, file, cursor, max_bytes=500)
        if moved.offset == cursor.offset:
            break
        cursor, reading = moved, reading + more
    assert [f"m{n}" for n in range(40)] == ids(reading)


def test_a_line_that_is_too_long_is_counted_and_left_out(file):
    """
    What stands inside it is never taken for a line.
    """
    inside = "x" * 900 + "\\n" + "y" * 900
    file.write_bytes(lines(answer("a"), {"text": inside}, answer("b")))
    cursor, reading = follow_file(GEMINI, file, max_bytes=500)
    for _ in range(8):
        cursor, more = follow_file(GEMINI, file, cursor, max_bytes=500)
        reading += more
    assert (["a", "b"], 1) == (ids(reading), reading.unreadable)


def test_a_document_that_is_written_anew_each_time_tells_what_was_added(tmp_path):
    """
    Older versions of Gemini CLI keep one JSON document; one that is half written is read the next time.
    """
    file = tmp_path / "session.json"
    first = lines({"sessionId": "s", "messages": [answer("a")]})
    second = lines({"sessionId": "s", "messages": [answer("a"), answer("b")]})
    file.write_bytes(first)
    cursor, one = follow_file(GEMINI, file)
    file.write_bytes(second[:-9])
    cursor, half = follow_file(GEMINI, file, cursor)
    file.write_bytes(second)
    cursor, two = follow_file(GEMINI, file, cursor)
    _, three = follow_file(GEMINI, file, cursor)
    assert (["a"], [], ["b"], []) == (ids(one), ids(half), ids(two), ids(three))
    assert 0 == half.unreadable
    assert {"s"} == {call.session for call in (*one.calls, *two.calls)}


def test_what_is_no_file_is_not_read(tmp_path):
    """
    A pipe would never end, and a file that is not there is said to be missing.
    """
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(HookonceError):
        follow_file(GEMINI, tmp_path / "pipe.jsonl")
    with pytest.raises(FileNotFoundError):
        follow_file(GEMINI, tmp_path / "none.jsonl")


def test_the_call_behind_a_sub_agent_of_claude_code_is_known_from_the_first_line_on():
    """
    It stands in a file beside the sub-agent's own.
    """
    (nested,) = CLAUDE.find_subagent_files(GOLDEN / "claude-code" / "tour.jsonl", ())
    cursor, reading = follow_file(CLAUDE, nested)
    spawns = cursor.memory.spawned
    assert {"toolu_tour_6_0"} == {one.parent_call for one in reading.calls} == {one.call for one in spawns}


def test_an_agent_whose_files_we_cannot_read_has_no_reader():
    """
    Aliases are understood; for the others nothing is known, which is no error.
    """
    assert transcripts.load("cursor") is None
    assert transcripts.load("nobody") is None
    assert transcripts.load("claude") in (None, CLAUDE)
