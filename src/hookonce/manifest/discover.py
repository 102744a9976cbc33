"""Where hooks come from: the project, the user, the organisation and the system, in the order in which they run.

Hooks of higher scopes run later, so that they judge what a project's hooks have made of an action.
"""

from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hookonce.config import paths
from hookonce.config.settings import SYSTEM

Scope = Literal["project", "user", "organisation", "system"]
SCOPES: tuple[Scope, ...] = ("project", "user", "organisation", "system")
NAMES = ("hooks.json", "hooks.yaml", "hooks.yml")
OPENHOOK = ".openhook.json"
_OTHERS_WRITE = 0o022


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
    """Every file of hooks that counts for a project; two files of one scope and name are told as a problem."""
    found: list[Source] = []
    if project is not None:
        found += _in(project / ".hookonce", "project")
        found += _read(project / OPENHOOK, "project")
    found += _in(paths.configuration(), "user")
    managed = _in(SYSTEM / "org", "organisation") + _in(SYSTEM, "system")
    return found + [_guarded(source) for source in managed]


def _in(folder: Path, scope: Scope) -> list[Source]:
    found = [source for name in NAMES for source in _read(folder / name, scope)]
    return (
        [Source(scope=scope, path=one.path, data=one.data, problem=_twice(found)) for one in found]
        if found[1:]
        else found
    )


def _twice(found: list[Source]) -> str:
    return f"there are {' and '.join(source.path.name for source in found)}; keep one"


def _read(path: Path, scope: Scope) -> list[Source]:
    try:
        return [Source(scope=scope, path=path, data=path.read_bytes())]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as problem:
        return [Source(scope=scope, path=path, problem=f"cannot be read: {problem.strerror}")]


def _guarded(source: Source) -> Source:
    """Files above the user's count only if nobody but root can write them."""
    if source.problem is not None:
        return source
    state = source.path.stat()
    if state.st_uid != 0 or state.st_mode & _OTHERS_WRITE:
        return replace(source, data=b"", problem="is not root's alone to write, and does not count")
    return source


def project_of(cwd: Path) -> Path:
    """The project around a directory: the nearest one with hooks or a repository, else the directory itself."""
    for folder in (cwd, *cwd.parents):
        if (folder / ".hookonce").is_dir() or (folder / ".git").exists() or (folder / OPENHOOK).is_file():
            return folder
    return cwd
