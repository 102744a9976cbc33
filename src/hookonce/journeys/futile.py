"""Hooks of a manifest that are functions or modules and could never run, seen from where their file lies."""

from collections.abc import Iterator
from pathlib import Path

from hookonce.journeys import loadable, module_hook
from hookonce.manifest.discover import PROJECT_FOLDER, Scope
from hookonce.manifest.load import parse_hook
from hookonce.model import Handler, Object, Problem


def code_obstacles(handler: Handler, folder: Path, scope: Scope) -> Iterator[tuple[str, str]]:
    """What keeps a function or a module from being called, as a kind and a sentence."""
    yield from loadable.function_obstacles(handler, folder)
    yield from module_hook.find_obstacles(handler, folder, scope)


def manifest_obstacles(file: Path, document: Object) -> Iterator[Problem]:
    """What a manifest names and cannot be called; all but a project's lie beside what they name."""
    parent = file.absolute().parent
    scope: Scope = "project" if parent.name == PROJECT_FOLDER else "user"
    folder = parent.parent if scope == "project" else parent
    for index, hook in enumerate(document["hooks"]):
        for _, reason in code_obstacles(parse_hook(hook).handler, folder, scope):
            yield f"$.hooks[{index}].handler.file", reason
