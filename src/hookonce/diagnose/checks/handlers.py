"""Checks of handlers: whether a program, server, model, function or module could run. Nothing is started."""

import ast
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from re import compile as compile_pattern
from shlex import split
from shutil import which

from hookonce.base import paths
from hookonce.base.files import read_regular_file
from hookonce.dispatch import module_hook
from hookonce.dispatch.prepare import MODEL_HANDLER_TYPES, command_of
from hookonce.dispatch.select import SelectedHook
from hookonce.errors import HookonceError
from hookonce.handlers import prompt
from hookonce.handlers.command import CommandOperation, ProcessContext
from hookonce.handlers.environment import find_program
from hookonce.handlers.http import build_http_operation
from hookonce.manifest.discover import PROJECT_FOLDER, Scope
from hookonce.manifest.load import parse_hook
from hookonce.model import Handler, Hook, Object, Problem
from hookonce.vocabulary.names import suggest_name

_SHELL_WORD = compile_pattern(
    r"test|\[\[?|:|echo|printf|read|exit|true|false|cd|export|set|!|\(|function|time|if|for|while|until|case|\{|exec|\."
    r"|eval|command|trap|ulimit|umask"
)
_PATH_HINT = " that hooks have (write its whole path, or let hookonce install note your PATH of now)"
_EMPTY_PAYLOAD = b"{}"
_MAX_SOURCE_BYTES = 1 << 24
_DYNAMIC_NAMES = frozenset({"*", "exec", "globals", "setattr", "vars", "__getattr__"})  # with these any name may exist
_DEFINITION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def command_faults(
    command: str, scope: str, find: Callable[[str], str | None] = find_program
) -> Iterator[tuple[str, str]]:
    """What is wrong with the first word of a command, as a kind and a sentence; `find` is how its program is found."""
    word = _program_word(command)
    if "/" in word and not word.startswith("/"):
        if scope == "user":
            yield "relative", "has a relative path, which depends on where the agent was started"
    elif word.startswith("/") and not Path(word).exists():
        yield "missing", f"cannot run: {word} does not exist"
    elif word and "/" not in word and find(word) is None and not _SHELL_WORD.fullmatch(word):
        hint = _PATH_HINT if find is find_program and which(word) else ""
        yield "missing", f"cannot run: there is no program {word} on the path{hint}"


def _program_word(command: str) -> str:
    """The first word, unless a shell would expand or assign it."""
    try:
        word = next(iter(split(command)), "")
    except ValueError:
        return ""
    if any(letter in word for letter in "$`=(&|;"):
        return ""
    return str(paths.home() / word[2:]) if word.startswith("~/") else word


def resolve_command(folder: Path, hook: Hook, scope: Scope) -> str:
    """The command of a manifest's hook, its script as a whole path; empty for what is no command."""
    if hook.handler.type != "command":
        return ""
    return command_of(SelectedHook(hook=hook, scope=scope, folder=str(folder)))


def missing_scripts(file: Path, document: Object) -> Iterator[Problem]:
    """Scripts that a manifest names and that are not there, seen from where the file lies."""
    folder, _ = manifest_place(file)
    for index, hook in enumerate(document["hooks"]):
        word = _program_word(resolve_command(folder, parse_hook(hook), "project"))
        if word.startswith("/") and not Path(word).exists():
            yield f"$.hooks[{index}].handler.command", f"cannot run: {word} does not exist"


def remote_obstacles(handler: Handler, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
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
        yield "model" if handler.type in MODEL_HANDLER_TYPES else "http", f"cannot run: {problem}"


def _parse_source(file: Path) -> ast.Module:
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
        raise HookonceError(f"{file} is no Python: {problem or 'it is too deeply nested'}") from None


def _check_source(file: Path, tree: ast.Module, name: str | None) -> None:
    """Refuse a file in which nothing has that name; without a name, one in which nothing can be marked."""
    bound_names = set(_bound_names(tree))
    used_names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if _DYNAMIC_NAMES & (bound_names | used_names) or (name or "") in bound_names:
        return
    if name:
        raise HookonceError(f"{file} has no function {name}{suggest_name(name, bound_names)}")
    if not any(_may_mark_hook(node) for node in ast.walk(tree)):
        raise HookonceError(f"{file} has no function that is marked with @hook")


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


def code_obstacles(handler: Handler, folder: Path, scope: Scope) -> Iterator[tuple[str, str]]:
    """What keeps a function or a module from being called, as a kind and a sentence; files are parsed, never run."""
    if handler.type == "function":
        file = folder / (handler.file or "")
        try:
            _check_source(file, _parse_source(file), handler.name)
        except HookonceError as problem:
            yield "function", f"cannot run: {problem}"
    yield from module_hook.find_obstacles(handler, folder, scope)


def project_code_obstacles(handler: Handler, project: Path) -> list[str]:
    """What keeps a function or a module of a project from being called, as sentences."""
    return [reason for _, reason in code_obstacles(handler, project, "project")]


def manifest_obstacles(file: Path, document: Object) -> Iterator[Problem]:
    """What a manifest names and cannot be called; all but a project's lie beside what they name."""
    folder, scope = manifest_place(file)
    for index, hook in enumerate(document["hooks"]):
        for _, reason in code_obstacles(parse_hook(hook).handler, folder, scope):
            yield f"$.hooks[{index}].handler.file", reason


def manifest_place(file: Path) -> tuple[Path, Scope]:
    """The folder that a manifest's paths begin at, and its scope as far as its place tells it."""
    parent = file.absolute().parent
    return (parent.parent, "project") if parent.name == PROJECT_FOLDER else (parent, "user")
