"""A server of the Model Context Protocol is a module: its tools are operations, on stdio and over streamable HTTP."""

import json
import os
import signal
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from time import monotonic

import pytest

from hookonce.lab.fakes import mcp_server as lab_server
from hookonce.modules.host.client import connect, description_problems, health, invoke
from hookonce.modules.host.mcp_stdio import McpLifecycle
from hookonce.modules.protocol.descriptor import parse_descriptor
from tests.handlers.processes import eventually
from tests.modules import mcp_fake
from tests.modules.mcp_fake import Fake, listening

PROGRAM = [sys.executable, "-I", "-S", mcp_fake.__file__]


def mounted(**transport):
    document = {"name": "fake", "kind": "tool", "capabilities": [], "transport": {"type": "mcp"} | transport}
    return connect(parse_descriptor(document))


@contextmanager
def reached(transport, version="2025-06-18"):
    if transport == "stdio":
        with mounted(command=[*PROGRAM, version or "stateless"]) as link:
            yield link
    else:
        with listening(Fake(version), stream=transport == "stream") as (url, _), mounted(url=url) as link:
            yield link


@pytest.fixture(scope="module", params=["stdio", "http", "stream"])
def link(request):
    with reached(request.param) as found:
        yield found


@pytest.mark.covers("AMP-13", "AMP-6", "AMP-7")
def test_a_server_is_well_and_its_tools_are_described(link):
    """
    All pages of them, each with its schema and its words; a tool that is called like a verb has another name.
    """
    assert health(link, 10).result == {"status": "ok"}
    told = invoke(link, "describe").result
    assert description_problems(told) == []
    assert ("fake", "9.8.7", "tool") == (told["name"], told["version"], told["kind"])
    assert {"echo", "pid", "tool_health"} <= {*told["inputs"]["properties"]["op"]["enum"]}
    case = next(one for one in told["inputs"]["allOf"] if one["if"]["properties"]["op"]["const"] == "echo")
    assert ("Does echo.", "string") == (case["then"]["description"], case["then"]["properties"]["args"]["properties"]["text"]["type"])


CALLS = {
    "text": ("echo", {"text": "é"}, "echo: é"),
    "structured content": ("structured", {}, {"a": 1}),
    "an image": ("image", {}, {"content": [mcp_fake.PNG, {"type": "text", "text": "see"}]}),
    "three megabytes": ("big", {}, "x" * 3_000_000),
    "the name of a verb": ("tool_health", {}, "the tool, not the verb"),
}


@pytest.mark.covers("AMP-13", "AMP-25")
@pytest.mark.parametrize("name", CALLS)
def test_a_tool_is_an_operation(link, name):
    op, args, result = CALLS[name]
    assert result == invoke(link, op, args).result


@pytest.mark.covers("AMP-13", "AMP-17")
def test_what_fails_is_an_error_of_the_protocol(link):
    said = invoke(link, "fail").error
    assert ("tool_error", "no luck") == (said.code, said.message)
    said = invoke(link, "nothing").error
    assert ("unsupported_op", True) == (said.code, "echo" in said.details["ops"])
    assert "bad_request" == invoke(link, "").error.code


def test_many_calls_at_once_have_each_their_own_answer(link):
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda number: invoke(link, "echo", {"text": str(number)}).result, range(12)))
    assert [f"echo: {number}" for number in range(12)] == told


def test_a_session_is_told_to_the_server(link):
    told = invoke(link, "seen", session_id="S").result
    assert {"dev.hookonce/session_id": "S"} == told["meta"]
    assert "notifications/initialized" in told["seen"]


@pytest.mark.covers("AMP-13")
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_tools_that_appear_later_can_be_called_and_those_that_go_are_unsupported(transport):
    with reached(transport) as link:
        assert "unsupported_op" == invoke(link, "grown").error.code
        assert invoke(link, "grow", {"without": "structured"}).ok
        assert "grown: x" == invoke(link, "grown", {"text": "x"}).result
        assert "unsupported_op" == invoke(link, "structured").error.code


