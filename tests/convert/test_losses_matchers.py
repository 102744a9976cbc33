"""What becomes of matchers on an agent that has other tools, and of commands on other systems."""

import pytest

from hookonce import agents
from hookonce.convert.conversion import convert

ABLE = list(agents.AGENTS)
OTHERS = [name for name in ABLE if name != "claude-code"]


def claude(matcher):
    """A guard of Claude Code's before these tools."""
    return {"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [{"type": "command", "command": "./guard.sh"}]}]}}


def arrived(document, target, source="claude-code"):
    """The matchers that the target reads, and the gaps about matchers."""
    other = agents.load(target)
    made = convert(document, source and agents.load(source), other)
    hooks, _ = other.config.parse(other, made.document)
    return [hook.matcher for hook in hooks], [gap for gap in made.gaps if gap.capability == "matcher"]


@pytest.mark.parametrize("target", OTHERS)
@pytest.mark.parametrize("text", [".+", "^.*$", "Bash|.+", r"\w"])
def test_a_guard_for_every_tool_stays_one(text, target):
    """
    Tools that nobody knows are guarded too: no list of known names stands in the place of all.
    """
    assert ([None], []) == arrived(claude(text), target)


@pytest.mark.parametrize("target", OTHERS)
def test_a_manifests_pattern_for_every_tool_stays_one(target):
    """
    Nor does one stand there for a manifest's own pattern.
    """
    hook = {"event": "before_tool_execute", "blocking": True, "matcher": {"pattern": ".+"}, "handler": {"type": "command", "command": "./x.sh"}}
    other = agents.load(target)

    made = convert({"spec": "hooks/0.1", "hooks": [hook]}, None, other)

    found = [hook.matcher for hook in other.config.parse(other, made.document)[0]]
    assert found in ([None], [{"pattern": ".+"}])
    assert [] == [gap for gap in made.gaps if gap.capability == "matcher"]


@pytest.mark.parametrize("target", OTHERS)
@pytest.mark.parametrize("text", ["^(?!Read|Grep).*$", "^[A-Z].*", "mcp__(?!github__).*", "mcp__[a-m].*"])
def test_a_pattern_that_picks_more_or_less_than_it_says_is_named(text, target):
    """
    All but a few tools, and some servers of many, can only be told as known tools and every server.
    """
    _, gaps = arrived(claude(text), target)

    assert any(text in gap.note for gap in gaps)


@pytest.mark.parametrize("target", ["gemini-cli", "cursor", "copilot-cli", "kiro", "antigravity"])
@pytest.mark.parametrize("text", ["mcp__.*__delete.*", "^mcp__github__(create|delete)_.*$", "Todo.*"])
def test_a_hook_that_would_never_run_is_lost_by_name(text, target):
    """
    A pattern on one agent's names for MCP tools fits nothing where they are called otherwise.
    """
    matchers, gaps = arrived(claude(text), target)

    assert ([], ["lost"]) == (matchers, [gap.effect for gap in gaps if gap.where == "$.hooks[0]"])


@pytest.mark.parametrize("target", ["amp", "cline", "opencode"])
def test_a_generated_file_that_tries_names_itself_keeps_the_hook(target):
    """
    A tool that nobody knows may still come by; nothing is promised.
    """
    matchers, gaps = arrived(claude("Todo.*"), target)

    assert (1, ["observes"]) == (len(matchers), [gap.effect for gap in gaps])


def test_a_pattern_on_mcp_names_stays_where_they_are_called_the_same():
    """
    Claude Code and Codex give MCP tools the same names.
    """
    matchers, gaps = arrived(claude("^mcp__github__(create|delete)_.*$"), "codex")

    assert [{"pattern": "^mcp__github__(create|delete)_.*$"}] == matchers
    assert "lost" not in {gap.effect for gap in gaps}


@pytest.mark.parametrize("target", ["codex", "cursor", "copilot-cli", "opencode", "gemini-cli", "kiro", "devin"])
def test_names_of_tools_that_nobody_knows_are_told(target):
    """
    They are written as they are, and it is said that the hook may never run.
    """
    matchers, gaps = arrived(claude("Skill|AskUserQuestion"), target)

    (gap,) = [gap for gap in gaps if "never runs" in gap.note]
    assert ("observes", "$.hooks[0].matcher") == (gap.effect, gap.where)
    assert "Skill or AskUserQuestion" in gap.note
    assert 1 == len(matchers)


def test_a_tool_that_the_target_lacks_leaves_the_rest_of_a_list():
    """
    A hook is lost only if nothing of its matcher is left.
    """
    assert [] == arrived(claude("Read"), "codex")[0]
    assert 1 == len(arrived(claude("Read|Bash"), "codex")[0])


@pytest.mark.parametrize("target", ["claude-code", "gemini-cli", "copilot-cli", "windsurf"])
def test_a_matcher_on_the_command_is_not_lost_in_silence(target):
    """
    At Cursor's event for commands the matcher is about the command, which no list of tools can say.
    """
    document = {"version": 1, "hooks": {"beforeShellExecution": [{"command": "./x.sh", "matcher": "curl|wget"}]}}

    _, gaps = arrived(document, target, "cursor")

    assert any("'curl|wget'" in gap.note for gap in gaps)


def test_a_matcher_that_says_what_its_event_says_loses_nothing():
    """
    Reading is what the event for reading is about.
    """
    document = {"version": 1, "hooks": {"beforeReadFile": [{"command": "./x.sh", "matcher": "Read"}]}}

    assert (["file_read"], []) == arrived(document, "claude-code", "cursor")


@pytest.mark.parametrize("target", ABLE)
@pytest.mark.parametrize("name", ["foo(bar", "foo.bar*", "[x", "a\\", "a|b", "a,b", "^", "x y", ""])
def test_a_name_with_signs_of_patterns_is_no_fault_of_ours(name, target):
    """
    Names of nobody's may hold anything.
    """
    hook = {"event": "before_tool_execute", "blocking": True, "matcher": name, "handler": {"type": "command", "command": "./x.sh"}}

    assert convert({"spec": "hooks/0.1", "hooks": [hook]}, None, agents.load(target)).is_verified


@pytest.mark.parametrize(
    ("source", "document"),
    [
        ("copilot-cli", {"version": 1, "hooks": {"preToolUse": [{"type": "command", "powershell": "x.ps1"}]}}),
        ("vs-code-copilot", {"hooks": {"PreToolUse": [{"type": "command", "windows": "x.ps1"}]}}),
        ("vs-code-copilot", {"hooks": {"PreToolUse": [{"type": "command", "osx": "x.sh"}]}}),
        ("claude-code", {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x.ps1", "shell": "powershell"}]}]}}),
    ],
)
@pytest.mark.parametrize("target", ["cursor", "gemini-cli", "codex"])
def test_a_command_for_one_system_is_no_command_for_all_in_silence(source, document, target):
    """
    Another agent would give it to whatever shell there is.
    """
    made = convert(document, agents.load(source), agents.load(target))

    assert ["platform_commands"] == [gap.capability for gap in made.gaps if "alone, and fails" in gap.note]


@pytest.mark.parametrize("target", OTHERS)
@pytest.mark.parametrize("text", ["^Bash$", "^(Bash|Edit)$", "Edit|Write.*", ".+", "mcp__.*"])
def test_a_manifest_on_the_way_changes_no_matcher(text, target):
    """
    From one agent through a manifest to another is the same as without it, and home again nothing is lost.
    """
    source = agents.load("claude-code")
    manifest = convert(claude(text), source, None).document

    assert arrived(claude(text), target)[0] == arrived(manifest, target, None)[0]
    assert claude(text) == convert(manifest, None, source).document
