"""Faults of handlers: whether a program, server, model, function or module could run. Nothing is started."""

import ast
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from shlex import quote, split
from shutil import which

from hookonce.base import paths
from hookonce.base.files import read_regular_file
from hookonce.base.regex import lazy_pattern
from hookonce.dispatch import module_hook
from hookonce.dispatch.hook_faults.manifest_words import suggest_event
from hookonce.dispatch.hook_faults.table import HookFault, make_fault
from hookonce.dispatch.prepare import command_of
from hookonce.dispatch.select import SelectedHook
from hookonce.errors import HookonceError
from hookonce.handlers import prompt
from hookonce.handlers.command import CommandOperation, ProcessContext
from hookonce.handlers.environment import find_program
from hookonce.handlers.http import build_http_operation
from hookonce.manifest.discover import Scope
from hookonce.model import Handler, Hook
from hookonce.vocabulary.events import EVENTS
from hookonce.vocabulary.names import MODEL_HANDLER_TYPES, suggest_name

_SHELL_WORD = lazy_pattern(
    r"test|\[\[?|:|echo|printf|read|exit|true|false|cd|export|set|!|\(|function|time|if|for|while|until|case|\{|exec|\."
    r"|eval|command|trap|ulimit|umask"
)
# What a shell puts the home for, and what keeps it from that; then the same between double quotes.
_HOME_WORD = lazy_pattern(r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|\$HOME\b|\$\{HOME\}|(?<!\S)~(?=/)", re.DOTALL)
_QUOTED_HOME = lazy_pattern(r"(\\.)|\$HOME\b|\$\{HOME\}", re.DOTALL)
_INTERPRETERS = lazy_pattern(r"python[\d.]*|pypy[\d.]*|(?:ba|da|z|k)?sh|node|bun|deno|ruby|perl|php|tsx")
_CODE_SWITCH = lazy_pattern(r"-\w*[cemps]\w*|--(?:eval|print|command).*")  # behind which code or a module may come
# What `sh` cannot run, by the ending of the file, with the first line that it needs.
FIRST_LINES = dict.fromkeys((".js", ".mjs", ".cjs"), "#!/usr/bin/env node") | {
    ".py": "#!/usr/bin/env python3",
    ".rb": "#!/usr/bin/env ruby",
    ".pl": "#!/usr/bin/env perl",
    ".php": "#!/usr/bin/env php",
}
_SCRIPT_SUFFIXES = frozenset({*FIRST_LINES, ".sh", ".bash", ".zsh", ".ts"})
_PATH_HINT = " that hooks get (write the full path, or run hookonce install to save your present PATH)"
_EMPTY_PAYLOAD = b"{}"
_MAX_SOURCE_BYTES = 1 << 24
_DYNAMIC_NAMES = frozenset({"*", "exec", "globals", "setattr", "vars", "__getattr__"})  # with these any name may exist
_DEFINITION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def command_faults(command: str, scope: str, find: Callable[[str], str | None] = find_program) -> Iterator[HookFault]:
    """What is wrong with the program of a command, and its script; `find` is how the program is found."""
    word = program_word(command)
    if "/" in word and not word.startswith("/"):
        if scope == "user":
            yield make_fault("relative")
    elif word.startswith("/") and not Path(word).exists():
        yield make_fault("missing", f"{word} does not exist")
    elif word.startswith("/") and Path(word).is_dir():
        yield make_fault("missing", f"{word} is a folder")
    elif word.startswith("/") and not os.access(word, os.X_OK):
        yield make_fault("mode", word)
    elif word and "/" not in word and find(word) is None and not _SHELL_WORD.fullmatch(word):
        hint = _PATH_HINT if find is find_program and which(word) else ""
        yield make_fault("missing", f"there is no program {word} on the path{hint}")
    elif (script := interpreter_argument(command) or "").startswith("/") and not Path(script).exists():
        yield make_fault("missing", f"{script} does not exist")


def expand_home(command: str) -> str:
    """A command with the home of its user where a shell puts it: for `~/`, `$HOME` and `${HOME}`."""
    home = str(paths.home())

    def expand(match: re.Match[str]) -> str:
        if match[0].startswith('"'):
            return _QUOTED_HOME.sub(lambda inner: inner[1] or home, match[0])
        return quote(home) if match[0].startswith(("$", "~")) else match[0]

    return _HOME_WORD.sub(expand, command)


def program_word(command: str) -> str:
    """The first word, unless a shell would expand it to what nobody knows, or assign it."""
    try:
        word = next(iter(split(expand_home(command))), "")
    except ValueError:
        return ""
    return "" if any(letter in word for letter in "$`=(&|;") else word


def interpreter_argument(command: str) -> str | None:
    """The script behind an interpreter, "" if code stands there or nobody knows; None if it begins with none."""
    program = program_word(command)
    if not program or not _INTERPRETERS.fullmatch(os.path.basename(program)):  # noqa: PTH119
        return None
    for word in split(expand_home(command))[1:]:
        if _CODE_SWITCH.fullmatch(word) or any(letter in word for letter in "$`*;&|<> "):
            return ""
        if not word.startswith("-") and ("/" in word or Path(word).suffix in _SCRIPT_SUFFIXES):
            return word
    return ""


def resolve_command(folder: Path, hook: Hook, scope: Scope) -> str:
    """The command of a manifest's hook, its script as a whole path; empty for what is no command."""
    if hook.handler.type != "command":
        return ""
    return command_of(SelectedHook(hook=hook, scope=scope, folder=str(folder)))


def remote_faults(handler: Handler, environment: Mapping[str, str]) -> Iterator[HookFault]:
    """What keeps a server or a model from being called; neither is called."""
    try:
        if handler.type == "http":
            build_http_operation(handler, _EMPTY_PAYLOAD, environment)
        if handler.type in MODEL_HANDLER_TYPES:
            world = ProcessContext(cwd=None, env=environment)
            operation = prompt.prepare_query(handler, _EMPTY_PAYLOAD, world).operation
            if isinstance(operation, CommandOperation):
                yield from command_faults(operation.command, "user")
    except HookonceError as problem:
        yield make_fault("model" if handler.type in MODEL_HANDLER_TYPES else "http", problem)


def parse_python(file: Path) -> ast.Module:
    """The syntax tree of a Python file; an error that says why there is none."""
    try:
        with warnings.catch_warnings():  # of what Python thinks of a file its author hears elsewhere
            warnings.simplefilter("ignore")
            return ast.parse(read_regular_file(file, _MAX_SOURCE_BYTES), str(file))
    except FileNotFoundError:
        raise HookonceError(f"{file} does not exist") from None
    except OSError as problem:
        raise HookonceError(f"{file} cannot be read: {problem.strerror}") from None
    except SyntaxError as problem:
        raise HookonceError(f"{file}, line {problem.lineno}: {problem.msg}") from None
    except (ValueError, RecursionError, MemoryError) as problem:  # a NUL, or brackets without end
        raise HookonceError(f"{file} is not valid Python: {problem or 'it is too deeply nested'}") from None


def _check_source(file: Path, tree: ast.Module, name: str | None) -> None:
    """Refuse a file in which nothing has that name; without a name, one in which nothing can be marked."""
    if (line := next(_unknown_events(tree), None)) is not None:
        raise HookonceError(f"{file}, {line}")
    bound_names = set(_bound_names(tree))
    used_names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if _DYNAMIC_NAMES & (bound_names | used_names) or (name or "") in bound_names:
        return
    if name:
        raise HookonceError(f"{file} has no function {name}{suggest_name(name, bound_names)}")
    if not any(_may_mark_hook(node) for node in ast.walk(tree)):
        raise HookonceError(f"{file} has no function with @hook")


def _unknown_events(tree: ast.Module) -> Iterator[str]:
    """Calls of our decorator with a text that is no event: the file cannot be loaded."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "hookonce")
    names = {alias.asname or alias.name for node in imports for alias in node.names if alias.name == "hook"}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(event)), *_]) if name in names:
                if event not in EVENTS and not event.startswith("vendor."):
                    yield f"line {node.lineno}: no event is called {event!r}{suggest_event(event)}"


def _may_mark_hook(node: ast.AST) -> bool:
    """A decorator, a call of `hook`, or something of another file, which may be marked there."""
    if isinstance(node, ast.ImportFrom):
        return node.module is None or node.module.partition(".")[0] != "hookonce"
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name == "hook" or bool(isinstance(node, _DEFINITION_NODES) and node.decorator_list)


def _bound_names(node: ast.AST) -> Iterator[str]:
    """The names that a file has when it was run: not those inside its functions and classes."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, _DEFINITION_NODES):
            yield inner.name
            continue
        if isinstance(inner, ast.alias):
            yield (inner.asname or inner.name).partition(".")[0]
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id
        yield from _bound_names(inner)


def code_faults(handler: Handler, folder: Path, scope: Scope) -> Iterator[HookFault]:
    """What keeps a function or a module from being called; files are parsed, never run."""
    if handler.type == "function":
        file = folder / (handler.file or "")
        try:
            _check_source(file, parse_python(file), handler.name)
        except HookonceError as problem:
            yield make_fault("function", problem)
    for kind, reason in module_hook.find_obstacles(handler, folder, scope):
        yield make_fault(kind, reason)


def project_code_obstacles(handler: Handler, project: Path) -> list[str]:
    """What keeps a function or a module of a project from being called, as sentences."""
    return [fault.sentence for fault in code_faults(handler, project, "project")]
