"""What was behind a run: its record has a digest of the command only, and the manifest may still have the words."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from hookonce.errors import HookonceError
from hookonce.journeys.chosen import Chosen, Standing, standing
from hookonce.journeys.errands import command_of, known_by
from hookonce.model import HookRun


class Behind(Struct, frozen=True):
    """The command that ran, the manifest that has it, and what a record knows it by."""

    command: str
    file: Path
    digest: str


def behind(run: HookRun, project: Path) -> Behind | None:
    """What ran, if a hook has it still."""
    found = (known for one in standing(project) for known in _known(one, project))
    return next((one for one in found if one.digest == run.digest), None)


def _known(one: Standing, project: Path) -> Iterator[Behind]:
    if one.hook is None:
        return
    folder = project if one.source.scope == "project" else one.source.path.parent
    try:
        chosen = Chosen(hook=one.hook, scope=one.source.scope, folder=str(folder))
        command, digest = command_of(chosen), sha256(known_by(chosen)).hexdigest()
    except HookonceError:
        return
    handler = one.hook.handler
    if handler.type == "function":  # what starts it is ours
        command = f"{Path(folder, handler.file or '')}: {handler.name}"
    yield Behind(command, one.source.path, digest)
