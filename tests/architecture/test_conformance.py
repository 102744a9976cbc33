"""The conformance page tells the truth about the tests."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE = """\
id\tdue\tsubject
OH-1\tevents\tone
OH-2\tevents\ttwo
AH-1\tlater\tthree
HIF-1\tinformative\tfour
AMP-1\tlater\tfive
"""


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conformance", ROOT / "docs" / "conformance.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


conformance = _load()


def _project(root: Path, *lines: str) -> Path:
    (root / "docs").mkdir()
    (root / "tests").mkdir()
    (root / "docs" / "requirements.tsv").write_text(TABLE, encoding="utf-8")
    source = "\n".join(("import pytest", *lines, ""))
    (root / "tests" / "test_it.py").write_text(source, encoding="utf-8")
    return root


def _line(root: Path, name: str) -> str:
    start = f"| {name} |"
    page: str = conformance.render(root)
    return next(line for line in page.splitlines() if line.startswith(start))


def test_page_is_up_to_date() -> None:
    """
    docs/conformance.md is what the table and the markers give.
    """
    page = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    if page != conformance.render(ROOT):
        pytest.fail("run python docs/conformance.py", pytrace=False)


def test_no_row_is_open() -> None:
    """
    Every row of a capability that is built has a test.
    """
    missing = conformance.open_rows(ROOT)
    if missing:
        text = f"{len(missing)} rows without a test: {', '.join(missing)}"
        pytest.fail(text, pytrace=False)


def test_rows_without_tests(tmp_path: Path) -> None:
    """
    Without a test a row is open, planned or informative, by what it waits for.
    """
    root = _project(tmp_path)
    assert conformance.open_rows(root) == ["OH-1", "OH-2"]
    assert _line(root, "OH-1") == "| OH-1 | one | open |  |"
    assert _line(root, "AH-1") == "| AH-1 | three | planned: later |  |"
    assert _line(root, "HIF-1") == "| HIF-1 | four | informative |  |"
    assert _line(root, "all") == "| all | 0 | 2 | 2 | 1 | 5 |"


@pytest.mark.parametrize(
    ("lines", "test"),
    [
        (
            ['@pytest.mark.covers("OH-2", "OH-1")', "def test_a(): ..."],
            "tests/test_it.py::test_a",
        ),
        (
            ['@pytest.mark.covers("OH-1")', "async def test_a(): ..."],
            "tests/test_it.py::test_a",
        ),
        (
            ['@pytest.mark.covers("OH-1")', "class TestA: ..."],
            "tests/test_it.py::TestA",
        ),
        (
            [
                "class TestA:",
                ' @pytest.mark.covers("OH-1")',
                " def test_b(self): ...",
            ],
            "tests/test_it.py::TestA::test_b",
        ),
        (['pytestmark = pytest.mark.covers("OH-1")'], "tests/test_it.py"),
        (
            ['pytestmark = [pytest.mark.slow, pytest.mark.covers("OH-1")]'],
            "tests/test_it.py",
        ),
        (
            [
                '@pytest.mark.parametrize("x", [',
                ' pytest.param(1, marks=pytest.mark.covers("OH-1")),',
                ' pytest.param(2, marks=[pytest.mark.covers("OH-1")]),',
                "])",
                "def test_a(x): ...",
            ],
            "tests/test_it.py::test_a",
        ),
        (
            ['CASES = [pytest.param(1, marks=pytest.mark.covers("OH-1"))]'],
            "tests/test_it.py",
        ),
    ],
)
def test_markers_are_found(tmp_path: Path, lines: list[str], test: str) -> None:
    """
    A marker counts for its function, class or module, and each test counts once.
    """
    root = _project(tmp_path, *lines)
    assert _line(root, "OH-1") == f"| OH-1 | one | shown | `{test}` |"


def test_three_tests_are_named(tmp_path: Path) -> None:
    """
    After the third test only the number of further ones is given.
    """
    marker = '@pytest.mark.covers("AH-1")'
    lines = [f"{marker}\ndef test_{letter}(): ..." for letter in "abcde"]
    root = _project(tmp_path, *lines)
    named = ", ".join(f"`tests/test_it.py::test_{letter}`" for letter in "abc")
    assert _line(root, "AH-1") == f"| AH-1 | three | shown | {named}, +2 |"


@pytest.mark.parametrize(
    ("marker", "complaint"),
    [
        ('covers("OH-1", "OH-99")', "no row is called 'OH-99'"),
        ("covers()", "takes the names of rows, as plain strings"),
        ("covers(*NAMES)", "takes the names of rows, as plain strings"),
        ('covers("OH-1", 2)', "takes the names of rows, as plain strings"),
        ('covers(row="OH-1")', "takes the names of rows, as plain strings"),
    ],
)
def test_bad_markers_are_refused(tmp_path: Path, marker: str, complaint: str) -> None:
    """
    A marker that names no row, or cannot be read, is an error with file and line.
    """
    root = _project(tmp_path, f"@pytest.mark.{marker}", "def test_a(): ...")
    with pytest.raises(conformance.ClaimError) as caught:
        conformance.render(root)
    assert str(caught.value).startswith("tests/test_it.py:2: ")
    assert str(caught.value).endswith(complaint)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("OH-3\tsoon\tthree", "docs/requirements.tsv:7: not a row"),
        ("OH-3\tevents", "docs/requirements.tsv:7: not a row"),
        ("ZZ-3\tevents\tthree", "docs/requirements.tsv:7: not a row"),
        ("OH-1\tevents\tthree", "docs/requirements.tsv: listed twice: OH-1"),
    ],
)
def test_bad_rows_are_refused(tmp_path: Path, line: str, complaint: str) -> None:
    """
    A line of the table that is no row, or the second of its name, is an error.
    """
    root = _project(tmp_path)
    with (root / "docs" / "requirements.tsv").open("a", encoding="utf-8") as table:
        table.write(f"{line}\n")
    with pytest.raises(conformance.ClaimError) as caught:
        conformance.render(root)
    assert str(caught.value).startswith(complaint)
