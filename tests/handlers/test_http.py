"""HTTP handlers: what a server may say, and that nothing it does makes anybody wait longer than the hook may take."""

import json
import socket
import ssl
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from hookonce.base.event_loop import EventLoop
from hookonce.errors import HookonceError
from hookonce.handlers import http_client
from hookonce.handlers.http import ServerAddress, build_http_operation
from hookonce.handlers.operation import run_to_completion
from hookonce.handlers.supervise import watchdog
from hookonce.model import Handler
from tests.handlers.processes import eventually
from tests.handlers.servers import DENY, MEGABYTE, WAYS, answer, context_of, server

BODY = b'{"type": "before_tool_execute"}'
PATIENCE = 0.6  # seconds for a server that never answers
LONG = 20.0  # seconds that nothing takes


@pytest.fixture(scope="module")
def there():
    """A server with all its ways."""
    with server() as one:
        yield one


def post(url, timeout=LONG, environment=None, *, is_heard=True, **more):
    """Ask a server, and wait for it."""
    made = build_http_operation(Handler(type="http", url=url, **more), BODY, environment or {}, expects_answer=is_heard)
    return run_to_completion(replace(made, timeout=timeout))


@pytest.mark.parametrize("path", ["/deny", "/chunked", "/plain-end", "/continue", "/here"])
def test_what_a_server_answers_is_what_a_command_would_have_written(there, path):
    """
    However the answer is cut into pieces, and from another page of the same server too.
    """
    ran = post(there.url(path))

    assert (None, 0, DENY) == (ran.failure, ran.code, json.loads(ran.stdout))
    method, _, headers, body = there.heard[-1]
    assert ("POST", BODY, "application/json") == (method, body, headers["content-type"])
    assert f"127.0.0.1:{there.port}" == headers["host"]


@pytest.mark.parametrize("path", ["/none", "/empty"])
def test_a_server_may_have_no_opinion(there, path):
    """
    No body, and success: nothing was said.
    """
    ran = post(there.url(path))

    assert (None, 0, b"") == (ran.failure, ran.code, ran.stdout)


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("path", "failure"),
    [
        ("/500", "the server answered with 500"),
        ("/404", "the server answered with 404"),
        ("/html", "the answer is text/html, not JSON"),
        ("/packed", "the answer is packed (gzip), which was not requested"),
        ("/elsewhere", "the server redirects to another host, http://example.com, which is not called"),
        ("/another-port", "the server redirects to another host, http://127.0.0.1, which is not called"),
        ("/circle", "the server redirects more than once"),
        ("/here-as-get", "the server redirects (303), which is not followed"),
        ("/no-location", "the server redirects to another host"),
        ("/no-http", "what answers there does not speak HTTP/1.1"),
        ("/hangs-up", "the server hung up without an answer"),
        ("/cut", "the answer was cut off"),
        ("/says-a-gigabyte", "the answer is longer than 1,048,576 bytes"),
        ("/floods", "the answer is longer than 1,048,576 bytes"),
        ("/floods-in-chunks", "the answer is longer than 1,048,576 bytes"),
        ("/floods-headers", "the server's headers have no end"),
    ],
)
def test_a_server_that_misbehaves_is_a_failure_with_a_name(there, path, failure):
    """
    Its words count for nothing, and it is told why.
    """
    before = there.sent
    ran = post(there.url(path))

    assert (None, b"") == (ran.code, ran.stdout)
    assert ran.failure.startswith(failure)
    assert there.sent - before < 64 * len(MEGABYTE)  # nobody has listened to the rest


@pytest.mark.part(2)
@pytest.mark.parametrize("path", ["/hangs", "/hangs-behind-headers", "/drips", "/drips-headers"])
def test_a_server_that_takes_too_long_is_cut_off(there, path):
    """
    Before its headers, behind them, and when it always has one more byte to say.
    """
    assert "timeout" == post(there.url(path), timeout=PATIENCE).failure


def test_nobody_waits_while_a_server_is_waited_for(there):
    """
    Who was asked last answers first, if the others do not answer.
    """
    loop, ended = EventLoop(), []
    for path, patience in [*[("/hangs", 4 * PATIENCE)] * 8, ("/deny", LONG)]:
        build_http_operation(Handler(type="http", url=there.url(path)), BODY, {}).begin(loop, patience, ended.append)

    while len(ended) < 9:
        loop.run_once()

    assert [None, *["timeout"] * 8] == [ran.failure for ran in ended]
    loop.close()


def test_a_call_that_nobody_wants_any_more_is_broken_off(there):
    """
    Whoever waits is told at once.
    """
    loop, ended = EventLoop(), []
    under_way = build_http_operation(Handler(type="http", url=there.url("/hangs")), BODY, {}).begin(loop, LONG, ended.append)

    under_way.cancel()

    assert ["timeout"] == [ran.failure for ran in ended]
    loop.close()


def test_who_only_looks_on_is_not_asked_for_json(there):
    """
    A server that thanks in plain words has got its event; one that fails has not.
    """
    assert (None, 0, b"") == ((ran := post(there.url("/html"), is_heard=False)).failure, ran.code, ran.stdout)
    assert "the server answered with 500" == post(there.url("/500"), is_heard=False).failure


