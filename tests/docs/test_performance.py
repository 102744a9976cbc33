"""The page of numbers is the file of numbers."""

import json
import subprocess
import sys
from xml.etree.ElementTree import fromstring

import pytest

from tests.shared import ROOT

PROGRAM = "import sys, json; sys.path.insert(0, 'docs'); import performance; print(json.dumps(performance.pages()))"
RESULTS = ROOT / "benchmarks" / "results.json"
PEERS = ROOT / "benchmarks" / "peers" / "results.json"


@pytest.fixture(scope="module")
def made():
    if not RESULTS.exists():
        pytest.skip("nothing was measured yet")
    words = [sys.executable, "-c", PROGRAM]
    return json.loads(subprocess.run(words, cwd=ROOT, capture_output=True, check=True).stdout)


def test_the_page_and_the_drawing_show_what_was_measured(made):
    assert {"docs/performance.md", "docs/latency.svg"} | ({"docs/peers.svg"} if PEERS.exists() else set()) == made.keys()
    assert [] == [name for name, text in made.items() if text != (ROOT / name).read_text(encoding="utf-8")]


def test_the_page_says_when_where_and_how_to_repeat_it(made):
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    page = made["docs/performance.md"]

    assert [] == [word for word in (results["date"], results["machine"], "make bench", "hookonce bench") if word not in page]
    assert page.count("| held |") + page.count("| missed |") == sum(one["aim"] is not None for one in results["ratios"])


def test_the_drawing_has_a_bar_for_each_plain_call(made):
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    drawn = fromstring(made["docs/latency.svg"])  # noqa: S314  our own drawing
    texts = {node.text for node in drawn.iter() if node.tag.endswith("text")}
    plain = {row["case"] for row in results["rows"] if (row["way"], row["callers"], row["payload"], row.get("pause_ms", 0)) == ("direct", 1, 1024, 0)}

    assert plain <= texts
