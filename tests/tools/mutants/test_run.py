"""Mutants: the list fits the tree, and the runner tells a killed one from a survivor and from code that is none."""

import json
from collections import Counter

import pytest

from tests.shared import ROOT
from tools.mutants import run

AREAS = ["decode", "merge", "weaken", "degrade", "match", "redact", "chain", "derive", "trust", "replies"]
FURTHER_AREAS = ["environment", "fail_mode", "formats", "ids", "verdict"]
AUDITED_ROWS = """
    OH-3 OH-4 OH-17 OH-28 AH-9 AH-13 AH-26 AH-34 AH-39 AH-47 AH-49 AH-51 AH-52 AH-53 AH-55 AH-65 AH-82 AH-X11
    HIF-12 HIF-26 HIF-33 HIF-34 HIF-35 HIF-36 HIF-37 HIF-38 HIF-47 HIF-48 HIF-49 HIF-50 HIF-51 HIF-52 HIF-53 HIF-56
    HIF-61 HIF-64 HIF-70 HIF-72 HIF-73 HIF-86 HIF-88 HIF-93 HIF-98 HIF-100 HIF-101 HIF-102 HIF-106 HIF-X2
    AMP-11 AMP-13 AMP-22
"""
LUCK = """
from pathlib import Path

import toy.sums


def test_luck():
    seen, has_seen = Path("seen"), Path("seen").exists()
    if "fails once" in Path(toy.sums.__file__).read_text():
        seen.touch()
        assert has_seen
"""
TOY = {
    "src/toy/__init__.py": '"""Toy."""\n\nNAMES = ["one", "two"]\n',
    "src/toy/sums.py": '"""Sums."""\n\nfrom toy import NAMES\n\nFIRST = NAMES[0]\n\n\ndef add(one, other):\n    return one + other\n',
    "tests/test_sums.py": "from toy.sums import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
    "tests/test_luck.py": LUCK,
    "tools/mutants/sums.toml": """
[[group]]
file = "src/toy/sums.py"
tests = ["tests/test_sums.py::test_add"]
[[group.mutant]]
id = "killed"
find = "one + other"
replace = "one - other"
why = "the difference"
[[group.mutant]]
id = "survivor"
find = "one + other"
replace = "other + one"
why = "nothing that anybody could notice"
[[group.mutant]]
id = "no-code"
find = "one + other"
replace = "one +"
why = "it does not compile"

[[group.mutant]]
id = "flaky"
find = "one + other"
replace = "other + one  # and another test fails once"
why = "nothing that anybody could notice"
tests = ["tests/test_luck.py"]

[[group]]
file = "src/toy/__init__.py"
tests = ["tests/test_sums.py"]
[[group.mutant]]
id = "no-tests"
find = '["one", "two"]'
replace = "[]"
why = "it can be imported, and what the tests import cannot"
""",
}


@pytest.fixture
def toy(tmp_path):
    """A project with one function, two tests and five mutants."""
    for name, text in TOY.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def test_the_list_fits_the_tree():
    """
    Every text that is to be replaced occurs once, every id is used once, and every test that is named exists.
    """
    assert [] == run.find_faults(run.load_mutants(ROOT / "tools" / "mutants"), ROOT)


def test_every_area_has_its_mutants():
    """
    At least twelve of each area that decides what an agent may do and what is kept of it, and 150 of all.
    """
    counts = Counter(mutant.area for mutant in run.load_mutants(ROOT / "tools" / "mutants"))

    assert [] == [area for area in AREAS if counts[area] < 12]
    assert {*AREAS, *FURTHER_AREAS} <= counts.keys()
    assert counts.total() >= 150


def test_every_row_that_was_once_shown_too_little_has_a_mutant():
    """
    An audit found rows of which the tests showed less than they say; what breaks such a row is in the list.
    """
    rows = {row for mutant in run.load_mutants(ROOT / "tools" / "mutants") for row in (mutant.row or "").split()}

    assert set() == {*AUDITED_ROWS.split()} - rows


def test_killed_survived_and_invalid_are_told_apart(toy, capsys):
    """
    In copies that are really what runs: else the first would survive. The tree itself is not touched.
    """
    assert 1 == run.main(["--root", str(toy), "--json", "--workers", "2"])

    outcomes = json.loads(capsys.readouterr().out)
    states = {outcome["mutant"]["id"]: outcome["state"] for outcome in outcomes}
    assert {"killed": "killed", "survivor": "survived", "flaky": "survived", "no-code": "invalid", "no-tests": "invalid"} == states
    assert ["tests/test_luck.py::test_luck failed once, and passed when it was asked again"] == [outcome["note"] for outcome in outcomes if outcome["mutant"]["id"] == "flaky"]
    assert TOY == {name: (toy / name).read_text() for name in TOY}


def test_a_survivor_is_shown_with_its_difference(toy):
    """
    What was changed, why that matters, and who was asked.
    """
    survivor = next(mutant for mutant in run.load_mutants(toy / "tools" / "mutants") if mutant.id == "survivor")

    lines = [*run.describe([run.Outcome(mutant=survivor, state="survived", note="all its tests pass", seconds=1.0)], toy)]

    assert ["  -    return one + other", "  +    return other + one"] == [line for line in lines if "return" in line]
    assert {"  nothing that anybody could notice", "  asked: tests/test_sums.py::test_add"} <= {*lines}


@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        ("src/toy/sums.py", "one + other", "other + one", "killed: 'one + other' occurs 0 times in src/toy/sums.py; it must be once"),
        ("tools/mutants/sums.toml", 'id = "survivor"', 'id = "killed"', "killed: the id is used 2 times"),
        ("tests/test_sums.py", "test_add", "test_sum", "killed: there is no test tests/test_sums.py::test_add"),
        ("tools/mutants/sums.toml", '"one - other"', '"one + other"', "killed: nothing is changed"),
        ("tools/mutants/sums.toml", 'tests = ["tests/test_sums.py"]', "", "no-tests: no test is named"),
        ("tests/test_sums.py", "== 5", "== 6", "tests fail without any mutant"),
    ],
)
def test_a_list_that_does_not_fit_is_not_run(toy, capsys, file, old, new, fault):
    """
    It says what is wrong, and nothing is called killed.
    """
    (toy / file).write_text((toy / file).read_text().replace(old, new))

    assert 2 == run.main(["--root", str(toy), "--only", "sums"])
    assert fault in capsys.readouterr().err


def test_only_what_is_named_is_listed(toy, capsys):
    """
    An area or an id; a name that nothing has is an error.
    """
    assert (0, 0, 2) == tuple(run.main(["--root", str(toy), "--list", "--only", name]) for name in ("sums", "killed", "rums"))

    out, err = capsys.readouterr()
    assert ["killed", "survivor", "no-code", "flaky", "no-tests", "killed"] == [line.split()[1] for line in out.splitlines()]
    assert "no area or mutant is called rums" in err
