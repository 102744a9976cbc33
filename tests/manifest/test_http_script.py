"""An HTTP handler as a command: real shells, real curl, and a server on this machine."""

import json
import os
import shutil
import socket
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookonce.manifest.degrade import degrade
from hookonce.manifest.http_script import (
    build_http_command,
    explain_url_fault,
    parse_http_command,
    to_command_handler,
    to_http_handler,
)
from hookonce.model import Handler, Hook, Manifest

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
SHELLS = [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)]
EVENT = b'{"type": "before_tool_execute", "tool": {"name": "shell"}}\n'
DENY = '{"decision": "deny", "reason": "no"}\n'


class Call(NamedTuple):
    """What the server was asked."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes


class Server(ThreadingHTTPServer):
    """Answers as the path says, and remembers what it was asked."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answering)
        self.calls = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class Answering(BaseHTTPRequestHandler):
    """/404 answers 404, /302 points elsewhere, /slow takes its time, anything else denies."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.server.calls.append(Call(self.command, self.path, self.headers.items(), body))
        if self.path == "/slow":
            time.sleep(3)
        code = self.path[1:] if self.path[1:].isdecimal() else "200"
        self.send_response(int(code))
        if code == "302":
            self.send_header("Location", f"{self.server.url}/elsewhere")
        answer = b"" if code in {"204", "304"} else DENY.encode()
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_PUT = do_POST  # noqa: N815  the names that the server looks for

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def shared():
    """One server for this file."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def server(shared):
    """The server, with nothing asked yet."""
    shared.calls.clear()
    return shared


def run(handler, env=None, command=None, **more):
    """The command of a handler as an agent would run it."""
    words = ["sh", "-c", command or build_http_command(handler)]
    given_input = {} if "stdin" in more else {"input": EVENT}
    return subprocess.run(words, capture_output=True, check=False, timeout=30, env={**os.environ, **(env or {})}, **given_input, **more)


def http(url, **fields):
    """An HTTP handler."""
    return Handler(type="http", url=url, **fields)


def header(call, name):
    """The values of a header that a call had."""
    return [value for key, value in call.headers if key.lower() == name.lower()]


@needs_curl
@pytest.mark.parametrize("shell", SHELLS)
def test_the_event_is_posted_and_the_answer_printed(server, shell, tmp_path):
    """
    The body is what stood on stdin, the answer comes out as it was, in every shell that calls itself sh.
    """
    (tmp_path / "sh").symlink_to(shutil.which(shell))
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}

    done = run(http(f"{server.url}/hook?a=1", headers={"X-Token": "a $T ${T}"}, allowed_env=["T"]), env=path | {"T": "s3"})

    (call,) = server.calls
    assert (0, DENY.encode(), b"") == (done.returncode, done.stdout, done.stderr)
    assert ("POST", "/hook?a=1", EVENT) == (call.method, call.path, call.body)
    assert (["application/json"], ["a s3 s3"], []) == (header(call, "content-type"), header(call, "x-token"), header(call, "expect"))


