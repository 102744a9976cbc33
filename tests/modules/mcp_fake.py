"""An MCP server that does what tests want: python mcp_fake.py [VERSION], or in this process over HTTP."""

import json
import os
import sys
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

NOTICE = b'{"jsonrpc": "2.0", "method": "notifications/message"}'
PNG = {"type": "image", "data": "aGk=", "mimeType": "image/png"}


def text(value, **more):
    return {"content": [{"type": "text", "text": value}]} | more


class Fake:
    """A server; `version` is what it answers to a handshake, None if it knows none."""

    def __init__(self, version="2025-06-18"):
        self.version, self.seen, self.names = version, [], ["echo", "structured", "image", "fail", "big", "nap", "health", "grow", "seen", "ask", "die", "pid"]

    def result(self, method, params):
        """The result of a request, or an error."""
        if method == "initialize" and self.version is not None:
            return {"protocolVersion": self.version, "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": "fake", "version": "9.8.7"}}
        if method == "server/discover" and self.version is None:
            return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "serverInfo": {"name": "fake", "version": "9.8.7"}}
        if method == "ping" and self.version is not None:
            return {}
        if method == "tools/list":
            start = int(params.get("cursor", 0))
            rows = [{"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}} for name in self.names[start : start + 5]]
            return {"tools": rows} | ({"nextCursor": str(start + 5)} if start + 5 < len(self.names) else {})
        if method == "tools/call":
            return self.call(params["name"], params.get("arguments", {}), params.get("_meta"))
        return {"code": -32601, "message": f"no {method}"}

    def call(self, name, args, meta):
        if name not in self.names:
            return {"code": -32602, "message": f"Unknown tool: {name}"}
        if name == "grow":
            self.names = [*(one for one in self.names if one != args.get("without")), "grown"]
        results = {
            "structured": lambda: text('{"a": 1}', structuredContent={"a": 1}),
            "image": lambda: {"content": [PNG, {"type": "text", "text": "see"}]},
            "fail": lambda: text("no luck", isError=True),
            "big": lambda: text("x" * 3_000_000),
            "health": lambda: text("the tool, not the verb"),
            "nap": lambda: text(str(time.sleep(args["seconds"]))),
            "seen": lambda: text("", structuredContent={"seen": self.seen, "meta": meta}),
            "pid": lambda: text(str(os.getpid())),
            "die": lambda: os._exit(7),
        }
        return results.get(name, lambda: text(f"{name}: {args.get('text')}"))()

    def answer(self, message):
        """The response to a message; None for a notification."""
        self.seen.append(message.get("method") or "reply")
        if "id" not in message or "method" not in message:
            return None
        told = self.result(message["method"], message.get("params") or {})
        return {"jsonrpc": "2.0", "id": message["id"], ("error" if "code" in told else "result"): told}


def serve_lines(fake):
    def say(document):
        sys.stdout.write(json.dumps(document) + "\n")
        sys.stdout.flush()

    for line in iter(sys.stdin.readline, ""):
        message = json.loads(line)
        name = (message.get("params") or {}).get("name")
        if name == "ask":  # the server asks before it answers
            say({"jsonrpc": "2.0", "id": "p", "method": "ping"})
            say({"jsonrpc": "2.0", "id": "s", "method": "sampling/createMessage", "params": {}})
            replies = [json.loads(sys.stdin.readline()) for _ in range(2)]
            say({"jsonrpc": "2.0", "id": message["id"], "result": text("", structuredContent={"replies": replies})})
            continue
        told = fake.answer(message)
        if name == "grow":
            say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        if told is not None:
            say(told)


@contextmanager
def listening(fake=None, *, stream=False, resumes=False, goes_on=True, strays=(), statuses=()):  # noqa: C901  one server, all that it can do
    """A server over HTTP: its URL, and what it was sent (method, headers, message)."""
    fake, heard, sessions, late, left = fake or Fake(), [], [], {}, list(statuses)

    class Handler(BaseHTTPRequestHandler):
        protocol_version, wbufsize, disable_nagle_algorithm = "HTTP/1.1", -1, True

        def do_POST(self):
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            heard.append(("POST", dict(self.headers), message))
            if left:
                return self.send(left.pop(0), b"")
            if message.get("method") == "initialize" and fake.version is not None:
                sessions.append(f"s{len(sessions) + 1}")
            elif sessions and self.headers.get("Mcp-Session-Id") != sessions[-1]:
                return self.send(404, b"")
            told = fake.answer(message)
            if told is None:
                return self.send(202, b"")
            if (message.get("params") or {}).get("name") == "pid":  # from now on it knows nobody any more
                sessions.append("forgotten")
            raw = json.dumps(told).encode()
            if resumes and message["method"] == "tools/call":
                late["7"], raw = raw, b"id: 7\nretry: 10\ndata:\n\n"
            elif stream:
                raw = b": hello\r\nevent: message\r\ndata: " + NOTICE + b"\r\n\r\ndata: " + json.dumps([*strays, told]).encode() + b"\r\n\r\n"
            return self.send(200, raw, "text/event-stream" if stream or raw.startswith(b"id") else "application/json")

        def do_GET(self):
            heard.append(("GET", dict(self.headers), None))
            raw = b"data: " + late.pop(self.headers["Last-Event-ID"]) if goes_on else b"retry: 0"
            self.send(200, raw + b"\n\n", "text/event-stream")

        def do_DELETE(self):
            heard.append(("DELETE", dict(self.headers), None))
            self.send(200, b"")

        def send(self, status, raw, kind="application/json"):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(raw)))
            if sessions and sessions[-1] != "forgotten":
                self.send_header("Mcp-Session-Id", sessions[-1])
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp", heard
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    serve_lines(Fake(None if sys.argv[1:] == ["stateless"] else (sys.argv[1:] or ["2025-06-18"])[0]))
