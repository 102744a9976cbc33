"""Who vouches for a hook: we for our own entries, a person for what they have looked at, nobody for the rest."""

from hashlib import sha256
from pathlib import Path
from shlex import split

from msgspec import DecodeError
from msgspec.json import decode, encode

from hookonce.config import paths
from hookonce.edit.file import read_file, replace_file
from hookonce.journeys.doors import called, is_ours
from hookonce.model import Agent, Hook
from hookonce.texts import dump


def mark(agent: Agent, hook: Hook) -> str:
    """A digest of what a hook runs: its entry, and the content of every file that the command names."""
    known = sha256(dump([agent.name, hook.event, hook.handler]))
    for word in _words(hook.handler.command or ""):
        file = Path(word).expanduser()
        try:
            known.update(file.read_bytes() if file.is_absolute() and file.is_file() else b"")
        except OSError:
            known.update(b"not ours to read")
    return known.hexdigest()[:16]


def _words(command: str) -> list[str]:
    try:
        return split(command)
    except ValueError:
        return []


def is_vouched(agent: Agent, hook: Hook, client: str) -> bool:
    """Whether somebody has looked at this hook as it is now."""
    return is_ours(called(hook.handler), client) or mark(agent, hook) in _marks()


def vouch(marks: list[str]) -> None:
    """Write down that a person vouches for these."""
    replace_file(_file(), encode(sorted({*_marks(), *marks})), mode=0o600)


def _file() -> Path:
    return paths.data() / "vouched.json"


def _marks() -> list[str]:
    try:
        return decode(read_file(_file()) or b"[]", type=list[str])
    except DecodeError:
        return []
