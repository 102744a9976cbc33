"""Kiro's hook files, of three generations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce import agents
from hookonce.agents import config_events
from hookonce.convert.conversion import WrapperOptions, convert
from tests.agents._config.node import plain_wording

KIRO = agents.load("kiro")
CLAUDE = agents.load("claude-code")

# Written by hand after the field tables of kiro.dev (hooks of CLI 3 and IDE 1.x, mid 2026) and of payload reports
# for IDE 1.0 to 1.2; the second timeout stands where one report had it.
TODAY = {
    "version": "v1",
    "hooks": [
        {
            "name": "guard",
            "description": "keeps secrets in",
            "trigger": "PreToolUse",
            "matcher": "fs_write|str_replace|execute_bash",
            "action": {"type": "command", "command": "python3 .kiro/hooks/guard.py"},
            "timeout": 30,
            "enabled": True,
        },
        {"name": "tests", "trigger": "PostFileSave", "matcher": "\\.ts$", "action": {"type": "agent", "prompt": "Update the tests"}},
        {"name": "lint", "trigger": "PostTaskExec", "action": {"type": "command", "command": "npm run lint", "timeout": 120}},
        {"name": "patient", "trigger": "Stop", "action": {"type": "command", "command": "./slow.sh"}, "timeout": 0},
        {"name": "off", "trigger": "SessionStart", "action": {"type": "command", "command": "./old.sh"}, "enabled": False},
        {"name": "by hand", "trigger": "Manual", "action": {"type": "agent", "prompt": "Release"}},
        {"name": "mcp", "trigger": "PostToolUse", "matcher": "^@(git|hg)/", "action": {"type": "command", "command": "./mcp.sh"}},
    ],
}

# After the hook pages of Amazon Q CLI and of Kiro CLI 2 (2026-06).
AGENT_FILE = {
    "hooks": {
        "agentSpawn": [{"command": "git status"}],
        "userPromptSubmit": [{"command": "./prompt.sh", "cache_ttl_seconds": 300}],
        "preToolUse": [
            {"matcher": "execute_bash", "command": "./guard.sh", "timeout_ms": 10000, "cache_ttl_seconds": 0},
            {"matcher": "fs_*", "command": "./files.sh", "timeout_ms": 1500},
            {"matcher": "@git/status", "command": "./git.sh", "max_output_size": 1024},
        ],
        "postToolUse": [{"matcher": "*", "command": "./log.sh", "only_when_turn_complete": True}],
        "stop": [{"command": "npm test"}],
    }
}

# After the hook pages of Kiro IDE 0.x.
HOOK_FILES = [
    {
        "version": "1.0.0",
        "enabled": True,
        "name": "lint",
        "description": "lints what was saved",
        "when": {"type": "fileEdited", "patterns": ["**/*.ts"]},
        "then": {"type": "runCommand", "command": "npm run lint", "timeout": 30},
    },
    {
        "version": "1.0.0",
        "enabled": True,
        "name": "look",
        "when": {"type": "preToolUse", "toolTypes": ["write", "@mcp.*sql.*"]},
        "then": {"type": "askAgent", "prompt": "Is this allowed?"},
    },
    {"version": "1.0.0", "enabled": True, "name": "go", "when": {"type": "userTriggered"}, "then": {"type": "runCommand", "command": "make"}},
    {"version": "1.0.0", "enabled": False, "name": "no", "when": {"type": "agentStop"}, "then": {"type": "runCommand", "command": "make"}},
]

FILES = [TODAY, AGENT_FILE, *HOOK_FILES]


def read(document):
    """The hooks of a file."""
    hooks, gaps = KIRO.config.parse(KIRO, document)
    assert [] == gaps
    return hooks


def write(hooks):
    """The file of these hooks."""
    return KIRO.config.render(KIRO, list(enumerate(hooks)), plain_wording)


def at_tool(matcher):
    """A manifest of one hook before tools."""
    hook = {"event": "before_tool_execute", "blocking": True, "handler": {"type": "command", "command": "./x.sh"}}
    return {"spec": "hooks/0.1", "hooks": [hook | ({} if matcher is None else {"matcher": matcher})]}


@pytest.mark.parametrize("document", FILES)
def test_a_file_of_any_generation_comes_back_as_it_was(document):
    """
    Each generation is written again as itself.
    """
    assert (document, []) == write(read(document))
    assert document == convert(document, KIRO, KIRO).document


@pytest.mark.parametrize("target", list(agents.AGENTS))
@pytest.mark.parametrize("document", FILES)
def test_every_hook_arrives_elsewhere_or_is_lost_by_name(document, target):
    """
    Between Kiro and any other agent nothing is dropped in silence.
    """
    made = convert(document, KIRO, agents.load(target))

    arrived, _ = agents.load(target).config.parse(agents.load(target), made.document)
    lost = {gap.where for gap in made.gaps if gap.effect == "lost" and gap.where.endswith("]")}
    assert made.is_verified
    assert len(read(document)) == len(arrived) + len(lost)


def test_seconds_and_milliseconds():
    """
    Files of today count seconds, agent files milliseconds; 0 is no limit, which a handler has no word for.
    """
    assert [30, None, 120, None] == [hook.handler.timeout for hook in read(TODAY)[:4]]
    assert [10, 1.5, None] == [hook.handler.timeout for hook in read(AGENT_FILE)[2:5]]
    assert [30] == [hook.handler.timeout for hook in read(HOOK_FILES[0])]


def test_where_a_hook_can_refuse():
    """
    Refusing is said of a hook only where its own generation lets it, and never of a prompt.
    """
    today = {hook.name: hook.blocking for hook in read(TODAY)}
    older = [(hook.event, hook.blocking) for hook in read(AGENT_FILE)]

    assert {"guard": True, "tests": False, "lint": False, "mcp": False} == {name: today[name] for name in ("guard", "tests", "lint", "mcp")}
    assert [("session_start", False), ("before_prompt", False), ("before_tool_execute", True)] == older[:3]
    assert not read(HOOK_FILES[1])[0].blocking


@pytest.mark.parametrize(
    ("selector", "matcher"),
    [
        ("execute_bash", "shell"),
        ("fs_write", ["file_write", "file_edit"]),
        ("write", ["file_write", "file_edit"]),
        ("use_aws", "use_aws"),
        ("*", None),
        ("fs_*", {"pattern": "^fs_.*$"}),
        ("@git", {"mcp": {"server": "git"}}),
        ("@git/*", {"mcp": {"server": "git"}}),
        ("@git/status", {"mcp": {"server": "git", "tool": "status"}}),
        ("@git-*/status", {"pattern": "^@git-.*/status$"}),
        ("@builtin", {"pattern": "^[^@]"}),
    ],
)
def test_selectors_of_agent_files(selector, matcher):
    """
    A name, wildcards, a server, a tool of a server, or all that is built in.
    """
    document = {"hooks": {"preToolUse": [{"matcher": selector, "command": "./x.sh"}]}}

    assert [matcher] == [hook.matcher for hook in read(document)]
    assert (document, []) == write(read(document))


@pytest.mark.parametrize(
    ("kinds", "matcher"),
    [
        (["shell"], "shell"),
        (["write", "web"], ["file_write", "file_edit", "web_search", "web_fetch"]),
        (["shell", "*"], None),
        (["@mcp"], {"pattern": "^mcp:"}),
        (["spec", "@powers"], ["spec", {"pattern": "@powers"}]),
    ],
)
def test_kinds_of_tools_in_hook_files(kinds, matcher):
    """
    The IDE before 1.0 lists kinds of tools, prefixes and patterns.
    """
    then = {"type": "runCommand", "command": "./x.sh"}
    document = {"version": "1.0.0", "name": "x", "when": {"type": "preToolUse", "toolTypes": kinds}, "then": then}

    assert [matcher] == [hook.matcher for hook in read(document)]
    assert (document, []) == write(read(document))


def test_what_is_built_in_elsewhere():
    """
    A guard for everything that is built in guards that elsewhere too, and no MCP tool.
    """
    made = convert({"hooks": {"preToolUse": [{"matcher": "@builtin", "command": "./x.sh"}]}}, KIRO, CLAUDE)

    names = made.document["hooks"]["PreToolUse"][0]["matcher"].split("|")
    assert {"Bash", "Read", "Write", "Edit", "Grep", "Glob", "WebSearch", "WebFetch", "Agent"} <= set(names)
    assert not any("mcp" in name for name in names)


@pytest.mark.parametrize(
    ("matcher", "native", "why"),
    [
        ("shell", "execute_bash|execute_pwsh", None),
        ("file_edit", "str_replace|fs_append", None),
        (["file_write", "file_edit"], "fs_write|str_replace|fs_append", None),
        ("file_write", "fs_write", "takes fs_write for"),
        ("agent", "invoke_sub_agent|orchestrate_subagent|subagent_.*", None),
        ({"mcp": {"server": "my.git"}}, "@my\\.git/.*", None),
        ({"mcp": {"server": "git", "tool": "log"}}, "@git/log", None),
        ({"pattern": "^mcp:"}, "@.*/.*", None),
        ({"pattern": "^web_"}, "remote_web_search|web_fetch", None),
        ({"pattern": "^nothing$"}, "^nothing$", "no tool of Kiro is known that"),
        ("a.b", "a\\.b", "without one it never runs"),
        ("execute_bash", "execute_bash", "takes execute_bash for"),
    ],
)
def test_a_matcher_in_names_of_today(matcher, native, why):
    """
    A guard names every tool of today that does what it guards; where that is not the same, a gap says so.
    """
    made = convert(at_tool(matcher), None, KIRO)

    assert native == made.document["hooks"][0]["matcher"]
    told = [gap.note for gap in made.gaps if gap.capability == "matcher"]
    assert told == [] if why is None else why in told[0]


@pytest.mark.covers("HIF-98")
def test_events_of_three_spellings():
    """
    Kebab case, camel case and words apart are the same event, and come back as they were spelled.
    """
    document = {"hooks": {name: [{"command": "./x.sh"}] for name in ("pre-tool-use", "preToolUse", "Pre Tool Use")}}

    assert {"before_tool_execute"} == {hook.event for hook in read(document)}
    assert (document, []) == write(read(document))


def test_hooks_of_an_older_file_beside_others_are_written_for_today():
    """
    Where not all hooks came from one older file the newest kind is written, and what only the older one says is named.
    """
    hooks = read(AGENT_FILE) + read(HOOK_FILES[0])

    made, gaps = write(hooks)

    assert "v1" == made["version"]
    assert len(hooks) == len(made["hooks"])
    assert {entry["trigger"] for entry in made["hooks"]} <= set(config_events(KIRO))
    assert [10, 1.5] == [entry["timeout"] for entry in made["hooks"][2:4]]
    assert any("cache_ttl_seconds" in gap.note for gap in gaps)
    assert any("when" in gap.note for gap in gaps)


def test_a_hook_that_is_off_starts_nowhere_else():
    """
    What is disabled in Kiro's file stays there, off, and is lost by name elsewhere.
    """
    document = {"version": "v1", "hooks": [TODAY["hooks"][4]]}

    made = convert(document, KIRO, CLAUDE)

    assert ({}, ["lost"]) == (made.document["hooks"], [gap.effect for gap in made.gaps])
    assert document == convert(document, KIRO, KIRO).document


def test_no_data_turns_a_hook_off_or_changes_what_it_runs():
    """
    What a manifest says for Kiro alone adds keys and replaces none.
    """
    own = {"enabled": False, "command": "./evil.sh", "action": {}, "trigger": "Manual", "matcher": "x", "timeout": 1, "description": "d"}
    manifest = at_tool("file_read")
    manifest["hooks"][0]["provider_data"] = {"kiro": own | {"hookonce": {"matcher": "nothing", "event": "preToolUse", "action": {"command": "./evil.sh"}}}}

    (entry,) = convert(manifest, None, KIRO).document["hooks"]

    action = {"type": "command", "command": "./x.sh"}
    assert {"name": "before_tool_execute ./x.sh", "trigger": "PreToolUse", "matcher": "read_file", "action": action, "description": "d"} == entry


def test_a_prompt_that_was_to_refuse_is_lost_by_name():
    """
    An agent action only tells the model what to do, so a guard does not become one.
    """
    hook = {"event": "before_tool_execute", "handler": {"type": "agent", "prompt": "Is it safe?"}}

    guard = convert({"spec": "hooks/0.1", "hooks": [hook | {"blocking": True}]}, None, KIRO)
    advice = convert({"spec": "hooks/0.1", "hooks": [hook]}, None, KIRO)

    assert [] == guard.document["hooks"]
    assert ["lost"] == [gap.effect for gap in guard.gaps if gap.capability == "handler"]
    assert {"type": "agent", "prompt": "Is it safe?"} == advice.document["hooks"][0]["action"]


def test_wrapped_scripts_are_read_as_what_they_wrap():
    """
    A foreign script stands in our wrapper, under the trigger's name, and comes back bare.
    """
    source = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./x.sh", "timeout": 5}]}]}}

    made = convert(source, CLAUDE, KIRO, adapt=WrapperOptions("/opt/hookonce-on", "user")).document

    assert made["hooks"][0]["action"]["command"].startswith("/opt/hookonce-on kiro PreToolUse --dialect claude-code --run ./x.sh")
    assert [("./x.sh", 5, "claude-code")] == [(hook.handler.command, hook.handler.timeout, hook.dialect) for hook in read(made)]


@pytest.mark.parametrize(
    ("document", "where"),
    [
        ({"version": "v1", "hooks": [1, {"trigger": "Stop"}]}, ["$.hooks[0]", "$.hooks[1]"]),
        ({"version": "v1", "hooks": [{"trigger": "Stop", "action": {"type": "command"}}]}, ["$.hooks[0]"]),
        ({"hooks": {"stop": [{"matcher": "*"}, "x"]}}, ["$.hooks.stop[0]", "$.hooks.stop[1]"]),
        ({"when": {}, "then": {}}, ["$"]),
        ({"when": {"type": "agentStop"}, "then": {"type": "runCommand"}}, ["$.then"]),
        ({"hooks": "none"}, ["$.hooks"]),
    ],
)
def test_what_is_no_hook_is_named(document, where):
    """
    An entry that cannot be understood is a gap with its place.
    """
    hooks, gaps = KIRO.config.parse(KIRO, document)

    assert ([], where, {"lost"}) == (hooks, [gap.where for gap in gaps], {gap.effect for gap in gaps})


def test_a_file_without_hooks_has_none():
    """
    An agent file need not have hooks.
    """
    assert ([], []) == KIRO.config.parse(KIRO, {"name": "dev", "tools": ["*"]})


texts = st.text(max_size=4) | st.sampled_from(["PreToolUse", "Stop", "fs_write|read", "@a/b", "(", "execute_bash", "a\\|b", "^x$"])
commands = st.sampled_from(["./a.sh", "b 'c d'"])
actions = st.builds(lambda text, more: {"type": "command", "command": text} | more, commands, st.sampled_from([{}, {"timeout": 9}, {"cwd": "."}])) | st.builds(
    lambda text: {"type": "agent", "prompt": text}, commands
)
entries = st.builds(
    lambda name, trigger, action, more: {"name": name, "trigger": trigger, "action": action} | more,
    st.text(min_size=1, max_size=4),
    st.sampled_from(sorted(config_events(KIRO))),
    actions,
    st.fixed_dictionaries({}, optional={"matcher": texts, "timeout": st.integers(0, 99), "enabled": st.booleans(), "description": texts}),
)


@given(st.lists(entries, max_size=5))
def test_whatever_stands_in_a_file_of_today_comes_back(hooks):
    """
    render(parse(file)) is the file.
    """
    document = {"version": "v1", "hooks": hooks}

    assert (document, []) == write(read(document))


embedded = st.fixed_dictionaries(
    {"command": commands},
    optional={
        "matcher": st.sampled_from(["*", "fs_*", "write", "@git", "@git/log", "@g?t/*", "@builtin", "use_aws", ""]) | texts,
        "timeout_ms": st.integers(0, 99999),
        "cache_ttl_seconds": st.integers(0, 9),
        "max_output_size": st.just(1),
    },
)


@given(st.dictionaries(st.sampled_from(["agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse", "stop"]), st.lists(embedded, min_size=1, max_size=3)))
def test_whatever_stands_in_an_agent_file_comes_back(events):
    """
    render(parse(file)) is the file, and without hooks an empty one of today.
    """
    document = {"hooks": events} if events else {"version": "v1", "hooks": []}

    assert (document, []) == write(read({"hooks": events}))
