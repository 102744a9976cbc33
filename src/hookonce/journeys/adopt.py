"""adopt: hooks out of an agent's configuration into the manifest, so that every agent can have them, each once."""

from pathlib import Path

from msgspec import Struct
from msgspec.json import encode
from msgspec.json import format as pretty
from msgspec.structs import replace

from hookonce.agents import config_of
from hookonce.edit import jsonc
from hookonce.edit.file import read_file
from hookonce.errors import HookonceError
from hookonce.journeys.change import Change
from hookonce.journeys.convert import NEWEST
from hookonce.journeys.doors import is_ours, unwrapped
from hookonce.journeys.install import naming, rendered, with_doors
from hookonce.journeys.places import Place, document_of, written
from hookonce.journeys.splice import editor_of, joined, parted
from hookonce.manifest.load import dump
from hookonce.model import Agent, Hook, Manifest


class Adoption(Struct, frozen=True, kw_only=True):
    """The changes, the hooks that move, and those that stay behind with the reason."""

    changes: list[Change]
    moved: list[Hook]
    stayed: list[str]


def adoption(agent: Agent, scope: str, place: Place, manifest: Path, client: str) -> Adoption:
    """What it takes to move an agent's own hooks into a manifest, our doors included."""
    path = written(agent, scope, place)
    data = None if path is None or path.is_dir() else read_file(path)
    if path is None or data is None or config_of(agent).language == "code":
        raise HookonceError(f"{agent.title} has no {scope} configuration here whose hooks could be adopted")
    with naming(path):
        hooks, gaps = config_of(agent).parse(agent, document_of(agent, path, data))
    moved = [hook for hook in hooks if _moves(hook, client)]
    stayed = [gap.note or gap.where for gap in gaps]
    stayed += [f"a handler of type {hook.handler.type} on {hook.event}" for hook in hooks if not hook.handler.command]
    if not moved:
        return Adoption(changes=[], moved=[], stayed=stayed)
    mine = {hook.handler.command for hook in moved}
    with naming(path):
        left = parted(editor_of(path), data, lambda command: (unwrapped(command, client) or command) in mine)
        new = with_doors(agent, path, left, rendered(agent, scope, client, "default"), client)
    changes = [
        _enlarged(manifest, [replace(hook, dialect=hook.dialect or agent.name) for hook in moved]),
        Change(path=path, old=data, new=new, agent=agent.name, scope=scope),
    ]
    return Adoption(changes=changes, moved=moved, stayed=stayed)


def _moves(hook: Hook, client: str) -> bool:
    command = hook.handler.command
    return command is not None and not is_ours(command, client)


def _enlarged(path: Path, hooks: list[Hook]) -> Change:
    """The manifest with more hooks at its end; a new one if there is none."""
    old = read_file(path)
    if old is None:
        document = dump(Manifest(spec=NEWEST, hooks=hooks))
        return Change(path=path, old=None, new=pretty(encode(document), indent=2) + b"\n")
    return Change(
        path=path, old=old, new=joined(jsonc, old, {"hooks": dump(Manifest(spec=NEWEST, hooks=hooks))["hooks"]})
    )
