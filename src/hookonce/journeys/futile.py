"""Hooks of a manifest that are functions or modules and could never run, seen from where their file lies."""

from collections.abc import Iterator
from pathlib import Path

from hookonce.journeys import loadable, module_hook
from hookonce.manifest.discover import FOLDER, Scope
from hookonce.manifest.load import hook_of
from hookonce.model import Handler, Object, Problem


def obstacles(handler: Handler, folder: Path, scope: Scope) -> Iterator[tuple[str, str]]:
    """What keeps a function or a module from being asked, as a kind and a sentence."""
    yield from loadable.obstacles(handler, folder)
    yield from module_hook.obstacles(handler, folder, scope)


def futile(file: Path, document: Object) -> Iterator[Problem]:
    """What a manifest names and cannot be asked; all but a project's lie beside what they name."""
    around = file.absolute().parent
    scope: Scope = "project" if around.name == FOLDER else "user"
    folder = around.parent if scope == "project" else around
    for index, hook in enumerate(document["hooks"]):
        for _, why in obstacles(hook_of(hook).handler, folder, scope):
            yield f"$.hooks[{index}].handler.file", why