@pytest.mark.covers("AMP-13")
def test_a_server_that_says_its_tools_have_changed_is_asked_again():
    """
    Without that word a tool that is known is called, and the server itself would have to refuse it.
    """
    with reached("stdio") as link:
        assert invoke(link, "structured").ok
        assert invoke(link, "grow", {"without": "structured"}).ok
        assert "unsupported_op" == invoke(link, "structured").error.code


def test_what_a_server_asks_of_us_is_answered():
    """
    A ping with nothing, everything else with a refusal.
    """
    with reached("stdio") as link:
        first, second = invoke(link, "ask", timeout=10).result["replies"]
    assert ("p", {}) == (first["id"], first["result"])
    assert ("s", -32601) == (second["id"], second["error"]["code"])


@pytest.mark.covers("AMP-24")
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_what_takes_too_long_is_a_timeout_and_the_server_is_told(transport):
    with reached(transport) as link:
        assert health(link, 10).ok
        assert "timeout" == invoke(link, "nap", {"seconds": 0.3}, timeout=0.1).error.code
        # Over HTTP it is a request of its own, which nobody waits for.
        assert eventually(lambda: "notifications/cancelled" in invoke(link, "seen").result["seen"])


def test_a_server_that_dies_is_unreachable_and_works_when_it_is_called_again():
    with reached("stdio") as link:
        first = invoke(link, "pid").result
        said = invoke(link, "die").error
        assert ("unreachable", "the module ended with code 7") == (said.code, said.message)
        os.kill(int(second := invoke(link, "pid").result), signal.SIGKILL)
        assert first != second
        assert eventually(lambda: link.pid is None or not Path(f"/proc/{second}/status").exists() or "Z" in Path(f"/proc/{second}/stat").read_text())
        assert "echo: x" == invoke(link, "echo", {"text": "x"}).result


@pytest.mark.covers("AMP-13")
@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("version", ["2025-11-25", "2024-11-05", None])
def test_every_version_of_the_protocol_is_spoken(transport, version):
    """
    Also the one that has no handshake (None), which a server tells by refusing it.
    """
    with reached(transport, version) as link:
        assert health(link, 10).ok
        assert "echo: x" == invoke(link, "echo", {"text": "x"}).result
        assert "9.8.7" == invoke(link, "describe").result["version"]


def test_a_version_that_nobody_knows_is_said():
    with reached("stdio", "1999-01-01") as link:
        said = health(link, 10).error
    assert ("unreachable", True) == (said.code, "speaks version 1999-01-01 of MCP; hookonce speaks 2025-11-25" in said.message)


@pytest.mark.covers("AMP-13")
def test_over_http_session_and_version_are_in_the_headers_and_a_lost_session_is_begun_anew():
    with listening() as (url, heard), mounted(url=url) as link:
        assert invoke(link, "pid").ok  # after it, the server has forgotten the session
        assert "echo: x" == invoke(link, "echo", {"text": "x"}).result
        link.close()
    methods = [(way, (message or {}).get("method"), headers.get("Mcp-Session-Id")) for way, headers, message in heard]
    assert [("POST", "initialize", None), ("POST", "notifications/initialized", "s1")] == methods[:2]
    assert ("POST", "initialize", None) in methods[2:]
    assert ("DELETE", "s3") == (methods[-1][0], methods[-1][2])
    assert {"2025-06-18"} == {headers["MCP-Protocol-Version"] for way, headers, message in heard if "Mcp-Session-Id" in headers}


