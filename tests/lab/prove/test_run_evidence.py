"""Evidence tells nothing of the machine."""

from pathlib import Path
from tempfile import gettempdir

import pytest

from hookonce.lab.experiments import Experiment
from hookonce.lab.fetch.programs import AgentProgram
from hookonce.lab.prove import prover as proving
from hookonce.lab.prove.certificate import Claim
from hookonce.lab.prove.run import AgentRun, remove_paths, summarize_run

STAGE = f"{gettempdir()}/hookonce-lab-0123456789abcdef"


@pytest.fixture
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")


@pytest.mark.usefixtures("_home")
@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (f"cannot open {STAGE}/project/written.txt", "cannot open LAB/project/written.txt"),
        (f"[Errno 2] no such file: '{STAGE}/home/.codex'", "[Errno 2] no such file: 'LAB/home/.codex'"),
        ("its last words: ce/hookonce-lab-0123abcd/home: no", "its last words: LAB/home: no"),
        ("/tmp/hookonce-lab-cache-x_1y/compiled", "LAB/compiled"),
        ("see /home/somebody/.codex/hooks.json", "see ~/.codex/hooks.json"),
        ("HOME=/home/somebody", "HOME=~"),
        ("/home/somebodyelse/a.txt", "…/a.txt"),
        ("at file:///opt/agent/bin/main.js:10", "at file://…/main.js:10"),
        ("(/srv/agents/codex)", "(…/codex)"),
        ("/etc/codex/requirements.toml and /usr/bin/env", "/etc/codex/requirements.toml and /usr/bin/env"),
        ("POST http://127.0.0.1:4000/v1/messages failed", "POST http://127.0.0.1:4000/v1/messages failed"),
        ("the call was made/not made, 3 and/or 4; src/a/b.py", "the call was made/not made, 3 and/or 4; src/a/b.py"),
    ],
)
def test_folders_of_the_machine_are_left_out(told, expected):
    """
    What lies in the run's folder or in the home is told from there, other files by their name.
    """
    assert expected == remove_paths(told)
    assert expected == remove_paths(expected)


@pytest.mark.usefixtures("_home")
def test_last_words_are_cut_after_folders_are_left_out():
    """
    No half of a path is left where an agent's words are cut.
    """
    words = f"{STAGE}/project/{'x' * 150} failed"
    run = AgentRun(scenario="talk", code=1, out="", err=words, files={}, requests=[])

    assert "hookonce-lab" not in summarize_run(run)
    assert gettempdir() not in summarize_run(run)


@pytest.mark.usefixtures("_home")
def test_every_claim_of_a_certificate_is_impersonal(monkeypatch):
    """
    Also what an experiment says by itself, and what stopped it.
    """

    def fails(_stage):
        raise OSError(2, "No such file", f"{STAGE}/home")

    experiments = (
        Experiment("says", lambda _stage: ["one"], lambda _stage: [Claim("one", "untried", f"{STAGE}/project")]),
        Experiment("fails", lambda _stage: ["two"], fails),
    )
    monkeypatch.setattr(proving, "EXPERIMENTS", experiments)
    found = AgentProgram(agent="codex", version="1.0.0", program=Path("codex"), node=None, origin="cache")

    made = proving.prove_agent(found, 1, lambda _text: None)

    assert ["LAB/project", "the experiment failed: [Errno 2] No such file: 'LAB/home'"] == [one.evidence for one in made.claims]
