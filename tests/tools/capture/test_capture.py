"""Capturing: what hooks were told becomes files with provenance; no agent is run here."""

import json
from hashlib import sha256
from pathlib import Path

import capture as capturing
import provenance
import pytest
from capture import CaptureRun, build_capture
from scrub import Scrubber

from hookonce import agents
from hookonce.configure.locations import ConfigRoots
from hookonce.errors import HookonceError
from tests.tools.capture.sample_captures import (
    AGENT,
    ALICE,
    LAB,
    PLACES,
    capture,
    found,
    heard,
    payload,
    run,
    run_tool,
    shell,
)


def names(made):
    return [one.file for one in made.provenance.files]


def take(*events, name="tour"):
    return CaptureRun(name, run(*events), Scrubber(PLACES, ALICE))


def test_a_file_is_named_after_event_tool_and_number():
    mcp = payload(tool_name="mcp__lab__echo", tool_input={"text": "x"})
    made = capture(payload("SessionStart", source="startup"), shell(), shell(command="pwd"), mcp)

    assert ["SessionStart-1.json", "PreToolUse-shell-1.json", "PreToolUse-shell-2.json", "PreToolUse-mcp-1.json"] == (
        names(made)
    )


def test_a_golden_is_the_payload_with_the_labs_folders_gone():
    made = capture(shell(command=f"cat {LAB}/project/a"))

    (kept,) = made.payloads.values()
    assert "/home/dev/project" == kept["cwd"]
    assert {"command": "cat /home/dev/project/a"} == kept["tool_input"]
    assert "/home/dev/.claude/projects/p/s1.jsonl" == kept["transcript_path"]


def test_a_golden_reads_as_what_was_heard():
    made = capture(payload("SessionStart", source="startup"), shell(), shell("PostToolUse", tool_response="x"))

    for one in made.provenance.files:
        event = agents.decode(AGENT, made.payloads[one.file], one.event)
        assert (one.type, one.tool) == (event.type, event.tool.name if event.tool else None)


def test_what_two_hooks_hear_is_one_golden():
    one = heard(shell(), 1)
    made = build_capture(found(), [take(one, heard(shell(), 1), heard(shell(), 2))])

    assert ["PreToolUse-shell-1.json"] == names(made)


def test_of_one_shape_three_are_kept_for_each_event_and_tool():
    alike = [shell(command=f"echo {number}") for number in range(6)]
    reads = [payload(tool_name="Read", tool_input={"file_path": f"/{number}"}) for number in range(6)]
    other = shell(command="echo", agent_id="a1")
    made = capture(*alike, *reads, other)

    assert [f"PreToolUse-shell-{number}.json" for number in (1, 2, 3)] == names(made)[:3]
    assert [f"PreToolUse-file_read-{number}.json" for number in (1, 2, 3)] == names(made)[3:6]
    assert ["PreToolUse-shell-4.json"] == names(made)[6:]


def test_what_hookonce_made_of_another_event_is_no_payload():
    event = heard(shell(), 1) | {"id": "e2", "derived_from": "e1"}
    made = build_capture(found(), [take(heard(shell(), 1), event)])

    assert ["PreToolUse-shell-1.json"] == names(made)


@pytest.mark.parametrize("text", ["/home/alice/.ssh", "/mnt/alice/x"])
def test_a_payload_that_still_names_the_users_home_is_not_kept_and_that_is_said(text):
    made = capture(shell(command=f"cat {text}"), shell(command="ls"))

    (gap,) = made.provenance.gaps
    assert ("tour", "PreToolUse", "before_tool_execute") == (gap.scenario, gap.event, gap.type)
    assert gap.why.startswith("it still contains your ")
    assert ["PreToolUse-shell-1.json"] == names(made)
    assert "alice" not in json.dumps(made.payloads)


def test_a_payload_that_reads_otherwise_after_scrubbing_is_a_gap():
    """
    A machine with the name of a tool takes that name out of the payload.
    """
    event = heard(shell(), 1)
    scrub = Scrubber(PLACES, type(ALICE)(hosts=frozenset({"Bash"})))
    made = build_capture(found(), [CaptureRun("tour", run(event), scrub)])

    assert [] == names(made)
    (gap,) = made.provenance.gaps
    assert "it was read as before_tool_execute shell, and is before_tool_execute host after scrubbing" == gap.why


def test_provenance_says_what_was_offered_what_came_and_what_did_not():
    sub = shell(agent_id="a1", agent_type="general")
    made = capture(
        payload("SessionStart", source="startup"),
        shell(),
        sub,
        shell("PostToolUse", tool_response="x"),
        tools=("B", "A"),
    ).provenance

    assert ("claude-code", "2.1.325", "cache", ["tour"]) == (made.agent, made.version, made.origin, made.scenarios)
    assert ["A", "B"] == made.tools
    assert [["SessionStart", "PreToolUse shell", "PostToolUse shell"], ["PreToolUse shell"]] == made.order
    assert {"Stop", "UserPromptSubmit"} < set(made.silent)
    assert "PreToolUse" not in made.silent


