"""trust: what a project's hooks would do, shown to a person, and pinned as they have seen it."""

from pathlib import Path

from msgspec import Struct

from hookonce.errors import HookonceError
from hookonce.journeys.chosen import manifest_of
from hookonce.journeys.survey import what_runs
from hookonce.manifest.degrade import capabilities_of
from hookonce.manifest.discover import Source, sources
from hookonce.manifest.trust import Pin, agree, pin_of, pins
from hookonce.model import Hook


class Proposal(Struct, frozen=True, kw_only=True):
    """A file of hooks as it is now, what a person reads of it, and whether they have agreed to it before."""

    path: Path
    pin: Pin
    text: str
    known: bool


def proposals(project: Path) -> list[Proposal]:
    """Every file of hooks of a project."""
    found = [source for source in sources(project) if source.scope == "project"]
    return [_proposal(project, source) for source in found]


def _proposal(project: Path, source: Source) -> Proposal:
    manifest = manifest_of(source)
    pin = pin_of(project, source.data, manifest)
    lines = [f"{source.path} ({pin.manifest[:12]})"]
    lines += [f"  {line}" for hook in manifest.hooks for line in _lines(hook)]
    lines += [f"  file {name} ({known[:12]})" for name, known in pin.files.items()]
    lines += [f"  not pinned: {word}" for word in pin.unpinned]
    return Proposal(path=source.path, pin=pin, text="\n".join(lines), known=pin in pins(project))


def _lines(hook: Hook) -> list[str]:
    power = "may refuse" if hook.blocking else "looks on"
    needs = ", ".join(sorted(capabilities_of(hook)))
    does = power + (f", needs {needs}" if needs else "")
    lines = [f"{hook.name or 'a hook'} on {hook.event}, {does}: {what_runs(hook.handler)}"]
    named = sorted(hook.handler.allowed_env)
    return lines + ([f"  sends {', '.join(named)} from your environment to {hook.handler.url}"] if named else [])


def pin(project: Path, found: list[Proposal], *, unpinned: bool) -> None:
    """Keep what a person has agreed to; programs that are not pinned need their word too."""
    loose = sorted({word for one in found for word in one.pin.unpinned})
    if loose and not unpinned:
        raise HookonceError(f"{', '.join(loose)} cannot be pinned by content; say --allow-unpinned if you trust them")
    for one in found:
        try:
            agree(project, one.pin)
        except OSError as problem:
            raise HookonceError(f"nothing was trusted: {problem}") from None
