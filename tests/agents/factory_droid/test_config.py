"""Droid's two files: settings with hooks in them, and a hooks.json that is nothing but events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce import agents
from hookonce.convert.conversion import convert
from tests.agents._config.node import plain_wording

DROID = agents.load("factory-droid")
CLAUDE = agents.load("claude-code")

# Written by hand after the schema in the npm package @factory/cli 0.225.2 (2026-09-23).
EVENTS = {
    "PreToolUse": [
        {
            "matcher": "Execute",
            "commandRegex": "^git ",
            "hooks": [
                {"type": "command", "command": '"$FACTORY_PROJECT_DIR"/.factory/hooks/g.sh', "timeout": 30},
                {"type": "command", "command": "./again.sh", "preserveRiskLevel": True},
            ],
        },
        {"matcher": "Edit", "hooks": [{"type": "command", "command": "./edit.sh"}]},
        {"matcher": "github___create_issue", "hooks": [{"type": "command", "command": "./mcp.sh"}]},
    ],
    "SessionStart": [{"matcher": "resume", "hooks": [{"type": "command", "command": "./hello.sh"}]}],
    "Stop": [{"hooks": [{"type": "command", "command": "./stop.sh"}]}],
}
BARE = EVENTS | {"hooksDisabled": False, "showHookOutput": True}
SETTINGS = {"hooks": EVENTS | {"showHookOutput": False}}
PLUGIN = {"PostToolUse": [{"type": "command", "command": "${DROID_PLUGIN_ROOT}/x.sh"}, {"matcher": "Read", "hooks": [{"type": "command", "command": "./y.sh"}]}]}


def read(document):
    """The hooks of a file."""
    hooks, gaps = DROID.config.parse(DROID, document)
    assert [] == gaps
    return hooks


def write(hooks):
    """The file of these hooks, and what it cannot say."""
    return DROID.config.render(DROID, list(enumerate(hooks)), plain_wording)


@pytest.mark.parametrize("document", [BARE, SETTINGS, PLUGIN, {"hooks": PLUGIN}, {"hooks": EVENTS}])
def test_either_file_comes_back_as_it_was(document):
    """
    A hooks.json stays bare, settings keep their wrapper, and keys of groups and entries survive.
    """
    assert (document, []) == write(read(document))
    assert document == convert(document, DROID, DROID).document


@pytest.mark.parametrize("target", list(agents.AGENTS))
@pytest.mark.parametrize("document", [BARE, PLUGIN])
def test_every_hook_arrives_elsewhere_or_is_lost_by_name(document, target):
    """
    Between Droid and any other agent nothing is dropped in silence.
    """
    made = convert(document, DROID, agents.load(target))

    arrived, _ = agents.load(target).config.parse(agents.load(target), made.document)
    lost = {gap.where for gap in made.gaps if gap.effect == "lost" and gap.where.endswith("]")}
    assert made.is_verified
    assert len(read(document)) == len(arrived) + len(lost)


def test_what_the_hooks_say():
    """
    Tools, servers and seconds in canonical words.
    """
    hooks = read(BARE)

    assert ["shell", "shell", "file_edit", {"mcp": {"server": "github", "tool": "create_issue"}}, None, None] == [hook.matcher for hook in hooks]
    assert [30, None] == [hook.handler.timeout for hook in hooks[:2]]
    assert [True, True, True, True, False, True] == [hook.blocking for hook in hooks]


def test_other_settings_are_no_events():
    """
    A settings file without hooks has none, whatever lists it holds.
    """
    assert ([], []) == DROID.config.parse(DROID, {"customModels": [{"model": "x"}], "commandAllowlist": ["ls"]})


def test_a_switch_that_turns_hooks_off_is_not_carried():
    """
    Hooks that were off run after a conversion, which is said; no manifest can turn droid's hooks off.
    """
    hooks, gaps = DROID.config.parse(DROID, BARE | {"hooksDisabled": True})
    forged = {"event": "agent_stop", "handler": {"type": "command", "command": "x"}, "provider_data": {"factory-droid": {"hookonce": {"settings": {"hooksDisabled": True}}}}}

    assert ["$.hooksDisabled"] == [gap.where for gap in gaps]
    assert "hooksDisabled" not in write(hooks)[0]
    assert ["Stop"] == list(convert({"spec": "hooks/0.1", "hooks": [forged]}, None, DROID).document["hooks"])


def test_hooks_for_settings_are_wrapped():
    """
    A hooks.json hides the hooks of the settings beside it, so that new hooks go into the settings.
    """
    mixed, _ = write([*read(BARE), *read(SETTINGS)])
    other = convert({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}, CLAUDE, DROID)

    assert ["hooks"] == list(mixed)
    assert ["hooks"] == list(other.document)


def test_a_guard_of_edits_sees_patches():
    """
    A patch can write and edit, so that a guard of either sees it, and a gap says that it sees more.
    """
    hook = {"event": "before_tool_execute", "blocking": True, "matcher": "file_edit", "handler": {"type": "command", "command": "./x.sh"}}

    made = convert({"spec": "hooks/0.1", "hooks": [hook]}, None, DROID)
    both = convert({"spec": "hooks/0.1", "hooks": [hook | {"matcher": ["file_write", "file_edit"]}]}, None, DROID)

    assert [] == both.gaps
    assert "ApplyPatch" in made.document["hooks"]["PreToolUse"][0]["matcher"].split("|")
    assert ["matcher"] == [gap.capability for gap in made.gaps]


@pytest.mark.parametrize("matcher", ["Execute", {"mcp": {"server": "a___b", "tool": "c"}}])
def test_a_matcher_that_droid_takes_for_something_else_is_named(matcher):
    """
    Droid's own names and servers with its own joint in them are read otherwise, and a gap says so.
    """
    hook = {"event": "before_tool_execute", "blocking": True, "matcher": matcher, "handler": {"type": "command", "command": "./x.sh"}}

    assert ["matcher"] == [gap.capability for gap in convert({"spec": "hooks/0.1", "hooks": [hook]}, None, DROID).gaps]


groups = st.fixed_dictionaries(
    {"hooks": st.lists(st.fixed_dictionaries({"type": st.just("command"), "command": st.sampled_from(["a", "b"])}, optional={"timeout": st.integers(1, 99), "preserveRiskLevel": st.booleans()}), min_size=1, max_size=3)},
    optional={"matcher": st.sampled_from(["", "*", "Execute", "Edit|Create", "^R", "a___.*", "x, y"]), "commandRegex": st.just("^git ")},
)


@given(st.dictionaries(st.sampled_from(sorted(DROID.events)), st.lists(groups, min_size=1, max_size=3), min_size=1), st.booleans())
def test_whatever_stands_in_a_file_comes_back(events, wrapped):
    """
    render(parse(file)) is the file.
    """
    document = {"hooks": events} if wrapped else events

    assert (document, []) == write(read(document))
