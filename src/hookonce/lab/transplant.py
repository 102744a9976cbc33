"""What the user has installed, put into a home of the lab: entries as they stand, switches, and trust.

Nothing else of the user's is taken along: no other hooks, no keys, no servers.
"""

from pathlib import Path

from hookonce import invocation
from hookonce.agents import config_of
from hookonce.journeys.doctor import examine
from hookonce.journeys.doors import called
from hookonce.journeys.places import Place, document_of, is_bare, resolved, written
from hookonce.journeys.review import reviewed
from hookonce.journeys.splice import COMMAND_KEYS, editor_of, joined, parted
from hookonce.model import Agent, Json, Object

SCOPE = "user"
_MISSING = object()
_INSIDE = frozenset({"hooks", "args"})  # with these an entry says more than its command


def transplant(agent: Agent, user: Place, lab: Place, client: str) -> None:
    """Let an agent in the lab be told of hookonce as the user's is; `client` is the user's."""
    source = written(agent, SCOPE, user)
    if source is None:
        return
    target = lab.home / source.relative_to(user.home)  # the user's may be another than a fresh home would have
    target.parent.mkdir(parents=True, exist_ok=True)
    if config_of(agent).language == "code":
        _scripts(agent, source, target)
        return
    _entries(agent, source, target, user, lab)
    _switches(agent, user, lab)
    untrusted = any(one.kind == "untrusted" and one.path for one in examine(agent, user, client))
    if not untrusted and (change := reviewed(agent, target, target.read_bytes(), lab, client)) is not None:
        change.path.write_bytes(change.new or b"")


def _is_door(command: str) -> bool:
    """Whether a command is a door of any hookonce, also of one that is not there any more."""
    call = invocation.read(command)
    return call is not None and call.via is not None


def _entries(agent: Agent, source: Path, target: Path, user: Place, lab: Place) -> None:
    """Our entries of the user's file in the place of those that install has written here."""
    found = document_of(agent, source, _bytes(source) or b"{}")
    hooks = _doors(found if is_bare(agent, source, user) else found.get("hooks")) or {}
    editor = editor_of(target)
    made: Object = hooks if is_bare(agent, target, lab) else {"hooks": hooks}
    target.write_bytes(joined(editor, parted(editor, _bytes(target) or b"{}", _is_door), made))


def _doors(value: Json) -> Json:
    """What of a configuration is a door of ours, and what stands around it; None for everything else."""
    if type(value) is list:
        return [kept for item in value if (kept := _doors(item)) is not None] or None
    if type(value) is not dict:
        return None
    said = [text for key in COMMAND_KEYS if type(text := value.get(key)) is str]
    if said:
        return value if all(map(_is_door, said)) and _INSIDE.isdisjoint(value) else None
    inner = {key: _doors(item) for key, item in value.items() if type(item) in (list, dict)}
    kept = {key: item for key, item in inner.items() if item is not None}
    return (
        {key: kept.get(key, item) for key, item in value.items() if key not in inner or key in kept} if kept else None
    )


def _switches(agent: Agent, user: Place, lab: Place) -> None:
    for name, keys, _ in config_of(agent).switches:
        if not name.startswith("~"):
            continue  # the machine's own file counts in the lab too
        source, target = resolved(user, name), resolved(lab, name)
        value = editor_of(source).value_at(_bytes(source) or b"", keys, _MISSING) if source.exists() else _MISSING
        if value is not _MISSING:
            target.write_bytes(editor_of(target).set_value(_bytes(target) or b"", keys, value))


def _scripts(agent: Agent, source: Path, target: Path) -> None:
    """Scripts of ours: those that the user has, as they are, and no others."""
    here = {target} if target.is_file() else set(target.glob("*")) if target.is_dir() else set()
    for path in here:
        path.unlink()
    found = [source] if source.is_file() else sorted(source.glob("*")) if source.is_dir() else []
    for path in found:
        data = _bytes(path) or b""
        hooks = config_of(agent).parse(agent, document_of(agent, path, data))[0] if b"hookonce-on" in data else []
        if hooks and all(_is_door(called(one.handler) or "") for one in hooks):
            to = target if path == source else target / path.name
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(data)
            to.chmod(path.stat().st_mode)


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
