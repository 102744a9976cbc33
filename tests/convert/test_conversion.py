"""Hooks of one agent for another."""

import json

import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce import agents
from hookonce.convert import conversion
from hookonce.convert.conversion import convert
from hookonce.errors import HookonceError
from hookonce.model import Handler, Hook
from tests.shared import reference, vector

ABLE = list(agents.AGENTS)
CONFIGS = {
    "claude/settings.json": "claude-code",
    "codex/hooks.json": "codex",
    "codex/hooks-permreq.json": "codex",
    "copilot/hooks-test.json": "copilot-cli",
    "copilot-pascal/hooks-test.json": "copilot-cli",
    "droid/settings.json": "factory-droid",
    "gemini/settings.json": "gemini-cli",
    "qwen/settings.json": "qwen-code",
}


def bare(hook, _):
    """Commands as they are."""
    return hook.handler.command


def native(path):
    """A configuration with which a real agent ran, and that agent."""
    agent = agents.load(CONFIGS[path])
    file = reference("lab", "configs", path)
    return agent, json.loads(file.read_text(encoding="utf-8"))


def plain(document):
    """A configuration without comments, an empty matcher being none."""
    for groups in document["hooks"].values():
        for group in groups:
            if group.get("matcher") == "":
                del group["matcher"]
    return {key: value for key, value in document.items() if not key.startswith("_")}


@pytest.mark.covers("HIF-61", "HIF-92", "HIF-X9", "HIF-X20")
@pytest.mark.parametrize("name", ["full-featured", "multi-event", "simple-blocking"])
def test_published_manifests_become_what_claude_code_reads(name):
    """
    The published examples give the published configurations.
    """
    manifest = json.loads(vector(f"hif/test-vectors/canonical/{name}.json").read_bytes())
    expected = json.loads(vector(f"hif/test-vectors/claude-code/{name}.json").read_bytes())

    assert plain(expected) == convert(manifest, None, agents.load("claude-code")).document


@pytest.mark.parametrize("name", ["full-featured", "multi-event", "simple-blocking", "degradation-input-rewrite"])
def test_published_manifests_become_what_windsurf_reads(name):
    """
    The published examples give the published configurations; a guard refuses in our own words.
    """
    manifest = json.loads(vector(f"hif/test-vectors/canonical/{name}.json").read_bytes())
    expected = plain(json.loads(vector(f"hif/test-vectors/windsurf/{name}.json").read_bytes()))

    if name == "full-featured":  # it names a strategy for rewrites as the other one does, and is published without a guard
        assert ">&2; exit 2" in json.dumps(convert(manifest, None, agents.load("windsurf")).document)
        del manifest["hooks"][0]["degradation"]["input_rewrite"]

    made = convert(manifest, None, agents.load("windsurf")).document

    # The example knows of no command for one system; Windsurf's page on hooks of 2026-09-19 has `powershell`,
    # which Windows runs instead of `command`, and so have we.
    windows = {
        hook["handler"]["command"]: hook["handler"]["platform"]["windows"]
        for hook in manifest["hooks"]
        if "windows" in hook["handler"].get("platform", {})
    }
    for entry in (entry for entries in made["hooks"].values() for entry in entries if "powershell" in entry):
        assert windows[entry["command"]] == entry.pop("powershell")
    guarded = json.dumps([expected, made]).count(">&2; exit 2")
    assert expected == made or (guarded == 2 and expected["hooks"].keys() == made["hooks"].keys())


@pytest.mark.covers("HIF-90", "HIF-94", "HIF-X10")
def test_the_published_round_trip():
    """
    Claude Code's configuration becomes the published manifest and comes back.
    """
    claude = agents.load("claude-code")
    source = json.loads(vector("hif/test-vectors/claude-code/roundtrip-source.json").read_bytes())
    manifest = json.loads(vector("hif/test-vectors/claude-code/roundtrip-canonical.json").read_bytes())

    made = convert(source, claude, None).document

    assert [hook | {"blocking": False} | hook for hook in made["hooks"]] == manifest["hooks"]
    assert plain(source) == convert(made, None, claude).document


