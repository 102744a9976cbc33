"""Incoming requests are read the same, however they come in."""

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.daemon.http.connection import HttpError, RequestHead
from hookonce.daemon.http.request import IncomingRequest

END = b"\r\n\r\n"
HEAD = b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nX-Thing:  two words \t" + END
CHUNKED = b"POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked" + END


def packets_of(data, cuts):
    """Bytes as packets bring them."""
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    return [data[begin:end] for begin, end in pairwise(places)]


def read_body(head, packets):
    """The body that is found in packets, and what is left after it."""
    request, body, rest = IncomingRequest(head), None, b""
    for packet in [b"", *packets]:
        if body is None:
            body = request.feed(packet)
            rest = request.trailing_data
        else:
            rest += packet
    return body, rest


def test_a_head_is_its_words():
    """
    Names of headers in small letters, values without the space around them.
    """
    head = IncomingRequest(HEAD).head
    assert RequestHead("POST", "/x", {"host": "a", "content-length": "5", "x-thing": "two words"}, keep_alive=True) == head


@pytest.mark.parametrize(
    ("version", "said", "keeps"),
    [("1.1", "", True), ("1.1", "Connection: x, Close", False), ("1.0", "", False), ("1.0", "Connection: keep-alive", True)],
)
def test_a_connection_is_kept_as_its_version_says(version, said, keeps):
    """
    Unless the head says otherwise.
    """
    lines = [f"POST /x HTTP/{version}", "Host: a", *([said] if said else []), "", ""]
    assert keeps is IncomingRequest("\r\n".join(lines).encode()).head.keep_alive


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=6), st.lists(st.integers(0, 400), max_size=20), st.binary(max_size=20))
def test_chunks_are_put_together_wherever_packets_end(parts, cuts, rest):
    """
    And what follows is left for the next request.
    """
    sent = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n" + rest
    assert (b"".join(parts), rest) == read_body(CHUNKED, packets_of(sent, cuts))


@given(st.binary(max_size=60), st.lists(st.integers(0, 80), max_size=8), st.binary(max_size=20))
def test_a_sized_body_ends_where_it_says(body, cuts, rest):
    """
    Wherever packets do.
    """
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d" % len(body) + END
    assert (body, rest) == read_body(head, packets_of(body + rest, cuts))


@given(st.binary(max_size=200))
def test_whatever_comes_is_read_or_refused(data):
    """
    Nothing else happens.
    """
    with suppress(HttpError):
        IncomingRequest(data + END).check_framing()
    with suppress(HttpError):
        IncomingRequest(CHUNKED).feed(data)


@pytest.mark.parametrize(
    "line",
    ["Content-Length: 5, 5", "Content-Length: 5\r\nContent-Length: 5", "X: a\r\n b", "X: \x01", "X: a\rb", "Host: b"],
)
def test_what_h11_would_take_and_others_could_read_differently_is_refused(line):
    """
    A request must not hide another one behind a head that two readers understand in two ways.
    """
    with pytest.raises(HttpError) as refusal:
        IncomingRequest(b"POST /x HTTP/1.1\r\nHost: a\r\n" + line.encode() + END)
    assert 400 == refusal.value.status
