"""Antigravity's hooks.json: named sets, two shapes of events, whole seconds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce import agents
from hookonce.base.invocation import Invocation, format_command
from hookonce.configure.entries import build_entries
from hookonce.convert.conversion import WrapperOptions, convert
from hookonce.model import Handler, Hook
from tests.agents._config.node import plain_wording

ANTIGRAVITY = agents.load("antigravity")
CLIENT = "/home/u/.local/share/hookonce/bin/hookonce-on"
ABLE = list(agents.AGENTS)
# Native files: the shape of the hooks page of antigravity.google as of 2026-10-04; what is accepted beyond it (other
# cases, an empty type, questions to a model, SessionStart) as field reports on agy 1.1.25 to 1.2.17 have measured it.
NATIVE = {
    "groups and flat lists": {
        "my-guard": {
            "enabled": True,
            "PreToolUse": [{"matcher": "run_command", "hooks": [{"type": "command", "command": "/p/g.sh", "timeout": 30}]}],
            "Stop": [{"command": "/p/stop.sh"}],
        }
    },
    "several sets": {
        "linter": {"PostToolUse": [{"matcher": "write_to_file|replace_file_content", "hooks": [{"command": "./lint.sh"}, {"command": "./fmt.sh"}]}]},
        "reminder": {"PreInvocation": [{"type": "command", "command": "./r.sh"}], "PostInvocation": [{"command": "./r.sh"}]},
        "start": {"SessionStart": [{"type": "", "command": "./s.sh"}]},
    },
    "a set that is switched off": {
        "gate": {"enabled": False, "PreToolUse": [{"matcher": "run_command", "hooks": [{"command": "./g.sh"}]}], "Stop": [{"command": "./s.sh"}]},
        "other": {"PreToolUse": [{"hooks": [{"command": "./g.sh"}]}]},
    },
    "matchers": {
        "m": {"PreToolUse": [{"matcher": text, "hooks": [{"command": "./x.sh"}]} for text in ["", "*", "view_file", "file", "^run_", "call_mcp_tool", "browser_subagent|invoke_subagent", "find_by_name", "My Tool"]]}
    },
    "keys that nobody knows": {
        "k": {"description": "mine", "PreToolUse": [{"tools": 1, "hooks": [{"command": "./x.sh", "env": {"A": "b"}}]}], "Stop": [{"command": "./x.sh", "matcher": "x", "name": "n", "timeout": 0}]}
    },
    "names in other cases, and unknown ones": {
        "c": {"pretooluse": [{"hooks": [{"command": "./x.sh"}]}], "STOP": [{"command": "./x.sh"}], "Notification": [{"command": "./n.sh"}], "Later": [{"matcher": "a", "hooks": [{"command": "./l.sh"}]}]}
    },
    "a question": {"q": {"PreToolUse": [{"hooks": [{"type": "prompt", "prompt": "Safe?", "model": "flash", "timeout": 9}]}]}},
}  # fmt: skip


def hook(**fields):
    """An observer of every tool, with these fields."""
    command = Handler(type="command", command="./x.sh")
    return Hook(**{"event": "after_tool_execute", "handler": command} | fields)


def render(*hooks):
    return ANTIGRAVITY.config.render(ANTIGRAVITY, list(enumerate(hooks)), plain_wording)


def parse(document):
    return ANTIGRAVITY.config.parse(ANTIGRAVITY, document)


@pytest.mark.covers("HIF-78")
@pytest.mark.parametrize("name", NATIVE)
def test_a_file_comes_back_as_it_was(name):
    """
    What Antigravity accepts is parsed and rendered again without a change and without a gap.
    """
    hooks, gaps = parse(NATIVE[name])

    assert (NATIVE[name], [], []) == (*render(*hooks), gaps)


@pytest.mark.parametrize("name", [name for name in NATIVE if name != "a question"])  # which no conversion relies on
def test_a_file_comes_back_by_way_of_a_manifest(name):
    """
    Nothing is lost where the hooks are a manifest for a while.
    """
    made = convert(NATIVE[name], ANTIGRAVITY, None).document

    assert NATIVE[name] == convert(made, None, ANTIGRAVITY).document


def test_hooks_from_elsewhere_are_a_set_of_their_own():
    """
    Groups at the events for tools, flat lists at the others.
    """
    made, _ = render(hook(matcher="shell"), hook(event="agent_stop", blocking=True), hook(event="session_start"))

    entry = {"command": "./x.sh"}
    assert {"hookonce": {"PostToolUse": [{"matcher": "run_command", "hooks": [entry]}], "Stop": [entry], "SessionStart": [entry]}} == made


@pytest.mark.parametrize(
    ("matcher", "text", "why"),
    [
        ("shell", "run_command", None),
        ("file_edit", "replace_file_content|multi_replace_file_content", None),
        ("find", "find_by_name|list_dir", None),
        ("agent", "browser_subagent|invoke_subagent", None),
        (["shell", "find"], "run_command|find_by_name|list_dir", None),
        ({"pattern": "^mcp:"}, "call_mcp_tool", None),
        ({"mcp": {"server": "gh"}}, "call_mcp_tool", "call_mcp_tool is every tool of every MCP server"),
        ("run_command", "run_command", "run_command is what Google Antigravity calls shell"),
    ],
)
def test_a_matcher_names_every_tool_that_is_meant(matcher, text, why):
    """
    A canonical tool may be several there; all of them are named, and read again they are that one.
    """
    made, gaps = render(hook(matcher=matcher))

    assert text == made["hookonce"]["PostToolUse"][0]["matcher"]
    assert ([] if why is None else [f"after_tool_execute ./x.sh: {why}"]) == [gap.note for gap in gaps]
    assert why is not None or [matcher] == [found.matcher for found in parse(made)[0]]


def test_a_matcher_of_nothing_is_not_one_of_everything():
    """
    A hook for no tool at all is lost, by name; an empty pattern would be met by every tool.
    """
    made, (gap,) = render(hook(matcher=[]))

    assert ({}, "lost", "$.hooks[0]") == (made, gap.effect, gap.where)


@pytest.mark.parametrize(("seconds", "whole", "gaps"), [(5, 5, 0), (0.5, 1, 1), (2.0, 2, 0), (2**40, 2**31 - 1, 1)])
def test_seconds_are_whole(seconds, whole, gaps):
    """
    A timeout that is no whole number, or too large a one, would cost the whole file.
    """
    made, told = render(hook(handler=Handler(type="command", command="./x.sh", timeout=seconds)))

    (entry,) = made["hookonce"]["PostToolUse"][0]["hooks"]
    assert (whole, int, ["timeout"] * gaps) == (entry["timeout"], type(entry["timeout"]), [gap.capability for gap in told])


def test_a_bare_script_of_somebody_else_cannot_refuse():
    """
    Only JSON is heard there, so a guard that speaks by its exit code is an observer unless it is wrapped.
    """
    guard = hook(event="before_tool_execute", blocking=True)
    _, (gap,) = render(guard)
    assert ("blocking", "observes") == (gap.capability, gap.effect)

    manifest = {"spec": "hooks/1.0", "hooks": [{"event": "before_tool_execute", "blocking": True, "handler": {"type": "command", "command": "./x.sh"}}]}
    made = convert(manifest, None, ANTIGRAVITY, adapt=WrapperOptions(CLIENT, "user"))
    assert [] == made.gaps
    command = format_command(Invocation(CLIENT, "antigravity", "PreToolUse", None, "canonical", "./x.sh", "user"))
    assert {"hookonce": {"PreToolUse": [{"hooks": [{"command": command}]}]}} == made.document


@pytest.mark.parametrize("other", [name for name in ABLE if name != "antigravity"])
def test_what_is_switched_off_stays_off(other):
    """
    Hooks of a set that is switched off run nowhere else, which is told.
    """
    made = convert(NATIVE["a set that is switched off"], ANTIGRAVITY, agents.load(other))

    lost = sorted({gap.where for gap in made.gaps if gap.effect == "lost" and gap.where.endswith("]")})
    assert {"$.hooks[0]", "$.hooks[1]"} <= set(lost)


def test_nothing_gets_into_a_set_that_is_switched_off():
    """
    A hook that is meant to run is not put beside others of the same name that are not.
    """
    off = {"antigravity": {"hookonce": {"set": "a", "settings": {"enabled": False}}}}
    on = {"antigravity": {"hookonce": {"set": "a"}}}
    made, _ = render(hook(event="vendor.antigravity.Stop", provider_data=off), hook(event="agent_stop", blocking=True, provider_data=on))

    assert {"a": {"enabled": False, "Stop": [{"command": "./x.sh"}]}, "a+": {"Stop": [{"command": "./x.sh"}]}} == made


@pytest.mark.parametrize("event", ["before_prompt", "session_end", "vendor.antigravity.Stop", "vendor.kiro.X"])
def test_an_event_that_is_not_there_loses_the_hook(event):
    """
    A hook without a place is lost, by name, and nothing is written for it.
    """
    made, (gap,) = render(hook(event=event))

    assert ({}, "lost", "$.hooks[0]") == (made, gap.effect, gap.where)


@pytest.mark.parametrize(
    "item",
    ["x", 5, [], {"matcher": 5, "hooks": []}, {"hooks": "x"}, {"hooks": [{}]}, {"hooks": [{"type": "http", "url": "x"}]}, {"hooks": [{"type": "prompt", "command": "x"}]}],
)  # fmt: skip
def test_what_is_no_hook_is_named(item):
    """
    An item for which Antigravity would drop the file is told of, and its neighbours are read.
    """
    hooks, (gap,) = parse({"a": {"PreToolUse": [item, {"hooks": [{"command": "./y.sh"}]}]}})

    assert ["./y.sh"] == [found.handler.command for found in hooks]
    assert ("$.a.PreToolUse[0]", "lost") == (gap.where, gap.effect)


def test_what_is_no_set_is_named():
    """
    Every key of the file is a set; anything else there is told of.
    """
    hooks, gaps = parse({"enabled": True, "a": {"Stop": [{"command": "./x.sh"}]}})

    assert (1, ["$.enabled"]) == (len(hooks), [gap.where for gap in gaps])


def test_data_for_antigravity_cannot_change_what_runs():
    """
    No hooks, matchers or switches come out of a manifest's data but such as were read there.
    """
    evil = [{"hooks": [{"command": "./evil.sh"}]}]
    data = {
        "type": "prompt", "command": "./evil.sh", "timeout": 0.5, "note": 1,
        "hookonce": {
            "event": "post_tool_use", "matcher": "view_file", "type": "http", "group": {"matcher": "*", "hooks": evil, "x": 1},
            "settings": {"PreToolUse": evil, "pretooluse": {}, "Later": evil, "enabled": "no", "y": 2}, "set": 5,
        },
    }  # fmt: skip
    made, gaps = render(hook(matcher="shell", provider_data={"antigravity": data}))

    assert [] == gaps
    assert {"hookonce": {"y": 2, "PostToolUse": [{"matcher": "run_command", "x": 1, "hooks": [{"command": "./x.sh", "note": 1}]}]}} == made


@pytest.mark.parametrize("events", ["default", "all"])
def test_our_doors_read_back_as_they_were_meant(events):
    """
    One entry for each event, in a set of ours.
    """
    wanted = build_entries(ANTIGRAVITY, "user", CLIENT, events)
    made, gaps = render(*wanted)

    found, _ = parse(made)
    assert ([], ["hookonce"]) == ([gap for gap in gaps if gap.effect == "lost"], list(made))
    assert {"PreToolUse", "PostToolUse", "Stop", "SessionStart"} <= made["hookonce"].keys()
    assert [(one.event, one.handler.command) for one in wanted] == [(one.event, one.handler.command) for one in found]


@pytest.mark.covers("HIF-93", "HIF-97")
@pytest.mark.parametrize("other", ABLE)
@pytest.mark.parametrize("name", NATIVE)
def test_no_hook_is_dropped_on_the_way(name, other):
    """
    To any other agent every hook arrives, verified, or has a gap that says that it is lost.
    """
    target = agents.load(other)

    made = convert(NATIVE[name], ANTIGRAVITY, target)

    arrived, _ = target.config.parse(target, made.document)
    lost = {gap.where for gap in made.gaps if gap.effect == "lost" and gap.where.endswith("]")}
    assert made.is_verified
    assert len(parse(NATIVE[name])[0]) == len(arrived) + len(lost)


keys = st.sampled_from(["hooks", "command", "matcher", "type", "PreToolUse", "stop", "x", "enabled", "event", "group", "joined", "set", "settings"])
anything = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=4), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4), max_leaves=14)


@given(st.dictionaries(keys, anything, max_size=4))
def test_any_object_can_be_read(document):
    """
    Whatever a file holds, its hooks are read or named, and what was read can be written and read again.
    """
    hooks, _ = parse(document)
    made, gaps = render(*hooks)

    again, faults = parse(made)
    assert [] == faults
    assert len(hooks) == len(again) + len({gap.where for gap in gaps if gap.effect == "lost"})


@given(anything, st.sampled_from([None, "shell", "find"]))
def test_any_data_for_antigravity_can_be_given(data, matcher):
    """
    Wrong data of a manifest is passed over, and changes neither event, matcher nor command.
    """
    own = {"antigravity": (data if type(data) is dict else {}) | {"hookonce": data}}
    made, gaps = render(hook(matcher=matcher, provider_data=own))

    found, _ = parse(made)
    kept = [(one.event, one.matcher, one.handler.command) for one in found]
    assert kept == [("after_tool_execute", matcher, "./x.sh")] or [gap.effect for gap in gaps] == ["lost"]
