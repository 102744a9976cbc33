"""The table "Where to look" of ARCHITECTURE.md: every place that it names is there."""

import re

import pytest

from tests.shared import ROOT

TABLE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("## Where to look")[1].split("\n## ")[0]
ROWS = [line for line in TABLE.splitlines() if line.startswith(("| wh", "| how"))]


@pytest.mark.parametrize("row", ROWS)
def test_a_place_is_there(row):
    """
    Files, for an agent those of Cursor, and the names that stand behind them.
    """
    quoted = re.findall(r"`([^`]+)`", row)
    files = [ROOT / "src/hookonce" / word.replace("NAME", "cursor") for word in quoted if "/" in word]
    names = [word for word in quoted if "/" not in word]
    text = "".join(file.read_text(encoding="utf-8") for file in files)

    assert files
    assert [] == [name for name in names if not re.search(rf"^(def |class )?{name}\b", text, re.MULTILINE)]


def test_the_table_has_rows():
    """
    Else nothing above would be tested.
    """
    assert len(ROWS) > 15
