"""Auggie's settings: two kinds of matchers, two sets of events, milliseconds, and commands without a shell."""

import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hookonce import agents
from hookonce.agents.augment.config import join_arguments, strip_arguments, unwrap_shell, wrap_in_shell
from hookonce.base.invocation import Invocation, format_command, parse_command
from hookonce.configure.entries import build_entries
from hookonce.convert.conversion import WrapperOptions, convert
from hookonce.model import Handler, Hook
from tests.agents._config.node import plain_wording

AUGMENT = agents.load("augment")
CLIENT = "/home/u/.local/share/hookonce/bin/hookonce-on"
ABLE = list(agents.AGENTS)
COMMAND = {"type": "command", "command": ".augment/hooks/g.sh"}
# Native settings, put together from what the schema of @augmentcode/auggie 0.36.0 takes and docs.augmentcode.com/cli/hooks shows.
NATIVE = {
    "arguments and metadata": {
        "PreToolUse": [
            {
                "matcher": "launch-process|save-file",
                "metadata": {"includeConversationData": True},
                "hooks": [{"type": "command", "command": ".augment/hooks/g.sh", "args": ["--x", "a b"], "timeout": 5000}],
            }
        ]
    },
    "every event": {
        native: [{"hooks": [COMMAND | {"timeout": 1500}]}]
        for native in ("PreToolUse", "PostToolUse", "SessionStart", "SessionEnd", "Stop", "Notification", "PromptSubmit")
    },
    "the other set of events": {
        native: [{"command": f"./{native}.sh", "args": ["-v"], "timeout": 100}, {"command": "./again.sh"}]
        for native in ("beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "afterFileEdit", "afterShellExecution", "afterMCPExecution", "stop")
    },
    "matchers": {
        "PreToolUse": [
            {"matcher": text, "hooks": [COMMAND]}
            for text in ["", ".*", "launch", "^view$", "sub-agent-*", "mcp:*", "mcp:.*", "mcp:create", "mcp:.*_my-server$", "mcp:^make(?:_gh)$", "view|mcp:x"]
        ]
    },
    "several entries in a group": {"PostToolUse": [{"matcher": "view", "hooks": [COMMAND, COMMAND, {"type": "command", "command": "./b.sh"}]}]},
    "the same hook for both kinds of tools": {
        "PreToolUse": [{"matcher": "launch-process", "hooks": [COMMAND]}, {"matcher": "mcp:*", "hooks": [COMMAND]}, {"matcher": "mcp:x", "hooks": [COMMAND]}]
    },
    "commands": {
        "SessionStart": [{"hooks": [{"type": "command", "command": text}]} for text in ["ls *.py", "bash -c 'ls *.py'", "bash -c 'ls'", "a && b", "A=1 b", "it's"]]
    },
}  # fmt: skip


def hook(**fields):
    """A guard on every tool, with these fields."""
    command = Handler(type="command", command="./x.sh")
    return Hook(**{"event": "before_tool_execute", "blocking": True, "handler": command} | fields)


def render(*hooks):
    made, gaps = AUGMENT.config.render(AUGMENT, list(enumerate(hooks)), plain_wording)
    return made["hooks"], gaps


def parse(events):
    return AUGMENT.config.parse(AUGMENT, {"hooks": events})


@pytest.mark.covers("HIF-78")
@pytest.mark.parametrize("name", NATIVE)
def test_settings_come_back_as_they_were(name):
    """
    What Auggie accepts is parsed and rendered again without a change and without a gap.
    """
    hooks, gaps = parse(NATIVE[name])

    assert (NATIVE[name], [], []) == (*render(*hooks), gaps)


@pytest.mark.parametrize("name", NATIVE)
def test_settings_come_back_by_way_of_a_manifest(name):
    """
    Nothing is lost where the hooks are a manifest for a while.
    """
    made = convert({"hooks": NATIVE[name]}, AUGMENT, None).document

    assert NATIVE[name] == convert(made, None, AUGMENT).document["hooks"]


@pytest.mark.parametrize(
    ("matcher", "texts"),
    [
        (None, [None]),
        ("shell", ["launch-process"]),
        (["file_write", "file_edit"], ["save-file|str-replace-editor"]),
        ("agent", ["sub-agent-*"]),
        ({"pattern": "^mcp:"}, ["mcp:*"]),
        ({"mcp": {"server": "my-server"}}, ["mcp:.*_my-server$"]),
        ({"mcp": {"server": "gh", "tool": "make_it"}}, ["mcp:^make_it(?:_gh)$"]),
        ([{"mcp": {"server": "a.b"}}, {"mcp": {"server": "c", "tool": "d|e"}}], [r"mcp:.*_a\.b$|^d\|e(?:_c)$"]),
        (["shell", {"mcp": {"server": "gh"}}], ["launch-process", "mcp:(?:.*_gh$)"]),
        (["shell", {"pattern": "^mcp:"}], ["launch-process", "mcp:(?:.*)"]),
    ],
)
def test_a_matcher_in_auggies_words(matcher, texts):
    """
    One pattern for MCP tools, one for all others, in two groups where both are meant; read again it is one hook.
    """
    made, gaps = render(hook(matcher=matcher))

    entry = {"type": "command", "command": "./x.sh"}
    assert [] == gaps
    assert [{"hooks": [entry]} | ({} if text is None else {"matcher": text}) for text in texts] == made["PreToolUse"]
    assert [matcher] == [found.matcher for found in parse(made)[0]]


def test_a_pattern_is_the_tools_that_it_fits():
    """
    A canonical pattern becomes the names of Auggie's tools, and is read again as their canonical names.
    """
    made, gaps = render(hook(matcher={"pattern": "^(shell|agent)$"}))

    assert ("launch-process|sub-agent-*", []) == (made["PreToolUse"][0]["matcher"], gaps)
    assert [["shell", "agent"]] == [found.matcher for found in parse(made)[0]]


def test_two_hooks_stay_two():
    """
    The same script for one kind of tools and, by another hook, for the other is not taken for one hook.
    """
    hooks = [hook(matcher="shell"), hook(matcher={"pattern": "^mcp:"}), hook(matcher=["shell", {"pattern": "^mcp:"}])]

    assert [one.matcher for one in hooks] == [found.matcher for found in parse(render(*hooks)[0])[0]]


def test_seconds_are_milliseconds():
    """
    A second is a thousand of Auggie's.
    """
    made, _ = render(hook(handler=Handler(type="command", command="./x.sh", timeout=2.5)))

    assert 2500 == made["PreToolUse"][0]["hooks"][0]["timeout"]


def test_arguments_are_part_of_the_command():
    """
    Elsewhere a command has no arguments beside it; back here they stand apart again, unless the command has changed.
    """
    (found,), _ = parse({"PreToolUse": [{"hooks": [COMMAND | {"args": ["--x", "a b"]}]}]})
    assert ".augment/hooks/g.sh --x 'a b'" == found.handler.command

    changed = hook(handler=Handler(type="command", command="./y.sh"), provider_data=found.provider_data | {"augment": {"args": ["--evil"]}})
    assert [{"type": "command", "command": "./y.sh"}] == render(changed)[0]["PreToolUse"][0]["hooks"]


@pytest.mark.parametrize(
    ("command", "native"),
    [
        ("./x.sh --a", "./x.sh --a"),
        ("A=1 ./x.sh", "bash -c 'A=1 ./x.sh'"),
        ("cat *.py", "bash -c 'cat *.py'"),
        ("A='b c' d", "bash -c \"A='b c' d\""),
        ("cd x && ./y.sh", "cd x && ./y.sh"),
        ("~/x.sh *", "~/x.sh *"),
    ],
)
def test_a_command_that_needs_a_shell_gets_one(command, native):
    """
    Auggie takes a shell only for certain characters; what needs one without them would never start.
    """
    made, _ = render(hook(handler=Handler(type="command", command=command)))

    assert native == made["PreToolUse"][0]["hooks"][0]["command"]
    assert [command] == [found.handler.command for found in parse(made)[0]]


@given(st.text(alphabet="abc =*'\"\\()~&$\n./", min_size=1, max_size=20))
def test_any_command_comes_out_of_its_shell(command):
    """
    Whatever a command is, what was put around it comes off again, and bash would be given that very command.
    """
    made = wrap_in_shell(command)

    assert command in (made, shlex.split(made)[2] if made != command else None)
    assert command in (unwrap_shell(made), shlex.split(command)[2] if unwrap_shell(command) != command else None)


@given(st.text(max_size=10), st.lists(st.text(max_size=6), max_size=3))
def test_arguments_come_off_as_they_were_put_on(command, words):
    """
    A command and its arguments are one text, and two again.
    """
    assert command == strip_arguments(join_arguments(command, words), words)


@pytest.mark.parametrize("event", ["subagent_start", "vendor.augment.Future", "vendor.augment.Stop", "vendor.kiro.X"])
def test_an_event_that_auggie_does_not_know_is_never_written(event):
    """
    It would cost all hooks of the file; the hook is lost, by name.
    """
    made, (gap,) = render(hook(event=event))

    assert ({}, "lost", "$.hooks[0]") == (made, gap.effect, gap.where)


@pytest.mark.parametrize("native", ["Future", "preToolUse", "BeforeShellExecution"])
def test_an_unknown_event_in_settings_is_kept_as_such(native):
    """
    Auggie calls it for nobody, so it is no event of ours, and goes nowhere.
    """
    (found,), gaps = parse({native: [{"matcher": "view", "hooks": [COMMAND]}]})

    assert (f"vendor.augment.{native}", []) == (found.event, gaps)
    assert ({}, ["lost"]) == (render(found)[0], [gap.effect for gap in render(found)[1]])


@pytest.mark.parametrize("entry", [{"type": "http", "url": "x"}, {"type": "command"}, {"type": "command", "command": 5}, {}])
def test_an_entry_without_a_command_is_named(entry):
    """
    What Auggie cannot run is told of, and its neighbours are read.
    """
    hooks, (gap,) = parse({"Stop": [{"hooks": [entry, COMMAND]}]})

    assert [COMMAND["command"]] == [found.handler.command for found in hooks]
    assert ("$.hooks.Stop", "lost") == (gap.where, gap.effect)


@pytest.mark.parametrize("matcher", [[], {"pattern": "(?i)BASH"}])
def test_a_matcher_that_cannot_be_written_loses_the_hook(matcher):
    """
    A pattern that JavaScript does not read would never be met, or cost the file.
    """
    made, (gap,) = render(hook(matcher=matcher))

    assert ({}, "lost", "matcher") == (made, gap.effect, gap.capability)


def test_data_for_auggie_cannot_change_what_runs():
    """
    Only unknown keys are added; neither group, matcher nor arguments of a manifest's data are believed.
    """
    data = {
        "type": "http", "command": "./evil.sh", "args": ["--evil"], "timeout": 1, "note": 1,
        "hookonce": {"matcher": "view", "group": {"matcher": "view", "hooks": [COMMAND], "metadata": {}}, "args": ["x"], "joined": True, "event": "stop"},
    }  # fmt: skip
    made, gaps = render(hook(matcher="search"), hook(matcher="shell", provider_data={"augment": data}))

    entry = {"type": "command", "command": "./x.sh"}
    assert [] == gaps
    assert [
        {"matcher": "grep-search", "hooks": [entry]},
        {"matcher": "launch-process", "metadata": {}, "hooks": [entry | {"note": 1}]},
    ] == made["PreToolUse"]


@pytest.mark.parametrize("events", ["default", "all"])
def test_our_doors_read_back_as_they_were_meant(events):
    """
    One group for each event, which asks to be told the prompt and the server, and none at the other set of events.
    """
    wanted = build_entries(AUGMENT, "user", CLIENT, events)
    made, gaps = render(*wanted)

    found, _ = parse(made)
    assert [] == [gap for gap in gaps if gap.effect == "lost"]
    assert list(NATIVE["every event"]) == list(made)
    assert all(group["metadata"]["includeMCPMetadata"] for groups in made.values() for group in groups)
    assert [(one.event, one.handler.command) for one in wanted] == [(one.event, one.handler.command) for one in found]


def test_a_foreign_script_is_wrapped_and_read_as_what_it_is():
    """
    A wrapper is never put into a shell, and comes off again.
    """
    source = agents.load("claude-code")
    document = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "A=1 ./x.sh *"}]}]}}
    made = convert(document, source, AUGMENT, adapt=WrapperOptions(CLIENT, "user")).document

    command = made["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    assert format_command(Invocation(CLIENT, "augment", "PreToolUse", None, "claude-code", "A=1 ./x.sh *", "user")) == command
    assert parse_command(command) is not None
    (found,), _ = AUGMENT.config.parse(AUGMENT, made)
    assert ("A=1 ./x.sh *", "claude-code", "shell") == (found.handler.command, found.dialect, found.matcher)


@pytest.mark.part(2)
@pytest.mark.covers("HIF-93", "HIF-97")
@pytest.mark.parametrize("other", ABLE)
@pytest.mark.parametrize("name", NATIVE)
def test_no_hook_is_dropped_on_the_way(name, other):
    """
    To any other agent every hook arrives, verified, or has a gap that says that it is lost.
    """
    target = agents.load(other)

    made = convert({"hooks": NATIVE[name]}, AUGMENT, target)

    arrived, _ = target.config.parse(target, made.document)
    lost = {gap.where for gap in made.gaps if gap.effect == "lost" and gap.where.endswith("]")}
    assert made.is_verified
    assert len(parse(NATIVE[name])[0]) == len(arrived) + len(lost)


keys = st.sampled_from(["hooks", "command", "args", "matcher", "type", "timeout", "PreToolUse", "stop", "x", "event", "group", "joined"])
texts = st.text(max_size=4) | st.sampled_from(["mcp:*", "mcp:(?:x)", "view", "command", "PreToolUse", "beforeShellExecution"])
anything = st.recursive(st.none() | st.booleans() | st.integers() | texts, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4), max_leaves=12)


@given(anything)
def test_any_object_can_be_read(events):
    """
    Whatever settings hold, their hooks are read or named, and what was read can be written and read again.
    """
    hooks, _ = parse(events)
    made, gaps = render(*hooks)

    again, faults = parse(made)
    assert [] == faults
    assert len(hooks) == len(again) + len({gap.where for gap in gaps if gap.effect == "lost"})


@given(anything, st.sampled_from([None, "shell", ["shell", {"pattern": "^mcp:"}]]))
@example({"event": "beforeShellExecution"}, "shell")
def test_any_data_for_auggie_can_be_given(data, matcher):
    """
    Wrong data of a manifest is passed over, and changes neither event, matcher nor command.
    """
    own = {"augment": (data if type(data) is dict else {}) | {"hookonce": data}}
    made, gaps = render(hook(matcher=matcher, provider_data=own))

    (found,), _ = parse(made)
    assert [] == gaps
    assert ("before_tool_execute", matcher, "./x.sh") == (found.event, found.matcher, found.handler.command)
