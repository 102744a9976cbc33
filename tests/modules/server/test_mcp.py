"""A module as an MCP server: what an agent would say to it, and what it says."""

import json
from io import BytesIO

import pytest

from hookonce.modules import module
from hookonce.modules.protocol.mcp import HANDSHAKE_VERSIONS
from hookonce.modules.protocol.messages import MAX_MESSAGE_BYTES
from hookonce.modules.server.mcp import serve_mcp


def greeter():
    made = module(name="greeter", kind="tool", capabilities=[], version="1.2.3")

    @made.op("greet")
    def greet(name: str, times: int = 1) -> str:
        """Greet somebody."""
        return "hello " * times + name

    @made.op("count")
    def count(args: dict) -> dict:
        return {"given": len(args)}

    return made


def told(*messages):
    """What is said to these lines."""
    lines = [one if type(one) is bytes else json.dumps(one).encode() for one in messages]
    sink = BytesIO()
    serve_mcp(greeter(), BytesIO(b"".join(line + b"\n" for line in lines)), sink)
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def call(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


@pytest.mark.covers("AMP-13")
def test_an_agent_finds_and_calls_the_operations_of_a_module():
    begun, listed, called = told(
        call(1, "initialize", protocolVersion="2025-03-26", capabilities={}, clientInfo={"name": "x", "version": "1"}),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        call(2, "tools/list"),
        call("three", "tools/call", name="greet", arguments={"name": "you", "times": 2}),
    )
    assert ("2025-03-26", "greeter", "1.2.3") == (
        begun["result"]["protocolVersion"],
        *begun["result"]["serverInfo"].values(),
    )
    first = listed["result"]["tools"][0]
    assert ("greet", "Greet somebody.", ["name"]) == (first["name"], first["description"], first["inputSchema"]["required"])
    assert {"content": [{"type": "text", "text": "hello hello you"}], "isError": False} == called["result"]
    assert "three" == called["id"]


def test_a_version_that_we_do_not_know_is_answered_with_our_own():
    (begun,) = told(call(1, "initialize", protocolVersion="1999-01-01"))
    assert HANDSHAKE_VERSIONS[0] == begun["result"]["protocolVersion"]


def test_a_tool_that_fails_says_so_in_its_result():
    (said,) = told(call(1, "tools/call", name="greet", arguments={"name": 5}))
    assert (True, True) == (said["result"]["isError"], said["result"]["content"][0]["text"].startswith("bad_request"))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{no JSON", -32700),
        (b"[]", -32600),
        (b'{"id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "resources/list"}', -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "nothing"}}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "greet", "arguments": 5}}', -32602),
    ],
)
def test_what_is_no_request_is_an_error_and_the_next_one_is_answered(line, code):
    wrong, right = told(line, call(2, "ping"))
    assert (code, {}) == (wrong["error"]["code"], right["result"])


def test_results_that_are_no_text_are_json():
    (said,) = told(call(1, "tools/call", name="count", arguments={"a": 1}))
    assert {"given": 1} == json.loads(said["result"]["content"][0]["text"])


def test_a_line_that_is_too_long_is_one_mistake_and_not_two_messages():
    hidden = json.dumps(call(9, "ping")).encode()
    wrong, right = told(b" " * (MAX_MESSAGE_BYTES + 1) + hidden, call(2, "ping"))
    assert (-32700, 2) == (wrong["error"]["code"], right["id"])


def test_a_batch_is_answered_as_one_and_notifications_in_it_with_nothing():
    silent = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    (both,) = told([call(1, "ping"), silent, 5, call(2, "nothing")])
    assert [(1, None), (None, -32600), (2, -32601)] == [(one["id"], one.get("error", {}).get("code")) for one in both]
    assert [] == told([silent, silent])


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "method": "no/such/thing"},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "nothing"}},
        {"jsonrpc": "2.0", "id": 5, "result": {}},
        {"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": "x"}},
    ],
)
def test_nothing_is_said_to_what_asks_nothing(message):
    (only,) = told(message, call(2, "ping"))
    assert 2 == only["id"]


@pytest.mark.parametrize("number", [None, [1], {"a": 1}, True])
def test_an_id_that_is_none_is_an_invalid_request(number):
    (only,) = told({"jsonrpc": "2.0", "id": number, "method": "ping"})
    assert (None, -32600) == (only["id"], only["error"]["code"])


def test_a_result_that_cannot_be_written_is_told_as_one():
    made = module(name="odd", kind="tool")
    made.op("odd")(lambda: {"a": {(1, 2): 3}})
    sink = BytesIO()
    line = json.dumps(call(1, "tools/call", name="odd")).encode() + b"\n"
    serve_mcp(made, BytesIO(line + json.dumps(call(2, "ping")).encode()), sink)
    first, second = (json.loads(one) for one in sink.getvalue().splitlines())
    assert (1, True, 2) == (first["id"], first["result"]["isError"], second["id"])
