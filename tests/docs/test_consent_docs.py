"""What only a person may do is told as such, in the help and in the threat model."""

import re

import pytest

from hookonce.cli.consent_table import NEEDS_PERSON
from tests.cli.command import run
from tests.shared import ROOT

ROW = next(line for line in (ROOT / "docs/threat-model.md").read_text("utf-8").splitlines() if "| an agent in its shell" in line)


@pytest.mark.parametrize("verb", NEEDS_PERSON)
def test_a_verb_that_asks_for_a_person_says_so(verb, tmp_path):
    """
    Nobody has to be refused to learn it; `trust --revoke` is told with `trust`.
    """
    command = verb.split()[0]
    told = " ".join(run(command, "--help", HOME=str(tmp_path)).out.split())

    assert re.search("needs? a person at a terminal, who types a code shown there", told)
    assert verb in told or command in NEEDS_PERSON
    assert f"`{verb}`" in ROW or f"`{command}`" in ROW


def test_the_page_of_the_command_line_has_no_empty_block():
    """
    Also of a command that reads its words by hand.
    """
    blocks = re.findall(r"```text\n(.*?)```", (ROOT / "docs/cli.md").read_text("utf-8"), re.DOTALL)

    assert all(block.strip() for block in blocks)
    assert any(block.startswith("usage: hookonce on AGENT") for block in blocks)
