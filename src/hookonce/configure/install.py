"""Installation of our entries into an agent's configuration, and their removal, as planned changes."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Literal

from hookonce.base.files import (
    DEFAULT_MODE,
    PRIVATE_MODE,
    FileEditError,
    read_file,
    read_if_readable,
    read_regular_file,
)
from hookonce.base.invocation import is_own_entry
from hookonce.client.daemon_endpoints import HttpAddress
from hookonce.configure import http_policy, journal
from hookonce.configure.changes import FileChange, read_after
from hookonce.configure.entries import EventSet, build_entries, entry_event, is_stale_entry
from hookonce.configure.exec_form import has_exec_form, is_exec_entry
from hookonce.configure.locations import ConfigRoots, config_files, document_of, hooks_in, is_event_map, target_file
from hookonce.configure.merge import client_part, editor_of, elide, merge_entries, remove_entries
from hookonce.configure.wrappers import unwrap_file
from hookonce.errors import HookonceError
from hookonce.model import Agent, Hook, Object

_SCRIPT_MODE = 0o777  # less what the umask takes away
_LINE_END_SPACE = re.compile(rb"[ \t]+$", re.MULTILINE)
_ENTRY_MARKERS = (b"hookonce-on", b"?via=")  # a file without them has no door of ours


def plan_install(  # noqa: PLR0913  one name for each thing that a caller may choose
    agent: Agent,
    scope: str,
    roots: ConfigRoots,
    client: str,
    events: EventSet = "default",
    http: HttpAddress | Literal[False] | None = None,
    *,
    has_args: bool | None = None,
    earlier_changes: Sequence[FileChange] = (),
) -> list[FileChange]:
    """Plan the changes that let an agent call us: it posts what it can to `http`, nothing if False, None is as now.

    `has_args`: entries in the exec form; None is where the version that is found has it. `earlier_changes` will have
    been made by then.
    """
    target = target_file(agent, scope, roots)
    if target is None:
        raise HookonceError(f"{agent.title} has no {scope} configuration for hooks")
    if agent.config.language == "code":
        if http:
            raise HookonceError(str(http_policy.install_obstacle(agent, scope, target, roots.project)))
        hooks = [*_foreign_scripts(agent, target, client), *build_entries(agent, scope, client, events)]
        return _script_changes(agent, scope, target, render_entries(agent, hooks))
    old = read_after(target, earlier_changes)
    with naming_file(target):
        document = {} if old is None else client_part(document_of(agent, target, old))
        current_hooks, _ = agent.config.parse(agent, document)
        address = http_policy.current_address(current_hooks, roots.project) if http is None else http or None
        if http and (obstacle := http_policy.install_obstacle(agent, scope, target, roots.project)) is not None:
            raise HookonceError(obstacle)
        event_set = _event_set(agent, scope, current_hooks, client, events)
        is_exec = has_exec_form(agent, scope, roots) if has_args is None else has_args
        hooks = build_entries(agent, scope, client, event_set, address, has_args=is_exec)
        document = render_entries(agent, hooks)
    document = document["hooks"] if is_event_map(agent, target, roots) else document
    with naming_file(target):
        new = insert_entries(agent, target, old or b"", document, client)
    if old is None:
        new = _LINE_END_SPACE.sub(b"", new)  # the editor's mark; of a file that we made the journal knows it
    mode = PRIVATE_MODE if address else DEFAULT_MODE
    return [] if new == old else [FileChange(path=target, old=old, new=new, mode=mode, agent=agent.name, scope=scope)]


def _event_set(agent: Agent, scope: str, current_hooks: list[Hook], client: str, events: EventSet) -> EventSet:
    """Whoever once asked for all events keeps them."""
    default_events = {entry_event(hook.handler.target) for hook in build_entries(agent, scope, client)}
    targets = [hook.handler.target for hook in current_hooks if is_own_entry(hook.handler.target, client, agent.name)]
    return "all" if any(entry_event(target) not in default_events for target in targets) else events


def render_entries(agent: Agent, hooks: Sequence[Hook]) -> Object:
    """Render the agent's configuration of our entries, and of what others have there."""
    document, gaps = agent.config.render(agent, list(enumerate(hooks)), _plain_command)
    if losses := [gap for gap in gaps if gap.effect == "lost"]:
        raise HookonceError(f"hookonce cannot be installed for {agent.title}: {losses[0].note}")
    return document


def _plain_command(hook: Hook, _native: str) -> str | None:
    return hook.handler.command


