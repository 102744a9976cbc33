"""Faults of one hook of a manifest, as its file and this machine are now."""

from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from shlex import quote
from shutil import which
from typing import Any, NamedTuple

from hookonce import agents
from hookonce.base.jsontext import dump
from hookonce.base.regex import compile_re2
from hookonce.dispatch.hook_faults.handlers import (
    code_faults,
    command_faults,
    interpreter_argument,
    program_word,
    remote_faults,
    resolve_command,
)
from hookonce.dispatch.hook_faults.manifest_words import DIALECTS, event_problem, misspelled_keys
from hookonce.dispatch.hook_faults.scripts import script_faults
from hookonce.dispatch.hook_faults.table import HookFault, make_fault
from hookonce.handlers.environment import find_program
from hookonce.manifest.discover import PROJECT_FOLDER, Scope
from hookonce.model import Handler, Hook
from hookonce.vocabulary.names import suggest_name
from hookonce.vocabulary.tools import ARGUMENTS


class HookPlace(NamedTuple):
    """Where a hook's manifest lies, the folder that its paths begin at, and its scope; the manifest if there is one."""

    manifest_dir: Path
    folder: Path
    scope: Scope
    is_openhook: bool = False
    manifest_file: Path | None = None


def manifest_place(file: Path) -> HookPlace:
    """The place of a manifest's hooks, its scope as far as its place tells it."""
    parent = file.absolute().parent
    is_project = parent.name == PROJECT_FOLDER
    return HookPlace(parent, parent.parent if is_project else parent, "project" if is_project else "user")


def hook_faults(hook: Hook, place: HookPlace, environment: Mapping[str, str]) -> Iterator[HookFault]:
    """What keeps a hook from guarding, by its words and files alone; it is not run."""
    if hook.handler.type == "command":
        yield from _command_faults(hook, place, environment)
    yield from remote_faults(hook.handler, environment)
    yield from code_faults(hook.handler, place.folder, place.scope)
    if place.is_openhook:
        return  # its hooks only look on, at events with OpenHook's names
    if (reason := event_problem(hook.event)) is not None:
        yield make_fault("event", reason)
    if hook.dialect is not None and hook.dialect not in DIALECTS:
        yield make_fault("unknown_dialect", hook.dialect, suggest_name(hook.dialect, sorted(DIALECTS)))
    if (reason := _matcher_problem(hook.matcher)) is not None:
        yield make_fault("matcher", reason)
    if hook.blocking and hook.handler.background:
        yield make_fault("background")
    for key, hint in misspelled_keys(hook):
        yield make_fault("key", key, hint)


def _command_faults(hook: Hook, place: HookPlace, environment: Mapping[str, str]) -> Iterator[HookFault]:
    is_projects = place.scope == "project"
    command = resolve_command(place.folder, hook, place.scope)
    if (fault := _misplaced_script(hook.handler, command, place)) is not None:
        yield fault
        return
    find = partial(which, path=environment.get("PATH")) if hook.environment == "caller" else find_program
    for fault in command_faults(command, "project" if is_projects else "user", find):
        # What a project runs is the copy that was trusted, which can be started.
        is_copied = fault.kind == "mode" and is_projects and Path(program_word(command)).is_relative_to(place.folder)
        yield make_fault("copy_mode", program_word(command)) if is_copied else fault
    yield from script_faults(hook, command, place.folder if is_projects and not hook.handler.cwd else None)


def _misplaced_script(handler: Handler, command: str, place: HookPlace) -> HookFault | None:
    """A script that lies beside the manifest, and is looked for elsewhere."""
    word = interpreter_argument(command)
    is_argument = word is not None
    if word is None:
        word = program_word(command)
    if not word or word.startswith(("/", "~", "-")) or (handler.cwd and is_argument):
        return None
    looked_for = place.folder / word if place.scope == "project" else None
    script = place.manifest_dir / word
    if is_argument and looked_for is not None and looked_for.exists():
        return None
    if not is_argument and ("/" in word or which(word) is not None):
        return None
    if script.is_file():
        where = "from the root of the project" if looked_for else "where the agent was started"
        path = f"{PROJECT_FOLDER}/{word}" if place.scope == "project" else f"./{word}"
        new_word = quote(str(script)) if is_argument and place.scope != "project" else path
        return make_fault("beside", word, where if is_argument else "on the PATH only", new_word)
    if is_argument and looked_for is not None:
        return make_fault("missing", f"{looked_for} does not exist")
    return make_fault("relative") if is_argument else None


def _matcher_problem(matcher: Any) -> str | None:
    """Why a matcher fits no tool of any agent; None for what may be a tool that nobody knows."""
    if matcher is None:
        return None
    parts = matcher if type(matcher) is list else [matcher]
    if not parts:
        return "is empty, so it matches no tool"
    problems = [problem for part in parts if (problem := _part_problem(part)) is not None]
    return next(iter(problems), None)


def _part_problem(part: Any) -> str | None:
    if part == "":
        return "has an empty tool name"
    names = _tool_names()
    if type(part) is str and part not in names and not part.startswith("mcp"):
        suggestion = suggest_name(part, sorted(names))
        return f"has {dump(part).decode()}, and no agent has such a tool{suggestion}" if suggestion else None
    pattern = part.get("pattern") if type(part) is dict else None
    if type(pattern) is str and "mcp" not in pattern and not any(map(compile_re2(pattern).search, names)):
        return f"has the pattern {dump(pattern).decode()}, which matches no tool of any agent"
    return None


@cache
def _tool_names() -> frozenset[str]:
    return frozenset(ARGUMENTS).union(*(agent.tools for agent in agents.load_all()))
