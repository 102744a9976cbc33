"""Options stand where people type them: before a verb, between it and its words, and behind them."""

import json

import pytest

from tests.cli.command import PAYLOAD, run
from tests.manifest.projects import put


@pytest.fixture
def ours(tmp_path):
    """Run hookonce with a home of its own that has kept one event."""
    put(tmp_path / "events.jsonl", json.dumps(PAYLOAD) + "\n")
    made = lambda *words: run(*words, HOME=str(tmp_path), cwd=tmp_path)  # noqa: E731
    assert 0 == made("events", "import", "events.jsonl", "--from", "claude-code").code
    return made


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "words",
    [
        ("--json", "sql", "SELECT count(*) AS n FROM events"),
        ("sql", "--json", "SELECT count(*) AS n FROM events"),
        ("sql", "SELECT count(*) AS n FROM events", "--json"),
        ("sql", "--timeout", "5", "--json", "SELECT count(*) AS n FROM events"),
    ],
)
def test_a_question_may_stand_behind_its_options(ours, words):
    """
    Nobody has to know where the parser wants an option.
    """
    ran = ours("events", *words)

    assert (0, [{"n": 1}]) == (ran.code, ran.documents())


def test_files_and_ids_may_stand_behind_options(ours, tmp_path):
    """
    What import and erase are told, in the order in which the usage has it.
    """
    (kept,) = ours("events", "--json").documents()
    put(tmp_path / "more.jsonl", json.dumps(PAYLOAD | {"session_id": "s2"}) + "\n")

    brought = ours("events", "import", "--from", "claude-code", "more.jsonl")
    wrong = ours("events", "erase", "--agent", "codex", kept["event"]["id"])
    erased = ours("events", "erase", "--agent", "claude-code", kept["event"]["id"])

    assert (0, "1 event imported, of 1 line") == (brought.code, brought.out.strip()[:27])
    assert f"no record of codex is called {kept['event']['id']}" in wrong.err
    assert "a person" in erased.err  # it has come as far as asking for consent
    assert 2 == len(ours("check", "more.jsonl", "--json", "events.jsonl").documents())


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (("events", "sql", "--nothing", "SELECT 1"), "usage: hookonce events "),
        (("module", "list", "--nothing"), "usage: hookonce module list "),
        (("module", "list", "."), "usage: hookonce module list "),
        (("stats", "x"), "usage: hookonce stats "),
    ],
)
def test_what_nobody_understands_is_told_with_the_usage_of_who_was_asked(ours, words, usage):
    """
    Not that of the whole program.
    """
    ran = ours(*words)

    assert (64, True) == (ran.code, ran.err.startswith(usage))
    assert "unrecognized arguments: " in ran.err
