"""Matchers at events that are about no tool: kept where the target honours them, told where it does not."""

import pytest

from hookonce import agents
from hookonce.convert.conversion import convert

# source, its event, its matcher, target, its event, the matcher there (None: the hook runs for all, which is told)
CASES = [
    ("claude-code", "SessionStart", "startup|resume", "codex", "SessionStart", "startup|resume"),
    ("claude-code", "SessionStart", "^(startup|resume)$", "codex", "SessionStart", "startup|resume"),
    ("codex", "SessionStart", "clear", "claude-code", "SessionStart", "clear"),
    ("claude-code", "SessionStart", "startup|resume", "qwen-code", "SessionStart", "^(startup|resume)$"),
    ("claude-code", "SessionStart", "compact", "factory-droid", "SessionStart", "^(compact)$"),
    ("claude-code", "SessionStart", "startup", "gemini-cli", "SessionStart", "startup"),
    ("claude-code", "SessionStart", "startup|resume", "gemini-cli", "SessionStart", None),
    ("claude-code", "SessionStart", "startup", "copilot-cli", "sessionStart", None),
    ("claude-code", "SessionStart", "start.*", "codex", "SessionStart", None),
    ("claude-code", "SessionStart", "mine", "codex", "SessionStart", None),
    ("claude-code", "PreCompact", "manual", "gemini-cli", "PreCompress", "manual"),
    ("claude-code", "PreCompact", "auto", "copilot-cli", "preCompact", "auto"),
    ("claude-code", "PreCompact", "auto", "factory-droid", "PreCompact", None),
    ("claude-code", "SessionEnd", "logout", "codex", "SessionEnd", None),
    ("claude-code", "SubagentStart", "my-agent|Explore", "codex", "SubagentStart", "^(my-agent|Explore)$"),
    ("claude-code", "SubagentStart", "Explore", "cursor", "subagentStart", "^(Explore)$"),
    ("cursor", "subagentStart", "Expl", "claude-code", "SubagentStart", None),
    ("cursor", "subagentStart", "^Explore$", "claude-code", "SubagentStart", "Explore"),
]


def native(agent, event, matcher):
    """A configuration with one hook."""
    entry = {"command": "./x.sh"}
    if agent.name == "cursor":
        return {"version": 1, "hooks": {event: [entry | {"matcher": matcher}]}}
    return {"hooks": {event: [{"matcher": matcher, "hooks": [entry | {"type": "command"}]}]}}


@pytest.mark.parametrize("through", ["directly", "through a manifest"])
@pytest.mark.parametrize("case", CASES)
def test_a_matcher_is_kept_where_it_is_honoured(case, through):
    """
    As the target compares it: a list of names, a pattern, or one name and no more; what it would not honour is a gap.
    """
    source, event, given, target, target_event, expected = case
    origin, goal = agents.load(source), agents.load(target)
    made = convert(native(origin, event, given), origin, goal if through == "directly" else None)
    told = [gap.note for gap in made.gaps if gap.capability == "matcher"]
    if through != "directly":
        made = convert(made.document, None, goal)

    (group,) = made.document["hooks"][target_event]
    assert expected == group.get("matcher")
    assert bool(told) == (expected is None or "ubagent" in event or through != "directly")
    assert expected is None or through != "directly" or not any("runs for all" in note for note in told)


def test_the_targets_own_matcher_wins():
    """
    Whoever wrote in a manifest what an agent's file shall say has said it.
    """
    origin, goal = agents.load("claude-code"), agents.load("codex")
    manifest = convert(native(origin, "SessionStart", "startup"), origin, None).document
    manifest["hooks"][0]["provider_data"]["codex"] = {"hookonce": {"matcher": "clear"}}

    (group,) = convert(manifest, None, goal).document["hooks"]["SessionStart"]

    assert "clear" == group["matcher"]
