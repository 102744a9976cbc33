"""What a conversion loses, and how it says so."""

import json

import pytest

from hookonce import agents
from hookonce.convert.conversion import WrapperOptions, convert
from hookonce.manifest.load import find_problems
from tests.cases import cases

ADAPT = WrapperOptions("/home/dev/.local/share/hookonce/bin/hookonce-on")
ENTRY = {"type": "command", "command": "./guard.sh"}
SETTINGS = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [ENTRY]}]}}
SWITCHES = [(name, keys, value) for name in agents.AGENTS for _, keys, value in agents.load(name).config.switches]


def manifest(event="before_tool_execute", **fields):
    """A manifest with one hook."""
    handler = {"type": "command", "command": "./guard.sh"} | fields.pop("handler", {})
    handler = {name: value for name, value in handler.items() if value is not None}
    return {"spec": "hooks/0.1", "hooks": [{"event": event, "handler": handler} | fields]}


def native(name):
    """One guard in an agent's own configuration."""
    return convert(manifest(blocking=True), None, agents.load(name)).document


def effects_of(made, capability):
    """The effects of the gaps about something."""
    return [gap.effect for gap in made.gaps if gap.capability == capability]


def test_a_bad_entry_of_the_source_is_no_fault_of_another_hook():
    """
    Paths of the source's file have a root of their own; the hook beside a broken entry is converted.
    """
    good = {"name": "guard", "trigger": "PreToolUse", "action": ENTRY}
    document = {"version": "v1", "hooks": [7, good]}

    made = convert(document, agents.load("kiro"), agents.load("claude-code"))

    assert ["./guard.sh"] == [group["hooks"][0]["command"] for group in made.document["hooks"]["PreToolUse"]]
    assert "$source.hooks[0]" in [gap.where for gap in made.gaps if gap.effect == "lost"]
    assert "$.hooks[0]" not in [gap.where for gap in made.gaps if gap.effect == "lost"]


@pytest.mark.parametrize("target", ["codex", "gemini-cli", None])
@pytest.mark.parametrize(("name", "keys", "value"), dict.fromkeys(SWITCHES))
def test_hooks_that_are_switched_off_do_not_come_to_life(name, keys, value, target):
    """
    Whoever does not run at home runs nowhere else, and is lost by name.
    """
    source = agents.load(name)
    document = native(name)
    place = document
    for key in keys[:-1]:
        place = place.setdefault(key, {})
    place[keys[-1]] = value

    made = convert(document, source, agents.load(target) if target else None)

    assert 0 == made.hooks
    assert "./guard.sh" not in json.dumps(made.document)
    assert ("$.hooks[0]", "lost") in [(gap.where, gap.effect) for gap in made.gaps]


@pytest.mark.parametrize(("target", "event"), [("cline", "before_compact"), ("claude-code", "worktree_create")])
def test_no_hook_is_put_where_it_is_never_called_or_stands_for_the_agent_itself(target, event):
    """
    Where our own table says never, the hook is lost for the reason that stands there.
    """
    agent = agents.load(target)

    made = convert(manifest(event), None, agent)

    assert ["lost"] == [gap.effect for gap in made.gaps if gap.where == "$.hooks[0]"]
    assert 0 == len(agent.config.parse(agent, made.document)[0])


def test_a_hook_at_such_a_place_stays_there_at_home():
    """
    Who makes worktrees for Claude Code does so still, directly and through a manifest.
    """
    claude = agents.load("claude-code")
    document = {"hooks": {"WorktreeCreate": [{"hooks": [ENTRY]}]}}

    assert document == convert(document, claude, claude).document
    assert document == convert(convert(document, claude, None).document, None, claude).document


@pytest.mark.parametrize("adapt", [None, ADAPT])
@pytest.mark.parametrize("target", agents.AGENTS)
def test_a_closed_hook_that_is_opened_says_so(target, adapt):
    """
    Most agents go on when a script fails, or when our wrapper around it is killed; only their own switch is closed.
    """
    agent = agents.load(target)

    made = convert(manifest(blocking=True, on_failure="closed"), None, agent, adapt=adapt)

    stays = agent.config.fail_closed_key or agent.config.language == "code" or (agent.config.crash, agent.config.on_timeout) == ("closed", "closed")
    assert ([] if stays else ["observes"]) == effects_of(made, "on_failure")
    assert adapt is not None or not any("client" in gap.note or "wrapper" in gap.note for gap in made.gaps)


def test_the_agents_own_switch_is_kept_around_the_wrapper():
    """
    Claude Code still refuses when the wrapper itself cannot be started.
    """
    made = convert(manifest(blocking=True, on_failure="closed"), None, agents.load("claude-code"), adapt=ADAPT)

    key, value = agents.load("claude-code").config.fail_closed_key
    assert value == made.document["hooks"]["PreToolUse"][0]["hooks"][0][key]


