"""adopt: hooks out of an agent's configuration into the manifest, so that every agent can have them, each once."""

from collections import Counter
from pathlib import Path

from msgspec import Struct
from msgspec.json import encode
from msgspec.json import format as pretty
from msgspec.structs import replace

from hookonce.agents import config_of
from hookonce.config import paths
from hookonce.edit import jsonc
from hookonce.edit.file import read_file
from hookonce.errors import HookonceError
from hookonce.journeys.change import Change
from hookonce.journeys.convert import NEWEST
from hookonce.journeys.doors import called, doors, is_ours, unwrapped
from hookonce.journeys.install import naming
from hookonce.journeys.losses import left_behind, unsayable
from hookonce.journeys.places import Place, document_of, sources
from hookonce.journeys.splice import editor_of, joined, parted
from hookonce.manifest.discover import NAMES
from hookonce.manifest.load import dump, load
from hookonce.model import Agent, Hook, Manifest


class Adoption(Struct, frozen=True, kw_only=True):
    """The manifest's change, which comes first, those of the agent's files, and what stays behind with the reason."""

    manifest: Change | None
    files: list[Change]
    moved: list[Hook]
    stayed: list[str]


def adoption(agent: Agent, scope: str, place: Place, client: str) -> Adoption:
    """What it takes to move an agent's own hooks into a manifest."""
    if config_of(agent).language == "code":
        raise HookonceError(f"hooks of {agent.title} are code and cannot be adopted")
    found = Adoption(manifest=None, files=[], moved=[], stayed=[])
    for where, path in sources(agent, place):
        if where == scope:
            _adopt(agent, scope, path, client, found)
    manifest = _enlarged(manifest_path(scope, place), found.moved) if found.moved else None
    return Adoption(manifest=manifest, files=found.files, moved=found.moved, stayed=found.stayed)


def _adopt(agent: Agent, scope: str, path: Path, client: str, found: Adoption) -> None:
    """The hooks of one file that can move, and the file without them."""
    old = read_file(path) or b""
    with naming(path):
        hooks, gaps = config_of(agent).parse(agent, document_of(agent, path, old))
        able = _able(agent, scope, hooks, client, found.stayed)
        commands = {hook.handler.command for hook in able}
        new = parted(editor_of(path), old, lambda command: (unwrapped(command, client) or command) in commands)
        left = Counter(map(_what, config_of(agent).parse(agent, document_of(agent, path, new or b"{}"))[0]))
    found.stayed.extend(gap.note or gap.where for gap in gaps)
    moved = [hook for hook in able if not left[_what(hook)]]
    found.stayed.extend(
        f"{hook.handler.command} on {hook.event}: {path} says more of it" for hook in able if left[_what(hook)]
    )
    if moved and len(moved) == len(able):
        found.moved.extend(replace(hook, dialect=hook.dialect or agent.name, provider_data={}) for hook in moved)
        found.files.append(Change(path=path, old=old, new=new or None, agent=agent.name, scope=scope))


def _what(hook: Hook) -> tuple[str, str | None]:
    return hook.event, hook.handler.command


def _able(agent: Agent, scope: str, hooks: list[Hook], client: str, stayed: list[str]) -> list[Hook]:
    """The hooks that can be run from a manifest and mean the same there; the others stay, each with the reason."""
    opened = {hook.event for hook in doors(agent, scope, client)}
    able = []
    for index, hook in enumerate(hooks):
        if is_ours(called(hook.handler), client):
            continue
        reasons = [gap.note for gap in (unsayable(index, hook), *left_behind(agent, index, hook)) if gap is not None]
        if hook.event not in opened:
            reasons.append(f"{hook.event}: hookonce has no entry there that would call it")
        if hook.handler.command is None:
            reasons.append(f"{hook.event}: only commands are moved")
        if reasons:
            stayed.append(f"{hook.handler.command or hook.handler.type}: {reasons[0]}")
        else:
            able.append(hook)
    return able


def _enlarged(path: Path, hooks: list[Hook]) -> Change:
    """The manifest with more hooks at its end; a new one if there is none."""
    other = next((path.with_name(name) for name in NAMES if name != path.name and path.with_name(name).exists()), None)
    if other is not None:
        raise HookonceError(f"{other} is there, and hooks are adopted into JSON only; make it {path.name} first")
    old = read_file(path)
    if old is None:
        document = dump(Manifest(spec=NEWEST, hooks=hooks))
        return Change(path=path, old=None, new=pretty(encode(document), indent=2) + b"\n")
    with naming(path):
        load(old)
        more = dump(Manifest(spec=NEWEST, hooks=hooks))["hooks"]
        return Change(path=path, old=old, new=joined(jsonc, old, {"hooks": more}))


def manifest_path(scope: str, place: Place) -> Path:
    """The manifest of a scope that we write."""
    return (paths.configuration() if scope == "user" else place.project / ".hookonce") / "hooks.json"


def manifest_of(scope: str, place: Place) -> tuple[Path, int]:
    """The manifest of a scope that is there, and how many hooks are in it; one that cannot be used has none."""
    path = manifest_path(scope, place)
    file = next((one for name in NAMES if (one := path.with_name(name)).exists()), path)
    data = read_file(file)
    try:
        return file, 0 if data is None else len(load(data).hooks)
    except HookonceError:
        return file, 0
