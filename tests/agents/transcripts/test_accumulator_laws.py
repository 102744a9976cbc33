"""Laws of reading: pieces make the whole, and nothing that stands in a file is an error."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import decode, encode
from msgspec.structs import replace

from hookonce.agents import AGENTS, transcripts
from hookonce.agents.transcripts.accumulator import _MAX_RECENT_IDS, flush_memory, parse_chunk
from hookonce.agents.transcripts.types import ReaderMemory, TranscriptBatch, TranscriptCursor
from tests.agents.transcripts.material import FILES, agent_of, at_once, lines, reader_of

READERS = {name: reader for name in AGENTS if (reader := transcripts.load(name)) is not None}
SMALL = [file for file in FILES if file.stat().st_size < 22_000]
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def in_pieces(reader, data, cuts):
    """The same bytes, as they come."""
    memory, found, rest, start = ReaderMemory(), TranscriptBatch(), b"", 0
    for end in [*sorted(cuts), len(data)]:
        rest += data[start:end]
        memory, reading, used = parse_chunk(reader, memory, rest)
        found, rest, start = found + reading, rest[used:], end
    found += flush_memory(memory)[1]
    newest = {outcome.id: outcome for outcome in found.outcomes}  # an outcome is told again once its call is done
    return replace(found, outcomes=tuple(newest.values()))


def mutated(value, dice):
    """A document in which something is of another kind."""
    if isinstance(value, dict) and value and dice.draw(st.booleans()):
        key = dice.draw(st.sampled_from(sorted(value)))
        return value | {key: mutated(value[key], dice)}
    if isinstance(value, list) and value and dice.draw(st.booleans()):
        return [mutated(value[0], dice), *value[1:]]
    return dice.draw(TREES)


@given(file=st.sampled_from(SMALL), dice=st.data())
def test_reading_in_pieces_tells_the_same_as_reading_at_once(file, dice):
    """
    Wherever a file is cut, in the middle of a line or of a letter, the same is told in the same order.
    """
    reader, data = reader_of(file), file.read_bytes()
    cuts = dice.draw(st.lists(st.integers(0, len(data)), max_size=12))
    assert at_once(reader, data) == in_pieces(reader, data, cuts)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{agent_of(file)}/{file.stem}")
def test_reading_twice_tells_nothing_new(file):
    """
    A file whose lines stand there twice tells each thing once.
    """
    reader, data = reader_of(file), file.read_bytes()
    assert at_once(reader, data) == at_once(reader, data + data)


@pytest.mark.part(2)
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@given(data=st.binary(max_size=400) | st.lists(st.binary(max_size=40)).map(b"\n".join))
def test_bytes_that_mean_nothing_are_counted_and_never_raised(reader, data):
    """
    Each line that is no object is one that cannot be read.
    """
    memory, reading, used = parse_chunk(reader, ReaderMemory(), data + b"\n")
    assert used == len(data) + 1
    assert reading.unreadable <= len(data.split(b"\n"))
    assert reading.calls == ()
    flush_memory(memory)


@given(file=st.sampled_from(SMALL), dice=st.data())
def test_a_line_of_another_shape_is_never_raised_and_spoils_no_other(file, dice):
    """
    Whatever one line turns into, those before it are told as they were.
    """
    reader, raw = reader_of(file), file.read_bytes().splitlines(keepends=True)
    index = dice.draw(st.integers(0, len(raw) - 1))
    line = json.dumps(mutated(json.loads(raw[index]), dice)).encode() + b"\n"
    _, before, _ = parse_chunk(reader, ReaderMemory(), b"".join(raw[:index]))
    _, after, _ = parse_chunk(reader, ReaderMemory(), b"".join([*raw[:index], line, *raw[index + 1 :]]))
    assert before.calls == after.calls[: len(before.calls)]


@given(file=st.sampled_from(FILES), dice=st.data())
def test_prose_in_any_field_stays_in_the_file(file, dice):
    """
    Even where an id or a name should be, a sentence is not told.
    """
    canary = "a sentence that somebody has said"

    def spoken(value):
        if isinstance(value, dict):
            return {key: value[key] if key == "type" else spoken(value[key]) for key in value}
        if isinstance(value, list):
            return [spoken(one) for one in value]
        return canary if isinstance(value, str) and dice.draw(st.booleans()) else value

    some = dice.draw(st.integers(0, 5))
    data = lines(*(spoken(json.loads(line)) for line in file.read_bytes().splitlines()[:some]))
    memory, reading, _ = parse_chunk(reader_of(file), ReaderMemory(), data)
    assert canary not in repr((memory, reading, flush_memory(memory)))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{agent_of(file)}/{file.stem}")
def test_what_is_remembered_survives_being_written_down(file):
    """
    A cursor is JSON and comes back as it was, however much was read.
    """
    memory, _, used = parse_chunk(reader_of(file), ReaderMemory(), file.read_bytes()[:-40])
    cursor = TranscriptCursor(device=1, inode=2, offset=used, mark="m", memory=memory)
    assert cursor == decode(encode(cursor), type=TranscriptCursor)


def test_only_the_latest_ids_are_remembered():
    """
    A session of any length has a small cursor.
    """
    reader = transcripts.load("gemini-cli")
    tokens = {"input": 1, "output": 1}
    many = [{"id": f"m{n}", "type": "gemini", "tokens": tokens, "model": "m"} for n in range(_MAX_RECENT_IDS * 2)]
    memory, reading, _ = parse_chunk(reader, ReaderMemory(), lines(*many))
    assert (_MAX_RECENT_IDS * 2, _MAX_RECENT_IDS) == (len(reading.calls), len(memory.seen))
