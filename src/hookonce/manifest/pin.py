"""Pins: a file of hooks and everything that it names, known again by content.

What a person has seen is kept as a read-only copy, and that copy is what runs. A file that says something else than its
pin is not trusted, whatever it is called and wherever a link leads.
"""

import os
import shlex
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec.json import encode
from msgspec.structs import replace

from hookonce.config import paths
from hookonce.manifest.contents import contents
from hookonce.manifest.named import Ground, Named, Spot, is_like_a_file, named
from hookonce.manifest.trust import Changed, Pin, digest
from hookonce.model import Hook, Manifest

_MOST = 1 << 24  # bytes of a file that is hashed at every call
_READ_ONLY = 0o555


def pin_of(project: Path, data: bytes, manifest: Manifest) -> Pin:
    """What a person would agree to, as things stand."""
    pin = Pin(manifest=digest(data))
    for hook in manifest.hooks:
        found = named(project, hook)
        pin.loose.update(found.loose)
        for spot in found.spots:
            _pin_spot(project, spot, pin)
        for name, where in found.mentioned.items():
            _pin_mention(project, name, where, pin)
        for program in found.programs:
            place = shutil.which(program.name)
            pin.loose[program.name] = place or "not found"
            pin.programs.update({program.name: os.path.abspath(place)} if place else {})  # noqa: PTH100  links stay
        for text, inner in _listed(project, hook):
            _pin_more(project, text, inner, pin)
    return pin


def _pin_spot(project: Path, spot: Spot, pin: Pin) -> None:
    """A word names the first file that is there; what is there and no file, or should be there, is told."""
    for _, name in spot.choices:
        if (known := _digest_of(project, name)) is not None:
            pin.files[name] = known
            return
    for _, name in spot.choices:
        if (why := _unpinned(project, name, sure=spot.is_program)) is not None:
            pin.loose[name] = why


def _pin_mention(project: Path, name: str, where: str, pin: Pin) -> None:
    """What is only mentioned is watched, but read where it lies, and therefore told too."""
    known = _digest_of(project, name)
    if known is not None:
        pin.files[name] = known
        pin.loose[name] = where
    elif (why := _unpinned(project, name)) is not None:
        pin.loose[name] = f"{why}, {where}"


def _listed(project: Path, hook: Hook) -> list[tuple[str, str | None]]:
    """The files that a hook lists beyond those in its command, and that of its function, from the project's root."""
    ground = Ground(project)
    own = [hook.handler.file] if hook.handler.file is not None else []
    return [(text, ground.inside(text)) for text in (*own, *hook.files)]


def _pin_more(project: Path, text: str, name: str | None, pin: Pin) -> None:
    known = _digest_of(project, name) if name is not None else None
    if name is None or known is None:
        pin.loose[name or text] = "named, but no file of the project"
    else:
        pin.files[name] = known


def _unpinned(project: Path, name: str, *, sure: bool = False) -> str | None:
    """Why something that is named cannot be pinned; None if it is nothing but a word."""
    if os.path.isdir(project / name):  # noqa: PTH112  answers no where that of pathlib raises
        return "a directory"
    if os.path.lexists(project / name):
        return "no ordinary file of the project"
    return "not there" if sure or is_like_a_file(name) else None


def _digest_of(project: Path, name: str) -> str | None:
    """The digest of an ordinary file of the project; a link that leads out of it is none."""
    try:
        real = os.path.realpath(project / name, strict=True)
        if not Path(real).is_relative_to(os.path.realpath(project)):
            return None
        return digest(contents(Path(real), _MOST))
    except (OSError, ValueError):
        return None


def shelf(root: str, pin: Pin) -> Path:
    """Where the copies of a pin lie, in the same order as in the project, so that scripts find each other."""
    return paths.data() / "trusted" / digest(encode([root, pin.manifest, sorted(pin.files.items())]))


def keep(project: Path, root: str, pin: Pin) -> None:
    """Copy what a pin names; an OSError if it is not any more what was shown."""
    place = shelf(root, pin)
    draft = place.with_name(f"{place.name}.{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700, parents=True)
    try:
        for name, known in pin.files.items():
            data = contents(project / name, _MOST)
            if digest(data) != known:
                raise OSError(None, f"{name} has changed meanwhile")
            target = draft / name
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            target.write_bytes(data)
            target.chmod(_READ_ONLY)
        drop(root, pin)
        draft.rename(place)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def drop(root: str, pin: Pin) -> None:
    """Take the copies of a pin away."""
    with suppress(FileNotFoundError):
        shutil.rmtree(shelf(root, pin))


def safe_hook(project: Path, root: str, pin: Pin, hook: Hook) -> Hook:
    """The hook as it may run, copies in the place of the files that it names; Changed if it may not."""
    found = named(project, hook)
    place = shelf(root, pin)
    checked = [name for spot in found.spots for _, name in spot.choices] + [*found.mentioned]
    checked += [name for _, name in _listed(project, hook) if name is not None]
    for name in dict.fromkeys(checked):
        _check(project, place, pin, name)
    command = found.command
    for start, end, text in sorted(_swaps(found, place, pin), reverse=True):
        command = command[:start] + text + command[end:]
    file = _copied(project, place, pin, hook)
    return replace(hook, handler=replace(hook.handler, command=command or None, platform={}, file=file))


def _copied(project: Path, place: Path, pin: Pin, hook: Hook) -> str | None:
    """The copy of the file that a function stands in; Changed where there was no file to be copied."""
    if hook.handler.file is None:
        return None
    name = Ground(project).inside(hook.handler.file)
    if name not in pin.files:
        raise Changed(f"{hook.handler.file} is no file of the project that was agreed to")
    return str(place / name)


def _check(project: Path, place: Path, pin: Pin, name: str) -> None:
    known = pin.files.get(name)
    if known is None:
        if os.path.lexists(project / name) and name not in pin.loose:
            raise Changed(f"{name} was not there when the hook was agreed to")
        return
    if _digest_of(project, name) != known:
        raise Changed(f"{name} is not what was agreed to")
    try:
        kept = digest(contents(place / name, _MOST))
    except OSError:
        kept = None
    if kept != known:
        raise Changed(f"the copy of {name} is gone or damaged")


def _swaps(found: Named, place: Path, pin: Pin) -> Iterator[tuple[int, int, str]]:
    """Where the command is written otherwise: copies for files, full paths for programs."""
    for spot in found.spots:
        for prefix, name in spot.choices:
            if name in pin.files:
                copy = str(place / name)
                text = prefix + shlex.quote(copy) if spot.is_assignment else shlex.quote(prefix + copy)
                yield spot.start, spot.end, text
                break
    for program in found.programs:
        told = pin.programs.get(program.name)
        if told is not None and not os.access(told, os.X_OK):
            raise Changed(f"{program.name} is not any more where it was: {told}")
        if told is not None:
            yield program.start, program.end, shlex.quote(told)
