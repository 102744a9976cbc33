"""Manifests that are written are of the version that the specification prints, or of the one that is asked for."""

import pytest

from hookonce import agents
from hookonce.convert.conversion import WrapperOptions, convert
from hookonce.convert.spec_version import parse_spec
from hookonce.errors import UsageError
from hookonce.manifest.load import find_problems

CLAUDE = agents.load("claude-code")
COMMAND = {"type": "command", "command": "./check.sh"}
ADAPT = WrapperOptions("/home/me/.local/share/hookonce/bin/hookonce-on")


def settings(matcher="Bash", event="PreToolUse"):
    """A configuration of Claude Code with one hook."""
    return {"hooks": {event: [{"matcher": matcher, "hooks": [{"type": "command", "command": "./check.sh"}]}]}}


def manifest(spec="hooks/1.0", **fields):
    """A manifest with one hook."""
    return {"spec": spec, "hooks": [{"event": "before_tool_execute", "handler": COMMAND} | fields]}


def capabilities(conversion):
    """What the gaps of a conversion are about."""
    return [gap.capability for gap in conversion.gaps]


@pytest.mark.covers("HIF-2", "HIF-68", "HIF-X1")
@pytest.mark.parametrize(("spec", "mac"), [("hooks/1.0", "osx"), ("hooks/0.1", "darwin")])
@pytest.mark.parametrize("given", ["hooks/1.0", "hooks/0.1"])
def test_a_manifest_is_of_the_version_that_is_asked_for(given, spec, mac):
    """
    Whichever version it comes from, in that version's own words, and a reader finds nothing wrong with it.
    """
    document = manifest(given, handler=COMMAND | {"platform": {"darwin": "./mac.sh"}})

    made = convert(document, None, None, spec=spec)

    assert (spec, {mac: "./mac.sh"}) == (made.document["spec"], made.document["hooks"][0]["handler"]["platform"])
    assert ([], []) == (find_problems(made.document)[0], made.gaps)
    assert "hooks/1.0" == convert(document, None, None).document["spec"]
    assert "hooks/1.0" == convert(settings(), CLAUDE, None).document["spec"]


@pytest.mark.parametrize(
    ("text", "spec"),
    [("1.0", "hooks/1.0"), ("hooks/1.0", "hooks/1.0"), ("0.1", "hooks/0.1"), ("hooks/0.1", "hooks/0.1")],
)
def test_a_version_has_a_short_name(text, spec):
    """
    The number alone is enough.
    """
    assert spec == parse_spec(text)
    for wrong in ("2.0", "hooks/", "hooks/0.10", f"x{text}", ""):
        with pytest.raises(UsageError, match=r"hooks/1\.0, hooks/0\.1"):
            parse_spec(wrong)


@pytest.mark.covers("HIF-91")
@pytest.mark.parametrize(
    ("fields", "in_first", "in_second"),
    [
        ({"name": "n", "capabilities": ["x"]}, ["name", "capabilities"], []),
        (
            {"handler": COMMAND | {"timeout_action": "block", "status_message": "m"}},
            ["timeout_action", "status_message"],
            [],
        ),
        (
            {"blocking": True, "on_failure": "closed", "may_allow": True},
            ["on_failure", "may_allow"],
            ["on_failure", "may_allow"],
        ),
        (
            {"dialect": "claude-code", "files": ["a"], "environment": "caller"},
            ["environment", "dialect", "files"],
            ["environment", "dialect", "files"],
        ),
        ({"handler": {"type": "http", "url": "https://x.example/"}}, ["url"], ["url"]),
        ({"handler": {"type": "function", "file": "hooks.py"}}, ["type", "file"], ["type", "file"]),
        ({"event": "tool_use_failure"}, ["event"], []),
        ({"event": "vendor.kiro.X"}, ["event"], []),
        ({"matcher": "shell", "blocking": True, "degradation": {"custom_env": "warn"}, "x_team": 1}, [], []),
    ],
)
def test_what_a_version_cannot_say_is_named(fields, in_first, in_second):
    """
    Each field and each event that it does not have is a gap; it is written all the same, for hookonce reads it.
    """
    first = convert(manifest(**fields), None, None)
    second = convert(manifest(**fields), None, None, spec="hooks/0.1")

    assert (in_first, in_second) == (capabilities(first), capabilities(second))
    assert all("hooks/1.0 has no " in gap.note and gap.effect != "lost" for gap in first.gaps)
    assert manifest(**fields)["hooks"] == first.document["hooks"]


def test_a_script_of_an_agent_is_told_from_one_for_everybody():
    """
    The dialect of a wrapped script is something that no version has; without a wrapper none is written.
    """
    assert ["dialect"] == capabilities(convert(settings(), CLAUDE, None, adapt=ADAPT))
    assert [] == capabilities(convert(settings(), CLAUDE, None))


@pytest.mark.covers("HIF-88")
@pytest.mark.parametrize(
    ("pattern", "changes"),
    [
        ("^shell$", True),
        ("file_(read|write|edit)", True),
        ("^mcp:", True),
        ("^Bash$", False),
        (".*", False),
        ("", False),
    ],
)
def test_a_pattern_that_means_something_else_is_named(pattern, changes):
    """
    One version tries it on canonical names too, the other on native ones alone.
    """
    expected = ["matcher"] if changes else []

    older = convert(manifest(matcher=["shell", {"pattern": pattern}]), None, None, spec="hooks/0.1")
    newer = convert(manifest("hooks/0.1", matcher={"pattern": pattern}), None, None)

    assert expected == capabilities(older)
    assert (expected if pattern != "^mcp:" else []) == capabilities(newer)
    assert [] == capabilities(convert(manifest(matcher={"pattern": pattern}), None, None))
    assert (
        [] == capabilities(convert(manifest("hooks/0.1", matcher={"pattern": pattern}), None, None, spec="hooks/0.1"))
        or pattern == "^mcp:"
    )


def test_a_pattern_of_an_agents_file_is_compared_with_its_own_tools():
    """
    What it fits there by its own names is no change; what it would fit by canonical names alone is.
    """
    assert [] == capabilities(convert(settings("^My.*$"), CLAUDE, None))
    assert ["matcher"] == capabilities(convert(settings("^file_r.*$"), CLAUDE, None))


@pytest.mark.covers("HIF-X2")
def test_a_saved_file_is_a_changed_one_that_kiro_calls_saved():
    """
    Where a version has one event for every change, Kiro's trigger tells which it was, and it is read back as that.
    """
    saved = manifest(event="file_saved", provider_data={"kiro": {"x": 1}})

    older = convert(saved, None, None, spec="hooks/0.1").document
    (hook,) = older["hooks"]

    assert ("file_changed", {"kiro": {"x": 1, "trigger": "File Save"}}) == (hook["event"], hook["provider_data"])
    assert saved["hooks"] == convert(older, None, None).document["hooks"]
    assert convert(saved, None, agents.load("kiro")).document == convert(older, None, agents.load("kiro")).document