@pytest.mark.covers("HIF-78")
@pytest.mark.parametrize("path", CONFIGS)
def test_a_configuration_comes_back_as_it_was(path):
    """
    What a real agent was configured with is parsed and rendered again without a change.
    """
    agent, document = native(path)

    hooks, gaps = agent.config.parse(agent, document)
    made, lost = agent.config.render(agent, list(enumerate(hooks)), bare)

    assert (document["hooks"], [], []) == (made["hooks"], gaps, lost)


@pytest.mark.part(2)
@pytest.mark.covers("HIF-93", "HIF-97", "HIF-100", "HIF-X15")
@pytest.mark.parametrize("target", ABLE)
@pytest.mark.parametrize("path", CONFIGS)
def test_no_hook_is_dropped_without_a_gap(path, target):
    """
    Between any two agents every hook arrives, verified, or has a gap that says that it is lost.
    """
    source, document = native(path)

    made = convert(document, source, agents.load(target))

    hooks, _ = source.config.parse(source, document)
    arrived, _ = agents.load(target).config.parse(agents.load(target), made.document)
    lost = {gap.where for gap in made.gaps if gap.effect == "lost"}
    assert made.is_verified
    assert len(hooks) == len(arrived) + len(lost)


@pytest.mark.covers("HIF-101")
def test_a_guard_that_can_only_look_on_says_so():
    """
    A blocking hook on an event that the target lets nobody refuse is announced as an observer.
    """
    manifest = {"spec": "hooks/1.0", "hooks": [{"event": "session_start", "blocking": True, "handler": {"type": "command", "command": "./x.sh"}}]}

    (gap,) = convert(manifest, None, agents.load("claude-code")).gaps

    assert ("blocking", "later") == (gap.capability, gap.effect)
    assert "can only be observed" in gap.note


def test_seconds_stay_seconds():
    """
    Ten seconds are ten for Codex and ten thousand for Gemini; Qwen never gets a number that it would take for seconds.
    """
    hook = {"event": "before_tool_execute", "blocking": True, "handler": {"type": "command", "command": "./x.sh"}}

    def told(target, seconds):
        manifest = {"spec": "hooks/1.0", "hooks": [hook | {"handler": hook["handler"] | {"timeout": seconds}}]}
        made = convert(manifest, None, agents.load(target)).document["hooks"]
        return next(iter(made.values()))[0]["hooks"][0]["timeout"]

    assert (10, 10_000, 10_000, 1000) == (told("codex", 10), told("gemini-cli", 10), told("qwen-code", 10), told("qwen-code", 0.5))


matchers = st.none() | st.sampled_from(
    ["shell", "file_read", ["shell", "file_write"], {"mcp": {"server": "github"}}, {"mcp": {"server": "github", "tool": "make"}}]
)
hooks = st.builds(
    Hook,
    event=st.sampled_from(["before_tool_execute", "after_tool_execute", "session_start", "before_prompt", "agent_stop"]),
    matcher=matchers,
    handler=st.builds(Handler, type=st.just("command"), command=st.sampled_from(["./a.sh", "echo 'x y'", 'python3 -c "1"']), timeout=st.none() | st.integers(1, 600)),
    blocking=st.just(True),
)


@given(given_hooks=st.lists(hooks, min_size=1, max_size=4))
def test_what_is_rendered_reads_as_it_was_meant(given_hooks):
    """
    parse(render(m)) is m for every agent, but for what a gap names: event, matcher, command and timeout.
    """
    for name in ABLE:
        note(name)
        reads_as_meant(agents.load(name), given_hooks)


