"""doctor: what keeps hooks from running, in one sentence each, and the repair where there is one."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from hookonce.agents import config_of
from hookonce.edit.refusal import Refusal
from hookonce.journeys import posting
from hookonce.journeys.change import Change
from hookonce.journeys.doors import is_ours
from hookonce.journeys.folder_trust import distrust
from hookonce.journeys.install import plan
from hookonce.journeys.places import Place, document_of, resolved, written
from hookonce.journeys.places import sources as files_of
from hookonce.journeys.splice import editor_of
from hookonce.journeys.startable import faults
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
    found = entries(agent, place)
    for _, path, text in found.problems:
        yield Finding(agent=agent.name, kind="unreadable", message=text, path=str(path))
    yield from switches(agent, place)
    if found.hooks and (told := distrust(agent, place)) is not None:
        yield Finding(agent=agent.name, kind="untrusted", message=told)
    if not found.problems:
        yield from _drift(agent, place, client)
        yield from unreviewed(agent, place, client)
        yield from _posted(agent, place)
    for scope, path, hook in found.hooks:
        yield from _hook(agent, scope, path, hook, client)


def switches(agent: Agent, place: Place) -> Iterator[Finding]:
    """Settings that turn hooks off."""
    for name, keys, off in config_of(agent).switches:
        path = resolved(place, name)
        data = _bytes(path)
        try:
            if data is None or editor_of(path).value_at(data, keys, _MISSING) != off:
                continue
        except Refusal:
            continue  # told where its hooks are read
        repair = None
        if agent.name in REPAIRS:
            repair = Change(path=path, old=data, new=editor_of(path).remove_key(data, keys), agent=agent.name)
        told = f"{agent.title} runs no hooks: {'.'.join(keys)} in {path} turns them off"
        yield Finding(agent=agent.name, kind="disabled", message=told, path=str(path), repair=repair)


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def unreviewed(agent: Agent, place: Place, client: str) -> Iterator[Finding]:
    """Entries of ours that the agent will not run before its user has looked at them."""
    review = config_of(agent).review
    if review is None:
        return
    data = _bytes(resolved(place, review[0])) or b""
    known = editor_of(resolved(place, review[0])).value_at(data, review[1], {}) or {}
    for _, path in files_of(agent, place):
        marks = review[2](
            str(path), document_of(agent, path, _bytes(path) or b""), lambda one: is_ours(one, client, agent)
        )
        missing = [key for key, mark in marks.items() if known.get(key) != mark]
        if missing:
            told = f"{agent.title} runs none of {len(missing)} entries of ours in {path} before you have reviewed them"
            ending = "there, or with hookonce install --trust"
            yield Finding(agent=agent.name, kind="untrusted", message=f"{told}, {ending}", path=str(path))


def _posted(agent: Agent, place: Place) -> Iterator[Finding]:
    """What is wrong where an agent posts its events to us."""
    path = written(agent, posting.SCOPE, place)
    if path is None or not posting.posts([hook for _, file, hook in entries(agent, place).hooks if file == path]):
        return
    for told in posting.problems(agent, path, place):
        yield Finding(agent=agent.name, kind="http", message=told, path=str(path))


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
    if handler.command is not None and not is_ours(handler.command, client):  # of our own client is told once
        for kind, why in faults(handler.command, scope):
            yield Finding(agent=agent.name, kind=kind, message=f"{where} {why}", path=str(path))
    if handler.timeout is not None and handler.timeout < _SHORTEST:
        told = f"{where} has {handler.timeout} s, too short to start a program"
        yield Finding(agent=agent.name, kind="timeout", message=told, path=str(path))
    if not is_vouched(agent, hook, client):
        told = f"{where} is vouched for by nobody"
        yield Finding(agent=agent.name, kind="unvouched", message=told, path=str(path), mark=mark(agent, hook))
