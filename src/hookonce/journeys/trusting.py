"""trust: what a project's hooks would do, shown to a person, and pinned as they have seen it."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from os.path import isfile
from pathlib import Path

from msgspec import Struct

from hookonce.config import settings
from hookonce.errors import HookonceError
from hookonce.journeys import futile
from hookonce.journeys.chosen import manifest_of
from hookonce.journeys.survey import what_runs
from hookonce.journeys.visible import visible
from hookonce.manifest.contents import contents
from hookonce.manifest.degrade import capabilities_of
from hookonce.manifest.discover import FOLDER, Source, sources
from hookonce.manifest.named import Ground, command_of, is_like_a_file
from hookonce.manifest.observers import VERSIONS
from hookonce.manifest.pin import pin_of
from hookonce.manifest.policy import NAME as POLICY
from hookonce.manifest.trust import Changed, Pin, agree, pins, safe
from hookonce.model import Hook, Manifest

_BETWEEN = re.compile(r"[^\w./@+-]+")
_READ = 1 << 20  # bytes of a script that are looked at for the names of others
_PATIENCE = 120  # seconds for a scanner
_HEARD = 2000  # characters of what it says


class Proposal(Struct, frozen=True, kw_only=True):
    """A file of hooks as it is now, what a person reads of it, and whether they have agreed to it before.

    Without a pin there is nothing to agree to: the text says what is wrong.
    """

    path: Path
    pin: Pin | None
    text: str
    known: bool


def proposals(project: Path) -> list[Proposal]:
    """Every file of hooks of a project."""
    return [_proposal(project, source) for source in sources(project) if source.scope == "project"]


def _proposal(project: Path, source: Source) -> Proposal:
    try:
        manifest = manifest_of(source)
    except HookonceError as problem:
        return Proposal(path=source.path, pin=None, text=str(problem), known=False)
    pin = pin_of(project, source.data, manifest)
    lines = [f"{source.path} ({pin.manifest[:12]})", *_warnings(project, manifest)]
    lines += [line for hook in manifest.hooks for line in _hook(hook, project)]
    lines += [f"file {name} ({known[:12]})" for name, known in pin.files.items()]
    lines += [f"not pinned: {word} ({why})" for word, why in pin.loose.items()]
    lines += [line for name in pin.files for line in _further(project, name, pin)]
    known = is_trusted(project, source, manifest)
    return Proposal(path=source.path, pin=pin, text="\n  ".join(visible(line) for line in lines), known=known)


def _further(project: Path, name: str, pin: Pin) -> Iterator[str]:
    """Scripts that a pinned file names and that are not pinned: nobody notices when they change."""
    try:
        text = contents(project / name, _READ).decode(errors="replace")
    except OSError:
        return
    grounds = (Ground(project), Ground(project, str(Path(name).parent)))
    found = {ground.inside(word) for ground in grounds for word in _BETWEEN.split(text) if is_like_a_file(word)}
    for inner in sorted(other for other in found if other is not None and other not in pin.files):
        if isfile(project / inner):  # noqa: PTH113  answers no where that of pathlib raises
            yield f"warning: {name} names {inner}, which is not pinned; list it under files"


def is_trusted(project: Path, source: Source, manifest: Manifest) -> bool:
    """Whether all hooks of a file would run as they are."""
    agreed = pins(project, source.data)
    try:
        return bool(agreed) and all(safe(project, hook, agreed) for hook in manifest.hooks)
    except Changed:
        return False


def _warnings(project: Path, manifest: Manifest) -> Iterator[str]:
    spec = manifest.spec
    if spec.startswith("openhook/") and spec.removeprefix("openhook/") not in VERSIONS:
        yield f"warning: version {spec.removeprefix('openhook/')} of OpenHook is not known; read as {VERSIONS[0]}"
    if (project / FOLDER / POLICY).exists():
        yield f"warning: {FOLDER}/{POLICY} may keep some of these hooks from running; no other hook is its concern"


def _hook(hook: Hook, project: Path) -> Iterator[str]:
    """What a person has to know of a hook: when it runs, with what power, and what it does."""
    handler, needs = hook.handler, ", ".join(sorted(capabilities_of(hook)))
    power = "may refuse" if hook.blocking else "looks on"
    power += ", refuses when it fails" if hook.on_failure == "closed" else ""
    does = command_of(handler) or what_runs(handler)
    yield f"{hook.name or 'a hook'} on {hook.event}, {power}{f', needs {needs}' if needs else ''}: {does}"
    yield from (f"  sets {name}={value}" for name, value in handler.env.items())
    if handler.cwd is not None:
        yield f"  runs in {handler.cwd}"
    if handler.url is not None:
        yield f"  calls {handler.url}"
    for name in sorted({*handler.allowed_env, *_variables(handler.headers)}):
        yield f"  warning: sends your environment variable {name} to {handler.url}"
    if handler.type in {"prompt", "agent"}:
        yield "  warning: asks a language model, which costs money and is told the event"
    if hook.blocking and handler.type == "command" and "/" not in does.split(maxsplit=1)[0]:
        yield "  warning: it may refuse, and is no script that can be read and hashed by itself"
    yield from (f"  warning: {why}" for _, why in futile.obstacles(handler, project, "project"))


_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def _variables(headers: dict[str, str]) -> set[str]:
    return {found[1] or found[2] for text in headers.values() for found in _VARIABLE.finditer(text)}


def scanned(project: Path, found: list[Proposal]) -> list[str]:
    """What the configured scanners say of the files that are to be trusted; silence is consent."""
    names = dict.fromkeys(
        str(path) for one in found if one.pin for path in (one.path, *(project / name for name in one.pin.files))
    )
    return [line for command in settings.scanners() for line in _scan(command, list(names), project)]


def _scan(command: str, names: list[str], project: Path) -> list[str]:
    try:
        ran = subprocess.run(  # noqa: S603  the user's own configuration names it
            [*shlex.split(command), *names], cwd=project, capture_output=True, timeout=_PATIENCE, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as problem:
        raise HookonceError(f"the scanner {command!r} cannot be asked: {problem}") from None
    if ran.returncode == 0:
        return []
    said = (ran.stdout + ran.stderr).decode(errors="replace")[:_HEARD].splitlines() or ["nothing"]
    return [f"warning: the scanner {visible(command)} says: {visible(line)}" for line in said]


def unpinned(found: list[Proposal]) -> list[str]:
    """What of all this cannot be pinned, and needs a word of its own."""
    return sorted({visible(word) for one in found if one.pin for word in one.pin.loose})


def pin(project: Path, found: list[Proposal]) -> None:
    """Keep what a person has agreed to: all of it, or nothing."""
    try:
        agree(project, [one.pin for one in found if one.pin])
    except OSError as problem:
        raise HookonceError(f"nothing was trusted: {problem.strerror or problem}") from None
