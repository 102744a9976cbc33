"""Modules over HTTP: who is answered, who is called, and what becomes of everything that can go wrong."""

import json
import socket
import threading
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from hookonce.errors import UsageError
from hookonce.modules import module
from hookonce.modules.host.client import connect, health, invoke
from hookonce.modules.host.http import HttpLink
from hookonce.modules.protocol import messages
from hookonce.modules.protocol.descriptor import parse_descriptor
from hookonce.modules.protocol.messages import Fault
from hookonce.modules.server.http_server import ModuleHttpServer
from tests.modules.subject import m
from tests.modules.talking import listening, posted

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
FINE = {"ok": True, "result": 1}


def answered(document, head=HEAD):
    body = json.dumps(document).encode()
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


@contextmanager
def canned(*pieces, pause=0.0, once=False):
    """A server that answers every request with the same bytes, piece by piece; its URL and how often it was called."""
    calls = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                end, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(end,), daemon=True).start()

    def talk(end):
        calls.append("connection")
        with end:
            while _request(end):
                calls.append("request")
                try:
                    for piece in pieces:
                        end.sendall(piece)
                        time.sleep(pause)
                except OSError:
                    return
                if once:
                    return

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", calls
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _request(end):
    heard = b""
    while b"\r\n\r\n" not in heard:
        chunk = end.recv(65536)
        if not chunk:
            return False
        heard += chunk
    head, _, body = heard.partition(b"\r\n\r\n")
    size = int(next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")).split(b":")[1])
    while len(body) < size:
        body += end.recv(65536)
    return True


def called(*pieces, timeout=5.0, **more):
    with canned(*pieces, **more) as (url, _), HttpLink(url) as link, pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "MAX_MESSAGE_BYTES", 100_000)
        return invoke(link, "do", timeout=timeout)


CHUNK = b"10000\r\n" + b"x" * 65536 + b"\r\n"
STATUS = b"HTTP/1.1 %d Word\r\nContent-Length: 0\r\n\r\n"
WRONG = {
    "a redirect": ([b"HTTP/1.1 302 Found\r\nLocation: https://elsewhere.example/\r\nContent-Length: 0\r\n\r\n"], "unreachable"),
    "garbage": ([b"hello\r\n\r\n"], "unreachable"),
    "nothing": ([b""], "unreachable"),
    "half an answer": ([HEAD + b'Content-Length: 50\r\n\r\n{"ok":'], "unreachable"),
    "no JSON": ([HEAD + b"Content-Length: 2\r\n\r\nno"], "internal"),
    "no object": ([HEAD + b"Content-Length: 3\r\n\r\n[1]"], "internal"),
    "a gigabyte": ([HEAD + b"Content-Length: 1000000000\r\n\r\n", b"x" * 200_000], "internal"),
    "endless chunks": ([HEAD + b"Transfer-Encoding: chunked\r\n\r\n", CHUNK, CHUNK, CHUNK], "internal"),
    "400": ([STATUS % 400], "bad_request"),
    "401": ([STATUS % 401], "forbidden"),
    "404": ([STATUS % 404], "unsupported_op"),
    "418": ([STATUS % 418], "bad_request"),
    "500": ([STATUS % 500], "internal"),
    "503": ([STATUS % 503], "unreachable"),
    "504": ([STATUS % 504], "timeout"),
    "an error object": ([answered({"code": "oom", "message": "full"}, b"HTTP/1.1 500 X\r\n")], "oom"),
    "an answer with an error": ([answered({"ok": False, "error": {"code": "mine", "message": "m"}}, b"HTTP/1.1 400 X\r\n")], "mine"),
}


@pytest.mark.covers("AMP-12", "AMP-17")
@pytest.mark.parametrize("name", WRONG)
def test_whatever_a_server_does_the_caller_has_one_clear_error(name):
    """
    Each failure has its code; an Error v1 in the body says it better than the status.
    """
    pieces, code = WRONG[name]
    assert called(*pieces, once=True).error.code == code


