"""Cursor's hooks.json: what it says, what comes back, and what must never be written into it."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce import agents
from hookonce.agents._config.matchers.js_regex import escape_name, is_js_regex
from hookonce.base.invocation import Invocation, format_command
from hookonce.configure.entries import build_entries
from hookonce.convert.conversion import WrapperOptions, convert
from hookonce.model import Handler, Hook
from tests.agents._config.node import plain_wording
from tests.shared import vector

CURSOR = agents.load("cursor")
CLIENT = "/home/u/.local/share/hookonce/bin/hookonce-on"
ABLE = list(agents.AGENTS)
# The 21 events that the engine of @cursor/sdk 1.0.32 knows, with what their matcher is compared to.
SUBJECTS = {
    "preToolUse": "Shell",
    "postToolUse": "Write",
    "postToolUseFailure": "Grep",
    "beforeShellExecution": r"^git (push|reset)\b",
    "afterShellExecution": "npm",
    "beforeMCPExecution": "MCP:create_issue",
    "afterMCPExecution": "issue",
    "beforeReadFile": "Read",
    "afterFileEdit": "Write",
    "beforeTabFileRead": "TabRead",
    "afterTabFileEdit": "TabWrite",
    "beforeSubmitPrompt": "UserPromptSubmit",
    "stop": "Stop",
    "afterAgentResponse": "AgentResponse",
    "afterAgentThought": "AgentThought",
    "subagentStart": "explore",
    "subagentStop": "explore|shell",
    "sessionStart": "",
    "sessionEnd": "*",
    "preCompact": ".*",
    "workspaceOpen": "x",
}
# Native files, put together from what the engine of @cursor/sdk 1.0.32 validates.
NATIVE = {
    "entries of every kind": {
        "preToolUse": [
            {"type": "command", "command": ".cursor/hooks/guard.sh", "matcher": "Shell|Write", "timeout": 30, "failClosed": True}
        ],
        "stop": [{"command": ".cursor/hooks/gate.sh", "loop_limit": None}],
        "subagentStop": [{"command": "./go-on.sh", "loop_limit": 3, "failClosed": False}],
        "beforeShellExecution": [{"type": "prompt", "prompt": "Is this safe? $ARGUMENTS", "model": "fast", "timeout": 10}],
    },
    "without matchers": {native: [{"command": f"./{native}.sh"}] for native in SUBJECTS},
    "with matchers": {native: [{"command": "./x.sh", "matcher": text, "timeout": 2.5}] for native, text in SUBJECTS.items()},
    "several at one event": {"preToolUse": [{"command": "./a.sh"}, {"command": "./a.sh"}, {"type": "command", "command": "./b.sh"}]},
    "keys that nobody knows": {"sessionStart": [{"command": "./x.sh", "description": "mine", "tags": ["a", {"b": None}]}]},
    "patterns of all sorts": {
        "preToolUse": [
            {"command": "./x.sh", "matcher": text}
            for text in ["^Shell$", "Web", "MCP:.*", "MCP:a|MCP:b", "(?<n>Sh)ell", "Shell,Write", "shell", "*", "My Tool"]
        ]
    },
    "patterns of javascript alone": {"preToolUse": [{"command": "./x.sh", "matcher": text} for text in ["(?!Shell)", "[^]", r"\p"]]},
    "an observer that is to fail closed": {"postToolUse": [{"command": "./x.sh", "failClosed": True}]},
}  # fmt: skip


def hook(**fields):
    """A guard on every tool, with these fields."""
    command = Handler(type="command", command="./x.sh")
    return Hook(**{"event": "before_tool_execute", "blocking": True, "handler": command} | fields)


def render(*hooks):
    return CURSOR.config.render(CURSOR, list(enumerate(hooks)), plain_wording)


def parse(events):
    return CURSOR.config.parse(CURSOR, {"version": 1, "hooks": events})


def manifest(*hooks):
    """The manifest of hooks that were converted to nothing."""
    return convert({"version": 1, "hooks": hooks[0]}, CURSOR, None).document


@pytest.mark.covers("HIF-78")
@pytest.mark.parametrize("name", NATIVE)
def test_a_file_comes_back_as_it_was(name):
    """
    What Cursor accepts is parsed and rendered again without a change and without a gap.
    """
    hooks, gaps = parse(NATIVE[name])

    assert ({"version": 1, "hooks": NATIVE[name]}, [], []) == (*render(*hooks), gaps)


@pytest.mark.parametrize("name", [name for name in NATIVE if not name.endswith("alone")])  # a manifest has RE2's
def test_a_file_comes_back_by_way_of_a_manifest(name):
    """
    Nothing is lost where the hooks are a manifest for a while.
    """
    made = manifest(NATIVE[name])

    assert NATIVE[name] == convert(made, None, CURSOR).document["hooks"]


@pytest.mark.covers("HIF-X4", "HIF-98")
@pytest.mark.parametrize(
    ("event", "native"),
    [("before_tool_execute", "preToolUse"), ("after_tool_execute", "postToolUse"), ("tool_use_failure", "postToolUseFailure")],
)
@pytest.mark.parametrize(
    ("matcher", "text"),
    [
        (None, None),
        ("shell", "Shell"),
        (["shell", "file_read"], "Shell|Read"),
        (["file_write", "file_edit"], "Write"),
        ("web_fetch", "WebFetch|Fetch"),
        ({"pattern": "^mcp:"}, "MCP:.*"),
        ({"pattern": "^file_"}, "Read|Write"),
        ("my_own.tool", r"my_own\.tool"),
    ],
)
def test_a_hook_on_tools_goes_to_the_general_event(event, native, matcher, text):
    """
    It is told by one matcher which tools it is for, and every tool has such an event.
    """
    made, gaps = render(hook(event=event, matcher=matcher, blocking=native == "preToolUse"))

    assert ["observes"] * (matcher == "my_own.tool") == [gap.effect for gap in gaps]
    assert {native: [{"command": "./x.sh"} | ({} if text is None else {"matcher": text})]} == made["hooks"]


@pytest.mark.covers("HIF-X4")
@pytest.mark.parametrize(
    ("native", "event", "matcher"),
    [
        ("beforeShellExecution", "before_tool_execute", "shell"),
        ("beforeMCPExecution", "before_tool_execute", {"pattern": "^mcp:"}),
        ("beforeReadFile", "before_tool_execute", "file_read"),
        ("afterShellExecution", "after_tool_execute", "shell"),
        ("afterMCPExecution", "after_tool_execute", {"pattern": "^mcp:"}),
        ("afterFileEdit", "after_tool_execute", ["file_write", "file_edit"]),
    ],
)
def test_an_event_for_one_kind_of_tool_stands_for_a_matcher(native, event, matcher):
    """
    It is read as the general event with that matcher, and comes back only while it has it.
    """
    (found,), _ = parse({native: [{"command": "./x.sh"}]})

    assert (event, matcher) == (found.event, found.matcher)
    assert [native] == list(render(found)[0]["hooks"])
    general = {"before_tool_execute": "preToolUse", "after_tool_execute": "postToolUse"}[event]
    assert [general] == list(render(hook(event=event, matcher="search", provider_data=found.provider_data))[0]["hooks"])


def test_a_hook_that_rewrites_stays_where_it_can():
    """
    Only preToolUse takes new input, so that a hook that needs it goes there wherever it came from.
    """
    (found,), _ = parse({"beforeShellExecution": [{"command": "./x.sh"}]})

    made, _ = render(hook(matcher="shell", degradation={"input_rewrite": "block"}, provider_data=found.provider_data))

    assert {"preToolUse": [{"command": "./x.sh", "matcher": "Shell"}]} == made["hooks"]


def test_a_matcher_on_the_text_of_a_command_survives():
    """
    What no canonical matcher can say is kept beside it, and is not taken for the name of a tool.
    """
    (found,), _ = parse({"beforeShellExecution": [{"command": "./x.sh", "matcher": "rm -rf|Write"}]})

    assert ("shell", "rm -rf|Write") == (found.matcher, found.provider_data["cursor"]["hookonce"]["matcher"])
    elsewhere = convert({"hooks": {"beforeShellExecution": [{"command": "./x.sh", "matcher": "rm -rf"}]}}, CURSOR, agents.load("claude-code"))
    assert [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./x.sh"}]}] == elsewhere.document["hooks"]["PreToolUse"]


@pytest.mark.parametrize(
    ("matcher", "text"),
    [({"mcp": {"server": "github"}}, "MCP:.*"), ({"mcp": {"server": "github", "tool": "create_issue"}}, "MCP:create_issue")],
)
def test_the_server_of_an_mcp_tool_is_a_gap(matcher, text):
    """
    Cursor names the tool alone, so that the tools of other servers are meant as well.
    """
    made, (gap,) = render(hook(matcher=matcher))

    assert text == made["hooks"]["preToolUse"][0]["matcher"]
    assert ("matcher", "$.hooks[0].matcher", "prevents") == (gap.capability, gap.where, gap.effect)
    assert "not its server" in gap.note


def test_writing_and_editing_are_one_tool():
    """
    A hook for one of them is called for both, which is a gap.
    """
    made, (gap,) = render(hook(matcher="file_edit"))

    assert "Write" == made["hooks"]["preToolUse"][0]["matcher"]
    assert "before_tool_execute ./x.sh: Write of Cursor is file_write and file_edit at once" == gap.note


@pytest.mark.parametrize(("native", "closed"), [("preToolUse", "closed"), ("stop", "closed"), ("postToolUse", None)])
def test_a_hook_can_fail_closed(native, closed):
    """
    The switch is the manifest's own word where something can be prevented, and Cursor's key elsewhere.
    """
    (found,), _ = parse({native: [{"command": "./x.sh", "failClosed": True}]})

    assert closed == found.on_failure
    assert [{"command": "./x.sh", "failClosed": True}] == render(found)[0]["hooks"][native]


@pytest.mark.parametrize("event", ["notification", "permission_request", "vendor.cursor.someFutureEvent", "vendor.cursor.stop", "vendor.kiro.X"])
def test_an_event_that_cursor_does_not_know_is_never_written(event):
    """
    It would cost the whole file; the hook is lost, by name.
    """
    made, (gap,) = render(hook(event=event))

    assert ({"version": 1, "hooks": {}}, "lost", "$.hooks[0]") == (made, gap.effect, gap.where)


@pytest.mark.parametrize("native", ["someFutureEvent", "PreToolUse", "before_shell_execution", "Stop"])
def test_an_unknown_event_in_a_file_is_kept_as_such(native):
    """
    Cursor calls it for nobody, however well it is meant; so it is no event of ours, and goes nowhere.
    """
    (found,), gaps = parse({native: [{"command": "./x.sh", "matcher": "Shell"}]})

    assert (f"vendor.cursor.{native}", []) == (found.event, gaps)
    assert {} == render(found)[0]["hooks"]
    assert ["lost"] == [gap.effect for gap in render(found)[1]]


@pytest.mark.parametrize(
    "entry",
    [
        "./x.sh", None, 5, [], {}, {"matcher": "Shell"}, {"type": "http", "url": "http://x"}, {"type": "prompt", "command": "./x.sh"},
        {"command": 5}, {"type": 5, "command": "x"}, {"command": "./x.sh", "matcher": 5}, {"matcher": "Shell", "hooks": [{"command": "./x.sh"}]},
    ],
)  # fmt: skip
def test_what_is_no_hook_is_named(entry):
    """
    An entry for which Cursor would drop the file is told of, and its neighbours are read.
    """
    hooks, (gap,) = parse({"preToolUse": [entry, {"command": "./y.sh"}]})

    assert ["./y.sh"] == [found.handler.command for found in hooks]
    assert ("$.hooks.preToolUse[0]", "lost") == (gap.where, gap.effect)


@pytest.mark.parametrize("kind", ["http", "agent", "mcp_tool"])
def test_other_handlers_are_never_written(kind):
    """
    Cursor runs commands and asks models; a handler of another kind is lost, whatever is said about it.
    """
    own = {"cursor": {"type": kind, "url": "http://x"}}
    made, (gap,) = render(hook(handler=Handler(type=kind, url="http://x", prompt="?"), provider_data=own))

    assert ({}, "lost") == (made["hooks"], gap.effect)


@pytest.mark.covers("HIF-X8")
def test_a_prompt_stays_a_prompt():
    """
    A question to a model is the same question there.
    """
    handler = Handler(type="prompt", prompt="Safe? $ARGUMENTS", model="fast", timeout=10)
    made, gaps = render(hook(handler=handler))

    assert [] == gaps
    assert [{"type": "prompt", "prompt": "Safe? $ARGUMENTS", "model": "fast", "timeout": 10}] == made["hooks"]["preToolUse"]
    assert "input_rewrite" in CURSOR.config.capabilities


def test_data_for_cursor_cannot_change_what_runs_or_spoil_the_file():
    """
    Of a manifest's data for Cursor only that is written which Cursor can read and which is not the manifest's to say.
    """
    data = {
        "type": "http", "command": "./evil.sh", "prompt": "?", "timeout": "x", "matcher": "(", "failClosed": "yes", "loop_limit": 0, "note": 1,
        "hookonce": {"event": "PreToolUse", "matcher": "(", "typed": "yes"},
    }  # fmt: skip
    made, gaps = render(hook(matcher="shell", provider_data={"cursor": data}))

    assert ([{"command": "./x.sh", "matcher": "Shell", "note": 1}], []) == (made["hooks"]["preToolUse"], gaps)


@pytest.mark.parametrize("matcher", [[], {"pattern": "(?i)BASH"}, {"pattern": r"(?P<x>@)"}, {"pattern": r"\Q(\E"}])
def test_a_pattern_that_javascript_does_not_read_is_not_written(matcher):
    """
    One bad pattern costs the whole file, so that the hook is lost instead; beside other tools only the pattern is.
    """
    made, (gap,) = render(hook(matcher=matcher))
    assert ({}, "lost", "$.hooks[0]") == (made["hooks"], gap.effect, gap.where)

    made, gaps = render(hook(matcher=["shell", *(matcher if type(matcher) is list else [matcher])]))
    assert "Shell" == made["hooks"]["preToolUse"][0]["matcher"]
    assert all(gap.capability == "matcher" and gap.effect == "prevents" for gap in gaps)


@pytest.mark.parametrize("text", ["a", "^a|b$", "(?:a)", "(?=a)b", "(?<!a)b", "(?<=a+)b", "(?<n>a)", "[]", "[^]a", r"[\w-.]", "[a[b]", r"\p{L}", r"\/", "a{,2}", "]", "}", r"[*+]+", "a+?"])
def test_patterns_of_javascript(text):
    """
    Its own ways are accepted, also where Python has others.
    """
    assert is_js_regex(text)


@pytest.mark.parametrize("text", ["(", ")", "[", "[[a", "*", "a**", "a++", "(?i)a", "(?i:a)", "(?P<n>a)", "(?>a)", "(?#a)", "[z-a]", "a\\", "(?<n>a)(?<n>b)", "a{2,1}"])
def test_no_patterns_of_javascript(text):
    """
    What it would refuse is refused, and so are ways of other engines.
    """
    assert not is_js_regex(text)


@given(st.text(max_size=12))
def test_a_name_is_a_pattern_for_itself(name):
    """
    Whatever a tool is called, its pattern can be read and fits it.
    """
    assert is_js_regex(escape_name(name))
    assert re.fullmatch(escape_name(name), name)


@pytest.mark.parametrize("events", ["default", "all"])
def test_our_doors_read_back_as_they_were_meant(events):
    """
    One entry for each event that is wanted, split events included, each at its own.
    """
    wanted = build_entries(CURSOR, "user", CLIENT, events)
    made, gaps = render(*wanted)

    found, _ = CURSOR.config.parse(CURSOR, made)
    assert [] == [gap for gap in gaps if gap.effect == "lost"]
    assert sorted((one.event, one.handler.command) for one in wanted) == sorted((one.event, one.handler.command) for one in found)
    assert all(command.split(" ")[2] == native for native, entries in made["hooks"].items() for command in [entries[0]["command"]])
    assert (len(SUBJECTS) if events == "all" else 13) >= len(made["hooks"])


def test_a_foreign_script_is_wrapped_and_read_as_what_it_is():
    """
    A wrapper names Cursor's own event, and comes off again.
    """
    source = agents.load("claude-code")
    document = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./x.sh", "timeout": 5}]}]}}
    made = convert(document, source, CURSOR, adapt=WrapperOptions(CLIENT, "user")).document

    (entry,) = made["hooks"]["preToolUse"]
    assert format_command(Invocation(CLIENT, "cursor", "preToolUse", None, "claude-code", "./x.sh", "user", 5)) == entry["command"]
    (found,), _ = CURSOR.config.parse(CURSOR, made)
    assert ("./x.sh", "claude-code", 5, "shell") == (found.handler.command, found.dialect, found.handler.timeout, found.matcher)


@pytest.mark.part(2)
@pytest.mark.covers("HIF-93", "HIF-97")
@pytest.mark.parametrize("other", ABLE)
@pytest.mark.parametrize("name", NATIVE)
def test_no_hook_is_dropped_on_the_way(name, other):
    """
    To any other agent every hook arrives, verified, or has a gap that says that it is lost.
    """
    document = {"version": 1, "hooks": NATIVE[name]}
    target = agents.load(other)

    made = convert(document, CURSOR, target)

    arrived, _ = target.config.parse(target, made.document)
    lost = {gap.where for gap in made.gaps if gap.effect == "lost" and gap.where.endswith("]")}
    assert made.is_verified
    assert len(parse(NATIVE[name])[0]) == len(arrived) + len(lost)


anything = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=4), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["hooks", "command", "matcher", "type", "timeout", "preToolUse", "stop", "x"]), inner, max_size=4), max_leaves=12)


@given(st.dictionaries(st.sampled_from(["version", "hooks"]), anything))
def test_any_object_can_be_read(document):
    """
    Whatever a file holds, its hooks are read or named, and what was read can be written and read again.
    """
    hooks, _ = CURSOR.config.parse(CURSOR, document)
    made, gaps = render(*hooks)

    again, faults = CURSOR.config.parse(CURSOR, made)
    assert [] == faults
    assert len(hooks) == len(again) + len({gap.where for gap in gaps if gap.effect == "lost"})


@given(anything, st.sampled_from([None, "shell", {"pattern": "^mcp:"}]))
def test_any_data_for_cursor_can_be_given(data, matcher):
    """
    Wrong data of a manifest is passed over, and changes neither event nor matcher.
    """
    own = {"cursor": (data if type(data) is dict else {}) | {"hookonce": data}}
    made, gaps = render(hook(matcher=matcher, provider_data=own))

    (found,), _ = CURSOR.config.parse(CURSOR, made)
    assert [] == gaps
    assert ("before_tool_execute", matcher, "./x.sh") == (found.event, found.matcher, found.handler.command)


# What the published configurations for Cursor say, and Cursor would not take or do.
STALE = {
    "simple-blocking": {"preToolUse": [{"command": "./safety-check.sh", "timeout": 10, "matcher": "Shell"}]},
    "degradation-input-rewrite": {"preToolUse": [{"command": "./sanitize-input.sh", "timeout": 10, "matcher": "Shell"}]},
    "full-featured": {
        "preToolUse": [
            {"command": "./safety-check.sh", "timeout": 10, "matcher": "Shell"},
            {"command": "./validate-issue.sh", "timeout": 5, "matcher": "MCP:create_issue"},
        ],
        "sessionStart": [{"command": "./init-session.sh", "timeout": 30}],
    },
    "multi-event": {
        "preToolUse": [{"command": "./audit-dangerous-ops.sh", "timeout": 10, "matcher": "Shell|Write"}],
        "postToolUse": [{"command": "./log-tool-usage.sh", "timeout": 5}],
        "beforeSubmitPrompt": [{"command": "./redact-pii.sh", "timeout": 5}],
        "stop": [{"command": "./cleanup.sh", "timeout": 15}],
    },
}


@pytest.mark.covers("HIF-X5", "HIF-X8", "HIF-X9", "HIF-X4")
@pytest.mark.parametrize("name", STALE)
def test_published_manifests_become_what_cursor_reads(name):
    """
    Cursor reads lists, wants a version, has a session's start and takes new input, other than was published.
    """
    published = json.loads(vector(f"hif/test-vectors/cursor/{name}.json").read_bytes())

    made = convert(json.loads(vector(f"hif/test-vectors/canonical/{name}.json").read_bytes()), None, CURSOR).document

    assert {"version": 1, "hooks": STALE[name]} == made
    assert "version" not in published
    assert any(type(entries) is not list for entries in published["hooks"].values())
