"""Locations of an agent's hook configuration: the file that we write, and all those that the agent reads."""

from collections.abc import Iterator
from os import environ
from os.path import exists, isdir
from pathlib import Path

from msgspec import Struct

from hookonce.base import paths
from hookonce.configure.merge import editor_of
from hookonce.errors import HookonceError
from hookonce.model import Agent, Gap, Hook, Object


class ConfigRoots(Struct, frozen=True):
    """The home and the project below which agents' files are looked for."""

    home: Path
    project: Path


def current_roots() -> ConfigRoots:
    """The user's home, and the project around the working directory: up to its repository, else that itself."""
    require_home()
    cwd = Path.cwd()
    repository = next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), cwd)
    return ConfigRoots(paths.home(), cwd if repository == paths.home() else repository)


def require_home() -> None:
    """Raise a HookonceError if HOME names a home that is none: who does that means another one than we would use."""
    home_variable = environ.get("HOME")
    if home_variable and Path(home_variable) != paths.home():
        raise HookonceError(f"HOME is {home_variable}, which is not a directory that you own; create it, or unset HOME")


def resolve_path(roots: ConfigRoots, name: str) -> Path:
    """Resolve a file name of an agent's table to a path."""
    if name.startswith("~/"):
        return roots.home / name[2:]
    return Path(name) if name.startswith("/") else roots.project / name


def target_file(agent: Agent, scope: str, roots: ConfigRoots) -> Path | None:
    """The file (or, for scripts, the folder) that we write for an agent in a scope."""
    config = agent.config
    override = config.override_files.get(scope)
    if override is not None and resolve_path(roots, override).is_file():
        return resolve_path(roots, override)
    return resolve_path(roots, config.files[scope]) if scope in config.files else None


def is_event_map(agent: Agent, path: Path, roots: ConfigRoots) -> bool:
    """Whether a file holds the map of events without a key above it."""
    return any(path == resolve_path(roots, name) for name in agent.config.override_files.values())


def config_files(agent: Agent, roots: ConfigRoots) -> Iterator[tuple[str, Path]]:
    """Every file in which the agent finds hooks, by scope."""
    config = agent.config
    unique_paths: set[Path] = set()  # in a home that is the project too, the user's file comes first
    for scope in dict.fromkeys((*config.files, *config.reads)):
        names = ([config.files[scope]] if scope in config.files else []) + list(config.reads.get(scope, ()))
        for name in names:
            for path in _expand_path(resolve_path(roots, name)):
                if path not in unique_paths and exists(path) and not isdir(path):  # noqa: PTH110, PTH112  pathlib raises
                    unique_paths.add(path)
                    yield scope, path


def _expand_path(path: Path) -> list[Path]:
    try:
        if path.is_dir():
            return sorted(path.iterdir())
    except OSError:
        return []
    star = next((number for number, part in enumerate(path.parts) if "*" in part), None)
    return [path] if star is None else sorted(Path(*path.parts[:star]).glob("/".join(path.parts[star:])))


def document_of(agent: Agent, path: Path, data: bytes) -> Object:
    """An agent's file as the document that its `parse` reads."""
    if agent.config.language == "code":
        return {"files": {path.name: data.decode(errors="replace")}}
    document = editor_of(path).value_at(data, ())
    return document if type(document) is dict else {}


def hooks_in(agent: Agent, path: Path, data: bytes) -> tuple[list[Hook], list[Gap]]:
    """The hooks in an agent's file, and gaps of what is none."""
    return agent.config.parse(agent, document_of(agent, path, data))
