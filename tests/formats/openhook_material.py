"""OpenHook events to test with, and short ways to look at them."""

import subprocess
import sys

from hookonce import formats
from hookonce.journeys.check import KINDS
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
    problems, warnings = KINDS["openhook"](document, strict)
    return [path for path, _ in problems], [path for path, _ in warnings]


def run(*words, given=""):
    command = [sys.executable, "-m", "hookonce", *words]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)