@pytest.mark.parametrize("target", ["gemini-cli", "claude-code", "codex", "cursor"])
@pytest.mark.parametrize(
    ("capability", "fields"),
    [
        ("timeout_action", {"handler": {"timeout": 5, "timeout_action": "block"}}),
        ("may_allow", {"may_allow": True}),
        ("files", {"files": ["rules.txt"]}),
        ("environment", {"environment": "installation"}),
    ],
)
def test_what_only_a_manifest_can_say_is_a_gap(capability, fields, target):
    """
    No agent's file has a place for these, and each of them matters.
    """
    assert 1 == len(effects_of(convert(manifest(blocking=True, **fields), None, agents.load(target)), capability))


def test_a_hook_that_wants_the_callers_environment_has_it_unless_it_is_wrapped():
    """
    An agent gives its own to every hook; our wrapper gives the installation's.
    """
    made = [convert(manifest(environment="caller"), None, agents.load("gemini-cli"), adapt=adapt) for adapt in (None, ADAPT)]

    assert [0, 1] == [len(effects_of(one, "environment")) for one in made]


@pytest.mark.parametrize("target", ["claude-code", "codex"])
def test_nobody_waits_for_a_guard_in_the_background(target):
    """
    A blocking hook that is written as asynchronous can only look on, and that is said.
    """
    made = convert(manifest(blocking=True, handler={"async": True}), None, agents.load(target))

    assert 1 == len(effects_of(made, "blocking"))
    assert {"observes"} == {gap.effect for gap in made.gaps}


def test_who_runs_in_the_background_at_home_was_never_a_guard():
    """
    An asynchronous hook comes as one that looks on.
    """
    document = {"hooks": {"PreToolUse": [{"hooks": [ENTRY | {"async": True}]}]}}

    assert [False] == [hook.get("blocking", False) for hook in convert(document, agents.load("claude-code"), None).document["hooks"]]


@pytest.mark.parametrize("entry", [{"timeout": 1e308}, {"type": "http", "url": "ftp://x", "headers": {"X": 3}}, {"command": ""}, {"type": "prompt", "prompt": 7}])
def test_a_manifest_that_comes_out_is_one(entry):
    """
    What check would refuse is lost with the fault, and the rest stays.
    """
    document = {"hooks": {"PreToolUse": [{"hooks": [ENTRY, ENTRY | entry]}]}}

    made = convert(document, agents.load("claude-code"), None)

    assert [] == find_problems(made.document)[0]
    assert made.is_verified


def test_a_matcher_that_a_manifest_cannot_hold_is_told_with_its_fault():
    """
    The hook is lost, and the reason is what check would have said.
    """
    document = {"hooks": {"PreToolUse": [{"matcher": "(?<=x)Nothing", "hooks": [ENTRY]}]}}

    made = convert(document, agents.load("claude-code"), None)

    assert (["lost"], False, 0) == ([gap.effect for gap in made.gaps], made.is_verified, made.hooks)


STRANGE = [
    {"type": "http", "url": "https://x.example/", "headers": {"X-Retry": 3}},
    {"type": "http", "url": "https://x.example/", "allowedEnvVars": [1]},
    ENTRY | {"env": {"DEBUG": 1}},
    ENTRY | {"timeout": 1e308},
    ENTRY | {"timeout": 10**400},
    ENTRY | {"timeoutSec": 1e308},
]


@pytest.mark.part(2)
@cases("target", agents.AGENTS)
@pytest.mark.parametrize("source", ["claude-code", "gemini-cli", "copilot-cli", "vs-code-copilot", "cursor", "codex"])
@pytest.mark.parametrize("entry", STRANGE, ids=str)
def test_values_of_strange_types_break_nothing(entry, source, target):
    """
    What no field can hold stays with its agent; the conversion is verified all the same.
    """
    agent = agents.load(source)
    document = json.loads(json.dumps(native(source)).replace('"matcher": "*", ', ""))
    groups = next(iter(document["hooks"].values()))
    if "hooks" in groups[0]:
        groups[0]["hooks"][0] |= entry
    else:
        groups[0] |= entry

    assert convert(document, agent, agents.load(target), adapt=ADAPT).is_verified


def test_one_hook_has_one_effect():
    """
    If a hook is not there, no other gap says that it prevents; if it only looks on, none says more.
    """
    looks = convert(manifest("session_start", blocking=True, handler={"env": {"A": "b"}}), None, agents.load("claude-code"))
    gone = convert(manifest("file_saved", blocking=True, handler={"env": {"A": "b"}}), None, agents.load("claude-code"))

    assert {"later"} == {gap.effect for gap in looks.gaps}
    assert {("$.hooks[0]", "lost")} == {(gap.where, gap.effect) for gap in gone.gaps}


@pytest.mark.parametrize("name", agents.AGENTS)
def test_nothing_is_lost_at_home(name):
    """
    A configuration for the agent that it came from has no gaps.
    """
    agent = agents.load(name)

    made = convert(native(name), agent, agent)

    assert (native(name), []) == (made.document, made.gaps)


