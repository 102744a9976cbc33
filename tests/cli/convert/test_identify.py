"""hookonce identify, as a user runs it."""

import pytest
from jsonschema import Draft202012Validator

from hookonce import formats
from hookonce.demo.replay import list_recordings as bundled
from hookonce.formats.schema import load_schema
from tests.cli.command import PAYLOAD, lines, recorded, run

KEYS = ["kind", "name", "event", "type", "candidates", "evidence"]


def findings(*words, given=b"", **more):
    """Exit code and findings, each of the published shape."""
    ran = run("identify", "--json", *words, given=given, **more)
    for finding in ran.documents():
        assert KEYS == list(finding)
        assert [] == list(Draft202012Validator(load_schema("identify")).iter_errors(finding))
    return ran.code, ran.documents()


@pytest.mark.parametrize("agent", bundled())
def test_a_recorded_session_is_recognised(agent):
    """
    Every payload of a bundled session is named with its agent, its canonical type and a reason.
    """
    code, found = findings(given=lines(*recorded(agent)))

    assert (0, {("agent", agent)}) == (code, {(one["kind"], one["name"]) for one in found})
    assert all(one["evidence"] for one in found)
    assert all(one["type"] or one["candidates"] for one in found)


def test_documents_of_formats_are_recognised():
    """
    What translate writes is recognised as the format it was written in.
    """
    for name in formats.FORMATS:
        written = run("translate", "--to", name, given=lines(*recorded("gemini-cli")))
        code, found = findings(given=written.out.encode())
        assert (0, {("format", name)}) == (code, {(one["kind"], one["name"]) for one in found})


def test_words_say_who_and_why():
    """
    Without --json the agent, the event in both vocabularies and the reason are told.
    """
    ran = run("identify", given=lines(PAYLOAD))

    assert (0, "") == (ran.code, ran.err)
    assert "agent: claude-code PreToolUse (before_tool_execute)\n  because transcript_path lies in .claude\n" == ran.out


def test_without_evidence_there_are_candidates_and_exit_1():
    """
    A payload that may be several agents' is unknown, with all of them.
    """
    bare = {"hook_event_name": "PreToolUse", "session_id": "s"}
    code, (found,) = findings(given=lines(bare))
    shown = run("identify", given=lines(bare))

    assert (1, "unknown", None) == (code, found["kind"], found["name"])
    assert {"claude-code", "devin"} <= set(found["candidates"])
    assert "undecided\n  because hook_event_name alone is not enough\n  may be: " in shown.out


def test_nothing_to_go_by_is_said():
    """
    A document that tells of nobody is unknown without candidates.
    """
    code, (found,) = findings(given=lines({"a": 1}))

    assert (1, [], ["nothing in it tells of an agent or a format"]) == (code, found["candidates"], found["evidence"])


@pytest.mark.parametrize("agent", [name for name in bundled() if name != "claude-code"])
def test_a_terminal_inside_claude_code_misnames_nobody(agent):
    """
    With CLAUDECODE in the environment the payloads of other agents keep their names.
    """
    code, found = findings(given=lines(*recorded(agent)), CLAUDECODE="1")

    assert (0, {agent}) == (code, {one["name"] for one in found})


def test_the_environment_decides_between_equals():
    """
    An agent whose payloads bear no sign of it is named by its mark in the environment.
    """
    devin = {"hook_event_name": "PreToolUse", "tool_name": "exec", "tool_input": {}, "session_id": "quiet-heron"}

    alone = findings(given=lines(devin))
    marked = findings(given=lines(devin), DEVIN_PROJECT_DIR="/p")
    inside = findings(given=lines(devin), CLAUDECODE="1")

    assert [(1, None), (0, "devin"), (1, None)] == [(code, one["name"]) for code, (one,) in (alone, marked, inside)]
    assert ["the environment has DEVIN_PROJECT_DIR"] == marked[1][0]["evidence"]


def test_files_are_read_in_turn(tmp_path):
    """
    A missing file is named, the others are identified, and exit is 1.
    """
    file = tmp_path / "a.json"
    file.write_bytes(lines(PAYLOAD))

    ran = run("identify", "--json", file, tmp_path / "none", file)

    assert (1, ["claude-code"] * 2) == (ran.code, [one["name"] for one in ran.documents()])
    assert f"hookonce: cannot read {tmp_path / 'none'}: No such file or directory\n" == ran.err
