"""Windsurf's hooks.json: no matchers, an event for each kind of tool."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce import agents
from hookonce.configure.entries import build_entries
from hookonce.convert.conversion import WrapperOptions, convert
from tests.agents._config.node import plain_wording

WINDSURF = agents.load("windsurf")
CLAUDE = agents.load("claude-code")

# Written by hand after the field table of docs.windsurf.com/windsurf/cascade/hooks (checked 2026-09-19).
NATIVE = {
    "hooks": {
        "pre_run_command": [
            {"command": "python3 /opt/h/guard.py", "powershell": "python C:\\h\\guard.py", "show_output": True, "working_directory": "tools"},
            {"command": "./log.sh"},
        ],
        "pre_read_code": [{"command": "./other.sh"}, {"command": "./log.sh"}],
        "pre_mcp_tool_use": [{"command": "./log.sh"}, {"command": "./log.sh"}],
        "post_write_code": [{"powershell": "format.ps1"}],
        "pre_user_prompt": [{"command": "./prompt.sh", "show_output": False}],
        "post_cascade_response": [{"command": "./done.sh"}],
        "post_cascade_response_with_transcript": [{"command": "./done.sh"}],
        "post_setup_worktree": [{"command": "npm install"}],
    }
}


def read(document):
    """The hooks of a file."""
    hooks, gaps = WINDSURF.config.parse(WINDSURF, document)
    assert [] == gaps
    return hooks


def write(hooks):
    """The file of these hooks, and what it cannot say."""
    return WINDSURF.config.render(WINDSURF, list(enumerate(hooks)), plain_wording)


def manifest(*hooks):
    """A manifest of hooks before tools, each a matcher and a command."""
    return {
        "spec": "hooks/0.1",
        "hooks": [
            {"event": "before_tool_execute", "blocking": True, "handler": {"type": "command", "command": command}} | ({} if matcher is None else {"matcher": matcher})
            for matcher, command in hooks
        ],
    }


def test_a_file_comes_back_as_it_was():
    """
    Every key, every event and every order survives.
    """
    assert (NATIVE, []) == write(read(NATIVE))


def test_one_entry_under_several_events_is_one_hook():
    """
    The kinds of tools become the matcher; twice under one event is two hooks.
    """
    logs = [hook.matcher for hook in read(NATIVE) if hook.handler.command == "./log.sh"]

    assert [["file_read", "shell", {"pattern": "^mcp:"}], {"pattern": "^mcp:"}] == logs


def test_what_an_entry_can_say():
    """
    The folder is the handler's, another command for Windows its platform's; one for Windows alone is Windsurf's own.
    """
    guard = next(hook for hook in read(NATIVE) if "guard" in (hook.handler.command or ""))
    lone = next(hook for hook in read(NATIVE) if hook.event == "after_tool_execute")

    assert ("tools", {"windows": "python C:\\h\\guard.py"}) == (guard.handler.cwd, guard.handler.platform)
    assert {"windsurf": {"show_output": True}} == guard.provider_data
    assert ("powershell", None) == (lone.handler.type, lone.handler.command)


@pytest.mark.parametrize("target", list(agents.AGENTS))
def test_every_hook_arrives_elsewhere_or_is_lost_by_name(target):
    """
    Between Windsurf and any other agent nothing is dropped in silence.
    """
    made = convert(NATIVE, WINDSURF, agents.load(target))

    arrived, _ = agents.load(target).config.parse(agents.load(target), made.document)
    lost = {gap.where for gap in made.gaps if gap.effect == "lost" and gap.where.endswith("]")}
    assert made.is_verified
    assert len(read(NATIVE)) == len(arrived) + len(lost)


def test_hooks_that_run_the_same_are_put_together_by_name():
    """
    Where the file cannot tell two hooks apart it holds one for both, and says so.
    """
    made = convert(manifest(("shell", "./a.sh"), (None, "./b.sh"), ("file_read", "./a.sh")), None, WINDSURF)

    assert ["./a.sh", "./b.sh"] == [entry["command"] for entry in made.document["hooks"]["pre_read_code"]]
    assert {"$.hooks[2]"} == {gap.where for gap in made.gaps if gap.effect == "lost"}
    assert {"$.hooks[0].matcher", "$.hooks[2]"} == {gap.where for gap in made.gaps if gap.capability == "matcher"}


def test_a_pattern_that_nobody_can_judge_stands_everywhere():
    """
    A guard with a look-ahead from another agent's file sees all tools rather than none.
    """
    source = {"hooks": {"PreToolUse": [{"matcher": "^(?!Bash)", "hooks": [{"type": "command", "command": "./x.sh"}]}]}}

    made = convert(source, CLAUDE, WINDSURF)

    assert 4 == len(made.document["hooks"])
    assert "'^(?!Bash)' also picks tools of Claude Code that are not known" in made.gaps[0].note


def test_events_without_lines_between_the_words():
    """
    Other tools write an event's name in one word; it is read all the same.
    """
    document = {"hooks": {"PreRunCommand": [{"command": "./x.sh"}]}}

    assert ["shell"] == [hook.matcher for hook in read(document)]


def test_data_for_windsurf_cannot_change_what_runs():
    """
    A manifest's own keys may show output and name a folder, and start nothing.
    """
    given = manifest(("shell", "./x.sh"))
    given["hooks"][0]["provider_data"] = {"windsurf": {"command": "./evil.sh", "powershell": "evil.ps1", "show_output": True, "working_directory": "sub"}}

    made = convert(given, None, WINDSURF).document

    assert {"pre_run_command": [{"command": "./x.sh", "working_directory": "sub", "show_output": True}]} == made["hooks"]


def test_each_door_stands_under_its_own_event():
    """
    Our entries are made for one event each, and do not spread over all kinds of tools.
    """
    mine = build_entries(WINDSURF, "user", "/opt/hookonce-on")

    made, _ = write(mine)

    assert {native: 1 for native in WINDSURF.events if native != "post_cascade_response_with_transcript"} == {native: len(entries) for native, entries in made["hooks"].items()}
    assert all(f" {native} " in entries[0]["command"] for native, entries in made["hooks"].items())


def test_wrapped_scripts_are_read_as_what_they_wrap():
    """
    A foreign script stands in our wrapper under each event, and comes back as one hook.
    """
    made = convert(manifest((["shell", "file_read"], "./x.sh")), None, WINDSURF, adapt=WrapperOptions("/opt/hookonce-on", "user")).document

    assert {"pre_run_command", "pre_read_code"} == made["hooks"].keys()
    assert [("./x.sh", ["file_read", "shell"])] == [(hook.handler.command, hook.matcher) for hook in read(made)]


@pytest.mark.parametrize("entry", [1, {}, {"command": 1}, {"command": ""}, {"show_output": True}])
def test_what_is_no_hook_is_named(entry):
    """
    An entry without anything to run is a gap with its place.
    """
    hooks, gaps = WINDSURF.config.parse(WINDSURF, {"hooks": {"pre_run_command": [entry]}})

    assert ([], ["$.hooks.pre_run_command[0]"], ["lost"]) == (hooks, [gap.where for gap in gaps], [gap.effect for gap in gaps])


entries = st.fixed_dictionaries({"command": st.sampled_from(["./a.sh", "./b.sh", "./c.sh"])}, optional={"show_output": st.booleans(), "working_directory": st.just("x")})


@given(st.dictionaries(st.sampled_from(sorted(WINDSURF.events)), st.lists(entries, min_size=1, max_size=4)))
def test_whatever_stands_in_a_file_comes_back(events):
    """
    render(parse(file)) is the file, in the order of each event.
    """
    hooks = read({"hooks": events})

    assert ({"hooks": events}, []) == write(hooks)


@pytest.mark.parametrize("source", [None, "codex"])
def test_a_command_for_windows_stays_one(source):
    """
    What Windows runs instead of the command has a key of its own, for hooks from anywhere.
    """
    native = {"hooks": {"pre_run_command": [{"command": "./x.sh", "powershell": "x.ps1"}]}}
    codex = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./x.sh", "commandWindows": "x.ps1"}]}]}}

    assert native == convert(native, WINDSURF, WINDSURF).document
    document = convert(codex, agents.load("codex"), None).document if source is None else codex
    assert native == convert(document, source and agents.load(source), WINDSURF).document
