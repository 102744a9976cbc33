"""docs/threat-model.md and SECURITY.md: every attack has a row, every test that is named exists, promises have limits."""

import ast
import re
from functools import cache

import pytest

from hookonce.lab.fetch.pins import CHECKSUM_PLATFORM
from tests.cli.command import run
from tests.shared import ROOT

PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
TABLE = PAGE.split("## Attacks that were tried")[1].split("\n## ")[0]
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in TABLE.splitlines() if re.match(r"\| (S\d+|–) ", line)]
OPEN = "not closed yet"  # how the third cell begins while an attack still works


@cache
def names_in(path):
    """The names of the tests in a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_attack_of_the_review_has_a_row():
    assert [f"S{number}" for number in range(1, 30)] == list(dict.fromkeys(row[0] for row in ROWS if row[0] != "–"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1][:40]}")
def test_the_tests_of_a_row_are_there(row):
    """
    A row without one has to say that its attack still works.
    """
    named = re.findall(r"`(tests/[^`]+\.py)::(test_\w+)`", row[3] if len(row) > 3 else "")

    assert named or row[2].startswith(OPEN)
    assert [] == [f"{path}::{name}" for path, name in named if name not in names_in(path)]


@pytest.mark.parametrize("text", [PAGE, SECURITY], ids=["threat-model.md", "SECURITY.md"])
def test_files_that_a_page_names_are_there(text):
    named = {*re.findall(r"`((?:tests|src|docs)/[\w./-]+\.\w+)", text)}

    assert [] == [name for name in named if not (ROOT / name).exists()]


def test_promises_name_their_limits(tmp_path):
    """
    What the daemon opens, who can read our files, and where packages are pinned by more than their number.
    """
    told = " ".join(SECURITY.split())
    fetch = " ".join(run("lab", "fetch", "--help", HOME=str(tmp_path)).out.split())

    assert "one kind is opened: the agent's own session file (`transcript_path`)" in told
    assert "made for you alone whatever the umask" in told
    assert f"on {CHECKSUM_PLATFORM} also by its checksum" in fetch