def test_without_a_handshake_every_request_says_what_it_speaks():
    with listening(Fake(None)) as (url, heard), mounted(url=url) as link:
        assert invoke(link, "echo", {"text": "x"}).ok
    _, headers, message = heard[-1]
    assert ("2026-07-28", "tools/call", "echo") == tuple(headers[name] for name in ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"))
    assert "2026-07-28" == message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"]


def test_a_stream_that_ends_early_is_resumed():
    with listening(resumes=True) as (url, heard), mounted(url=url) as link:
        assert "echo: x" == invoke(link, "echo", {"text": "x"}).result
    assert ["7"] == [headers["Last-Event-ID"] for way, headers, _ in heard if way == "GET"]


def test_a_server_that_ends_every_stream_is_not_asked_without_a_pause():
    """
    Whatever it says how soon that may be.
    """
    with listening(resumes=True, goes_on=False) as (url, heard), mounted(url=url) as link:
        assert health(link, 10).ok
        assert invoke(link, "echo", {"text": "x"}, timeout=0.5).error.code in {"unreachable", "timeout"}
    assert 1 <= sum(way == "GET" for way, *_ in heard) <= 5


def test_what_answers_no_request_of_ours_is_passed_over():
    strays = [{"id": one, "result": {}} for one in ([], {}, None, True, 1.0, "x", -1)] + [[], 1, {}]
    with listening(stream=True, strays=strays) as (url, _), mounted(url=url) as link:
        assert "echo: x" == invoke(link, "echo", {"text": "x"}).result


class Wire:
    """The process of a server: what it was sent; while something is written, `meanwhile` is called."""

    def __init__(self):
        self.sent, self.meanwhile = [], lambda: None

    def send(self, line, *_):
        self.meanwhile()
        self.sent.append(json.loads(line))
        return len(line)


def wired():
    wire = Wire()
    return wire, McpLifecycle(wire, None, lambda *_: None, lambda: None)


PING = b'{"jsonrpc": "2.0", "id": "p", "method": "ping"}\n'


def test_a_reply_for_which_nobody_could_write_goes_after_what_is_written():
    wire, lifecycle = wired()
    pings = [PING]
    wire.meanwhile = lambda: pings and lifecycle._process_chunk(pings.pop())
    lifecycle.notify({"method": "notifications/initialized"}, monotonic() + 5)
    assert ["notifications/initialized", None] == [one.get("method") for one in wire.sent]
    assert ("p", {}) == (wire.sent[1]["id"], wire.sent[1]["result"])


def test_two_threads_send_a_reply_once():
    """
    Both have seen that there is one.
    """
    wire, lifecycle = wired()
    together = Barrier(2)

    class Replies(deque):
        def __bool__(self):
            has_one = len(self) > 0
            with suppress(BrokenBarrierError):
                together.wait(0.2)
            return has_one

    lifecycle._replies = Replies([{"id": "p", "result": {}}])
    with ThreadPoolExecutor(2) as pool:
        for one in [pool.submit(lifecycle._send_replies) for _ in range(2)]:
            one.result()
    assert ["p"] == [one["id"] for one in wire.sent]


STATUSES = {
    404: ("unreachable", "no MCP over streamable HTTP at /mcp: it answers with status 404"),
    302: ("unreachable", "the server has moved to another place: write that into its descriptor"),
    401: ("forbidden", "the server answered with status 401"),
    500: ("internal", "the server answered with status 500"),
}


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_that_is_no_answer_is_an_error(status):
    with listening(statuses=[status]) as (url, _), mounted(url=url) as link:
        said = health(link).error
    assert STATUSES[status] == (said.code, said.message)


@pytest.mark.covers("AMP-13")
def test_our_own_servers_can_be_mounted(tmp_path):
    """
    What the lab gives to agents, and hookonce itself over MCP.
    """
    with mounted(command=[sys.executable, "-I", "-S", lab_server.__file__, str(tmp_path / "log")]) as link:
        assert "echo: hi" == invoke(link, "echo", {"text": "hi"}).result
    with mounted(command=[sys.executable, "-m", "hookonce", "module", "serve", "--mcp"]) as link:
        assert ["query", "sessions", "show", "check", "translate"] == invoke(link, "describe").result["inputs"]["properties"]["op"]["enum"]
        assert "tool_error" == invoke(link, "translate", {"source": 5}).error.code