def reads_as_meant(agent, given_hooks):
    made, gaps = agent.config.render(agent, list(enumerate(given_hooks)), bare)

    lost = {gap.where for gap in gaps if gap.effect == "lost"}
    vague = {gap.where for gap in gaps if gap.capability == "matcher"}
    timed = not any(gap.capability == "timeout" for gap in gaps)
    exact = all(hook.matcher is None or f"$.hooks[{index}].matcher" not in vague for index, hook in enumerate(given_hooks))
    meant = [hook for index, hook in enumerate(given_hooks) if f"$.hooks[{index}]" not in lost]
    again, _ = agent.config.parse(agent, made)
    expected, found = (sorted({told(hook, exact, timed) for hook in some}) for some in (meant, again))
    assert expected == found


def told(hook, exact, timed):
    """What of a hook must survive, as something that can be compared and sorted; what a gap names need not."""
    seconds = hook.handler.timeout or 0
    return hook.event, json.dumps(hook.matcher) if exact else "", hook.handler.command, seconds if timed else 0


@pytest.mark.parametrize(
    ("matcher", "native", "why"),
    [
        ("file_write", "apply_patch", "apply_patch of Codex CLI is file_write and file_edit at once"),
        (["file_write", "file_edit"], "apply_patch", None),
        (["file_read", "shell"], "file_read|Bash", "Codex CLI has no tool for file_read"),
        ("MyOwnTool", "MyOwnTool", "no tool MyOwnTool of Codex CLI is known; without one it never runs"),
    ],
)
def test_a_matcher_that_means_something_else_there_is_named(matcher, native, why):
    """
    A tool that the target lacks, or that does more there, is a gap; a name of nobody's passes as it is, with a word.
    """
    hook = {"event": "before_tool_execute", "blocking": True, "matcher": matcher, "handler": {"type": "command", "command": "./x.sh"}}

    made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, agents.load("codex"))

    assert native == made.document["hooks"]["PreToolUse"][0]["matcher"]
    assert ([] if why is None else [f"before_tool_execute ./x.sh: {why}"]) == [gap.note for gap in made.gaps]


@pytest.mark.parametrize("target", ABLE)
@pytest.mark.parametrize("text", [r"^\pL+$", r"(?i)BASH", r"\C", "(a+)+$"])
def test_a_pattern_means_the_same_to_everybody(target, text):
    """
    Whatever pattern a manifest may hold, converting it takes no other engine's opinion.
    """
    hook = {"event": "before_tool_execute", "blocking": True, "matcher": {"pattern": text}, "handler": {"type": "command", "command": "./x.sh"}}

    assert convert({"spec": "hooks/1.0", "hooks": [hook]}, None, agents.load(target)).is_verified


def test_provider_data_cannot_change_what_runs():
    """
    A manifest's data for one agent adds keys to an entry and replaces none.
    """
    own = {"claude-code": {"command": "./evil.sh", "type": "http", "once": True}}
    hook = {"event": "session_start", "provider_data": own, "handler": {"type": "command", "command": "./good.sh"}}

    made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, agents.load("claude-code")).document

    assert [{"type": "command", "command": "./good.sh", "once": True}] == made["hooks"]["SessionStart"][0]["hooks"]


def test_a_kind_of_handler_that_one_agent_knows_stays_with_it():
    """
    A handler that only its own agent can run comes back there and is lost, by name, elsewhere.
    """
    claude = agents.load("claude-code")
    entry = {"type": "mcp_tool", "server": "gh", "tool": "check", "input": {"a": 1}}
    document = {"hooks": {"PreToolUse": [{"hooks": [entry]}]}}

    assert document == convert(document, claude, claude).document
    assert ["lost"] == [gap.effect for gap in convert(document, claude, None).gaps]
    elsewhere = convert(document, claude, agents.load("gemini-cli"))
    assert ({}, ["lost"]) == (elsewhere.document["hooks"], [gap.effect for gap in elsewhere.gaps])


