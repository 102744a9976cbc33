"""The lab's MCP server: one tool over stdio that says a text again, and notes in a file that it was called.

It is started by agents as `python -I -S mcp_server.py NOTES`, so it knows nothing but Python.
"""

import json
import sys

TOOL = {
    "name": "echo",
    "description": "Say a text again.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}
VERSION = "2025-06-18"


def answer(message: "dict[str, object]", notes: str) -> "dict[str, object]":
    """What is answered to a request."""
    method, given = message.get("method"), message.get("params")
    params = given if isinstance(given, dict) else {}
    if method == "initialize":
        known = {"name": "lab", "version": "1"}
        spoken = params.get("protocolVersion", VERSION)
        return {"protocolVersion": spoken, "capabilities": {"tools": {}}, "serverInfo": known}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        text = str(params.get("arguments", {}).get("text"))
        with open(notes, "a", encoding="utf-8") as file:  # noqa: PTH123  nothing is imported that is not needed
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
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": answer(message, sys.argv[1])}
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
