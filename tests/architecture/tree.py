"""The source tree as the house tests see it: which files there are, and what stands in them."""

import ast
import io
import subprocess
import tokenize
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src" / "hookonce"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def python_files(folder: Path = SRC) -> list[Path]:
    return sorted(folder.rglob("*.py"))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def functions(path: Path) -> list[Function]:
    return [node for node in ast.walk(parsed(path)) if isinstance(node, Function)]


def length(function: Function) -> int:
    """Lines from `def` to the last line of the body."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


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
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def committed_files() -> list[Path]:
    """Every file that git keeps or would keep; all files outside of hidden folders where there is no git."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        visible = (
            p for p in ROOT.rglob("*") if not any(x.startswith(".") for x in p.relative_to(ROOT).parts)
        )
        return sorted(p for p in visible if p.is_file() and "__pycache__" not in p.parts)
    return sorted(p for p in (ROOT / name for name in listed.split("\0") if name) if p.is_file())
