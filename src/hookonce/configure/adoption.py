"""Adoption of hooks: they move from an agent's configuration into the manifest, for every agent, each once."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.json import encode
from msgspec.json import format as pretty
from msgspec.structs import replace

from hookonce.base import paths
from hookonce.base.files import read_file
from hookonce.base.invocation import is_own_entry, unwrap_command
from hookonce.configure.changes import FileChange, read_after
from hookonce.configure.edit import jsonc
from hookonce.configure.entries import build_entries
from hookonce.configure.install import naming_file
from hookonce.configure.locations import ConfigRoots, config_files, hooks_in
from hookonce.configure.merge import editor_of, merge_entries, remove_entries
from hookonce.errors import HookonceError
from hookonce.manifest.discover import MANIFEST_NAMES
from hookonce.manifest.load import MANIFEST_SPEC, dump_manifest, load_manifest
from hookonce.model import Agent, Gap, Hook, Manifest
from hookonce.vocabulary.names import hook_label

# what a manifest of some version could not say of an agent's hook
GapFinder = Callable[[str, Agent, int, Hook], list[Gap]]


FindGaps = Callable[[Agent, int, Hook], list[Gap]]


class Adoption(Struct, frozen=True, kw_only=True):
    """Planned changes: the manifest's first, those of the agent's files, and the reasons of what stays behind."""

    manifest: FileChange | None
    files: list[FileChange]
    moved_hooks: list[Hook]
    stay_reasons: list[str]


def plan_adoption(  # noqa: PLR0913  one name for each thing that a caller may choose
    agent: Agent,
    scope: str,
    roots: ConfigRoots,
    client: str,
    gaps_of: GapFinder,
    spec: str | None = None,
    *,
    earlier_changes: Sequence[FileChange] = (),
) -> Adoption:
    """Plan the changes that move an agent's own hooks into a manifest; a hook with gaps stays where it is.

    `spec` is the version of a new manifest; one that is there keeps its own. `earlier_changes` will have been made.
    """
    if agent.config.language == "code":
        raise HookonceError(f"hooks of {agent.title} are program code, which cannot be moved into a manifest")
    path = manifest_path(scope, roots)
    old_manifest = read_after(path, earlier_changes)
    old_spec = _spec_of(old_manifest)
    find_gaps = partial(gaps_of, old_spec or spec or MANIFEST_SPEC)
    plan = Adoption(manifest=None, files=[], moved_hooks=[], stay_reasons=[])
    for file_scope, file in config_files(agent, roots):
        if file_scope == scope:
            old = read_after(file, earlier_changes) or b""
            _adopt_file(agent, scope, file, old, client, plan, find_gaps)
    manifest = _extend_manifest(path, old_manifest, plan.moved_hooks, spec) if plan.moved_hooks else None
    return replace(plan, manifest=manifest)


def _adopt_file(  # noqa: PLR0913, PLR0917  as above
    agent: Agent, scope: str, path: Path, old: bytes, client: str, plan: Adoption, find_gaps: FindGaps
) -> None:
    with naming_file(path):
        hooks, gaps = hooks_in(agent, path, old)
        movable = _movable_hooks(agent, scope, hooks, client, plan.stay_reasons, find_gaps)
        commands = {hook.handler.command for hook in movable}
        new = remove_entries(editor_of(path), old, lambda text: (unwrap_command(text, client) or text) in commands)
        remaining = Counter(map(_hook_key, hooks_in(agent, path, new or b"{}")[0]))
    plan.stay_reasons.extend(gap.note or gap.where for gap in gaps)
    remnants = [hook for hook in movable if remaining[_hook_key(hook)]]
    plan.stay_reasons.extend(
        f"{hook.handler.command} on {hook.event}: {path} has more settings for it" for hook in remnants
    )
    if movable and not remnants:
        new_hooks = [replace(hook, dialect=hook.dialect or agent.name, provider_data={}) for hook in movable]
        plan.moved_hooks.extend(new_hooks)
        plan.files.append(FileChange(path=path, old=old, new=new or None, agent=agent.name, scope=scope))


def _hook_key(hook: Hook) -> tuple[str, str | None]:
    return hook.event, hook.handler.command


def _movable_hooks(
    agent: Agent, scope: str, hooks: list[Hook], client: str, stay_reasons: list[str], find_gaps: FindGaps
) -> list[Hook]:
    """The hooks that can run from a manifest and mean the same there; the others stay, each with the reason."""
    entry_events = {hook.event for hook in build_entries(agent, scope, client)}
    movable = []
    for index, hook in enumerate(hooks):
        if is_own_entry(hook.handler.target, client):
            continue
        reasons = [gap.note for gap in find_gaps(agent, index, hook)]
        if hook.event not in entry_events:
            reasons.append(f"{hook_label(hook)}: hookonce has no entry there that would call it")
        if hook.handler.command is None:
            reasons.append(f"{hook_label(hook)}: only commands are moved")
        if reasons:
            stay_reasons.append(reasons[0] or hook_label(hook))
        else:
            movable.append(hook)
    return movable


def _spec_of(data: bytes | None) -> str | None:
    """The version of a manifest that is there and can be used."""
    try:
        return None if data is None else load_manifest(data).spec
    except HookonceError:
        return None


def _extend_manifest(path: Path, old: bytes | None, hooks: list[Hook], spec: str | None) -> FileChange:
    siblings = [path.with_name(name) for name in MANIFEST_NAMES if name != path.name]
    if (other := next(filter(Path.exists, siblings), None)) is not None:
        raise HookonceError(f"{other} is there, and hooks are adopted into JSON only; make it {path.name} first")
    if old is None:
        document = dump_manifest(Manifest(spec=spec or MANIFEST_SPEC, hooks=hooks))
        return FileChange(path=path, old=None, new=pretty(encode(document), indent=2) + b"\n")
    with naming_file(path):
        old_spec = load_manifest(old).spec
        if spec not in {None, old_spec}:
            raise HookonceError(f"it is of {old_spec}; leave out --spec, or bring it there: hookonce convert --to hif")
        document = dump_manifest(Manifest(spec=old_spec, hooks=hooks))
        return FileChange(path=path, old=old, new=merge_entries(jsonc, old, {"hooks": document["hooks"]}))


def manifest_path(scope: str, roots: ConfigRoots) -> Path:
    """The path of the manifest that we write in a scope."""
    return (paths.config_dir() if scope == "user" else roots.project / ".hookonce") / "hooks.json"


def find_manifest(scope: str, roots: ConfigRoots) -> tuple[Path, int]:
    """The manifest of a scope that is there, and how many hooks are in it; one that cannot be used has none."""
    path = manifest_path(scope, roots)
    file = next((candidate for name in MANIFEST_NAMES if (candidate := path.with_name(name)).exists()), path)
    data = read_file(file)
    try:
        return file, 0 if data is None else len(load_manifest(data).hooks)
    except HookonceError:
        return file, 0