@needs_curl
def test_stdin_may_be_a_socket(server):
    """
    Agents that run on Node give their hooks a socket, which cannot be opened by a name.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(EVENT)
        ours.shutdown(socket.SHUT_WR)

        done = run(http(server.url + "/"), stdin=theirs)

    assert (0, [EVENT]) == (done.returncode, [call.body for call in server.calls])


@needs_curl
def test_the_author_chooses_method_and_headers(server):
    """
    A method, a content type of one's own and an empty header arrive.
    """
    run(http(server.url + "/", method="PUT", headers={"content-type": "text/plain", "X-Empty": "", "X-Tab": "a b"}))

    (call,) = server.calls
    assert ("PUT", ["text/plain"], [""]) == (call.method, header(call, "content-type"), header(call, "x-empty"))


@needs_curl
def test_only_allowed_variables_are_put_in(server):
    """
    What the manifest does not allow by name stays text, and so does a longer name than an allowed one.
    """
    value = "$SECRET ${SECRET} $TOKENS ${TOKEN}S $TOKEN-$NONE"
    run(http(server.url + "/", headers={"X": value}, allowed_env=["TOKEN", "NONE"]), env={"SECRET": "x", "TOKEN": "$SECRET"})

    assert ["$SECRET ${SECRET} $TOKENS $SECRETS $SECRET-"] == header(server.calls[0], "x")


@needs_curl
@pytest.mark.parametrize(
    "hostile",
    ["$(touch canary)", "`touch canary`", "'; touch canary; '", '"; touch canary; "', "a\\", "@/etc/hostname", "-o canary", "% {} [] * ~ #", "ü€"],
)
def test_values_are_never_code(server, hostile, tmp_path):
    """
    Header values and variables arrive as they are, whatever a shell or curl might see in them.
    """
    done = run(http(server.url + "/", headers={"X-A": hostile, "X-B": "$V"}, allowed_env=["V"]), env={"V": hostile}, cwd=tmp_path)

    (call,) = server.calls
    seen = [header(call, name)[0].encode("latin-1").decode() for name in ("x-a", "x-b")]
    assert (0, [hostile, hostile], []) == (done.returncode, seen, list(tmp_path.iterdir()))


@needs_curl
@pytest.mark.parametrize("path", ["/$(touch canary)", "/`id`", "/'x'", '/"', "/{a,b}", "/[1-3]", "/a;b&c|d", "/$HOME", "/\\", "/@x"])
def test_urls_are_never_code(server, path, tmp_path):
    """
    A URL is called as it is written, or not at all.
    """
    url = server.url + path
    done = run(http(url), cwd=tmp_path)

    assert [] == list(tmp_path.iterdir())
    assert (1 if explain_url_fault(url) else 0) == done.returncode
    assert [] == [call.path for call in server.calls if call.path != path]


@needs_curl
@pytest.mark.parametrize("breaking", ["a\r\nX-Evil: 1", "a\nX-Evil: 1", "a\x01"])
def test_a_header_cannot_become_two(server, breaking):
    """
    A line break in a value or in a variable calls nobody.
    """
    written = run(http(server.url + "/", headers={"X": breaking}))
    told = run(http(server.url + "/", headers={"X": "$V"}, allowed_env=["V"]), env={"V": breaking})

    assert (1, 1, []) == (written.returncode, told.returncode, server.calls)
    assert b"control character" in written.stderr


@pytest.mark.parametrize(
    "fields",
    [
        {"url": "http://192.0.2.1/"},
        {"url": "http://127.0.0.1@192.0.2.1/"},
        {"url": "http://127.0.0.1\\@192.0.2.1/"},
        {"url": "http://localhost.example/"},
        {"url": "http://localhost?@192.0.2.1/"},
        {"url": "http://127.0.0.1.example/"},
        {"url": "http://0.0.0.0/"},
        {"url": "file:///etc/hostname"},
        {"url": "@/etc/hostname"},
        {"url": "--version"},
        {"url": "https://example.org/ x"},
        {"url": "https://exämple.org/"},
        {"url": ""},
        {"url": "https://127.0.0.1/", "method": "GET / HTTP/1.1\r\nX: y"},
        {"url": "https://127.0.0.1/", "method": "-o"},
        {"url": "https://127.0.0.1/", "headers": {"X: y\r\nZ": "1"}},
        {"url": "https://127.0.0.1/", "headers": {"@/etc/hostname": "1"}},
        {"url": "https://127.0.0.1/", "headers": {"": "1"}},
    ],
    ids=str,
)
def test_what_must_not_be_called_is_not(fields, tmp_path):
    """
    Anything but https, or http to this machine, fails with a sentence before curl is started.
    """
    (tmp_path / "curl").write_text("#!/bin/sh\ntouch called\n")
    (tmp_path / "curl").chmod(0o755)

    done = run(Handler(type="http", **fields), env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}, cwd=tmp_path)

    assert (1, b"", ["curl"]) == (done.returncode, done.stdout, [file.name for file in tmp_path.iterdir()])
    assert done.stderr.startswith(b"hookonce: ")


@pytest.mark.parametrize("url", ["https://example.org/a", "HTTPS://u:p@example.org:8443?x", "http://localhost", "http://127.8.9.1:80/x", "http://[::1]:1/"])
def test_what_may_be_called(url):
    """
    Encrypted to anywhere, plain only to this machine.
    """
    assert explain_url_fault(url) is None


@needs_curl
@pytest.mark.parametrize("code", ["302", "304", "400", "404", "500"])
def test_anything_but_success_is_an_error_and_no_refusal(server, code):
    """
    The exit code is 1, nothing is on stdout, stderr says why, and nobody follows a redirection.
    """
    done = run(http(f"{server.url}/{code}"))

    assert (1, b"", [f"/{code}"]) == (done.returncode, done.stdout, [call.path for call in server.calls])
    assert done.stderr


@needs_curl
def test_an_empty_answer_is_no_opinion(server):
    """
    Success without a body prints nothing.
    """
    done = run(http(f"{server.url}/204"))

    assert (0, b"", b"") == (done.returncode, done.stdout, done.stderr)


@needs_curl
def test_a_server_that_takes_too_long_is_left(server):
    """
    The handler's timeout is kept.
    """
    start = time.monotonic()
    done = run(http(f"{server.url}/slow", timeout=0.3))

    assert 1 == done.returncode
    assert time.monotonic() - start < 2.9
    assert b"timed out" in done.stderr


@needs_curl
def test_nothing_else_speaks_for_the_hook(server, tmp_path):
    """
    Neither a file with options for curl nor a proxy changes a call to this machine; a token is in no list of processes.
    """
    (tmp_path / ".curlrc").write_text('output = "stolen"\nuser-agent = "x"\n')
    (tmp_path / "curl").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > seen\nexec {shutil.which("curl")} "$@"\n')
    (tmp_path / "curl").chmod(0o755)
    env = {"HOME": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}", "http_proxy": "http://192.0.2.1:1", "T": "s3cret"}

    done = run(http(server.url + "/", headers={"Authorization": "Bearer $T"}, allowed_env=["T"], timeout=5), env=env, cwd=tmp_path)

    assert (0, DENY.encode()) == (done.returncode, done.stdout)
    assert ["Bearer s3cret"] == header(server.calls[0], "authorization")
    assert {".curlrc", "curl", "seen"} == {file.name for file in tmp_path.iterdir()}
    assert "s3cret" not in (tmp_path / "seen").read_text()


@pytest.mark.parametrize("shell", SHELLS)
def test_no_failure_looks_like_a_refusal(shell, tmp_path):
    """
    Without curl, without a server and without stdin the exit code is 1: 2 would refuse the action.
    """
    (tmp_path / "sh").symlink_to(shutil.which(shell))
    for tool in ("printenv", "busybox"):
        if shutil.which(tool):
            (tmp_path / tool).symlink_to(shutil.which(tool))
    command = build_http_command(http("http://127.0.0.1:1/", headers={"X": "$V"}, allowed_env=["V"]))

    without_curl = run(None, command=command, env={"PATH": str(tmp_path)}, executable=shutil.which("sh"))
    without_server = run(None, command=command, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    without_stdin = run(None, command=f"{command} <&-", env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})

    assert [1, 1, 1] == [done.returncode for done in (without_curl, without_server, without_stdin)]
    assert [b"", b"", b""] == [done.stdout for done in (without_curl, without_server, without_stdin)]


names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
words = st.text(max_size=12) | st.sampled_from(["$A", "${A} ${B", "x$A_y", "'", "usual", "end"])
handlers = st.builds(
    Handler,
    type=st.just("http"),
    url=words | st.just("https://example.org/x"),
    method=st.none() | st.sampled_from(["GET", "post", "a b"]),
    timeout=st.none() | st.integers(0, 10**9) | st.floats(0, 10**9),
    headers=st.dictionaries(words, words, max_size=3),
    allowed_env=st.lists(names | words | st.just("A"), max_size=3),
)


@given(handlers)
def test_the_command_reads_back(handler):
    """
    http_of is the exact inverse of command_of.
    """
    assert handler == parse_http_command(build_http_command(handler))


@given(handlers, st.data())
def test_only_the_very_command_reads_back(handler, data):
    """
    A command that was touched is somebody's own.
    """
    command = build_http_command(handler)
    spot = data.draw(st.integers(0, len(command)))
    letter = data.draw(st.characters(codec="utf-8"))

    found = parse_http_command(command[:spot] + letter + command[spot:])
    assert found is None or build_http_command(found) == command[:spot] + letter + command[spot:]


@given(st.text() | st.lists(words, max_size=12).map(" ".join))
def test_no_other_command_is_taken_for_one(command):
    """
    Reading any text raises nothing and finds nothing.
    """
    assert parse_http_command(command) is None


@given(handlers, st.none() | st.text(max_size=5), st.booleans())
def test_a_handler_comes_back_whole(handler, message, background):
    """
    What any handler may have stays beside the command, and the HTTP handler comes back with it.
    """
    whole = Handler(**{name: getattr(handler, name) for name in handler.__struct_fields__} | {"status_message": message, "background": background})

    made = to_command_handler(whole)

    assert ("command", None, message, whole.timeout) == (made.type, made.url, made.status_message, made.timeout)
    assert whole == to_http_handler(made)
    assert whole == to_http_handler(whole)


@needs_curl
@settings(max_examples=25)
@given(value=st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=30))
def test_any_value_arrives(shared, value):
    """
    Whatever text a header holds, the server reads it; only spaces at its ends may go.
    """
    shared.calls.clear()

    done = run(http(shared.url + "/", headers={"X-A": f"[{value}]"}))

    assert (0, f"[{value}]") == (done.returncode, header(shared.calls[0], "x-a")[0].encode("latin-1").decode())


@pytest.mark.covers("HIF-58", "HIF-102", "HIF-X14")
@needs_curl
@pytest.mark.parametrize(("strategy", "kept"), [(None, "command"), ("warn", "command"), ("exclude", None), ("block", "command")])
def test_an_agent_without_http_gets_a_command(server, strategy, kept):
    """
    By default, or where the author says warn, the hook is called all the same; other strategies are obeyed.
    """
    hook = Hook(event="agent_stop", handler=http(server.url + "/", status_message="…"), degradation={"http_handler": strategy} if strategy else {})

    result = degrade(Manifest(spec="hooks/1.0", hooks=[hook]), frozenset())

    assert ["http_handler"] == [gap.capability for gap in result.gaps]
    assert ([] if kept is None else [kept]) == [one.handler.type for _, one in result.hooks]
    if strategy in {None, "warn"}:
        ((_, one),) = result.hooks
        assert json.loads(DENY) == json.loads(run(None, command=one.handler.command).stdout)
        assert hook.handler == to_http_handler(one.handler)
        assert "curl" in result.gaps[0].note
