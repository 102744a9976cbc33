"""The decision records in docs/adr are numbered, complete and listed."""

import re
from collections import Counter

from tests.architecture.tree import ROOT, display_path

RECORDS = ROOT / "docs" / "adr"
INDEX = RECORDS / "INDEX.md"
MODULE = re.compile(r"`((?:[a-z_]+/)+[a-z_]+\.(?:py|h|c))`")
PATH = re.compile(r"`((?:src|tests|docs)/[^`]+)`")


def test_every_decision_record_is_numbered_and_no_number_is_used_twice():
    """
    0007 means one decision, for ever.
    """
    names = [path.name for path in RECORDS.glob("*.md") if path != INDEX]
    assert [] == [name for name in names if not re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", name)]
    assert [] == [number for number, times in Counter(name[:4] for name in names).items() if times > 1]


def test_the_index_lists_exactly_the_records_there_are():
    """
    Every record is in the index under its own number, and nothing else is.
    """
    rows = re.findall(r"^\| \[(\d{4})\]\((\S+?)\) \|", INDEX.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(path.name for path in RECORDS.glob("*.md") if path != INDEX) == sorted(name for _, name in rows)
    assert [] == [name for number, name in rows if not name.startswith(number)]


def test_every_record_bears_its_number_and_has_its_four_parts():
    """
    A record says context, decision, consequences and status under a heading with its number.
    """
    for path in sorted(RECORDS.glob("[0-9]*.md")):
        text = path.read_text(encoding="utf-8")
        assert text.startswith(f"# {path.name[:4]} "), display_path(path)
        for part in ("Context", "Decision", "Consequences", "Status"):
            assert f"**{part}.**" in text, f"{display_path(path)} lacks {part}"


def test_the_index_names_only_files_that_exist():
    """
    Where a decision binds and what enforces it are files or folders of this repository.
    """
    paths = PATH.findall(INDEX.read_text(encoding="utf-8"))
    assert [] == [path for path in paths if not any(ROOT.glob(path.removesuffix("/**")))]


def test_records_name_only_modules_that_exist():
    """
    A path that a record or ARCHITECTURE.md gives leads to a file.
    """
    pages = [*sorted(RECORDS.glob("[0-9]*.md")), ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
    names = [(page, name) for page in pages for name in MODULE.findall(page.read_text(encoding="utf-8"))]
    roots = (ROOT, ROOT / "src" / "hookonce")
    missing = [f"{display_path(page)}: {name}" for page, name in names if not any((r / name).is_file() for r in roots)]
    assert [] == missing
