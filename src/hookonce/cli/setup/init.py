"""Initial manifest (`hookonce init`), with a hook in it that shows how hooks answer."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from shlex import quote

from msgspec.json import encode
from msgspec.json import format as pretty

from hookonce.base import paths
from hookonce.base.files import read_file
from hookonce.cli._ui import config_changes
from hookonce.cli._ui.arguments import add_flag
from hookonce.configure.changes import FileChange
from hookonce.configure.locations import current_roots
from hookonce.errors import HookonceError
from hookonce.model import Object

MANIFEST_SCHEMA_URL = "https://hookonce.dev/schemas/manifest.json"
_EXAMPLE_SCRIPT = """#!/usr/bin/env python3
# An example, not a protection: there are many ways to write a command.
# A hook reads an event as JSON and answers by exit code: 0 decides nothing, 2 refuses with the reason on stderr.
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
        raise HookonceError(f"{existing} exists already; hookonce check {existing} lists its problems")
    hook: Object = {"name": "example", "event": "before_tool_execute", "matcher": "shell", "blocking": True}
    hook["handler"] = {"type": "command", "command": script, "timeout": 10}
    document = {"$schema": MANIFEST_SCHEMA_URL, "spec": "hooks/1.0", "hooks": [hook]}
    return [
        FileChange(path=manifest, old=None, new=pretty(encode(document), indent=2) + b"\n"),
        FileChange(path=example, old=None, new=_EXAMPLE_SCRIPT.encode(), mode=0o777),
    ]


def configure(parser: ArgumentParser) -> None:
    """The options of `init`."""
    parser.epilog = "examples:\n  hookonce init\n  hookonce init --scope user"
    parser.add_argument("--scope", choices=("user", "project"), default="project", help="default: project")
    add_flag(parser, "--dry-run", "show what would be written, without writing anything")
    add_flag(parser, "--json", "print JSON")


def run(options: Namespace) -> int:
    """Write a first manifest, with an example that you can change or delete."""
    is_user_scope = options.scope == "user"
    folder = paths.config_dir() if is_user_scope else current_roots().project / ".hookonce"
    example = quote(str(folder / "example.py")) if is_user_scope else "./.hookonce/example.py"
    changes = plan_first_manifest(folder, example)
    problems: list[tuple[str, str]] = []
    if not options.dry_run:
        changes, problems = config_changes.apply_changes(changes, is_removal=True)
    code = config_changes.report_changes(options, "written", changes, problems)
    if not options.json and not options.dry_run and not problems:
        trust_hint = "" if is_user_scope else "; hookonce trust to let it run in this project"
        print(f"Next: hookonce try example{trust_hint}; hookonce install to let your agents run it")
    return code
