"""Initial manifest (`hookonce init`), with a hook in it that shows how hooks answer."""

from pathlib import Path

from msgspec.json import encode
from msgspec.json import format as pretty

from hookonce.base.files import read_file
from hookonce.configure.changes import FileChange
from hookonce.errors import HookonceError

MANIFEST_SCHEMA_URL = "https://hookonce.dev/schemas/manifest.json"
_EXAMPLE_SCRIPT = """#!/usr/bin/env python3
# An example, not a protection: there are many ways to write a command.
# A hook reads one event as JSON and answers with its exit code: 0 has no opinion, 2 refuses and says why on stderr.
import json
import sys

event = json.load(sys.stdin)
if "rm -rf" in event["tool"]["input"].get("command", ""):
    print("deleting everything is not what we want", file=sys.stderr)
    sys.exit(2)
"""


def plan_first_manifest(folder: Path, script: str) -> list[FileChange]:
    """Plan a manifest and its example script in a folder; `script` is how the manifest names the latter."""
    manifest, example = folder / "hooks.json", folder / "example.py"
    existing = next((path for path in (manifest, folder / "hooks.yaml", example) if read_file(path) is not None), None)
    if existing is not None:
        raise HookonceError(f"{existing} is already there; hookonce check {existing} tells whether it is right")
    document = {
        "$schema": MANIFEST_SCHEMA_URL,
        "spec": "hooks/1.0",
        "hooks": [
            {
                "name": "example",
                "event": "before_tool_execute",
                "matcher": "shell",
                "blocking": True,
                "handler": {"type": "command", "command": script, "timeout": 10},
            }
        ],
    }
    return [
        FileChange(path=manifest, old=None, new=pretty(encode(document), indent=2) + b"\n"),
        FileChange(path=example, old=None, new=_EXAMPLE_SCRIPT.encode(), mode=0o777),
    ]