PLAIN_HOOK = {
    "event": "before_tool_execute",
    "matcher": "shell",
    "blocking": True,
    "handler": {"type": "command", "command": "./x.sh"},
}
# What a renderer with a fault might write of a hook instead.
DAMAGES = {
    "nothing": lambda hooks: hooks[1:],
    "it twice": lambda hooks: hooks + hooks[:1],
    "another event": lambda hooks: [(0, replace(hooks[0][1], event="after_tool_execute")), *hooks[1:]],
    "another command": lambda hooks: [
        (0, replace(hooks[0][1], handler=Handler(type="command", command="./y.sh"))),
        *hooks[1:],
    ],
    "every tool": lambda hooks: [(0, replace(hooks[0][1], matcher=None)), *hooks[1:]],
    "another tool": lambda hooks: [(0, replace(hooks[0][1], matcher="web_fetch")), *hooks[1:]],
}


@pytest.mark.covers("HIF-61", "HIF-64", "HIF-93")
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ABLE)
def test_what_does_not_read_back_as_it_was_meant_is_not_given(name, damage):
    """
    Whatever a renderer makes of a hook without saying so, it is noticed and nothing is given out; without it all is.
    """
    agent = agents.load(name)

    def render(one, hooks, wording):
        written, _ = agent.config.render(one, DAMAGES[damage](hooks), wording)
        return written, agent.config.render(one, hooks, wording)[1]

    faulty = replace(agent, config=replace(agent.config, render=render))
    second = PLAIN_HOOK | {"event": "before_prompt", "handler": {"type": "command", "command": "./z.sh"}}
    manifest = {
        "spec": "hooks/1.0",
        "hooks": [PLAIN_HOOK, {key: value for key, value in second.items() if key != "matcher"}],
    }
    honest = convert(manifest, None, agent)
    told = {gap.capability for gap in honest.gaps if gap.where.startswith("$.hooks[0]")}

    assert honest.is_verified
    if "tool" in damage and "matcher" in told:
        return  # that it is about other tools is said already
    with pytest.raises(HookonceError, match="would not be read as intended"):
        convert(manifest, None, faulty)


@pytest.mark.covers("HIF-93")
@pytest.mark.parametrize("damage", ["no hook", "another command", "no spec"])
def test_a_manifest_that_does_not_read_back_is_not_given(damage, monkeypatch):
    """
    The manifest itself is read again too.
    """
    written = conversion.dump_manifest

    def dump(manifest):
        document = written(manifest)
        first = document["hooks"][0]
        spoilt = {
            "no hook": {"hooks": document["hooks"][1:]},
            "another command": {
                "hooks": [first | {"handler": {"type": "command", "command": "./y.sh"}}, *document["hooks"][1:]]
            },
            "no spec": {"spec": None},
        }
        return document | spoilt[damage]

    manifest = {"spec": "hooks/1.0", "hooks": [PLAIN_HOOK, PLAIN_HOOK]}
    assert convert(manifest, None, None).is_verified
    monkeypatch.setattr(conversion, "dump_manifest", dump)
    with pytest.raises(HookonceError, match="would not be read as intended"):
        convert(manifest, None, None)


@pytest.mark.covers("HIF-61", "HIF-90", "HIF-92")
def test_every_stage_of_a_conversion_shows():
    """
    Events, tools and seconds are decoded and encoded again, and what the target lacks is degraded with a gap.
    """
    claude = {
        "PreToolUse": [{"matcher": "Bash|Edit", "hooks": [{"type": "command", "command": "./x.sh", "timeout": 5}]}]
    }

    made = convert({"hooks": claude}, agents.load("claude-code"), agents.load("gemini-cli"))
    less = convert(
        {"spec": "hooks/1.0", "hooks": [PLAIN_HOOK | {"handler": PLAIN_HOOK["handler"] | {"cwd": "x"}}]},
        None,
        agents.load("gemini-cli"),
    )

    entry = {"type": "command", "command": "./x.sh", "timeout": 5000}
    assert {"BeforeTool": [{"matcher": "run_shell_command|replace", "hooks": [entry]}]} == made.document["hooks"]
    assert ["configurable_cwd"] == [gap.capability for gap in less.gaps]
    assert "cwd" not in json.dumps(less.document)
