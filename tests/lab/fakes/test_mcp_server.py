"""The lab's MCP server, as agents start it: it says texts again, and notes that it was asked to."""

import json
import subprocess
import sys

import pytest

from hookonce.lab.fakes import mcp_server

_LONG = 30  # seconds that nothing takes, however busy the machine is


@pytest.fixture
def notes(tmp_path):
    """Where it notes what it was called with."""
    return tmp_path / "notes"


def spoken(notes, *lines):
    """Say all that, and hang up; what it has answered, once it has ended by itself."""
    text = "".join(f"{line if type(line) is str else json.dumps(line)}\n" for line in lines)
    words = [sys.executable, "-I", "-S", mcp_server.__file__, str(notes)]
    done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=_LONG, check=True, env={})
    assert "" == done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def request(method, number=1, **params):
    """A request."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def test_a_conversation_as_agents_have_it(notes):
    """
    Greeting, tools, a call; what needs no answer gets none, and each answer has the id of its question.
    """
    asked = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    hello, tools, called = spoken(
        notes,
        request("initialize", 0, **asked),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request("tools/list", "a"),
        request("tools/call", 7, name="echo", arguments={"text": "hello"}),
    )
    assert ["2.0"] * 3 == [one["jsonrpc"] for one in (hello, tools, called)]
    assert (0, "a", 7) == (hello["id"], tools["id"], called["id"])
    assert ("2025-03-26", {"tools": {}}) == (hello["result"]["protocolVersion"], hello["result"]["capabilities"])
    assert ["echo"] == [tool["name"] for tool in tools["result"]["tools"]]
    assert [{"type": "text", "text": "echo: hello"}] == called["result"]["content"]
    assert "hello\n" == notes.read_text(encoding="utf-8")


def test_its_tool_says_what_it_takes(notes):
    """
    So that agents offer it to their models.
    """
    (tool,) = spoken(notes, request("tools/list"))[0]["result"]["tools"]
    assert ("object", ["text"], ["text"]) == (
        tool["inputSchema"]["type"],
        list(tool["inputSchema"]["properties"]),
        tool["inputSchema"]["required"],
    )


def test_nothing_is_noted_unless_the_tool_is_called(notes):
    """
    For that is what shows that a refusal held.
    """
    spoken(notes, request("initialize"), request("tools/list"), request("ping"))
    assert not notes.exists()


def test_every_call_is_noted(notes):
    """
    In order, whatever is said.
    """
    spoken(notes, *(request("tools/call", number, name="echo", arguments={"text": f"ä {number}"}) for number in range(3)))
    assert ["ä 0", "ä 1", "ä 2"] == notes.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("method", ["ping", "resources/list", "prompts/list", "resources/templates/list", "logging/setLevel"])
def test_whatever_else_is_asked_is_answered(notes, method):
    """
    Some agents wait for each answer before they begin.
    """
    (answer,) = spoken(notes, request(method))
    assert (1, True) == (answer["id"], type(answer["result"]) is dict)


def test_nonsense_is_passed_over(notes):
    """
    Whatever comes next is answered.
    """
    nonsense = ["", "{", "[]", "null", '"x"', "[1,2]"]
    assert [1] == [one["id"] for one in spoken(notes, *nonsense, {"id": 1, "method": "ping", "params": None})]


def test_a_call_without_a_text_is_a_call(notes):
    """
    It has arrived, and that is noted.
    """
    (answer,) = spoken(notes, request("tools/call", name="echo"))
    assert "echo: None" == answer["result"]["content"][0]["text"]
    assert "None\n" == notes.read_text(encoding="utf-8")