def test_the_order_is_the_tours_alone_and_by_time():
    late, early = heard(shell("PostToolUse", tool_response="x"), 2), heard(shell(), 1)
    made = build_capture(found(), [take(late, early), take(early, name="pair")])

    assert [["PreToolUse shell", "PostToolUse shell"]] == made.provenance.order


def test_files_have_the_checksums_that_provenance_tells(tmp_path):
    made = capture(shell(), payload("Stop", stop_hook_active=False))

    folder = provenance.save_capture(made, tmp_path)

    assert tmp_path / "claude-code-2.1.325" == folder
    assert made == provenance.load_capture(folder)
    for one in made.provenance.files:
        assert one.sha256 == sha256((folder / one.file).read_bytes()).hexdigest()


def test_a_new_capture_takes_the_place_of_an_old_one(tmp_path):
    folder = provenance.save_capture(capture(shell(), payload("Stop", stop_hook_active=False)), tmp_path)
    (folder / "Stop-1.json").unlink()
    (folder / "mine.txt").write_text("kept", encoding="utf-8")

    provenance.save_capture(capture(payload("SessionEnd", reason="other")), tmp_path)

    assert {"SessionEnd-1.json", "mine.txt", "provenance.json"} == {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("text", ["{}", "nonsense", '{"files": [{"file": "../../x"}]}'])
def test_a_folder_of_something_else_is_left_alone(tmp_path, text):
    folder = tmp_path / "claude-code-2.1.325"
    folder.mkdir()
    (folder / "provenance.json").write_text(text, encoding="utf-8")

    with pytest.raises(HookonceError, match="was left alone"):
        provenance.save_capture(capture(shell()), tmp_path)
    with pytest.raises(HookonceError, match="is no capture that can be read"):
        provenance.load_capture(folder)


def test_a_capture_that_names_files_elsewhere_is_not_believed(tmp_path):
    folder = provenance.save_capture(capture(shell()), tmp_path)
    told = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
    told["files"][0]["file"] = "../PreToolUse-shell-1.json"
    (folder / "provenance.json").write_text(json.dumps(told), encoding="utf-8")

    with pytest.raises(HookonceError, match="does not lie beside it"):
        provenance.load_capture(folder)


class Double:
    """A stage on which nothing is run: it tells where it would be, and what would have been heard."""

    agent, hooks_for_all_events = AGENT, None

    def __init__(self, *words):
        self.events = words[-1]

    def play(self, scenario, *, rules, change_home, **_more):
        PLAYED.append((scenario, bool(rules), self.events))
        change_home(None, ConfigRoots(home=Path(LAB, "home"), project=Path(LAB, "project")))
        return run(heard(shell(), 1), scenario=scenario)


PLAYED = []


@pytest.fixture
def played(monkeypatch):
    """What was played on that stage."""
    monkeypatch.setattr(capturing, "Bench", Double)
    PLAYED.clear()
    return PLAYED


def test_by_default_an_agent_is_taken_through_the_usual_scenarios_and_its_own_trips(played):
    told = []

    made = capturing.capture_agent(found(), [], told.append)

    usual = [("tour", False), ("pair", False), ("error", False), ("long", False), ("refuse-shell", True)]
    assert [(*one, "all") for one in usual] == played[:5]
    assert ("error", False, "all") == played[5]  # again, because an agent that fails may leave its hooks behind
    assert len(played) == len(told) == len(made.provenance.scenarios) > 6
    assert "hookonce-lab" not in json.dumps(made.payloads)


def test_scenarios_that_are_named_are_all_that_is_played(played):
    made = capturing.capture_agent(found(), ["fetch"], lambda _text: None)

    assert [("fetch", False, "all")] == played
    assert ["fetch"] == made.provenance.scenarios


def test_an_agent_that_calls_no_hook_is_an_error(played, monkeypatch):
    monkeypatch.setattr(Double, "play", lambda *_words, **_more: run())

    with pytest.raises(HookonceError, match="called no hook at all"):
        capturing.capture_agent(found(), ["tour"], lambda _text: None)


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["codex", "--pinned"], 1, "hookonce lab fetch codex gets it"),
        (["codex", "--version", "0.0.1"], 1, "0.0.1"),
        (["nobody"], 64, "no agent is called 'nobody'"),
        (["amp"], 64, "the lab cannot run 'amp'"),
        (["codex", "--scenario", "tuor"], 64, "tour"),
        ([], 2, "AGENT"),
    ],
)
def test_what_cannot_be_captured_is_said(tmp_path, words, code, said):
    ran = run_tool("capture.py", *words, "--out", tmp_path / "out", HOOKONCE_AGENTS=str(tmp_path / "agents"))

    assert code == ran.code
    assert said in ran.err
    assert not (tmp_path / "out").exists()
