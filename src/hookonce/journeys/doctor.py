"""doctor: what keeps hooks from running, in one sentence each, and the repair where there is one."""

from collections.abc import Iterator
from pathlib import Path
from shlex import split
from shutil import which

from msgspec import Struct

from hookonce.agents import config_of
from hookonce.config import paths
from hookonce.edit.file import read_file
from hookonce.errors import HookonceError
from hookonce.journeys.change import Change
from hookonce.journeys.install import plan
from hookonce.journeys.places import Place, resolved
from hookonce.journeys.splice import editor_of
from hookonce.journeys.survey import entries, standing, what_runs
from hookonce.journeys.vouch import is_vouched, mark
from hookonce.model import Agent, Hook

# Elsewhere doctor reports, and leaves the repair to a person.
REPAIRS = frozenset({"claude-code", "codex", "gemini-cli", "copilot-cli", "qwen-code", "cursor"})
_SHORTEST = 1  # second: less than it takes to start an interpreter on a busy machine
_MISSING = object()


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that is wrong, or that somebody should look at."""

    agent: str | None
    kind: str
    message: str
    path: str | None = None
    mark: str | None = None
    repair: Change | None = None


def examine(agent: Agent, place: Place, client: str) -> Iterator[Finding]:
    """Everything that we can tell about one agent."""
    try:
        found = entries(agent, place)
    except HookonceError as problem:
        yield Finding(agent=agent.name, kind="unreadable", message=str(problem))
        return
    yield from _switches(agent, place)
    yield from _drift(agent, place, client)
    for scope, path, hook in found:
        yield from _hook(agent, scope, path, hook, client)


def _switches(agent: Agent, place: Place) -> Iterator[Finding]:
    """Settings that turn hooks off."""
    for name, keys, off in config_of(agent).switches:
        path = resolved(place, name)
        data = read_file(path) if path.is_file() else None
        if data is None or editor_of(path).value_at(data, keys, _MISSING) != off:
            continue
        repair = None
        if agent.name in REPAIRS:
            repair = Change(path=path, old=data, new=editor_of(path).remove_key(data, keys), agent=agent.name)
        told = f"{agent.title} runs no hooks: {'.'.join(keys)} in {path} turns them off"
        yield Finding(agent=agent.name, kind="disabled", message=told, path=str(path), repair=repair)


def _drift(agent: Agent, place: Place, client: str) -> Iterator[Finding]:
    """Doors that are missing or stand otherwise than we would write them today."""
    for scope in standing(agent, place, client).scopes:
        if scope.state not in {"partly", "outdated"}:
            continue
        lacking = f"; no door for {', '.join(scope.missing)}" if scope.missing else ""
        told = f"{agent.title}, {scope.scope} scope: our entries are {scope.state}{lacking}"
        changes = plan(agent, scope.scope, place, client) if agent.name in REPAIRS else []
        repair = changes[0] if changes else None
        yield Finding(agent=agent.name, kind="drift", message=told, path=scope.path, repair=repair)


def _hook(agent: Agent, scope: str, path: Path, hook: Hook, client: str) -> Iterator[Finding]:
    handler, text = hook.handler, what_runs(hook.handler)
    where = f"{path}: the hook {text!r} on {hook.event}"
    if handler.command is not None:
        for kind, why in _program(handler.command, scope):
            yield Finding(agent=agent.name, kind=kind, message=f"{where} {why}", path=str(path))
    if handler.timeout is not None and handler.timeout < _SHORTEST:
        told = f"{where} has {handler.timeout} s, too short to start a program"
        yield Finding(agent=agent.name, kind="timeout", message=told, path=str(path))
    if not is_vouched(agent, hook, client):
        told = f"{where} is vouched for by nobody"
        yield Finding(agent=agent.name, kind="unvouched", message=told, path=str(path), mark=mark(agent, hook))


def _program(command: str, scope: str) -> Iterator[tuple[str, str]]:
    """What is wrong with the first word of a command."""
    try:
        words = split(command)
    except ValueError:
        words = []
    word = words[0] if words else ""
    if not word or any(letter in word for letter in "$`=(&|;"):
        return
    if word.startswith("~/"):
        word = str(paths.home() / word[2:])
    if "/" in word and not word.startswith("/"):
        if scope == "user":
            yield "relative", "has a relative path, which depends on where the agent was started"
    elif word.startswith("/") and not Path(word).exists():
        yield "missing", f"cannot run: {word} does not exist"
    elif "/" not in word and which(word) is None and word not in _BUILTINS:
        yield "missing", f"cannot run: there is no program {word} on the path"


_BUILTINS = frozenset({"test", "[", ":", "echo", "printf", "read", "exit", "true", "false", "cd", "export", "set"}) | {
    *("if", "for", "while", "until", "case", "{", "exec", ".", "eval", "command", "trap", "ulimit", "umask")
}


def own_house() -> Iterator[Finding]:
    """Our own client and its interpreter."""
    client = paths.client()
    if not client.exists():
        return
    told = client.with_name("interpreter")
    name = told.read_text(encoding="utf-8").strip() if told.exists() else ""
    if not name or not Path(name).exists():
        message = f"the interpreter of {client} is gone ({name or 'unknown'}); agents get no opinion from us"
        yield Finding(agent=None, kind="interpreter", message=message, path=str(told))
