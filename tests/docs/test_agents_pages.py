"""Each agent has a page."""

import pytest

from hookonce import agents
from hookonce.inspect.agent_matrix import build_sheet
from tests.shared import ROOT

FOLDER = ROOT / "docs" / "agents"


def page(name):
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


def test_there_is_a_page_for_each_agent_and_no_other():
    """
    The folder of pages and the list of agents are the same.
    """
    assert sorted(agents.AGENTS) == sorted(file.stem for file in FOLDER.iterdir())


def test_the_overview_links_every_page():
    """
    Every agent's page can be found from the first one.
    """
    overview = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")

    assert [] == [name for name in agents.AGENTS if f"(agents/{name}.md)" not in overview]


@pytest.mark.parametrize("name", list(agents.AGENTS))
def test_a_page_tells_events_files_quirks_and_source(name):
    """
    A page has what `hookonce agents NAME` has, and claims no proof that no certificate shows.
    """
    one, text = build_sheet(agents.load(name)), page(name)

    assert one.title == text.splitlines()[0].removeprefix("# ")
    assert all(f"| `{row.event}` | `{row.canonical}` |" in text for row in one.points)
    assert all(f"- {quirk}".replace("*", "\\*").replace("<", "&lt;") in text for quirk in one.quirks)
    assert all(file.replace("*", "\\*").replace("<", "&lt;") in text for file in one.config.files.values())
    assert ("proven" in text) == (one.certificate is not None)
    assert sum(row.proof == "proven" for row in one.points) == text.count("| proven on ")
