"""convert: native A ─ parse ─ Manifest ─ degrade ─ render B ─ read again ─ compare. A mismatch is no output."""

from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from hookonce import invocation
from hookonce.agents import canonical_pattern, config_of
from hookonce.errors import HookonceError, PayloadError
from hookonce.invocation import Invocation
from hookonce.journeys.verify import verify
from hookonce.manifest.degrade import degrade
from hookonce.manifest.load import dump, manifest_of
from hookonce.manifest.problems import problems_of
from hookonce.model import Agent, Gap, HandlerType, Hook, Json, Manifest, Object, Wording

NEWEST = "hooks/0.1"


class Adapt(Struct, frozen=True):
    """How scripts are wrapped that were written for another agent: our client, and the scope that they run in."""

    client: str
    scope: Literal["user", "project"] = "project"


class Conversion(Struct, frozen=True, kw_only=True):
    """A configuration for the target, what it lost, whether it reads back as meant, and whether it needs our client."""

    document: Object
    gaps: list[Gap]
    verified: bool
    wrapped: bool = False


class Refused(HookonceError):
    """A hook would have become a guard, and the caller wants none."""


def read(document: Json, source: Agent | None, *, adapt: bool = False) -> tuple[Manifest, list[Gap]]:
    """The manifest of a document: itself where there is no agent, else the agent's configuration."""
    if type(document) is not dict:
        raise PayloadError("expected a JSON object")
    if source is None:
        problems, _ = problems_of(document)
        if problems:
            raise HookonceError("; ".join(f"{path}: {message}" for path, message in problems))
        return manifest_of(document), []
    found, gaps = config_of(source).parse(source, document)
    hooks = [hook for hook in found if not is_door(hook)]
    if adapt:
        hooks = [replace(hook, dialect=hook.dialect or source.name) for hook in hooks]
    if len(hooks) < len(found):
        note = f"{len(found) - len(hooks)} of hookonce's own entries are left out; hookonce install writes the target's"
        gaps.append(Gap(where="$.hooks", capability="install", strategy="exclude", effect="lost", note=note))
    return Manifest(spec=NEWEST, hooks=hooks), gaps


def is_door(hook: Hook) -> bool:
    """Whether a hook is our own entry: it calls us for whatever the manifests say."""
    call = invocation.read(hook.handler.command or "")
    return call is not None and call.run is None


def convert(
    document: Json,
    source: Agent | None,
    target: Agent | None,
    *,
    adapt: Adapt | None = None,
    on_block: Literal["guard", "error"] = "guard",
) -> Conversion:
    """The same hooks for another agent, or as a manifest; None stands for the manifest itself."""
    manifest, gaps = read(document, source, adapt=adapt is not None)
    if source is not None and target is not None and target.name != source.name:
        hooks = [replace(hook, matcher=canonical_pattern(source, hook.matcher)) for hook in manifest.hooks]
        manifest = replace(manifest, hooks=hooks)
    if target is None:
        return _as_manifest(manifest, gaps)
    config = config_of(target)
    fitting = degrade(manifest, config.capabilities)
    if on_block == "error" and (guarded := [gap for gap in fitting.gaps if gap.strategy == "block"]):
        raise Refused(f"{guarded[0].note}, and no guard is wanted in its place")
    made, unsaid = config.render(target, fitting.hooks, wording(target, adapt))
    gaps += fitting.gaps + unsaid
    verify(target, made, fitting.hooks, gaps)
    wrapped = adapt is not None and any(_differs(target, hook) for _, hook in fitting.hooks)
    return Conversion(document=made, gaps=gaps, verified=True, wrapped=wrapped)


def wording(target: Agent, adapt: Adapt | None) -> Wording:
    """How a hook's command stands in the target's configuration: bare where it speaks the target's dialect."""

    def words(hook: Hook, native: str) -> str | None:
        command = hook.handler.command
        if adapt is None or command is None or not _differs(target, hook) or is_door(hook):
            return command
        spoken = hook.dialect or "canonical"
        call = Invocation(adapt.client, target.name, native, None, spoken, command, adapt.scope, hook.handler.timeout)
        return invocation.write(call)

    return words


def _differs(target: Agent, hook: Hook) -> bool:
    """No two agents agree on input and answer for any event, so a script for one is foreign to all others."""
    return hook.handler.type == "command" and hook.dialect != target.name


def _as_manifest(manifest: Manifest, gaps: list[Gap]) -> Conversion:
    """The manifest itself, without hooks of a kind that only one agent can run."""
    kept = [hook for hook in manifest.hooks if hook.handler.type in get_args(HandlerType)]
    for index, hook in enumerate(manifest.hooks):
        if hook.handler.type not in get_args(HandlerType):
            note = f"Hook {index + 1}: a manifest has no handlers of type {hook.handler.type}"
            gaps.append(
                Gap(where=f"$.hooks[{index}]", capability="handler", strategy="exclude", effect="lost", note=note)
            )
    return Conversion(document=dump(replace(manifest, hooks=kept)), gaps=gaps, verified=True)