def test_a_server_that_drips_is_late():
    """
    The deadline holds for the whole answer, not for each byte of it, in the header as in the body.
    """
    head = [bytes([byte]) for byte in HEAD]
    assert called(*head, timeout=0.3, pause=0.02).error.code == "timeout"
    body = [HEAD + b"Content-Length: 1000\r\n\r\n", *([b" "] * 1000)]
    assert called(*body, timeout=0.3, pause=0.02).error.code == "timeout"


def test_a_connection_is_kept_and_a_lost_one_is_noticed():
    """
    Many calls need one connection; when the other side has hung up meanwhile, there is simply a new one.
    """
    with canned(answered(FINE)) as (url, calls), HttpLink(url) as link:
        assert [1] * 5 == [invoke(link, "do").result for _ in range(5)]
        assert calls == ["connection"] + ["request"] * 5
    with canned(answered(FINE), once=True) as (url, calls), HttpLink(url) as link:
        for _ in range(3):
            assert invoke(link, "do").result == 1
            time.sleep(0.1)
        assert calls == ["connection", "request"] * 3


@pytest.mark.covers("AMP-12")
@pytest.mark.parametrize("head", [b"HTTP/1.0 200 OK\r\n", HEAD + b"Connection: close\r\n"], ids=["HTTP/1.0", "close"])
def test_a_server_that_ends_each_connection_is_heard_out(head):
    """
    Also where the body comes some time after the header, which says that nothing follows it.
    """
    body = json.dumps(FINE).encode()
    pieces = head + b"Content-Length: %d\r\n\r\n" % len(body), body[:5], body[5:]
    with canned(*pieces, pause=0.02, once=True) as (url, calls), HttpLink(url) as link:
        assert [1, 1] == [invoke(link, "do").result for _ in range(2)]
    assert 2 == calls.count("connection")


def test_nobody_there_is_unreachable():
    """
    A refused connection is said at once, and that trying again may help.
    """
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    answer = invoke(HttpLink(f"http://127.0.0.1:{port}"), "do")
    assert (answer.error.code, answer.error.details) == ("unreachable", {"retryable": True})
    link = HttpLink(f"http://127.0.0.1:{port}")
    link.close()
    assert invoke(link, "do").error.message == "the link to the module is closed"


def test_a_server_that_cannot_prove_who_it_is_is_unreachable():
    """
    What answers https in the clear gets no request.
    """
    with canned(answered(FINE)) as (url, calls), HttpLink(url.replace("http:", "https:")) as link:
        answer = invoke(link, "do", timeout=2)
        assert answer.error.code in {"unreachable", "timeout"}
        assert "request" not in calls


@pytest.mark.covers("AMP-X1")
@pytest.mark.parametrize("url", ["http://example.com/", "ftp://localhost/", "https://u:p@example.com/", "localhost:80", "http://localhost:99999/", "https://:1", ""])
def test_only_https_or_this_machine_is_called(url):
    """
    Other addresses are refused before anything is sent, with the place in the descriptor.
    """
    told = {"name": "x", "kind": "tool", "transport": {"type": "http", "url": url}, "capabilities": []}
    with pytest.raises(Fault, match=r"\$\.transport\.url") as caught:
        connect(parse_descriptor(told))
    assert caught.value.error.code == "bad_request"


def test_a_token_is_asked_for_and_comes_from_the_environment():
    """
    Without it nobody is answered; the descriptor only names the variable.
    """
    with listening("--token-env", "SECRET", env={"SECRET": "abc"}) as url:
        told = {"name": "x", "kind": "tool", "capabilities": []}
        told["transport"] = {"type": "http", "url": url, "token_env": "SECRET"}
        assert health(connect(parse_descriptor(told), env={"SECRET": "abc"})).ok
        assert health(connect(parse_descriptor(told), env={"SECRET": "abd"})).error.code == "forbidden"
        assert health(connect(parse_descriptor(told), env={"SECRET": "a\nb"})).error.code == "forbidden"
        assert "SECRET" in health(connect(parse_descriptor(told), env={})).error.message
        assert posted(url, "/health", {})[0] == 401


