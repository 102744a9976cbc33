"""The official SDK's MCP server is mounted as a module, on stdio and over streamable HTTP."""

import importlib.util
import os
import subprocess
import sys
from contextlib import contextmanager
from socket import create_server

import pytest

from hookonce.modules.host.client import connect, health, invoke
from hookonce.modules.protocol.descriptor import parse_descriptor
from tests.handlers.processes import eventually

SERVER = """
import sys
try:
    from mcp.server.fastmcp import FastMCP as Server
except ImportError:
    from mcp.server import MCPServer as Server
server = Server("real")

@server.tool()
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b

@server.tool()
def fail() -> str:
    raise ValueError("no luck")

server.run() if sys.argv[1] == "stdio" else server.run(transport="streamable-http", port=int(sys.argv[1]))
"""
PYTHON = os.environ.get("HOOKONCE_MCP_PYTHON") or (sys.executable if importlib.util.find_spec("mcp") else None)
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(PYTHON is None, reason="pip install mcp, or name a Python that has it in HOOKONCE_MCP_PYTHON"),
]


@contextmanager
def reached(transport, file):
    """The transport of a descriptor that leads to the server."""
    if transport == "stdio":
        yield {"command": [PYTHON, str(file), "stdio"]}
        return
    with create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with subprocess.Popen([PYTHON, str(file), str(port)], stderr=subprocess.DEVNULL) as process:
        try:
            yield {"url": f"http://127.0.0.1:{port}/mcp"}
        finally:
            process.terminate()


@pytest.mark.covers("AMP-13")
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_server_of_the_official_sdk_is_a_module(tmp_path, transport):
    file = tmp_path / "server.py"
    file.write_text(SERVER)
    with reached(transport, file) as where:
        document = {"name": "real", "kind": "tool", "capabilities": [], "transport": {"type": "mcp"} | where}
        with connect(parse_descriptor(document)) as link:
            assert eventually(lambda: health(link, 20).ok, 30)
            assert {"result": 3} == invoke(link, "add", {"a": 1, "b": 2}).result
            assert "tool_error" == invoke(link, "fail").error.code
            assert "unsupported_op" == invoke(link, "nothing").error.code
            (case, _) = invoke(link, "describe").result["inputs"]["allOf"]
            assert ("Add two numbers.", ["a", "b"]) == (case["then"]["description"], case["then"]["properties"]["args"]["required"])
