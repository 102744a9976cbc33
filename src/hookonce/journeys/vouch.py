"""Who vouches for a hook: we for our own entries, a person for what they have looked at, nobody for the rest."""

from hashlib import sha256
from pathlib import Path
from shlex import split

from msgspec import DecodeError
from msgspec.json import decode, encode

from hookonce.config import paths
from hookonce.edit.file import read_file, replace_file
from hookonce.journeys.doors import call_target, is_own_entry
from hookonce.model import Agent, Hook
from hookonce.texts import dump


def hook_digest(agent: Agent, hook: Hook) -> str:
    """A digest of what a hook runs: its entry, and the content of every file that the command names."""
    hasher = sha256(dump([agent.name, hook.event, hook.handler]))
    for word in _split_words(hook.handler.command or ""):
        file = Path(word).expanduser()
        try:
            hasher.update(file.read_bytes() if file.is_absolute() and file.is_file() else b"")
        except OSError:
            hasher.update(b"not ours to read")
    return hasher.hexdigest()[:16]


def _split_words(command: str) -> list[str]:
    try:
        return split(command)
    except ValueError:
        return []


def is_vouched(agent: Agent, hook: Hook, client: str) -> bool:
    """Whether a person has looked at this hook as it is now, or it is our own entry."""
    return is_own_entry(call_target(hook.handler), client) or hook_digest(agent, hook) in _load_digests()


def vouch(digests: list[str]) -> None:
    """Record that a person vouches for these digests."""
    replace_file(_vouch_file(), encode(sorted({*_load_digests(), *digests})), mode=0o600)


def _vouch_file() -> Path:
    return paths.data_dir() / "vouched.json"


def _load_digests() -> list[str]:
    try:
        return decode(read_file(_vouch_file()) or b"[]", type=list[str])
    except DecodeError:
        return []