def test_nobody_there_is_a_failure_at_once(there):
    """
    A port without a server, and a name without one.
    """
    with server() as gone:
        url = gone.url("/deny")
    assert "cannot be reached at port" in post(url).failure
    assert "there is no server no-such-host.invalid" in post("https://no-such-host.invalid/x").failure


def test_headers_name_only_what_they_may(there):
    """
    Allowed variables stand for their values, others for themselves; what is missing or could end a header fails.
    """
    known = {"TOKEN": "t-1", "OTHER": "secret", "BROKEN": "a\r\nX-More: 1"}
    headers = {"Authorization": "Bearer ${TOKEN}", "X-Other": "$OTHER"}

    post(there.url("/deny"), environment=known, headers=headers, allowed_env=["TOKEN"])

    sent = there.heard[-1][2]
    assert ("Bearer t-1", "$OTHER") == (sent["authorization"], sent["x-other"])
    with pytest.raises(HookonceError, match="needs the environment variable GONE, which is not set"):
        post(there.url("/deny"), environment=known, headers={"X": "$GONE"}, allowed_env=["GONE"])
    with pytest.raises(HookonceError, match="a line break"):
        post(there.url("/deny"), environment=known, headers={"X": "$BROKEN"}, allowed_env=["BROKEN"])
    for name in ("Host", "content-length", "Transfer-Encoding", "Connection"):
        with pytest.raises(HookonceError, match="cannot be set"):
            post(there.url("/deny"), headers={name: "1"})


@pytest.mark.parametrize(
    "url",
    ["http://example.com/x", "http://127.0.0.1.example.com/x", "http://10.0.0.1/x", "ftp://localhost/x", "file:///etc/passwd", "https://user:word@example.com/x", "http://localhost@example.com/", "https://", "https://exa\\mple.com/", "http://0/", "https://[::1/"],
)
def test_what_is_neither_secured_nor_here_is_not_called(url):
    """
    And nothing that two readers could read differently.
    """
    with pytest.raises(HookonceError):
        build_http_operation(Handler(type="http", url=url), BODY, {})


def test_plain_http_asks_no_name_server(monkeypatch):
    """
    The name of this machine is no question for others, so no answer of theirs can lead elsewhere.
    """
    monkeypatch.setattr(http_client.socket, "getaddrinfo", lambda *_, **__: pytest.fail("somebody was asked"))

    assert ["127.0.0.1", "::1"] == http_client._resolve_host(ServerAddress("http", "localhost", 80))
    assert ["127.0.0.9"] == http_client._resolve_host(ServerAddress("http", "127.0.0.9", 80))


def test_proxies_of_the_environment_are_not_asked(there, monkeypatch):
    """
    Whoever starts an agent could name one.
    """
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    assert 0 == post(there.url("/deny", "localhost"), environment={"http_proxy": "http://127.0.0.1:1"}).code


def test_a_certificate_that_nobody_vouches_for_is_not_trusted(tmp_path, monkeypatch):
    """
    Not on this machine either, and not because the environment says so.
    """
    context, certificate = context_of(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with server(WAYS, context) as one:
        ran = post(one.url("/deny", "localhost"))

    assert "the server's certificate is not trusted: self-signed certificate" == ran.failure.replace("self signed", "self-signed")
    assert [] == one.heard


def test_a_server_that_proves_who_it_is_is_heard(tmp_path, monkeypatch):
    """
    By its certificate, under its own name only.
    """
    context, certificate = context_of(tmp_path)
    usual = ssl.create_default_context
    monkeypatch.setattr(ssl, "create_default_context", lambda: usual(cafile=str(certificate)))
    monkeypatch.setattr(http_client, "_resolve_host", lambda _: ["127.0.0.1"])
    with server(WAYS, context) as one:
        assert DENY == json.loads(post(one.url("/deny", "localhost")).stdout)
        assert "certificate is not trusted" in post(one.url("/deny", "another.example")).failure


def test_a_line_that_speaks_no_tls_breaks():
    """
    A plain server behind an address that should be secured.
    """
    with server(patience=0.2) as one:
        ran = post(one.url("/deny").replace("http:", "https:"))

    assert "the connection broke" in ran.failure


def test_a_name_server_and_a_handshake_that_hang_are_cut_off(monkeypatch):
    """
    Nobody can be told to hurry there; the copy that waits is ended.
    """
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"https://127.0.0.1:{deaf.getsockname()[1]}/"
        assert "timeout" == post(url, timeout=0.3).failure
        monkeypatch.setattr(http_client.socket, "getaddrinfo", lambda *_, **__: time.sleep(LONG))
        assert "timeout" == post(url, timeout=0.3).failure


def test_a_large_event_is_sent_whole():
    """
    Also to a server that answers before it has read all of it.
    """
    given = json.dumps({"text": "x" * (4 << 20)}).encode()
    with server({"/": answer(DENY)}) as one:
        made = build_http_operation(Handler(type="http", url=one.url()), given, {})
        assert 0 == run_to_completion(replace(made, timeout=LONG)).code
    assert given == one.heard[0][3]


def test_a_copy_leaves_nothing_behind():
    """
    No descriptor of ours, and in the end no process.
    """
    before = len([*Path("/proc/self/fd").iterdir()])
    with server() as one:
        post(one.url("/deny"))
        post(one.url("/hangs"), timeout=0.05)

    assert before == len([*Path("/proc/self/fd").iterdir()])
    assert eventually(lambda: watchdog.reap() or not watchdog._zombie_pids)
