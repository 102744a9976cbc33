"""install: doors ─ render ─ join ─ read again ─ compare ─ changes. Nothing is written before a person has seen it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from hookonce import invocation
from hookonce.agents import config_of
from hookonce.edit.file import read_file
from hookonce.edit.refusal import Refusal
from hookonce.errors import HookonceError
from hookonce.journeys import ledger, posting
from hookonce.journeys.change import Change
from hookonce.journeys.doors import Events, called, doors, is_ours, is_stale, unwrapped
from hookonce.journeys.places import Place, document_of, is_bare, sources, written
from hookonce.journeys.splice import editor_of, joined, parted, reworded
from hookonce.model import Agent, Hook, Object
from hookonce.runtime.address import Address

_SCRIPT = 0o777  # less what the umask takes away
_USUAL, _PRIVATE = 0o666, 0o600
_MARKS = (b"hookonce-on", b"?via=")  # a file without them has no door of ours


def plan(
    agent: Agent,
    scope: str,
    place: Place,
    client: str,
    events: Events = "default",
    http: Address | Literal[False] | None = None,
) -> list[Change]:
    """The changes that let an agent call us; none if it already does.

    With `http` it posts to an address what it can, with False nothing, with None what it does already.
    """
    target = written(agent, scope, place)
    if target is None:
        raise HookonceError(f"{agent.title} has no {scope} configuration for hooks")
    if config_of(agent).language == "code":
        if http:
            raise HookonceError(str(posting.refusal(agent, scope, target, place.project)))
        hooks = [*_others(agent, target, client), *doors(agent, scope, client, events)]
        return _scripts(agent, scope, target, rendered(agent, hooks))
    old = read_file(target)
    with naming(target):
        present = [] if old is None else config_of(agent).parse(agent, document_of(agent, target, old))[0]
        address = posting.kept(present, place.project) if http is None else http or None
        if http and (why := posting.refusal(agent, scope, target, place.project)) is not None:
            raise HookonceError(why)
        hooks = doors(agent, scope, client, _wished(agent, scope, present, client, events), address)
        made = rendered(agent, hooks)
    made = made["hooks"] if is_bare(agent, target, place) else made
    with naming(target):
        new = with_doors(agent, target, old or b"", made, client)
    mode = _PRIVATE if address else _USUAL
    return [] if new == old else [Change(path=target, old=old, new=new, mode=mode, agent=agent.name, scope=scope)]


def _wished(agent: Agent, scope: str, present: list[Hook], client: str, events: Events) -> Events:
    """Whoever once asked for all events keeps them."""
    usual = {_event(hook) for hook in doors(agent, scope, client)}
    more = [hook for hook in present if is_ours(called(hook.handler), client, agent)]
    return "all" if any(_event(hook) not in usual for hook in more) else events


def _event(hook: Hook) -> str | None:
    """The agent's own word for what a door is about."""
    call = invocation.read(called(hook.handler) or "")
    return call and call.event


def rendered(agent: Agent, hooks: Sequence[Hook]) -> Object:
    """The agent's configuration of our doors, and of what others have there."""
    made, gaps = config_of(agent).render(agent, list(enumerate(hooks)), _bare)
    if lost := [gap for gap in gaps if gap.effect == "lost"]:
        raise HookonceError(f"hookonce cannot be installed for {agent.title}: {lost[0].note}")
    return made


def _bare(hook: Hook, _native: str) -> str | None:
    return hook.handler.command


def with_doors(agent: Agent, path: Path, data: bytes, made: Object, client: str) -> bytes:
    """A file's bytes with our doors in them: the same bytes if they stand there as they should."""
    wanted = _doors(agent, made, client)
    editor = editor_of(path)
    fresh = parted(editor, data, lambda command: is_stale(command, client, agent)) if data else data
    if data and _doors(agent, document_of(agent, path, fresh), client) == wanted:
        return fresh
    new = joined(editor, parted(editor, fresh, lambda command: is_ours(command, client, agent)), made)
    if _doors(agent, document_of(agent, path, new), client) != wanted:
        raise HookonceError(f"{path} would not read back as what was meant; it was left alone")
    return new


