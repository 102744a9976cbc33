"""Whether the file of a function hook holds what the hook names; it is read for that, and never run."""

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path

from hookonce.canon.spelling import near
from hookonce.errors import HookonceError
from hookonce.manifest.contents import contents
from hookonce.model import Handler

_MOST = 1 << 24  # bytes of a file
_ANYTHING = frozenset({"*", "exec", "globals", "setattr", "vars", "__getattr__"})  # with these a name may come to be
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def obstacles(handler: Handler, folder: Path) -> Iterator[tuple[str, str]]:
    """What keeps a function from being asked, as a kind and a sentence."""
    if handler.type != "function":
        return
    file = folder / (handler.file or "")
    try:
        _look(file, _tree(file), handler.name)
    except HookonceError as problem:
        yield "function", f"cannot run: {problem}"


def _tree(file: Path) -> ast.Module:
    try:
        with warnings.catch_warnings():  # of what Python thinks of a file its author hears elsewhere
            warnings.simplefilter("ignore")
            return ast.parse(contents(file, _MOST), str(file))
    except FileNotFoundError:
        raise HookonceError(f"{file} does not exist") from None
    except OSError as problem:
        raise HookonceError(f"{file} cannot be read: {problem.strerror}") from None
    except SyntaxError as problem:
        raise HookonceError(f"{file}, line {problem.lineno}: {problem.msg}") from None
    except (ValueError, RecursionError, MemoryError) as problem:  # a NUL, or brackets without end
        raise HookonceError(f"{file} is no Python: {problem or 'it is too deeply nested'}") from None


def _look(file: Path, tree: ast.Module, name: str | None) -> None:
    """Refuse a file in which nothing has that name; without a name, one in which nothing can be marked."""
    bound = set(_bound(tree))
    used = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
    if _ANYTHING & (bound | used) or (name or "") in bound:
        return
    if name:
        raise HookonceError(f"{file} has no function {name}{near(name, bound)}")
    if not any(_may_mark(one) for one in ast.walk(tree)):
        raise HookonceError(f"{file} has no function that is marked with @hook")


def _may_mark(node: ast.AST) -> bool:
    """A decorator, a call of `hook`, or something of another file, which may be marked there."""
    if isinstance(node, ast.ImportFrom):
        return node.module is None or node.module.partition(".")[0] != "hookonce"
    named = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return named == "hook" or bool(isinstance(node, _DEFINED) and node.decorator_list)


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a file has when it was run: not those inside its functions and classes."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, _DEFINED):
            yield inner.name
            continue
        if isinstance(inner, ast.alias):
            yield (inner.asname or inner.name).partition(".")[0]
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id
        yield from _bound(inner)
