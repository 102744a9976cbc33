"""OpenHook events to test with, and short ways to look at them."""

import subprocess
import sys

from msgspec import to_builtins

from hookonce import agents, formats
from hookonce.agents._decode.decoder import decode
from hookonce.diagnose.document_check import DOCUMENT_CHECKS
from hookonce.model import Record
from tests.formats.material import documents, records

OPENHOOK = formats.load("openhook")
TYPES = ["session.start", "session.end", "prompt.submit", "tool.start", "tool.end", "file.write"]
ID = "550e8400-e29b-41d4-a716-446655440000"
END = {
    "openhook": "0.1",
    "id": ID,
    "source": "claude-code",
    "type": "session.end",
    "time": "2026-02-23T10:15:30.123Z",
    "session_id": "sess_1",
}
RECORDS = list(records())
DOCUMENTS = [document for record in RECORDS for document in documents("openhook", record)]


def found(document, *, strict=False):
    """The places of a document's problems, and of its warnings."""
    problems, warnings = DOCUMENT_CHECKS["openhook"](document, strict)
    return [path for path, _ in problems], [path for path, _ in warnings]


def run(*words, given=""):
    """What the command does with this on its standard input."""
    command = [sys.executable, "-m", "hookonce", *words]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


def native(kind, agent="claude-code", **more):
    """An agent's payload as a record."""
    payload = {"hook_event_name": kind, "session_id": "s", "cwd": "/p"} | more
    return Record(event=decode(agents.load(agent), payload, id=ID))


def written(record):
    """Its OpenHook documents as plain JSON."""
    return to_builtins(OPENHOOK.write(record))


def event(kind, **data):
    """Somebody's OpenHook event."""
    return END | {"type": kind, "data": data}
