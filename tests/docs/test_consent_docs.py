"""What only a person may do is told as such, in the help and in the threat model."""

import re

import pytest

from tests.cli.command import run
from tests.shared import ROOT

SOURCE = ROOT / "src" / "hookonce" / "cli"
CONSENTS = sorted({verb for file in SOURCE.rglob("*.py") for verb in re.findall(r'\brequire_consent\(\s*"([^"]+)"', file.read_text("utf-8"))})
ROW = next(line for line in (ROOT / "docs/threat-model.md").read_text("utf-8").splitlines() if "| an agent in its shell" in line)


def test_the_verbs_that_ask_for_a_person_are_found():
    """
    Removing, trusting and vouching are among them.
    """
    assert {"uninstall", "trust", "doctor --vouch"} <= set(CONSENTS)


@pytest.mark.parametrize("verb", CONSENTS)
def test_a_verb_that_asks_for_a_person_says_so(verb, tmp_path):
    """
    Nobody has to be refused to learn it; `trust --revoke` is told with `trust`.
    """
    command = verb.split()[0]
    told = " ".join(run(command, "--help", HOME=str(tmp_path)).out.split())

    assert "needs a person at a terminal, who types a code that is shown there" in told
    assert f"`{verb}`" in ROW or f"`{command}`" in ROW


def test_the_page_of_the_command_line_has_no_empty_block():
    """
    Also of a command that reads its words by hand.
    """
    blocks = re.findall(r"```text\n(.*?)```", (ROOT / "docs/cli.md").read_text("utf-8"), re.DOTALL)

    assert all(block.strip() for block in blocks)
    assert any(block.startswith("usage: hookonce on AGENT") for block in blocks)
