"""MCP server with one echo tool over stdio, which logs its calls; agents start `python -I -S mcp_server.py LOG`."""

import json
import sys

ECHO_TOOL = {
    "name": "echo",
    "description": "Say a text again.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}
PROTOCOL_VERSION = "2025-06-18"


def handle_request(message: "dict[str, object]", log_path: str) -> "dict[str, object]":
    """Build the result of a JSON-RPC request."""
    method, raw_params = message.get("method"), message.get("params")
    params = raw_params if isinstance(raw_params, dict) else {}
    if method == "initialize":
        server_info = {"name": "lab", "version": "1"}
        protocol_version = params.get("protocolVersion", PROTOCOL_VERSION)
        return {"protocolVersion": protocol_version, "capabilities": {"tools": {}}, "serverInfo": server_info}
    if method == "tools/list":
        return {"tools": [ECHO_TOOL]}
    if method == "tools/call":
        text = str(params.get("arguments", {}).get("text"))
        with open(log_path, "a", encoding="utf-8") as file:  # noqa: PTH123  nothing is imported that is not needed
            file.write(text + "\n")
        return {"content": [{"type": "text", "text": f"echo: {text}"}]}
    return {"resources": [], "prompts": [], "resourceTemplates": []}


def main() -> None:
    """Answer line by line until nobody asks any more."""
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict) and "id" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": handle_request(message, sys.argv[1])}
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
