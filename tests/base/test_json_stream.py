"""JSON documents are found in any stream, and what is no document is told."""

import json
from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.base.json_stream import (
    MAX_LINE_BYTES,
    JsonSyntaxError,
    StreamLine,
    duplicate_keys,
    parse_json,
    read_documents,
)
from tests.laws.strategies import json_values

MARK = b"\xef\xbb\xbf"


def numbered(text, **options):
    """Number and bytes of each document, or its fault."""
    return [(line.number, line.fault or line.raw) for line in read_documents(BytesIO(text), **options)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", []),
        (b"\n\n", []),
        (MARK, []),
        (b"{}", [(1, b"{}")]),
        (b"{}\n", [(1, b"{}")]),
        (b"{}\n{}\n", [(1, b"{}"), (2, b"{}")]),
        (b"{}\r\n\r\n{}\r\n", [(1, b"{}"), (3, b"{}")]),
        (b"\n \n{}", [(3, b"{}")]),
        (MARK + b"{}\n" + MARK + b"[]\n", [(1, b"{}"), (2, b"[]")]),
        (b'{\n "a": 1\n}\n', [(1, b'{\n "a": 1\n}')]),
        (b'\n{\r\n "a": 1\r\n}', [(2, b'{\n "a": 1\n}')]),
        (b'{"a": [\n{"b": 1}\n]}', [(1, b'{"a": [\n{"b": 1}\n]}')]),
        (b'{"a": [\n{"b": 1},\n{"c": 2}\n]}', [(1, b'{"a": [\n{"b": 1},\n{"c": 2}\n]}')]),
        (b"[\n{},\n{}\n]", [(1, b"[\n{},\n{}\n]")]),
        (b"1\n2\n", [(1, b"1"), (2, b"2")]),
    ],
    ids=str,
)
def test_where_documents_begin(text, expected):
    """
    One document per line, or one over all lines; blank lines, marks and line ends belong to nobody.
    """
    assert expected == numbered(text)


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":1\n{"b":2}\n{"c":3}\n',
        b'{"a":[\n{"b":2}\n{"c":3}\n',
        b'{\n{"b":2}\n{"c":3}\n',
        b'{bad}\n{"b":2}\n{"c":3}\n',
        b'{"a":"\xff"}\n{"b":2}\n{"c":3}\n',
        b'{"a":"cut\n{"b":2}\n{"c":3}\n',
        b'{"a":1\n\n {"b":2}\n{"c":3}\n',
    ],
    ids=str,
)
def test_a_bad_first_line_takes_no_other_with_it(text):
    """
    A first line that is cut off or broken does not swallow the documents after it.
    """
    found = [line.raw.strip() for line in read_documents(BytesIO(text))]

    assert [b'{"b":2}', b'{"c":3}'] == found[-2:]
    assert 3 == len(found)


class Watched(BytesIO):
    """A stream that knows how far it was read."""

    def readline(self, size=-1):
        line = super().readline(size)
        self.read_so_far = self.tell()
        return line


@pytest.mark.parametrize("first", [b'{"a":1', b"{bad}", b"hello", b'{"a":['])
def test_a_live_stream_is_not_read_ahead(first):
    """
    A bad first line is told as soon as the next lines show that it is no beginning of a longer document.
    """
    stream = Watched(first + b'\n{"b":2}\n{"c":3}\n' + b'{"d":4}\n' * 100)

    assert first == next(read_documents(stream)).raw
    assert stream.read_so_far <= 40


def test_a_broken_long_document_is_one_fault():
    """
    A pretty-printed document with a fault in it is one line to complain about, not one for each of its lines.
    """
    text = json.dumps({"a": [1, 2, {"b": 3}], "c": "x"}, indent=1).replace("3", "NaN").encode()

    (line,) = read_documents(BytesIO(text))

    with pytest.raises(JsonSyntaxError, match="NaN is not a JSON number"):
        parse_json(line.raw)


def test_documents_after_a_long_one_are_told():
    """
    Several pretty-printed documents are refused with a hint.
    """
    text = json.dumps({"a": 1}, indent=1).encode() * 2

    (line,) = read_documents(BytesIO(text))

    with pytest.raises(JsonSyntaxError, match="line 3 column 2; several documents must stand one on a line each"):
        parse_json(line.raw)


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_the_limit_is_exact(end):
    """
    A line of exactly the limit passes, one byte more is refused, and the next line is read in any case.
    """
    fits, long = b'"' + b"x" * 98 + b'"', b'"' + b"x" * 99 + b'"'
    told = "the line is longer than 100 bytes; --max-line raises the limit"

    assert [(1, fits)] == numbered(fits + end, limit=100)
    assert [(1, told)] == numbered(long + end, limit=100)
    if end:
        assert [(1, told), (2, b"{}")] == numbered(long + end + b"{}", limit=100)
        assert [(1, b"{}"), (2, told), (3, b"{}")] == numbered(b"{}" + end + long * 50 + end + b"{}", limit=100)