@pytest.fixture(scope="module")
def server():
    with ModuleHttpServer(m.answer, 0) as found, pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "MAX_MESSAGE_BYTES", 10_000)
        thread = threading.Thread(target=found.serve_forever, daemon=True)
        thread.start()
        yield found.url
        found.shutdown()
        thread.join()


REFUSED = {
    "another path": ({"path": "/other"}, 404, "unsupported_op"),
    "another method": ({"method": "GET"}, 405, "bad_request"),
    "a made-up method": ({"method": "BREW"}, 405, "bad_request"),
    "a page of a browser": ({"Origin": "https://example.com"}, 403, "forbidden"),
    "no name": ({"Host": "[x"}, 403, "forbidden"),
    "a strange path": ({"path": "//[?x"}, 404, "unsupported_op"),
    "a bent name": ({"Host": "evil.example"}, 403, "forbidden"),
    "no length": ({"Transfer_Encoding": "chunked"}, 411, "bad_request"),
    "too much": ({"document": b"x" * 10_001}, 413, "bad_request"),
    "a length beyond all numbers": ({"Content_Length": "9" * 5000}, 413, "bad_request"),
    "a bent name with a port": ({"Host": "evil.example:80"}, 403, "forbidden"),
    "a name that only looks like ours": ({"Host": "localhost.evil.example"}, 403, "forbidden"),
    "a page without an address": ({"Origin": "null"}, 403, "forbidden"),
    "no JSON": ({"document": b"{"}, 400, "bad_request"),
}


@pytest.mark.covers("AMP-12")
@pytest.mark.parametrize("name", REFUSED)
def test_a_server_refuses_with_a_status_and_an_error(server, name):
    """
    Whatever does not reach the module is refused with a status and an Error v1.
    """
    given, status, code = REFUSED[name]
    found, document = posted(server, **({"path": "/invoke", "document": {"op": "add", "args": {"one": 1}}} | given))
    assert (status, False, code) == (found, document["ok"], document["error"]["code"])


@pytest.mark.covers("AMP-12")
def test_each_operation_has_its_path(server):
    """
    Health and describe need no body; a failed invocation is an answer like any other.
    """
    assert posted(server, "/health", b"") == (200, {"status": "ok"})
    assert posted(server, "/describe", b"")[1]["name"] == "subject"
    assert posted(server, "/invoke", {"op": "add", "args": {"one": 1}, "id": 4}) == (200, {"ok": True, "result": 2, "id": 4})
    assert posted(server, "/invoke", {"op": "fail"})[0] == 200


def test_who_has_nothing_to_send_need_not_say_so(server):
    """
    `curl -X POST` sends neither a body nor its length.
    """
    with socket.create_connection((urlsplit(server).hostname, urlsplit(server).port), 5) as line:
        line.sendall(b"POST /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        said = b"".join(iter(lambda: line.recv(4096), b""))

    assert (b"HTTP/1.1 200 OK", {"status": "ok"}) == (said.split(b"\r\n")[0], json.loads(said.split(b"\r\n\r\n")[1]))


def test_a_server_that_others_can_reach_needs_a_token():
    """
    It refuses to start, and says what to do.
    """
    with pytest.raises(UsageError, match="--token-env"):
        ModuleHttpServer(m.answer, 0, host="0.0.0.0")  # noqa: S104
    ModuleHttpServer(m.answer, 0, host="0.0.0.0", token="abc").server_close()  # noqa: S104


def test_a_server_answers_timeout_when_the_work_takes_too_long():
    """
    The deadline of a module is its own; whoever waits longer is not left waiting.
    """
    slow = module(name="slow", kind="tool")
    slow.op("wait")(lambda: time.sleep(0.5))
    with ModuleHttpServer(slow.answer, 0, deadline=0.05) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        assert posted(found.url, "/invoke", {"op": "wait", "id": 1})[1]["error"]["code"] == "timeout"
        found.shutdown()