def _doors(agent: Agent, document: Object, client: str) -> list[tuple[str, str, object, object]]:
    hooks, _ = config_of(agent).parse(agent, document)
    mine = [(hook.event, hook.handler) for hook in hooks if is_ours(called(hook.handler), client, agent)]
    return sorted((kind, called(one) or "", one.timeout, sorted(one.headers.items())) for kind, one in mine)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """A file that cannot be understood or spliced is refused by name."""
    try:
        yield
    except Refusal as problem:
        raise HookonceError(f"{path} was left alone: {problem}") from None


def _scripts(agent: Agent, scope: str, target: Path, made: Object) -> list[Change]:
    """A code-only agent gets files of our own; somebody else's file of that name is never touched."""
    changes = []
    for name, text in made["files"].items():
        path = target / name if config_of(agent).files[scope].endswith("/") else target
        old, new = read_file(path), text.encode()
        if old is not None and old != new and not _is_generated(agent, path, old):
            raise HookonceError(f"{path} is somebody else's and was left alone; move it away, or convert it")
        if old != new:
            changes.append(Change(path=path, old=old, new=new, mode=_SCRIPT, agent=agent.name, scope=scope))
    return changes


def _others(agent: Agent, folder: Path, client: str) -> list[Hook]:
    """Scripts of others in a folder where every event has its file: ours must find names beside them."""
    if not folder.is_dir():
        return []
    files = {
        path.name: path.read_bytes().decode(errors="replace") for path in sorted(folder.iterdir()) if path.is_file()
    }
    hooks, _ = config_of(agent).parse(agent, {"files": files})
    return [hook for hook in hooks if not is_ours(called(hook.handler), client)]


def _is_generated(agent: Agent, path: Path, data: bytes) -> bool:
    """Whether a script is one of ours: it can be read, and opens doors."""
    hooks, gaps = config_of(agent).parse(agent, document_of(agent, path, data))
    return not gaps and bool(hooks)


def plan_removal(agent: Agent, scope: str, place: Place, client: str, *, unwrap: bool = False) -> list[Change]:
    """The changes that take our doors out again; the very bytes of before where nobody else wrote meanwhile."""
    changes = []
    for where, path in sources(agent, place):
        if where != scope:
            continue
        change = _removal(agent, path, client, unwrap=unwrap)
        changes += [] if change is None else [change]
    return changes


def _removal(agent: Agent, path: Path, client: str, *, unwrap: bool) -> Change | None:
    named, shared = _named(agent, path, client)
    if not named and not unwrap:
        return None
    old = read_file(path) or b""
    untouched, new = (False, None) if shared else ledger.undo(path, old)
    with naming(path):
        if not untouched:
            new = _without(agent, path, old, client) or None
        if unwrap and new is not None:
            new = _unwrapped(agent, path, new, client)
    return None if new == old else Change(path=path, old=old, new=new, agent=agent.name)


def _named(agent: Agent, path: Path, client: str) -> tuple[bool, bool]:
    """Whether a file holds doors of this agent, and whether it also holds another's."""
    try:
        data = path.read_bytes()
    except OSError:
        return False, False
    if not any(mark in data for mark in _MARKS):
        return False, False
    with naming(path):
        hooks, _ = config_of(agent).parse(agent, document_of(agent, path, data))
    commands = [called(hook.handler) for hook in hooks if is_ours(called(hook.handler), client)]
    mine = [command for command in commands if is_ours(command, client, agent)]
    return bool(mine), len(mine) < len(commands)


def _without(agent: Agent, path: Path, data: bytes, client: str) -> bytes:
    if config_of(agent).language == "code":
        return b"" if _only_doors(agent, path, data, client) else data
    return parted(editor_of(path), data, lambda command: is_ours(command, client, agent))


def _only_doors(agent: Agent, path: Path, data: bytes, client: str) -> bool:
    hooks, gaps = config_of(agent).parse(agent, document_of(agent, path, data))
    return bool(hooks) and not gaps and all(is_ours(called(hook.handler), client, agent) for hook in hooks)


def _unwrapped(agent: Agent, path: Path, data: bytes, client: str) -> bytes:
    """Scripts that were wrapped run bare again."""
    config = config_of(agent)
    if config.language != "code":
        return reworded(editor_of(path), data, lambda command: unwrapped(command, client))
    hooks, gaps = config.parse(agent, document_of(agent, path, data))
    if gaps or not hooks:
        return data
    made, _ = config.render(agent, list(enumerate(hooks)), _bare)
    text: str = made["files"].get(path.name, "")
    return text.encode() or data