def test_a_long_document_has_the_same_limit():
    """
    A pretty-printed document over the limit is refused as one, however many lines it has.
    """
    text = json.dumps(list(range(100)), indent=1).encode()

    assert [(1, text)] == numbered(text, limit=len(text))
    assert [(1, "the document is longer than 300 bytes; --max-line raises the limit")] == numbered(text, limit=300)


def test_the_limit_is_eight_mebibytes():
    """
    Without --max-line a line may have 8 MiB.
    """
    assert MAX_LINE_BYTES == 8 * 2**20
    fits = b'"' + b"x" * (MAX_LINE_BYTES - 2) + b'"'
    assert [StreamLine(1, fits)] == list(read_documents(BytesIO(fits + b"\n")))
    assert next(read_documents(BytesIO(b" " + fits))).fault


@given(st.lists(json_values, min_size=1, max_size=6), st.sampled_from([b"\n", b"\r\n", b"\n\n"]))
def test_any_lines_come_back(values, end):
    """
    Whatever JSON is written line by line is read line by line.
    """
    stream = BytesIO(end.join(json.dumps(value).encode() for value in values))

    assert values == [parse_json(line.raw) for line in read_documents(stream)]


@given(json_values, st.integers(0, 8))
def test_any_pretty_document_comes_back(value, indent):
    """
    Whatever JSON is pretty-printed is read as one document.
    """
    lines = list(read_documents(BytesIO(json.dumps(value, indent=indent).encode())))

    assert [value] == [parse_json(line.raw) for line in lines]


@given(st.binary(max_size=60))
def test_any_bytes_are_documents_or_faults(raw):
    """
    No bytes at all lead to anything but a document or a BadJson.
    """
    for line in read_documents(BytesIO(raw), limit=30):
        with suppress(JsonSyntaxError):
            parse_json(line.raw)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'"\\ud800"', "\ud800"),
        (b'{"\\udc00": ["\\ud83d\\ude00"]}', {"\udc00": ["\U0001f600"]}),
        (b"340282366920938463463374607431768211456", 2**128),
        (b"-340282366920938463463374607431768211456", -(2**128)),
        (b"1e308", 1e308),
        (b"1e-400", 0.0),
        (b'{"a":1,"a":2}', {"a": 2}),
    ],
)
def test_what_json_can_say_is_read(raw, value):
    """
    Lone surrogates and large integers are kept; the last of duplicate keys wins.
    """
    assert value == parse_json(raw)


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"NaN", "NaN is not a JSON number"),
        (b"[Infinity]", "Infinity is not a JSON number"),
        (b"1e400", "the number 1e400 is too large"),
        (b'["\\ud800", -1e999]', "the number -1e999 is too large"),
        (b"9" * 5000, "a number has too many digits"),
        (b'"\xc3\x28"', "invalid UTF-8 at byte 1"),
        (b'"\xed\xa0\x80"', "invalid UTF-8 at byte 1"),
        (b"\xff\xfe{\x00}\x00", "convert it to UTF-8"),
        (b"{'a': 1}", "Expecting property name enclosed in double quotes at character 1"),
        (b'{"a": 1,\n "b": tru}', "Expecting value at line 2 column 7"),
        (b"", "Expecting value"),
        (b"[" * 10_000, "nested too deeply"),
        (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "nested too deeply"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_no_json_is_told(raw, told):
    """
    Each fault has its own sentence, with the place where there is one.
    """
    with pytest.raises(JsonSyntaxError, match=told.replace("(", r"\(")):
        parse_json(raw)


def test_duplicate_keys_are_found_at_any_depth():
    """
    Repeated keys of one object are found, the same key of two objects is none.
    """
    assert ["b", "a"] == duplicate_keys(b'{"a":{"b":1,"b":2},"a":[]}')
    assert [] == duplicate_keys(b'[{"a":1},{"a":{"a":2}}]')
    assert ["\ud800"] == duplicate_keys(b'{"\\ud800":1,"\\ud800":2}')
