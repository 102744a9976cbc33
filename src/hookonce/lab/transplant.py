"""What the user has installed, put into a home of the lab: entries as they stand, switches, and trust.

Nothing else of the user's is taken along: no other hooks, no keys, no servers.
"""

from pathlib import Path

from hookonce import invocation
from hookonce.agents import config_of
from hookonce.journeys.doctor import examine
from hookonce.journeys.places import Place, document_of, is_bare, resolved, written
from hookonce.journeys.review import reviewed
from hookonce.journeys.splice import editor_of, joined, parted
from hookonce.model import Agent, Object

SCOPE = "user"
_MISSING = object()


def transplant(agent: Agent, user: Place, lab: Place, client: str) -> None:
    """Let an agent in the lab be told of hookonce as the user's is; `client` is the user's."""
    source, target = written(agent, SCOPE, user), written(agent, SCOPE, lab)
    if source is None or target is None:
        return
    if config_of(agent).language == "code":
        _scripts(source, target)
        return
    _entries(agent, source, target, user)
    _switches(agent, user, lab)
    untrusted = any(one.kind == "untrusted" and one.path for one in examine(agent, user, client))
    if not untrusted and (change := reviewed(agent, target, target.read_bytes(), lab, client)) is not None:
        change.path.write_bytes(change.new or b"")


def _is_door(command: str) -> bool:
    """Whether a command is a door of any hookonce, also of one that is not there any more."""
    call = invocation.read(command)
    return call is not None and call.via is not None


def _entries(agent: Agent, source: Path, target: Path, user: Place) -> None:
    """Our entries of the user's file in the place of those that install has written here."""
    editor = editor_of(target)
    own = parted(editor, _bytes(source) or b"{}", lambda command: not _is_door(command))
    found = document_of(agent, source, own)
    hooks = found.get("hooks", {})
    made: Object = hooks if is_bare(agent, target, user) else {"hooks": hooks}
    target.write_bytes(joined(editor, parted(editor, _bytes(target) or b"{}", _is_door), made))


def _switches(agent: Agent, user: Place, lab: Place) -> None:
    for name, keys, _ in config_of(agent).switches:
        if not name.startswith("~"):
            continue  # the machine's own file counts in the lab too
        source, target = resolved(user, name), resolved(lab, name)
        value = editor_of(source).value_at(_bytes(source) or b"", keys, _MISSING) if source.exists() else _MISSING
        if value is not _MISSING:
            target.write_bytes(editor_of(target).set_value(_bytes(target) or b"", keys, value))


def _scripts(source: Path, target: Path) -> None:
    """Scripts of ours: those that the user has, as they are, and no others."""
    here = {target} if target.is_file() else set(target.glob("*")) if target.is_dir() else set()
    for path in here:
        path.unlink()
    found = [source] if source.is_file() else sorted(source.glob("*")) if source.is_dir() else []
    for path in found:
        data = _bytes(path) or b""
        if b"hookonce-on" in data:
            to = target if path == source else target / path.name
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(data)
            to.chmod(path.stat().st_mode)


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
