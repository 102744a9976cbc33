"""Devin's hook files: Claude Code's groups under a key, or bare in a file of their own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce import agents
from hookonce.convert.conversion import convert
from tests.agents._config.node import plain_wording

DEVIN = agents.load("devin")
CLAUDE = agents.load("claude-code")

# Made up by us after docs.devin.ai/cli/extensibility/hooks of 2026-09: groups with a pattern on the tool's name,
# handlers that run a command or ask a model, seconds. This is the shape of hooks.v1.json; config.json has a key for it.
BARE = {
    "PreToolUse": [
        {"matcher": "exec", "hooks": [{"type": "command", "command": "./check.sh", "timeout": 10}]},
        {"matcher": "^(edit|write)$", "hooks": [{"type": "command", "command": "./a.sh"}, {"type": "prompt", "prompt": "Is this safe?", "timeout": 5}]},
        {"matcher": "mcp__github__.*", "hooks": [{"type": "command", "command": "./gh.sh", "note": 1}]},
    ],
    "PermissionRequest": [{"hooks": [{"type": "command", "command": "./p.sh"}]}],
    "PostCompaction": [{"matcher": "", "hooks": [{"type": "command", "command": "./c.sh"}]}],
    "Stop": [{"hooks": [{"type": "command", "command": "./s.sh"}]}],
}


@pytest.mark.parametrize("document", [BARE, {"hooks": BARE}], ids=["hooks.v1.json", "config.json"])
def test_both_shapes_come_back_as_they_were(document):
    """
    A file of nothing but hooks has no key around them.
    """
    hooks, faults = DEVIN.config.parse(DEVIN, document)
    made, _ = DEVIN.config.render(DEVIN, list(enumerate(hooks)), plain_wording)

    assert (document, []) == (made, faults)
    assert 7 == len(hooks)


def test_what_the_entries_mean():
    """
    The same hooks in both shapes: seconds, canonical tools, the events that can refuse.
    """
    hooks, _ = DEVIN.config.parse(DEVIN, BARE)
    inside, _ = DEVIN.config.parse(DEVIN, {"hooks": BARE})

    assert [(one.event, one.handler, one.matcher) for one in hooks] == [(one.event, one.handler, one.matcher) for one in inside]
    assert ("shell", 10, True) == (hooks[0].matcher, hooks[0].handler.timeout, hooks[0].blocking)
    assert "Is this safe?" == hooks[2].handler.prompt
    assert {"mcp": {"server": "github"}} == hooks[3].matcher
    assert ["permission_request", "after_compact", "agent_stop"] == [one.event for one in hooks[4:]]


def test_what_is_written_for_others_hooks_goes_under_the_key():
    """
    The files that we write are settings, and have other things beside hooks.
    """
    entry = {"type": "command", "command": "./x.sh", "timeout": 5}
    document = {"hooks": {"PreToolUse": [{"matcher": "Bash|Read", "hooks": [entry]}], "PreCompact": [{"hooks": [entry]}]}}

    done = convert(document, CLAUDE, DEVIN)

    assert {"hooks": {"PreToolUse": [{"matcher": "exec|read|notebook_read", "hooks": [entry]}]}} == done.document
    assert [("$.hooks[1]", "lost")] == [(gap.where, gap.effect) for gap in done.gaps]


def test_bare_hooks_beside_others_go_under_the_key():
    """
    One shape for one document: whoever adds a hook to a manifest gets settings.
    """
    manifest = convert({"Stop": BARE["Stop"]}, DEVIN, None).document
    assert {"Stop": BARE["Stop"]} == convert(manifest, None, DEVIN).document

    manifest["hooks"].append({"event": "session_start", "handler": {"type": "command", "command": "./n.sh"}})

    assert {"hooks"} == convert(manifest, None, DEVIN).document.keys()


@pytest.mark.parametrize("document", [{}, {"model": "x", "list": [1]}, {"hooks": 5}, {"hooks": None}, {"$schema": "x"}])
def test_settings_without_hooks_have_none(document):
    """
    Lists in somebody's settings are no events.
    """
    assert [] == DEVIN.config.parse(DEVIN, document)[0]


values = st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["hooks", "matcher", "type", "command", "Stop"]), inner, max_size=3), max_leaves=12)


@given(st.dictionaries(st.sampled_from(["hooks", "Stop", "PreToolUse", "Unheard", "model"]), values))
def test_nothing_that_is_json_makes_it_stumble(document):
    """
    What is not understood is told, and what is understood can be written again.
    """
    found, gaps = DEVIN.config.parse(DEVIN, document)
    made, _ = DEVIN.config.render(DEVIN, list(enumerate(found)), plain_wording)

    assert all(gap.effect == "lost" for gap in gaps)
    assert len(found) == len(DEVIN.config.parse(DEVIN, made)[0])
