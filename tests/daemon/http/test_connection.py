"""A request is read the same, however it comes in."""

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.daemon.http.connection import ChunkedBody, HttpError, RequestHead, body_reader_of, parse_head

HEAD = b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nX-Thing:  two words \t"


def pieces(data, cuts):
    """Bytes as packets bring them."""
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    return [data[begin:end] for begin, end in pairwise(places)]


def taken(body, packets):
    """The body that is found in packets, and what is left after it."""
    heard, found = bytearray(), None
    for packet in packets:
        heard += packet
        found = body.take(heard) if found is None else found
    return found, bytes(heard)


def test_a_head_is_its_words():
    """
    Names of headers in small letters, values without the space around them.
    """
    head = parse_head(HEAD)
    assert RequestHead("POST", "/x", {"host": "a", "content-length": "5", "x-thing": "two words"}, keep_alive=True) == head


@pytest.mark.parametrize(
    ("version", "said", "keeps"),
    [("1.1", "", True), ("1.1", "Connection: x, Close", False), ("1.0", "", False), ("1.0", "Connection: keep-alive", True)],
)
def test_a_connection_is_kept_as_its_version_says(version, said, keeps):
    """
    Unless the head says otherwise.
    """
    lines = [f"POST /x HTTP/{version}", "Host: a", *([said] if said else [])]
    assert keeps is parse_head("\r\n".join(lines).encode()).keep_alive


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=6), st.lists(st.integers(0, 400), max_size=20), st.binary(max_size=20))
def test_chunks_are_put_together_wherever_packets_end(parts, cuts, rest):
    """
    And what follows is left for the next request.
    """
    sent = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n" + rest
    found, left = taken(ChunkedBody(), pieces(sent, cuts))
    assert (b"".join(parts), rest) == (found, left)


@given(st.binary(max_size=60), st.lists(st.integers(0, 80), max_size=8), st.binary(max_size=20))
def test_a_sized_body_ends_where_it_says(body, cuts, rest):
    """
    Wherever packets do.
    """
    head = RequestHead("POST", "/", {"content-length": str(len(body))}, keep_alive=True)
    found, left = taken(body_reader_of(head), pieces(body + rest, [0, *cuts]) or [b""])
    assert (body, rest) == (found, left)


@given(st.binary(max_size=200))
def test_whatever_comes_is_read_or_refused(data):
    """
    Nothing else happens.
    """
    for reading in (lambda: body_reader_of(parse_head(data)), lambda: ChunkedBody().take(bytearray(data))):
        with suppress(HttpError):
            reading()