@pytest.mark.covers("HIF-100")
@pytest.mark.parametrize("matcher", ["shell", "file_write", ["shell", "file_read"], None])
@pytest.mark.parametrize("name", [name for name in agents.AGENTS if agents.load(name).config.language != "code"])
def test_a_gap_of_blocking_names_the_events_of_the_file(name, matcher):
    """
    A hook that only looks on is told where the agent would let it refuse: where its entry stands, and nowhere else.
    """
    agent, handler = agents.load(name), {"type": "command", "command": "./look"}
    hook = {"event": "before_tool_execute", "handler": handler} | ({} if matcher is None else {"matcher": matcher})

    made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, agent)

    (gap,) = [gap for gap in made.gaps if gap.capability == "blocking"]
    names = gap.note.partition("lets any hook on ")[2].partition(" refuse;")[0].split(", ")
    text = json.dumps(made.document)
    assert set(names) == {native for native in agent.config.points if f'"{native}"' in text}


def test_windsurf_keeps_its_powershell():
    """
    A command for one system stays where its agent reads it.
    """
    windsurf = agents.load("windsurf")
    document = {"hooks": {"pre_run_command": [{"command": "./a.sh", "powershell": "./a.ps1"}]}}

    made = convert(document, windsurf, windsurf)

    assert (document, []) == (made.document, made.gaps)


@pytest.mark.parametrize("target", ["gemini-cli", "codex", "cursor"])
def test_a_manifest_on_the_way_changes_nothing(target):
    """
    A pattern on native names means the same on another agent, directly or through a manifest; at home it is as it was.
    """
    claude, other = agents.load("claude-code"), agents.load(target)
    document = {"hooks": {"PreToolUse": [{"matcher": "^Bash$", "hooks": [ENTRY]}]}}

    through = convert(document, claude, None).document

    assert "shell" == through["hooks"][0]["matcher"]
    assert convert(document, claude, other).document == convert(through, None, other).document
    assert document == convert(through, None, claude).document


@pytest.mark.parametrize("adapt", [None, ADAPT], ids=["bare", "wrapped"])
@pytest.mark.parametrize("name", agents.AGENTS)
def test_no_agent_is_given_a_server_that_we_would_not_call(name, adapt):
    """
    Plain http to another machine is left out, by name; so it is in our own hooks.
    """
    made = convert(manifest(handler={"type": "http", "command": None, "url": "http://example.com/x"}), None, agents.load(name), adapt=adapt)

    assert "lost" in effects_of(made, "http_handler")
    assert "example.com" not in json.dumps(made.document)


def test_keys_that_decide_whether_a_hook_runs_are_named():
    """
    They go to the agent that they are for, as a manifest has them; other keys of its own decide nothing.
    """
    own = {"if": "Bash(never)", "once": True, "colour": "red"}
    made = convert(manifest(blocking=True, provider_data={"claude-code": own}), None, agents.load("claude-code"))

    note = "before_tool_execute ./guard.sh: if, once is passed to Claude Code unchanged, and if and once may keep the hook from running or from refusing"
    assert [(note, "observes")] == [(gap.note, gap.effect) for gap in made.gaps if gap.capability == "provider_data"]


@pytest.mark.parametrize(("name", "own", "effects"), [("claude-code", {"shell": "bash"}, ["prevents"]), ("kiro", {"enabled": False}, [])])
def test_keys_that_only_choose_a_shell_or_are_not_passed_weaken_nothing(name, own, effects):
    made = convert(manifest(blocking=True, provider_data={name: own}), None, agents.load(name))

    assert effects == [gap.effect for gap in made.gaps if gap.capability == "provider_data"]


@pytest.mark.parametrize("name", agents.AGENTS)
def test_no_agent_posts_its_own_payload_where_a_hook_was_to_be_told_less(name):
    """
    A server that is told an open format gets it from us, through a wrapper, or nothing; never every text.
    """
    document = manifest("before_prompt", dialect="agent-hooks", handler={"type": "http", "url": "https://example.com/x"})
    made = convert(document, None, agents.load(name), adapt=ADAPT)
    text = json.dumps(made.document)

    assert ["lost"] == effects_of(made, "privacy") or "example.com" not in text or "--dialect agent-hooks" in text


def test_a_privacy_level_that_an_agent_s_file_cannot_say_is_a_gap():
    """
    It comes back with what is kept beside the file.
    """
    document = manifest("before_prompt", dialect="openhook", privacy="full")
    made = convert(document, None, agents.load("claude-code"), adapt=ADAPT)

    assert 1 == len(effects_of(made, "privacy"))
    again = convert(made.document, agents.load("claude-code"), None, adapt=ADAPT, beside=made.side)
    assert "full" == again.document["hooks"][0]["privacy"]
