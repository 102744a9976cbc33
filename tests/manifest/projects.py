"""A person's home, a machine's owner and a project with hooks, all of them made for one test."""

import json
import os
import subprocess
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest

from hookonce.base import settings
from hookonce.base.runtime_dir import find_runtime_dir
from hookonce.dispatch.dispatcher import answer_call
from hookonce.store.spool.files import load_records
from hookonce.trust.consent import list_proposals, trust_proposals


def house(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """A home that is ours, and a folder in the place of /etc/hookonce, whose owner we are."""
    home = folder / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (folder / "etc").mkdir(mode=0o755)
    monkeypatch.setattr(settings, "SYSTEM", folder / "etc")
    monkeypatch.setattr(settings, "OWNER", os.getuid())
    return home


def put(path: Path, content) -> Path:
    """A file, made with the folders above it; what is no text becomes JSON, and a script can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content if type(content) in (str, bytes) else json.dumps(content)
    path.write_bytes(data.encode() if type(data) is str else data)
    path.chmod(0o755)
    return path


def command(text: str, event: str = "before_tool_execute", **more) -> dict:
    """A hook that runs a command."""
    handler = {"type": "command", "command": text} | more.pop("handler", {})
    return {"event": event, "handler": handler} | more


def manifest(*hooks: dict) -> dict:
    """A document of hooks."""
    return {"spec": "hooks/1.0", "hooks": list(hooks)}


class Project:
    """A repository with hooks."""

    def __init__(self, folder: Path, *hooks: dict) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        put(folder / ".git" / "HEAD", "ref: refs/heads/main\n")
        self.folder = folder
        if hooks:
            self.write(*hooks)

    def write(self, *hooks: dict) -> None:
        """Its manifest."""
        put(self.folder / ".hookonce" / "hooks.json", manifest(*hooks))

    def observe(self, *entries: dict, version: str = "0.1") -> None:
        """Its discovery file."""
        put(self.folder / ".openhook.json", {"openhook": version, "hooks": list(entries)})

    def put(self, name: str, content) -> Path:
        """One of its files."""
        return put(self.folder / name, content)

    def trust(self) -> None:
        """A person agrees to everything as it is, what cannot be pinned included."""
        trust_proposals(self.folder, list_proposals(self.folder))

    def states(self) -> list[bool]:
        """Which of its files of hooks are trusted."""
        return [one.is_current for one in list_proposals(self.folder)]

    def ask(self, native: str = "PreToolUse", **more):
        """What Claude Code is answered about a tool call in the project."""
        payload = {
            "session_id": "s1",
            "transcript_path": "/home/dev/.claude/projects/p/s1.jsonl",
            "cwd": str(self.folder),
            "hook_event_name": native,
            "tool_name": "Bash",
            "tool_input": {"command": "ls"},
        }
        environment = more.pop("environment", None) or dict(os.environ)
        return answer_call(["claude-code", native], json.dumps(payload | more).encode(), environment)

    def denies(self, **more) -> bool:
        """Whether the tool call is refused."""
        return '"deny"' in self.ask(**more).stdout

    def wrote(self, name: str = "ran") -> str:
        """What its hooks left behind in a file, those too that nobody waits for; nothing if they did not run."""
        for slot in (find_runtime_dir() / "async").glob("*"):
            with slot.open("ab") as file:
                flock(file, LOCK_EX)  # whoever runs one holds it
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


def notes() -> list[str]:
    """What was said of the last call."""
    *_, last = load_records()
    return [gap.note for gap in last.gaps if gap.note and gap.strategy != "hashed"]


def git(folder: Path, *words: str) -> None:
    """Run git, whatever its user has configured."""
    known = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    named = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *named, *words], cwd=folder, env=known, check=True, capture_output=True)
