"""The examples do what the page about them says, in every language that is here."""

import re
import shutil

import pytest

from hookonce.sdk.event import HookEvent
from hookonce.testing import run
from tests.shared import ROOT

HOOKS = ROOT / "examples" / "hooks"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.part(5)
@pytest.mark.parametrize("name", sorted(file.name for file in HOOKS.iterdir() if file.is_file()))
@pytest.mark.parametrize("agent", ["claude-code", "gemini-cli", "cursor", "windsurf"])
def test_an_example_refuses_what_it_says(name, agent):
    """
    Behind any agent, in whatever language it is written.
    """
    if name.endswith(".mjs") and shutil.which("node") is None:
        pytest.skip("node is not here")

    assert ("deny", "not here") == (run(HOOKS / name, agent, input={"command": "rm -rf /"}).decision.outcome, run(HOOKS / name, agent, input={"command": "rm -rf /"}).reason)
    assert run(HOOKS / name, agent, input={"command": "ls"}).silent


def test_an_example_has_few_lines():
    """
    A hook is written in a minute.
    """
    for file in HOOKS.glob("guard.*"):
        code = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip() and not line.startswith(("#", "//"))]
        assert len(code) <= 5, file.name


PAGE = (ROOT / "docs" / "sdk.md").read_text(encoding="utf-8")


def test_the_page_shows_the_examples_as_they_are():
    """
    Code that is no session of Python stands in a file that is run.
    """
    files = [file.read_text(encoding="utf-8") for file in (ROOT / "examples").glob("*/*.*")]
    shown = [text for _, text in re.findall(r"```(python|sh|js)\n(.*?)```", PAGE, re.DOTALL) if not text.startswith(">>>")]

    assert len(shown) >= 4
    assert [] == [text for text in shown if not any(text in file for file in files)]


def test_the_page_names_everything_that_a_hook_sees():
    """
    Every property of an event, and nothing else.
    """
    table = PAGE.partition("| of the event | tells |")[2].partition("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}

    assert {name for name in dir(HookEvent) if not name.startswith("_")} == named
