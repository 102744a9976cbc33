"""convert: native A ─ parse ─ Manifest ─ degrade ─ render B ─ read again ─ compare. A mismatch is no output."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hookonce import invocation
from hookonce.agents import canonical_pattern, config_of, own_place
from hookonce.errors import HookonceError, PayloadError
from hookonce.invocation import CANONICAL, Invocation
from hookonce.journeys.doors import called
from hookonce.journeys.effects import settled
from hookonce.journeys.losses import impossible, is_unreadable, left_behind, opened, switched_off, unplaced, unsayable
from hookonce.journeys.verify import verify
from hookonce.manifest.degrade import at_home, degrade
from hookonce.manifest.http_script import unscripted
from hookonce.manifest.load import dump, manifest_of
from hookonce.manifest.problems import problems_of
from hookonce.manifest.side import restored, side
from hookonce.model import Agent, Gap, Hook, Json, Manifest, Object, Wording

NEWEST = "hooks/0.1"
_WRITTEN = "written"  # our key for a matcher that a manifest has in canonical words, as its agent had it


class Adapt(Struct, frozen=True):
    """How scripts are wrapped that were written for another agent: our client, and the scope that they run in."""

    client: str
    scope: Literal["user", "project"] = "project"


class Conversion(Struct, frozen=True, kw_only=True):
    """A configuration for the target, what it lost, whether it needs our client, and what has no place in it."""

    document: Object
    gaps: list[Gap]
    verified: bool
    hooks: int = 0
    wrapped: bool = False
    side: Object | None = None


class Refused(HookonceError):
    """A hook would have become a guard, and the caller wants none."""


def read(document: Json, source: Agent | None, *, adapt: bool, beside: Json = None) -> tuple[Manifest, list[Gap]]:
    """The manifest of a document: itself where there is no agent, else the agent's configuration."""
    if type(document) is not dict:
        raise PayloadError("expected a JSON object")
    if source is None:
        problems, _ = problems_of(document)
        if problems:
            raise HookonceError("; ".join(f"{path}: {message}" for path, message in problems))
        return manifest_of(document), []
    found, told = config_of(source).parse(source, document)
    gaps = [replace(gap, where=gap.where.replace("$", "$source", 1)) for gap in told]  # no place in the manifest
    hooks = [replace(hook, handler=unscripted(hook.handler)) for hook in found if not is_door(hook)]
    if len(hooks) < len(found):
        note = f"{len(found) - len(hooks)} of hookonce's own entries are left out; hookonce install writes the target's"
        gaps.append(Gap(where="$source.hooks", capability="install", strategy="exclude", effect="lost", note=note))
    if off := switched_off(source, document, hooks):
        return Manifest(spec=NEWEST, hooks=[]), [gap for gap in gaps if gap.capability != "switch"] + off
    manifest = restored(Manifest(spec=NEWEST, hooks=hooks), beside)
    if adapt:
        spoken = [replace(hook, dialect=hook.dialect or source.name) for hook in manifest.hooks]
        manifest = replace(manifest, hooks=spoken)
    return manifest, gaps


def is_door(hook: Hook) -> bool:
    """Whether a hook is our own entry: it calls us for whatever the manifests say."""
    call = invocation.read(called(hook.handler) or "")
    return call is not None and call.run is None


