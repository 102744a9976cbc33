"""Files and functions stay small enough to be read in one go."""

import ast
from pathlib import Path
from statistics import median

import pytest

from tests.architecture.tree import (
    SRC,
    Function,
    code_lines,
    functions,
    is_docstring,
    length,
    lines_of,
    parsed,
    python_files,
    shown,
)

FILES = python_files()
INITS = [path for path in FILES if path.name == "__init__.py"]
ROOMS = [path for path in FILES if path.name != "__init__.py"]
FUNCTIONS = [(path, function) for path in FILES for function in functions(path)]

LOOKUPS = {SRC / name / "__init__.py" for name in (".", "agents", "formats", "lab/apis", "lab/drivers", "transcripts")}


def test_no_file_is_longer_than_400_lines():
    """
    A file that needs more than 400 lines is two files.
    """
    assert {} == {shown(path): lines_of(path) for path in FILES if lines_of(path) > 400}


def test_the_median_file_is_shorter_than_150_lines():
    """
    Most files fit on a few screens; packages' own files do not count, being nearly empty.
    """
    assert median(map(lines_of, ROOMS)) < 150


def test_no_function_is_longer_than_50_lines():
    """
    A function fits on one screen, docstring included.
    """
    assert {} == {f"{shown(path)}:{f.lineno} {f.name}": length(f) for path, f in FUNCTIONS if length(f) > 50}


def test_the_median_function_is_shorter_than_15_lines():
    """
    Most functions do one thing.
    """
    assert median(length(function) for _, function in FUNCTIONS) < 15


@pytest.mark.parametrize("path", INITS, ids=shown)
def test_packages_hold_names_and_no_logic(path):
    """
    An `__init__.py` is imports, literals and a docstring; only six packages also look something up.
    """
    surprises = [node for node in parsed(path).body if not is_plain(node)]
    lookups = [node for node in surprises if isinstance(node, Function)]
    others = [f"line {node.lineno}: {type(node).__name__}" for node in surprises if node not in lookups]
    lengths = {node.name: code_length(path, node) for node in lookups}
    assert [] == others
    assert {} == {name: lines for name, lines in lengths.items() if lines > 10}
    assert len(lookups) <= (1 if path in LOOKUPS else 0)


def is_plain(node: ast.stmt) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            return value is None or is_literal(value)
        case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body, orelse=[]):
            return all(isinstance(inner, ast.Import | ast.ImportFrom) for inner in body)
    return is_docstring(node)


def is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except ValueError:
        return False
    return True


def code_length(path: Path, function: Function) -> int:
    """Lines of code in a function that stands at the left margin, without its docstring."""
    text = ast.get_source_segment(path.read_text(encoding="utf-8"), function)
    return len(code_lines(text or ""))
