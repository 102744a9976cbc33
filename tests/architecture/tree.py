"""Source tree as the rules see it: the text of each file by its path below the package, and what can be read from it."""

import ast
import io
import subprocess
import tokenize
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src" / "hookonce"
PACKAGE = "hookonce"

Tree = Mapping[str, str]  # the text of a file by its path below the package: "store/query.py"
Function = ast.FunctionDef | ast.AsyncFunctionDef
Binding = tuple[str, str, int]  # the owner's name with dots ("Class.method", "" for the module), the name, the line


@cache
def source_tree() -> Tree:
    """The package as it is: Python, and the client in C."""
    files = sorted(path for path in SRC.rglob("*") if path.suffix in {".py", ".c", ".h"})
    return {path.relative_to(SRC).as_posix(): path.read_text(encoding="utf-8") for path in files}


def python_files(tree: Tree) -> list[str]:
    return [path for path in tree if path.endswith(".py")]


@cache
def parse(text: str) -> ast.Module:
    return ast.parse(text)


def module_of(path: str) -> str:
    """The dotted name of a file: "store/query.py" is "hookonce.store.query"."""
    parts = [PACKAGE, *path.removesuffix(".py").split("/")]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: str, text: str) -> Iterator[tuple[str, int]]:
    """Each module of the package that a file may import, also inside functions, with the line."""
    for node in ast.walk(parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def bindings_of(text: str) -> Iterator[Binding]:
    """Every name that a file binds: functions, classes, parameters, variables and fields."""
    yield from _bindings(parse(text), ())


def _bindings(node: ast.AST, owners: tuple[str, ...]) -> Iterator[Binding]:
    inside = ".".join(owners)
    if isinstance(node, ast.ClassDef | Function):
        yield inside, node.name, node.lineno
        owners = (*owners, node.name)
    elif isinstance(node, ast.arg):
        yield inside, node.arg, node.lineno
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield inside, node.id, node.lineno
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
        yield inside, node.attr, node.lineno
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield inside, node.name, node.lineno
    for child in ast.iter_child_nodes(node):
        yield from _bindings(child, owners)


def functions(text: str) -> list[Function]:
    return [node for node in ast.walk(parse(text)) if isinstance(node, Function)]


def length(function: Function) -> int:
    """Lines from `def` to the last line of the body."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


def line_count(text: str) -> int:
    return len(text.splitlines())


def code_lines(text: str) -> list[str]:
    """The lines that do something: no comments, no docstrings, no blank lines, no indentation."""
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for docstring in docstrings(ast.parse(text)):
        for row in range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1):
            lines[row - 1] = ""
    return [line.strip() for line in lines if line.strip()]


def docstrings(tree: ast.Module) -> list[ast.Expr]:
    owners = (node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | Function))
    return [owner.body[0] for owner in owners if owner.body and is_docstring(owner.body[0])]


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def committed_files() -> list[Path]:
    """Every file that git keeps or would keep; all files outside of hidden folders where there is no git."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        visible = (p for p in ROOT.rglob("*") if not any(x.startswith(".") for x in p.relative_to(ROOT).parts))
        return sorted(p for p in visible if p.is_file() and "__pycache__" not in p.parts)
    return sorted(p for p in (ROOT / name for name in listing.split("\0") if name) if p.is_file())


def display_path(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