def insert_entries(agent: Agent, path: Path, data: bytes, document: Object, client: str) -> bytes:
    """Insert our entries into a file's bytes: the same bytes if they stand there as they should."""
    entries, editor = _own_entries(agent, document, client), editor_of(path)
    is_own = partial(is_own_entry, client=client, agent=agent.name)
    is_stale = partial(is_stale_entry, client=client, agent=agent)
    elision = elide(editor, data, document, lambda command: is_own(command) or is_stale(command))
    text = remove_entries(editor, elision.text, is_stale) if data else data
    if data and _own_entries(agent, document_of(agent, path, text), client) == entries:
        return elision.restore(text)
    new = elision.restore(merge_entries(editor, remove_entries(editor, text, is_own), document))
    if _own_entries(agent, document_of(agent, path, new), client) != entries:
        raise HookonceError(f"{path} was not changed, because the result would not be read as intended")
    return new


def _own_entries(agent: Agent, document: Object, client: str) -> list[tuple[str, str, object, object, bool]]:
    hooks, _ = agent.config.parse(agent, client_part(document))
    own_hooks = [(hook, hook.handler) for hook in hooks if is_own_entry(hook.handler.target, client, agent.name)]
    return sorted(
        (hook.event, run.target or "", run.timeout, sorted(run.headers.items()), is_exec_entry(agent, hook))
        for hook, run in own_hooks
    )


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Name the file in the error when it cannot be parsed or edited."""
    try:
        yield
    except FileEditError as problem:
        raise HookonceError(f"{path} was not changed: {problem}") from None


def _script_changes(agent: Agent, scope: str, target: Path, document: Object) -> list[FileChange]:
    """A code-only agent gets files of our own; somebody else's file of that name is never touched."""
    changes = []
    for name, text in document["files"].items():
        path = target / name if agent.config.files[scope].endswith("/") else target
        old, new = read_file(path), text.encode()
        if old is not None and old != new:
            hooks, gaps = hooks_in(agent, path, old)
            if gaps or not hooks:  # a script of ours can be parsed, and has entries
                raise HookonceError(f"{path} is not from hookonce and was not changed; move it away, or convert it")
        if old != new:
            changes.append(FileChange(path=path, old=old, new=new, mode=_SCRIPT_MODE, agent=agent.name, scope=scope))
    return changes


def _foreign_scripts(agent: Agent, folder: Path, client: str) -> list[Hook]:
    """Scripts of others in a folder where every event has its file: ours must find names beside them."""
    if not folder.is_dir():
        return []
    scripts = {path.name: read_if_readable(path) for path in sorted(folder.iterdir())}
    document = {"files": {name: data.decode(errors="replace") for name, data in scripts.items() if data is not None}}
    hooks, _ = agent.config.parse(agent, document)
    return [hook for hook in hooks if not is_own_entry(hook.handler.target, client)]


def plan_removal(
    agent: Agent, scope: str, roots: ConfigRoots, client: str, *, unwrap: bool = False
) -> list[FileChange]:
    """Plan the changes that remove our entries; the very bytes of before where nobody else wrote meanwhile."""
    files = [path for file_scope, path in config_files(agent, roots) if file_scope == scope]
    changes = [_plan_file_removal(agent, path, client, unwrap=unwrap) for path in files]
    return [change for change in changes if change is not None]


def _plan_file_removal(agent: Agent, path: Path, client: str, *, unwrap: bool) -> FileChange | None:
    try:
        has_own, has_others = _has_entries(agent, path, read_regular_file(path), client)
    except OSError:
        has_own = has_others = False
    if not has_own and not unwrap:
        return None
    old = read_file(path) or b""
    is_untouched, new = (False, None) if has_others else journal.original_bytes(path, old)
    with naming_file(path):
        # Where somebody wrote between two installations of ours, the copy of then has our older entries in it.
        if not is_untouched or _has_entries(agent, path, new or b"", client)[0]:
            new = _remove_own_entries(agent, path, old, client) or None
            if new is not None and journal.is_own_file(path) and document_of(agent, path, new) == {}:
                new = None
        if unwrap and new is not None:
            new = unwrap_file(agent, path, new, client)
    return None if new == old else FileChange(path=path, old=old, new=new, agent=agent.name)


def _has_entries(agent: Agent, path: Path, data: bytes, client: str) -> tuple[bool, bool]:
    """Whether a file's bytes hold entries for this agent, and whether they also hold another's."""
    if not any(marker in data for marker in _ENTRY_MARKERS):
        return False, False
    with naming_file(path):
        targets = [hook.handler.target for hook in hooks_in(agent, path, data)[0]]
    own_flags = [is_own_entry(target, client, agent.name) for target in targets if is_own_entry(target, client)]
    return any(own_flags), not all(own_flags)


def _remove_own_entries(agent: Agent, path: Path, data: bytes, client: str) -> bytes:
    if agent.config.language != "code":
        return remove_entries(editor_of(path), data, lambda command: is_own_entry(command, client, agent.name))
    hooks, gaps = hooks_in(agent, path, data)
    is_own = bool(hooks) and all(is_own_entry(hook.handler.target, client, agent.name) for hook in hooks)
    return b"" if is_own and not gaps else data
