"""Sibling files hold what is different: copying one to make another shows up here."""

from difflib import SequenceMatcher
from fnmatch import fnmatch
from itertools import combinations
from statistics import median, quantiles

import pytest

from tests.architecture.tree import code_lines, source_tree

SIBLINGS = ["agents/*/agent.py", "agents/*/config.py", "agents/*/reply.py", "formats/*.py", "lab/drivers/*.py"]
MIN_CODE_LINES = 20

# Pairs that may be more than 0.60 alike, and why. Keys are sorted: ("agents/a.py", "agents/b.py").
ALIKE_FOR_A_REASON: dict[tuple[str, str], str] = {}


def siblings(pattern: str) -> dict[str, list[str]]:
    """Code lines of the files that have at least 20 of them."""
    tree = source_tree()
    paths = [path for path in tree if fnmatch(path, pattern) and not path.rpartition("/")[2].startswith("_")]
    lines = {path: code_lines(tree[path]) for path in paths}
    return {name: code for name, code in lines.items() if len(code) >= MIN_CODE_LINES}


def likeness(one: list[str], other: list[str]) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


@pytest.fixture(scope="module", params=SIBLINGS)
def pairs(request) -> dict[tuple[str, str], float]:
    files = siblings(request.param)
    assert len(files) >= 3
    return {(a, b): likeness(files[a], files[b]) for a, b in combinations(files, 2)}


def test_half_of_all_pairs_share_at_most_a_quarter_of_their_lines(pairs):
    """
    The median likeness of siblings is at most 0.25.
    """
    assert median(pairs.values()) <= 0.25


def test_nine_pairs_in_ten_share_at_most_two_fifths_of_their_lines(pairs):
    """
    The ninth decile of likeness is at most 0.40.
    """
    assert quantiles(pairs.values(), n=10, method="inclusive")[-1] <= 0.40


def test_no_pair_is_a_copy_without_a_reason(pairs):
    """
    Two files that are more than 0.60 alike are named above with a reason, or become one.
    """
    copies = {pair: round(ratio, 2) for pair, ratio in pairs.items() if ratio > 0.60}
    assert {} == {pair: ratio for pair, ratio in copies.items() if pair not in ALIKE_FOR_A_REASON}


def test_likeness_ignores_comments_docstrings_and_layout():
    """
    Only lines that do something are compared.
    """
    bare = "def f():\n    return '#1'\n"
    dressed = '"""Why."""\n\n# aside\ndef f():  # aside\n    """What."""\n\n    return \'#1\'  # aside\n'
    assert ["def f():", "return '#1'"] == code_lines(bare) == code_lines(dressed)
    assert likeness(code_lines(bare), code_lines(dressed)) == 1.0
