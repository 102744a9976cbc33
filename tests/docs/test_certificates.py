"""The kept certificates, and the pages that are made of them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from certificate_powers import load_certificates, newest_by_agent, proven_events
from jsonschema import Draft202012Validator

from hookonce.agents.certificates import CERTIFICATES, CertificateSummary
from hookonce.formats.schema import load_schema
from hookonce.lab.fetch.programs import AgentProgram
from hookonce.lab.prove.prover import claim_names_of
from tests.lab.prove.sample_certificates import DENIALS, certificate
from tests.shared import ROOT

FOLDER = ROOT / "docs" / "certificates"
FILES = sorted(FOLDER.glob("*.json"))
PAGE = ROOT / "docs" / "certificates.md"
WHOLE = ["fires:PreToolUse", "context:PreToolUse", "rewrite", *DENIALS, "fires:Interrupt", "transparent"]
PROGRAM = """
import sys, json
sys.path.insert(0, "docs")
from msgspec.json import decode
from agents_pages import pages
from certificates_page import page
from certificates_table import render_table
from hookonce.lab.prove.certificate import Certificate
from certificate_powers import newest_by_agent, proven_events
certificates = decode(sys.stdin.buffer.read(), type=list[Certificate])
summaries = {name: proven_events(certificate) for name, certificate in newest_by_agent(certificates).items()}
print(json.dumps({"certificates": "\\n".join(page(certificates)), "table": render_table(summaries)} | pages(summaries)))
"""


def pages(*certificates):
    """The pages that would be made of these certificates."""
    from msgspec.json import encode

    words = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(words, cwd=ROOT, input=encode(certificates), capture_output=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_kept_certificate_is_what_its_schema_and_its_name_say(file):
    """
    It is valid under the published schema, and lies where its agent and version are looked for.
    """
    told = json.loads(file.read_bytes())

    assert [] == list(Draft202012Validator(load_schema("prove")).iter_errors(told))
    assert file.stem == f"{told['agent']}-{told['version']}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_kept_claim_is_one_that_an_experiment_makes(file, tmp_path, monkeypatch):
    """
    None is about events that our tables have forgotten, or about the installation on the machine where it was made.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    told = json.loads(file.read_bytes())
    found = AgentProgram(agent=told["agent"], version=told["version"], program=Path("x"), node=None, origin="cache")

    claims = [one["claim"] for one in told["claims"]]

    assert [] == sorted(set(claims) - set(claim_names_of(found)))
    assert len(claims) == len(set(claims))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_evidence_names_a_folder_of_a_machine(file):
    """
    What was seen can be seen anywhere.
    """
    evidence = [one["evidence"] for one in json.loads(file.read_bytes())["claims"]]

    assert [] == [text for text in evidence if re.search(r"hookonce-lab-|(?<![\w~.…:/])/(?:tmp|home|root|var|Users)\b", text)]


def test_the_shipped_table_is_what_the_newest_certificates_show():
    """
    Nothing is proven without a certificate, and no certificate is forgotten.
    """
    assert CERTIFICATES == {name: proven_events(one) for name, one in newest_by_agent(load_certificates(FOLDER)).items()}


def test_the_page_has_every_certificate_and_all_that_has_not_held():
    """
    Each is there with its counts, and each claim that has not held with its evidence.
    """
    text = PAGE.read_text(encoding="utf-8")
    for one in load_certificates(FOLDER):
        part = text.partition(f"\n## {one.agent} {one.version}\n")[2].partition("\n## ")[0]
        missing = [claim.claim for claim in one.claims if claim.state != "held" and f"`{claim.claim}`" not in part]
        assert [] == missing
        assert one.date in part


def test_a_contradiction_is_told_on_every_page():
    """
    The event loses its mark, and the page of the agent, the overview and the certificates say so.
    """
    good = pages(certificate("codex", "7.8.9", *WHOLE))
    bad = pages(certificate("codex", "7.8.9", *(set(WHOLE) - {"deny:mcp"}), contradicted=["deny:mcp"]))
    rows = [re.search(r"^\| `PreToolUse` .*$", made["docs/agents/codex.md"], re.MULTILINE)[0] for made in (good, bad)]

    assert "| proven on 7.8.9 |" in rows[0]
    assert "| captured, contradicted on 7.8.9 |" in rows[1]
    assert "Contradicted on 7.8.9, as the certificate shows: `deny:mcp`." in bad["docs/agents/codex.md"]
    assert "proven 2/14 on 7.8.9" in good["docs/agents.md"]
    assert "proven 1/14 on 7.8.9" in bad["docs/agents.md"]
    assert "prevents, context ✗" in bad["docs/agents.md"]
    assert re.search(r"^\| `deny:mcp` \|.*\| ✗ \|$", bad["certificates"], re.MULTILINE)
    assert "Contradicted:\n\n- `deny:mcp`: seen by nobody" in bad["certificates"]
    assert '"deny:mcp": "PreToolUse"' in bad["table"]


def test_older_versions_stand_beside_the_newest_and_change_no_mark():
    """
    The page has both; the matrix and the shipped table go by the newest.
    """
    made = pages(certificate("codex", "7.8.10", *WHOLE), certificate("codex", "7.8.9", contradicted=["transparent"]))

    assert "| codex 7.8.10 | codex 7.8.9 |" in made["certificates"]
    assert re.search(r"^\| `transparent` \|.*\| ✓ \| ✗ \|$", made["certificates"], re.MULTILINE)
    assert "The [matrix](agents.md) goes by 7.8.10." in made["certificates"]
    assert "7.8.9" not in made["docs/agents.md"] + made["docs/agents/codex.md"] + made["table"]


def test_the_shipped_table_says_what_the_certificates_show():
    """
    What is written for the package reads back as what the certificates show.
    """
    found = [
        certificate("codex", "1.0.0", *WHOLE, contradicted=["transparent", "stop"]),
        certificate("claude-code", "2.0.0", contradicted=["context:Stop"]),
    ]

    assert {one.agent: proven_events(one) for one in found} == table(pages(*found)["table"])
    assert {} == table(pages()["table"])


def table(text):
    """The summaries of a table's text, as the package reads them."""
    from msgspec.json import decode

    return decode(text, type=dict[str, CertificateSummary])


def test_every_verb_of_the_lab_is_on_the_page_of_the_command_line():
    """
    Its help stands there like that of a command.
    """
    from hookonce.cli.lab.lab import VERBS

    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")

    assert [] == [verb for verb in VERBS if f"## hookonce lab {verb}\n\n```text\nusage: hookonce lab {verb} " not in text]
