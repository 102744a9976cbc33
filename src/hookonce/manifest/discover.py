"""Where hooks come from: the project, the user, the organisation and the system, in the order in which they run.

Hooks of higher scopes run later, so that they judge what a project's hooks have made of an action.
"""

from functools import lru_cache
from os.path import exists, isfile
from pathlib import Path
from typing import Literal

from msgspec import Struct

from hookonce.config import paths, settings
from hookonce.manifest.contents import contents

Scope = Literal["project", "user", "organisation", "system"]
SCOPES: tuple[Scope, ...] = ("project", "user", "organisation", "system")
FOLDER = ".hookonce"
NAMES = ("hooks.json", "hooks.yaml", "hooks.yml")
OPENHOOK = ".openhook.json"
_MOST = 1 << 20  # bytes of a file of hooks


class Source(Struct, frozen=True, kw_only=True):
    """A file of hooks: its bytes as they were read once, or why they could not be."""

    scope: Scope
    path: Path
    data: bytes = b""
    problem: str | None = None

    @property
    def is_openhook(self) -> bool:
        """Whether its hooks only look on, as OpenHook has it."""
        return self.path.name == OPENHOOK


def sources(project: Path | None) -> list[Source]:
    """Every file of hooks that counts for a project; two manifests of one scope are told as a problem of both."""
    found: list[Source] = []
    if project is not None:
        found += _in(project / FOLDER, "project")
        found += _read(project / OPENHOOK, "project")
    found += _in(paths.configuration(), "user")
    found += _in(settings.SYSTEM / "org", "organisation")
    return found + _in(settings.SYSTEM, "system")


def _in(folder: Path, scope: Scope) -> list[Source]:
    found = [source for name in NAMES for source in _read(folder / name, scope)]
    if len(found) <= 1:
        return found
    twice = f"is not the only manifest there: {' and '.join(source.path.name for source in found)}; keep one"
    return [Source(scope=scope, path=source.path, problem=twice) for source in found]


def _read(path: Path, scope: Scope) -> list[Source]:
    try:
        data = contents(path, _MOST)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError) as problem:
        told = problem.strerror if isinstance(problem, OSError) else problem
        return [Source(scope=scope, path=path, problem=f"cannot be read: {told}")]
    if not owned(path, scope):
        return [Source(scope=scope, path=path, problem="can be written by others than root, and does not count")]
    return [Source(scope=scope, path=path, data=data)]


def owned(path: Path, scope: Scope) -> bool:
    """Whether a file may speak for its scope: above the user's it has to be root's alone, with the folders around."""
    folders = {"organisation": (path.parent, path.parent.parent), "system": (path.parent,)}.get(scope)
    return folders is None or settings.is_owners(path, *folders)


def project_of(cwd: Path | str) -> Path:
    """The project around a directory: its repository; without one the nearest folder with hooks, else itself.

    The repository comes first because hooks further in would otherwise take the place of those at its root.
    """
    folders = _around(str(cwd))
    found = next((folder for folder in folders if _is_repository(folder)), None)
    return _path(found or next((folder for folder in folders if _has_hooks(folder)), folders[0]))


_path = lru_cache(maxsize=256)(Path)  # made anew it costs more than all that was asked of the disk


@lru_cache(maxsize=256)
def _around(place: str) -> tuple[str, ...]:
    """A folder and those above it; as texts, because this is asked while somebody waits."""
    found = Path(place)
    return str(found), *map(str, found.parents)


def _is_repository(folder: str) -> bool:
    git = f"{folder}/.git"
    return exists(git) and (isfile(f"{git}/HEAD") or isfile(git))  # noqa: PTH110, PTH113  pathlib raises where these say no


def _has_hooks(folder: str) -> bool:
    if isfile(f"{folder}/{OPENHOOK}"):  # noqa: PTH113  as above
        return True
    inside = f"{folder}/{FOLDER}"
    return exists(inside) and any(isfile(f"{inside}/{name}") for name in NAMES)  # noqa: PTH110, PTH113
