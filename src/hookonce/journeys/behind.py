"""What was behind a run: its record has a digest of the command only, and the manifest may still have the words."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from hookonce.errors import HookonceError
from hookonce.journeys.chosen import Chosen, Standing, standing
from hookonce.journeys.runs import command_of
from hookonce.model import HookRun


class Behind(Struct, frozen=True):
    """The command that ran, and the manifest that has it."""

    command: str
    file: Path


def behind(run: HookRun, project: Path) -> Behind | None:
    """What ran, if a hook has it still."""
    found = (known for one in standing(project) for known in _known(one, project))
    return next((one for one in found if _digest(one.command) == run.digest), None)


def _digest(text: str) -> str:
    return sha256(text.encode(errors="replace")).hexdigest()


def _known(one: Standing, project: Path) -> Iterator[Behind]:
    if one.hook is None:
        return
    folder = project if one.source.scope == "project" else one.source.path.parent
    try:
        command = command_of(Chosen(hook=one.hook, scope=one.source.scope, folder=str(folder)))
    except HookonceError:
        return
    yield Behind(command, one.source.path)
