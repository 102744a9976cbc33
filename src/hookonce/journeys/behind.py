"""What was behind a run: its record has a digest of the command only, and the manifest may still have the words."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from hookonce.errors import HookonceError
from hookonce.journeys.chosen import Chosen, Standing, standing
from hookonce.journeys.runs import command_of
from hookonce.model import HookRun


def command_behind(run: HookRun, project: Path) -> str | None:
    """The command that ran, if a hook has it still."""
    commands = (command for one in standing(project) for command in _commands(one, project))
    return next((text for text in commands if sha256(text.encode(errors="replace")).hexdigest() == run.digest), None)


def _commands(one: Standing, project: Path) -> Iterator[str]:
    if one.hook is None:
        return
    folder = project if one.source.scope == "project" else one.source.path.parent
    try:
        yield command_of(Chosen(hook=one.hook, scope=one.source.scope, folder=str(folder)))
    except HookonceError:
        return
