"""Where an agent's hooks live on this machine: the file that we write, and all those that it reads."""

from collections.abc import Iterator
from os import environ
from pathlib import Path

from msgspec import Struct

from hookonce.agents import config_of
from hookonce.config import paths
from hookonce.errors import HookonceError
from hookonce.journeys.splice import editor_of
from hookonce.model import Agent, Object


class Place(Struct, frozen=True):
    """A home and a project, in which agents' files are looked for."""

    home: Path
    project: Path


def here() -> Place:
    """The user's home, and the project around the working directory: up to its repository, else that itself.

    Whoever names a home that is none of ours means another one than we would take, and must not be written there.
    """
    named = environ.get("HOME")
    if named and Path(named) != paths.home():
        raise HookonceError(f"HOME is {named}, which is no directory of yours; make it, or unset HOME")
    cwd = Path.cwd()
    around = next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), cwd)
    return Place(paths.home(), cwd if around == paths.home() else around)


def resolved(place: Place, name: str) -> Path:
    """A name of an agent's table as a path."""
    if name.startswith("~/"):
        return place.home / name[2:]
    return Path(name) if name.startswith("/") else place.project / name


def written(agent: Agent, scope: str, place: Place) -> Path | None:
    """The file (or, for scripts, the folder) that we write for an agent in a scope."""
    config = config_of(agent)
    other = config.instead.get(scope)
    if other is not None and resolved(place, other).is_file():
        return resolved(place, other)
    return resolved(place, config.files[scope]) if scope in config.files else None


def is_bare(agent: Agent, path: Path, place: Place) -> bool:
    """Whether a file holds the map of events without a key above it."""
    return any(path == resolved(place, name) for name in config_of(agent).instead.values())


def sources(agent: Agent, place: Place) -> Iterator[tuple[str, Path]]:
    """Every file in which the agent finds hooks, by scope."""
    config = config_of(agent)
    seen: set[Path] = set()  # in a home that is the project too, the user's file comes first
    for scope in dict.fromkeys((*config.files, *config.reads)):
        names = ([config.files[scope]] if scope in config.files else []) + list(config.reads.get(scope, ()))
        for name in names:
            for path in _matching(resolved(place, name)):
                if path not in seen and _is_file(path):
                    seen.add(path)
                    yield scope, path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # in a folder that is closed to us
        return False


def _matching(path: Path) -> list[Path]:
    try:
        if path.is_dir():
            return sorted(path.iterdir())
    except OSError:
        return []
    star = next((number for number, part in enumerate(path.parts) if "*" in part), None)
    return [path] if star is None else sorted(Path(*path.parts[:star]).glob("/".join(path.parts[star:])))


def document_of(agent: Agent, path: Path, data: bytes) -> Object:
    """A file of an agent's as the document that its `parse` reads."""
    if config_of(agent).language == "code":
        return {"files": {path.name: data.decode(errors="replace")}}
    found = editor_of(path).value_at(data, ())
    return found if type(found) is dict else {}
