"""Names say what is inside."""

import re
from collections import Counter

from tests.architecture.tree import ROOT, committed_files, shown

SAYS_NOTHING = {"util", "utils", "helper", "helpers", "manager", "factory", "common", "misc"}
RECORDS = ROOT / "docs" / "adr"
INDEX = RECORDS / "INDEX.md"


def test_no_file_or_folder_has_a_name_that_says_nothing():
    """
    A drawer for everything is not a room.
    """
    code = [path.relative_to(ROOT) for path in committed_files() if path.suffix == ".py"]
    words = {path.as_posix(): {part.removesuffix(".py").strip("_") for part in path.parts} for path in code}
    assert {} == {path: parts & SAYS_NOTHING for path, parts in words.items() if parts & SAYS_NOTHING}


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
        assert text.startswith(f"# {path.name[:4]} "), shown(path)
        for part in ("Context", "Decision", "Consequences", "Status"):
            assert f"**{part}.**" in text, f"{shown(path)} lacks {part}"


def test_the_index_names_only_enforcers_that_exist():
    """
    A test that the index relies on is a file in this repository.
    """
    named = re.findall(r"`(tests/[^`*]+)`", INDEX.read_text(encoding="utf-8"))
    assert [] == [name for name in named if not (ROOT / name).exists()]
