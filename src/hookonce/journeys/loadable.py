"""Whether the file of a function hook holds what the hook names; it is read for that, and never run."""

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path

from hookonce.canon.spelling import suggest_name
from hookonce.errors import HookonceError
from hookonce.manifest.contents import read_regular_file
from hookonce.model import Handler

_MAX_SOURCE_BYTES = 1 << 24  # bytes of a file
_DYNAMIC_NAMES = frozenset({"*", "exec", "globals", "setattr", "vars", "__getattr__"})  # with these a name may come to be
_DEFINITION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def function_obstacles(handler: Handler, folder: Path) -> Iterator[tuple[str, str]]:
    """What keeps a function from being called, as a kind and a sentence; its file is parsed, never run."""
    if handler.type != "function":
        return
    file = folder / (handler.file or "")
    try:
        _check_source(file, _parse_source(file), handler.name)
    except HookonceError as problem:
        yield "function", f"cannot run: {problem}"


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
