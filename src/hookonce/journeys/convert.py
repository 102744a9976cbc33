"""convert: native A ─ parse ─ Manifest ─ degrade ─ render B ─ read again ─ compare. A mismatch is no output."""

from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from hookonce.agents import config_of
from hookonce.errors import HookonceError, PayloadError
from hookonce.manifest.degrade import degrade
from hookonce.manifest.load import dump, manifest_of
from hookonce.manifest.problems import problems_of
from hookonce.model import Agent, Gap, HandlerType, Hook, Json, Manifest, Object

NEWEST = "hooks/0.1"


class Conversion(Struct, frozen=True, kw_only=True):
    """A configuration for the target, what it lost, and whether it reads back as what was meant."""

    document: Object
    gaps: list[Gap]
    verified: bool


class NotFaithful(HookonceError):
    """The output would not have said what the input says; nothing was written."""


def read(document: Json, source: Agent | None) -> tuple[Manifest, list[Gap]]:
    """The manifest of a document: itself where there is no agent, else the agent's configuration."""
    if type(document) is not dict:
        raise PayloadError("expected a JSON object")
    if source is None:
        problems, _ = problems_of(document)
        if problems:
            raise HookonceError("; ".join(f"{path}: {message}" for path, message in problems))
        return manifest_of(document), []
    hooks, gaps = config_of(source).parse(source, document)
    return Manifest(spec=NEWEST, hooks=hooks), gaps


def convert(document: Json, source: Agent | None, target: Agent | None) -> Conversion:
    """The same hooks for another agent, or as a manifest; None stands for the manifest itself."""
    manifest, gaps = read(document, source)
    if target is None:
        return _as_manifest(manifest, gaps)
    config = config_of(target)
    fitting = degrade(manifest, config.capabilities)
    made, lost = config.render(target, fitting.hooks)
    gaps += fitting.gaps + lost
    gone = {gap.where for gap in gaps if gap.effect == "lost"}
    meant = [hook for index, hook in fitting.hooks if f"$.hooks[{index}]" not in gone]
    _verify(target, made, meant, vague=any(gap.capability == "matcher" for gap in gaps))
    return Conversion(document=made, gaps=gaps, verified=True)


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


def _verify(target: Agent, made: Object, meant: list[Hook], *, vague: bool) -> None:
    """Read the output again: the same events, handlers, commands and matchers, unless a gap is about matchers."""
    again, gaps = config_of(target).parse(target, made)
    wanted, found = (sorted(_shape(hook, vague=vague) for hook in hooks) for hooks in (meant, again))
    if gaps or wanted != found:
        raise NotFaithful(
            f"the configuration for {target.title} does not read back as what was meant; this is our fault"
        )


def _shape(hook: Hook, *, vague: bool) -> tuple[str, str, str, bool]:
    handler = hook.handler
    what = handler.command or handler.url or handler.prompt or ""
    return hook.event, handler.type, what, vague or hook.matcher is None
