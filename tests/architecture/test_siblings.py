"""Sibling files hold what is different: copying one to make another shows up here."""

from difflib import SequenceMatcher
from itertools import combinations
from statistics import median, quantiles

import pytest

from tests.architecture.tree import SRC, code_lines

ROOMS = ["agents", "formats"]

# Pairs that may be more than 0.60 alike, and why. Keys are sorted: ("agents/a.py", "agents/b.py").
ALIKE_FOR_A_REASON: dict[tuple[str, str], str] = {}


def siblings(room: str) -> dict[str, list[str]]:
    """Code lines of the files that have at least 20 of them."""
    paths = sorted(path for path in (SRC / room).glob("*.py") if not path.name.startswith("_"))
    lines = {f"{room}/{path.name}": code_lines(path.read_text(encoding="utf-8")) for path in paths}
    return {name: code for name, code in lines.items() if len(code) >= 20}


def likeness(one: list[str], other: list[str]) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


@pytest.fixture(scope="module", params=ROOMS)
def pairs(request) -> dict[tuple[str, str], float]:
    files = siblings(request.param)
    if len(files) < 3:
        pytest.skip(f"{request.param}/ has fewer than three files of 20 lines to compare")
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
