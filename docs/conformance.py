"""Writes docs/conformance.md: each demand of the specifications and its tests.

A test claims rows with `@pytest.mark.covers("OH-1", "OH-2")`; a class, a module's
`pytestmark` and the marks of a `pytest.param` can claim them too.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = "docs/conformance.md"
TABLE = "docs/requirements.tsv"
SPECIFICATIONS = {
    "OH": "OpenHook",
    "AH": "Agent Hooks",
    "HIF": "Hook Interchange Format",
    "AMP": "Amplifier module protocol",
}
BUILT = frozenset({"events", "manifest", "respond", "fast", "prove", "record", "modules"})
PLANNED = frozenset({"later"})
STATES = ("shown", "open", "planned", "informative")
NAMED_TESTS = 3
INTRODUCTION = f"""\
# Conformance

hookonce sets out to do everything that four published specifications demand; \
each demand is a row here, and a row with an X in its name is a point where a \
specification contradicts itself, with the answer that we chose. \
A row is *shown* when a test carries its name, *open* when it should be shown but \
no test does so, *planned* when it waits for the capability named beside it, and \
*informative* when there is nothing to build. \
This page is written by `python docs/conformance.py` from `{TABLE}` and the \
markers in `tests/`.
"""


class ClaimError(ValueError):
    """A marker, or a line of the table, that cannot be understood."""


class Row(NamedTuple):
    """One demand."""

    id: str
    due: str
    subject: str


class Claim(NamedTuple):
    """A test's statement that it shows a row."""

    id: str
    place: str
    test: str


def rows(root: Path) -> list[Row]:
    """Every demand, in the order of the table."""
    _, *lines = (root / TABLE).read_text(encoding="utf-8").splitlines()
    found = [_row(number, line) for number, line in enumerate(lines, start=2)]
    repeated = [name for name, n in Counter(row.id for row in found).items() if n > 1]
    if repeated:
        raise ClaimError(f"{TABLE}: listed twice: {', '.join(repeated)}")
    return found


def _row(number: int, line: str) -> Row:
    fields = line.split("\t")
    known = {*BUILT, *PLANNED, "informative"}
    if len(fields) != len(Row._fields) or fields[1] not in known or _prefix(fields[0]) not in SPECIFICATIONS:
        raise ClaimError(f"{TABLE}:{number}: not a row: {line!r}")
    return Row(*fields)


def claims(root: Path) -> Iterator[Claim]:
    """What the tests say that they show, file by file."""
    for file in sorted((root / "tests").rglob("*.py")):
        path = file.relative_to(root).as_posix()
        tree = ast.parse(file.read_text(encoding="utf-8"), filename=path)
        for call, names in _markers(tree, ()):
            place = f"{path}:{call.lineno}"
            for name in _arguments(call, place):
                yield Claim(name, place, "::".join((path, *_test_names(names))))


def _markers(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[ast.Call, tuple[str, ...]]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        names = (*names, node.name)
    if isinstance(node, ast.Call) and _is_covers(node.func):
        yield node, names
    for child in ast.iter_child_nodes(node):
        yield from _markers(child, names)


def _is_covers(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "covers"
        and ast.unparse(function.value) in {"pytest.mark", "mark"}
    )


def _arguments(call: ast.Call, place: str) -> list[str]:
    names = [
        argument.value
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
    if not names or call.keywords or len(names) != len(call.args):
        raise ClaimError(f"{place}: covers() takes the names of rows, as plain strings")
    return names


def _test_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names down to the test; none for a marker that a whole module carries."""
    is_test = bool(names) and names[-1].lower().startswith("test")
    return names if is_test else ()


def tests_by_row(root: Path, table: Iterable[Row]) -> dict[str, list[str]]:
    """The tests of each row, each of them once."""
    found: dict[str, list[str]] = {row.id: [] for row in table}
    for claim in claims(root):
        if claim.id not in found:
            raise ClaimError(f"{claim.place}: no row is called {claim.id!r}")
        if claim.test not in found[claim.id]:
            found[claim.id].append(claim.test)
    return found


def state(row: Row, tests: list[str]) -> str:
    """One of STATES."""
    if tests:
        return "shown"
    if row.due == "informative":
        return "informative"
    return "open" if row.due in BUILT else "planned"


def open_rows(root: Path) -> list[str]:
    """The names of the rows that should be shown and are not."""
    table = rows(root)
    tests = tests_by_row(root, table)
    return [row.id for row in table if state(row, tests[row.id]) == "open"]


def render(root: Path) -> str:
    """The text of the page."""
    table = rows(root)
    tests = tests_by_row(root, table)
    parts = [INTRODUCTION, _summary(table, tests)]
    for prefix, title in SPECIFICATIONS.items():
        own = [row for row in table if _prefix(row.id) == prefix]
        parts.append(f"## {title}\n\n{_section(own, tests)}")
    return "\n".join(parts)


def _prefix(name: str) -> str:
    return name.partition("-")[0]


def _summary(table: list[Row], tests: dict[str, list[str]]) -> str:
    counts = Counter((_prefix(row.id), state(row, tests[row.id])) for row in table)
    lines = []
    for prefix, title in SPECIFICATIONS.items():
        numbers = [counts[prefix, name] for name in STATES]
        lines.append([title, *map(str, numbers), str(sum(numbers))])
    columns = zip(*(line[1:] for line in lines), strict=True)
    lines.append(["all", *(str(sum(map(int, column))) for column in columns)])
    return _markdown(["specification", *STATES, "rows"], lines)


def _section(own: list[Row], tests: dict[str, list[str]]) -> str:
    lines = []
    for row in own:
        mine = tests[row.id]
        lines.append([row.id, _escape(row.subject), _wording(row, mine), _named(mine)])
    return _markdown(["row", "demand", "state", "shown by"], lines)


def _wording(row: Row, tests: list[str]) -> str:
    word = state(row, tests)
    return f"planned: {row.due}" if word == "planned" else word


def _named(tests: list[str]) -> str:
    words = [f"`{test}`" for test in tests[:NAMED_TESTS]]
    if len(tests) > NAMED_TESTS:
        words.append(f"+{len(tests) - NAMED_TESTS}")
    return ", ".join(words)


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def _markdown(header: list[str], lines: list[list[str]]) -> str:
    body = [header, ["---"] * len(header), *lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in body)


def main() -> None:
    """Write the page, or with --check tell whether it is up to date."""
    page = ROOT / PAGE
    try:
        text = render(ROOT)
    except (ClaimError, SyntaxError) as error:
        sys.exit(str(error))
    if "--check" not in sys.argv[1:]:
        page.write_text(text, encoding="utf-8", newline="\n")
    elif not page.is_file() or page.read_text(encoding="utf-8") != text:
        sys.exit(f"{PAGE} is out of date: run python docs/conformance.py")


if __name__ == "__main__":
    main()
