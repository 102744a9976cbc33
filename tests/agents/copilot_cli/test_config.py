"""Copilot CLI's hook files: two spellings of events, flat entries and groups, a command for each shell."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce import agents
from hookonce.convert.conversion import WrapperOptions, convert
from hookonce.model import Handler, Hook
from tests.agents._config.node import plain_wording

COPILOT = agents.load("copilot-cli")
CLAUDE = agents.load("claude-code")
ABLE = list(agents.AGENTS)

# Made up by us after the format of @github/copilot 1.0.102 and GitHub's hooks reference: every key of an entry,
# the alias of the timeout, a program without a shell, http, the prompt that is typed in, and Claude Code's groups.
NATIVE = {
    "version": 1,
    "hooks": {
        "preToolUse": [
            {"type": "command", "matcher": "bash|edit", "bash": "./g.sh", "powershell": "./g.ps1", "cwd": "tools", "env": {"A": "$B"}, "timeoutSec": 30},
            {"command": "./untyped.sh", "timeout": 5},
            {"type": "command", "matcher": "web_.*", "exec": "/opt/guard", "args": ["--mode", "a b"]},
            {"type": "command", "exec": "/opt/alone"},
            {"type": "http", "url": "https://hooks.example.com/c", "headers": {"X-T": "$T"}, "allowedEnvVars": ["T"], "timeout": 9},
            {"type": "command", "powershell": "./only.ps1", "comment": "for Windows alone"},
            {"type": "command", "command": "all", "bash": "unix", "powershell": "windows", "timeout": 4, "timeoutSec": 3},
            {"type": "command", "command": "all", "linux": "l", "osx": "o", "windows": "w", "bash": "b", "powershell": "p"},
        ],
        "PreToolUse": [
            {"matcher": "Bash", "description": "two", "hooks": [{"type": "command", "command": "./a.sh"}, {"type": "command", "command": "./b.sh"}]},
            {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "./c.sh", "timeout": 5}]},
            {"type": "command", "matcher": "**", "bash": "./flat.sh"},
        ],
        "postToolUseFailure": [{"type": "command", "matcher": "bash", "bash": "./f.sh"}],
        "sessionStart": [{"type": "prompt", "prompt": "/status"}],
        "notification": [{"type": "command", "matcher": "permission_prompt", "bash": "./n.sh"}],
        "preMcpToolCall": [{"type": "command", "bash": "./m.sh"}],
        "SubagentStart": [{"matcher": "*", "hooks": [{"type": "command", "command": "./s.sh"}]}],
    },
}


def hook(**more):
    """A guard of tool calls."""
    return {"event": "before_tool_execute", "blocking": True, "handler": {"type": "command", "command": "./x.sh"}} | more


def convert_hook(given_hook, **options):
    """The one entry that a hook of a manifest becomes, its event, and the notes of the gaps."""
    done = convert({"spec": "hooks/1.0", "hooks": [given_hook]}, None, COPILOT, **options)
    ((native, (entry,)),) = done.document["hooks"].items()
    return native, entry, [gap.note for gap in done.gaps]


def round_trip(document):
    """A configuration parsed and rendered."""
    hooks, faults = COPILOT.config.parse(COPILOT, document)
    rendered, unsaid = COPILOT.config.render(COPILOT, list(enumerate(hooks)), plain_wording)
    return rendered, faults, unsaid


def test_everything_that_copilot_accepts_comes_back_as_it_was():
    """
    Keys, aliases, groups, both spellings of events and what only Copilot knows survive.
    """
    rendered, faults, unsaid = round_trip(NATIVE)

    assert (NATIVE, []) == (rendered, faults)
    assert ["before_tool_execute ./only.ps1: powershell alone is heard on one system only"] == [gap.note for gap in unsaid]


def test_what_the_entries_mean():
    """
    Commands, overrides, timeouts and matchers are read as Copilot would take them.
    """
    hooks, _ = COPILOT.config.parse(COPILOT, NATIVE)
    told = {(one.handler.command or one.handler.url or one.handler.type): one for one in hooks}

    assert {"windows": "./g.ps1"} == told["./g.sh"].handler.platform
    assert (30, "tools", {"A": "$B"}) == (told["./g.sh"].handler.timeout, told["./g.sh"].handler.cwd, told["./g.sh"].handler.env)
    assert ["shell", "file_edit"] == told["./g.sh"].matcher
    assert 5 == told["./untyped.sh"].handler.timeout
    assert {"pattern": "^(?:web_.*)$"} == told["/opt/guard --mode 'a b'"].matcher
    assert 9 == told["https://hooks.example.com/c"].handler.timeout
    assert [{"linux": "unix", "darwin": "unix", "windows": "windows"}, {"linux": "b", "darwin": "b", "windows": "p"}] == [one.handler.platform for one in hooks if one.handler.command == "all"]
    assert ["shell", "shell", ["file_edit", "file_write"], None] == [one.matcher for one in hooks if one.provider_data["copilot-cli"].get("hookonce", {}).get("event") == "PreToolUse"]
    assert None is told["./f.sh"].matcher
    assert "vendor.copilot-cli.preMcpToolCall" == told["./m.sh"].event
    assert told["./a.sh"].event == told["./g.sh"].event == "before_tool_execute"


def test_the_prompt_that_is_typed_in_is_no_prompt_that_judges():
    """
    It stays with Copilot, and is lost by name elsewhere.
    """
    document = {"version": 1, "hooks": {"sessionStart": [{"type": "prompt", "prompt": "hello"}]}}

    assert document == convert(document, COPILOT, COPILOT).document
    for target in (CLAUDE, None):
        (gap,) = convert(document, COPILOT, target).gaps
        assert ("$.hooks[0]", "lost") == (gap.where, gap.effect)
        assert "copilot-cli:prompt" in gap.note


def test_a_hook_of_a_manifest_is_a_flat_entry_under_the_camel_case_event():
    """
    The spelling that was seen to work in most runs, one command for all systems, seconds.
    """
    native, entry, gaps = convert_hook(hook(handler={"type": "command", "command": "./x.sh", "timeout": 7}))

    assert ("preToolUse", {"type": "command", "command": "./x.sh", "timeoutSec": 7}, []) == (native, entry, gaps)
    assert 1 == convert({"spec": "hooks/1.0", "hooks": [hook()]}, None, COPILOT).document["version"]


@pytest.mark.covers("HIF-92")
@pytest.mark.parametrize(
    ("platform", "keys", "doubt"),
    [
        ({"windows": "w"}, {"powershell": "w"}, False),
        ({"linux": "u", "osx": "u"}, {"bash": "u"}, False),
        ({"windows": "w", "linux": "u", "darwin": "u"}, {"bash": "u", "powershell": "w"}, False),
        ({"windows": "./x.sh"}, {}, False),
        ({"linux": "l"}, {"linux": "l"}, True),
        ({"linux": "l", "darwin": "d"}, {"linux": "l", "osx": "d"}, True),
    ],
)
def test_systems_have_the_shells_that_serve_them(platform, keys, doubt):
    """
    One shell serves Linux and macOS: where they differ, the keys of VS Code are written and the doubt is told.
    """
    _, entry, gaps = convert_hook(hook(handler={"type": "command", "command": "./x.sh", "platform": platform}))

    assert {"type": "command", "command": "./x.sh"} | keys == entry
    assert doubt == any("one command for Linux and macOS" in note for note in gaps)


@pytest.mark.parametrize(
    ("matcher", "native", "why"),
    [
        ("shell", "bash|powershell", None),
        (["shell", "file_read"], "bash|powershell|view", None),
        (["file_write", "file_edit"], "create|str_replace_editor|apply_patch|edit", None),
        ("file_edit", "edit|str_replace_editor|apply_patch", "str_replace_editor of GitHub Copilot CLI is file_write and file_edit at once"),
        ({"pattern": "^file_write$"}, "create|str_replace_editor|apply_patch", "str_replace_editor of GitHub Copilot CLI is file_write and file_edit at once"),
        ({"pattern": "^(file_read|find)$"}, "view|glob", None),
        ({"pattern": "^mcp:"}, ".*-.*", None),
        ({"mcp": {"server": "github"}}, "github-.*", None),
        ({"mcp": {"server": "github", "tool": "make_it"}}, "github-make_it", None),
        ({"mcp": {"server": "my-own"}}, "my-own-.*", "GitHub Copilot CLI calls it my-own-.*, which may mean others too"),
        ({"mcp": {"server": "a.b"}}, r"a\.b-.*", r"a\.b-.* is the nearest that GitHub Copilot CLI can be told"),
        ("MyOwnTool", "MyOwnTool", "no tool MyOwnTool of GitHub Copilot CLI is known; without one it never runs"),
    ],
)
def test_a_matcher_names_every_tool_of_its_kind(matcher, native, why):
    """
    A pattern must fit the whole name there, and which tool edits depends on the model.
    """
    _, entry, gaps = convert_hook(hook(matcher=matcher))

    assert native == entry["matcher"]
    assert ([] if why is None else [f"before_tool_execute ./x.sh: {why}"]) == gaps


@pytest.mark.parametrize(("event", "says"), [("tool_use_failure", "ignores matchers on postToolUseFailure"), ("session_start", "is about no tool")])
def test_a_matcher_that_nobody_heeds_is_not_written(event, says):
    """
    Copilot matches tools at three events; elsewhere a matcher on tools is a gap.
    """
    _, entry, gaps = convert_hook(hook(event=event, matcher="shell", blocking=False))

    assert "matcher" not in entry
    assert any(says in note for note in gaps)


def test_http_is_post_and_https():
    """
    What Copilot would send otherwise, or not at all, is told.
    """
    _, entry, fine = convert_hook(hook(handler={"type": "http", "url": "https://a.example", "headers": {"X": "$Y"}, "allowed_env": ["Y"], "timeout": 3}))
    _, _, doubts = convert_hook(hook(handler={"type": "http", "url": "http://localhost:1", "method": "PUT"}))

    assert {"type": "http", "url": "https://a.example", "headers": {"X": "$Y"}, "allowedEnvVars": ["Y"], "timeoutSec": 3} == entry
    assert [] == fine
    assert ["before_tool_execute http://localhost:1: GitHub Copilot CLI always sends POST, not PUT", "before_tool_execute http://localhost:1: GitHub Copilot CLI calls nothing but https addresses by default"] == doubts


def test_a_wrapper_is_taken_off_every_command():
    """
    A hook for another agent is wrapped for every system, and read as what it wraps.
    """
    given_hook = hook(handler={"type": "command", "command": "./x.sh a", "platform": {"windows": "x.ps1"}, "timeout": 5}, dialect="claude-code")
    _, entry, _ = convert_hook(given_hook, adapt=WrapperOptions("/opt/bin/hookonce-on", "user"))

    assert "/opt/bin/hookonce-on copilot-cli preToolUse --dialect claude-code --run './x.sh a' --scope user --timeout 5" == entry["command"]
    assert "--run x.ps1" in entry["powershell"]
    (found,), _ = COPILOT.config.parse(COPILOT, {"hooks": {"preToolUse": [entry]}})
    assert ("./x.sh a", {"windows": "x.ps1"}, 5, "claude-code") == (found.handler.command, found.handler.platform, found.handler.timeout, found.dialect)


@pytest.mark.parametrize(
    "own",
    [
        {"bash": "./evil.sh"},
        {"powershell": "./evil.ps1", "linux": "./evil", "type": "http"},
        {"exec": "/evil", "args": ["x"]},
        {"matcher": "never", "hooks": [{"type": "command", "bash": "./evil.sh"}]},
        {"bash/powershell": {"windows": "./evil.ps1"}},
        {"hookonce": {"keys": ["exec"], "event": "sessionStart", "matcher": "never"}},
        {"hookonce": {"keys": [1, None, {}], "nested": True, "joined": True, "group": {"matcher": "never", "hooks": []}}},
        {"hookonce": {"keys": ["type"], "bare": True}},
        {"hookonce": {"keys": "bash", "nested": 1, "group": [], "matcher": 5}},
        {"hookonce": "x"},
    ],
)
def test_provider_data_changes_neither_what_runs_nor_when(own):
    """
    A manifest is not trusted: keys that Copilot would listen to do not come in by the side door.
    """
    native, entry, gaps = convert_hook(hook(matcher="shell", provider_data={"copilot-cli": own}))
    inner = entry["hooks"][0] if "hooks" in entry else entry

    assert ("preToolUse", "bash|powershell", []) == (native, entry["matcher"], gaps)
    assert [("exec" if "exec" in inner else "command", "./x.sh")] == [(key, value) for key, value in inner.items() if key not in {"type", "matcher"}]
    assert "evil" not in json.dumps(entry)


def test_a_hook_that_is_hidden_from_a_system_is_told():
    """
    Whoever has a manifest write the key of one system alone cannot do so in silence.
    """
    own = {"copilot-cli": {"hookonce": {"keys": ["type", "powershell"]}}}

    _, entry, gaps = convert_hook(hook(provider_data=own))

    assert {"type": "command", "powershell": "./x.sh"} == entry
    assert ["before_tool_execute ./x.sh: powershell alone is heard on one system only"] == gaps


def test_an_event_without_a_list_is_told():
    """
    Copilot drops such a file; nothing in it is brought to life.
    """
    hooks, (gap,) = COPILOT.config.parse(COPILOT, {"hooks": {"preToolUse": {"type": "command", "bash": "x"}}})

    assert ([], "$.hooks.preToolUse", "lost") == (hooks, gap.where, gap.effect)


def test_a_group_is_joined_only_by_who_has_its_matcher():
    """
    Somebody who changes the matcher of the second hook of a group gets a group of its own.
    """
    document = {"version": 1, "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": "b"}]}]}}
    manifest = convert(document, COPILOT, None).document

    assert document == convert(manifest, None, COPILOT).document
    manifest["hooks"][1]["matcher"] = "file_read"
    first, second = convert(manifest, None, COPILOT).document["hooks"]["PreToolUse"]
    assert ("Bash", "view|Read") == (first["matcher"], second["matcher"])


@pytest.mark.parametrize(
    ("item", "fault"),
    [
        (5, "is no hook"),
        ({}, "has no command"),
        ({"type": "command", "bash": ""}, "has no command"),
        ({"type": "command", "exec": "/x", "args": "no list"}, "has no command"),
        ({"type": "command", "bash": "x", "matcher": 5}, "has a matcher that is no text"),
        ({"hooks": ["x"]}, "is no hook"),
    ],
)
def test_what_copilot_would_drop_is_told(item, fault):
    """
    An entry that cannot be understood is a loss with its place, and its neighbours stay.
    """
    hooks, (gap,) = COPILOT.config.parse(COPILOT, {"hooks": {"preToolUse": [{"bash": "good"}, item]}})

    assert ["good"] == [one.handler.command for one in hooks]
    assert "lost" == gap.effect
    assert gap.where.startswith("$.hooks.preToolUse[1]")
    assert fault in gap.note


def test_a_command_for_some_systems_only_has_no_place():
    """
    Without a command for all there is nothing to fall back on; that is a loss, by name.
    """
    some = Hook(event="session_start", handler=Handler(type="command", platform={"windows": "w"}))

    document, (gap,) = COPILOT.config.render(COPILOT, [(3, some)], plain_wording)

    assert ({}, "$.hooks[3]", "lost") == (document["hooks"], gap.where, gap.effect)


def test_only_one_spelling_is_installed():
    """
    Both would call us twice for everything.
    """
    assert all(native[0].islower() for native in agents.config_events(COPILOT))
    assert agents.point_of(COPILOT, "PreToolUse") == agents.point_of(COPILOT, "preToolUse")


texts = st.sampled_from(["a", "./b.sh -x", "c 'd e'"])
entries = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(("command", "bash", "powershell", "windows", "linux", "osx"), texts)
    | {"type": st.just("command"), "timeout": st.integers(1, 9), "timeoutSec": st.integers(1, 9), "cwd": texts, "other": st.none() | st.lists(texts)},
).filter(lambda entry: entry.keys() & {"command", "bash", "powershell", "windows", "linux", "osx"})
matched = st.tuples(entries, st.none() | st.sampled_from(["bash", "bash|powershell", "view|create", "a.*", "*", "", "x-.*", "edit|Bash"]))


def with_matcher(pair):
    """An entry or a group with its matcher, if any."""
    item, matcher = pair
    return item if matcher is None else item | {"matcher": matcher}


items = st.one_of(
    matched.map(with_matcher),
    st.tuples(st.lists(entries, min_size=1, max_size=3).map(lambda some: {"hooks": some}), st.none() | st.sampled_from(["Bash", "*", "Edit|Write"])).map(with_matcher),
)
events = st.sampled_from(["preToolUse", "PreToolUse", "postToolUse", "postToolUseFailure", "agentStop", "Stop", "preMcpToolCall", "somethingNew"])
documents = st.dictionaries(events, st.lists(items, min_size=1, max_size=3), max_size=3).map(lambda hooks: {"version": 1, "hooks": hooks})


@given(documents)
def test_any_configuration_comes_back_as_it_was(document):
    """
    render(parse(native)) is native, whatever keys stand together.
    """
    rendered, faults, unsaid = round_trip(document)

    assert (document, []) == (rendered, faults)
    assert all("alone is heard" in gap.note for gap in unsaid)


@given(documents, st.sampled_from(ABLE))
def test_no_hook_gets_lost_on_the_way_to_others(document, name):
    """
    Every hook arrives at every agent, or its loss is told by its place.
    """
    target = agents.load(name)
    done = convert(document, COPILOT, target)
    hooks, _ = COPILOT.config.parse(COPILOT, document)
    arrived, _ = target.config.parse(target, done.document)

    assert done.is_verified
    assert len(hooks) == len(arrived) + len({gap.where for gap in done.gaps if gap.effect == "lost" and gap.where.endswith("]")})


anything = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "command", "bash", "exec", "args", "matcher", "hooks", "timeout", "env", "x"]), inner, max_size=4), max_leaves=12)


@given(st.dictionaries(events, anything, max_size=3))
def test_nothing_that_is_json_makes_it_stumble(hooks):
    """
    What is not understood is told; what is understood can be written again, and reads the same.
    """
    found, gaps = COPILOT.config.parse(COPILOT, {"hooks": hooks})
    document, _ = COPILOT.config.render(COPILOT, list(enumerate(found)), plain_wording)
    once_more, faults = COPILOT.config.parse(COPILOT, document)

    assert all(gap.effect == "lost" for gap in gaps)
    assert [] == faults
    assert [one.handler for one in found] == [one.handler for one in once_more]