def convert(
    document: Json,
    source: Agent | None,
    target: Agent | None,
    *,
    adapt: Adapt | None = None,
    on_block: Literal["guard", "error"] = "guard",
    beside: Json = None,
) -> Conversion:
    """The same hooks for another agent, or as a manifest; None stands for the manifest itself."""
    manifest, gaps = read(document, source, adapt=adapt is not None, beside=beside)
    if source is not None and source is not target:
        gaps += [gap for index, hook in enumerate(manifest.hooks) for gap in left_behind(source, index, hook)]
        manifest = replace(manifest, hooks=[_translated(source, hook, target) for hook in manifest.hooks])
    if target is None:
        return _as_manifest(manifest, gaps)
    if source is None:
        manifest = replace(manifest, hooks=[_as_written(target, hook) for hook in manifest.hooks])
    config = config_of(target)
    same = source is target
    fitting = at_home(manifest, config.handlers) if same else degrade(manifest, config.capabilities)
    if on_block == "error" and (guarded := [gap for gap in fitting.gaps if gap.strategy == "block"]):
        raise Refused(f"{guarded[0].note}, and no guard is wanted in its place")
    judged = [(index, hook, None if same else impossible(index, hook)) for index, hook in fitting.hooks]
    hooks = [(index, hook) for index, hook, why in judged if why is None]
    made, unsaid = config.render(target, hooks, wording(target, adapt))
    gaps += [*fitting.gaps, *(why for _, _, why in judged if why is not None), *unsaid]
    again = verify(target, made, hooks, gaps)
    wrapped = {index for index, hook in hooks if adapt is not None and _differs(target, hook)}
    gaps += opened(target, hooks, gaps, wrapped)
    gaps += [] if same else unplaced(target, hooks, again, gaps, wrapped)
    return Conversion(
        document=made,
        gaps=settled(gaps),
        verified=True,
        hooks=len(again),
        wrapped=bool(wrapped),
        side=side(manifest, hooks, again),
    )


def _translated(source: Agent, hook: Hook, target: Agent | None) -> Hook:
    """A hook with its matcher in canonical words; in a manifest it remembers a pattern that was there before."""
    matcher = canonical_pattern(source, hook.matcher)
    if target is not None or matcher == hook.matcher or is_unreadable(hook.matcher):
        return replace(hook, matcher=matcher)
    return _placed(source, replace(hook, matcher=matcher), own_place(source, hook) | {_WRITTEN: hook.matcher})


def _as_written(target: Agent, hook: Hook) -> Hook:
    """A hook of a manifest with the matcher that the target's own file had, if that still means the same."""
    place = dict(own_place(target, hook))
    if _WRITTEN not in place:
        return hook
    matcher = place.pop(_WRITTEN)
    means = None if is_unreadable(matcher) else canonical_pattern(target, matcher)
    return _placed(target, replace(hook, matcher=matcher if means == hook.matcher else hook.matcher), place)


def _placed(agent: Agent, hook: Hook, place: Object) -> Hook:
    """A hook that remembers this of how it stood in an agent's file."""
    data = hook.provider_data.get(agent.name, {}) | {"hookonce": place}
    return replace(hook, provider_data=hook.provider_data | {agent.name: data})


def wording(target: Agent, adapt: Adapt | None) -> Wording:
    """How a hook's command stands in the target's configuration: bare where it speaks the target's dialect."""

    def words(hook: Hook, native: str) -> str | None:
        command = hook.handler.command
        if adapt is None or command is None or not _differs(target, hook) or is_door(hook):
            return command
        spoken = hook.dialect or CANONICAL
        call = Invocation(adapt.client, target.name, native, None, spoken, command, adapt.scope, hook.handler.timeout)
        return invocation.write(call)

    return words


def _differs(target: Agent, hook: Hook) -> bool:
    """No two agents agree on input and answer for any event, so a script for one is foreign to all others."""
    return hook.handler.type == "command" and hook.dialect != target.name


def _as_manifest(manifest: Manifest, gaps: list[Gap]) -> Conversion:
    """The manifest itself, without hooks that only one agent can run, or find."""
    judged = [(hook, unsayable(index, hook)) for index, hook in enumerate(manifest.hooks)]
    gaps += [why for _, why in judged if why is not None]
    kept = [replace(hook, dialect=None) if hook.dialect == CANONICAL else hook for hook, why in judged if why is None]
    document = dump(replace(manifest, hooks=kept))
    sound = not problems_of(document)[0]
    return Conversion(document=document, gaps=settled(gaps), verified=sound, hooks=len(kept))
