"""docs/extending.md: every field of a contract has a line, and the files that it names are there."""

import sys

import pytest

from tests.shared import ROOT

sys.path.insert(0, str(ROOT / "docs"))

import contracts as page  # they lie beside the page
import layers

CONTRACTS = {contract.name: contract for contract in page.CONTRACTS}


def test_the_contracts_are_on_the_page():
    """
    Agents with their configuration, formats, handlers, checks and drivers.
    """
    text = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")

    assert {"Agent", "Config", "Format", "Handler", "Check", "Driver"} <= CONTRACTS.keys()
    assert [] == [name for name in CONTRACTS if f"\n## {name}\n" not in text]


@pytest.mark.parametrize("name", CONTRACTS)
def test_every_field_says_what_it_is(name):
    """
    A field without a comment in the source is found out.
    """
    assert [] == [field for field, _, _, text in page.fields(CONTRACTS[name]) if not text.strip()]


@pytest.mark.parametrize("name", CONTRACTS)
def test_what_adding_one_touches_is_there(name):
    """
    Of one that was added before, every file or folder that the page names exists.
    """
    contract = CONTRACTS[name]
    paths = [path.format(name=contract.example) for path in contract.files]

    assert [] == [path for path in paths if not (ROOT / path).exists()]


def test_an_agent_is_one_folder_and_one_line():
    """
    In the source: what is added lies in the agent's own folder, and the only other file is the list of agents.
    """
    paths = [path for path in CONTRACTS["Agent"].files if path.startswith("src/")]

    assert ["src/hookonce/agents/__init__.py"] == [path for path in paths if "/agents/{name}/" not in path]


def test_the_layers_on_the_pages_are_those_of_the_contract():
    """
    Each package that is there stands in the picture and in the list, and a changed contract changes both.
    """
    names = [name for layer in layers.layers() for name in layer]
    packages = {path.stem for path in layers.PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}

    assert packages - {"__init__"} == set(names)
    assert [] == [page for page, text in layers.pages().items() if text != (ROOT / page).read_text(encoding="utf-8")]
