"""What the tables say that an answer can do, against what real agents did in the lab.

One line for each event that the lab gave answers to: the powers that it saw, those that it tried in vain, how an
`ask` ended where it tried one, and the cases that show it (in `facts/lab-results`, by agent). Written by hand
from the results: "prevent" is a tool that did not run, a model that was not called, or a result that the model
did not get; "retry" is one more turn; "rewrite" is other input that took effect; "context" is a text that the
model got besides; "allow" is an approval that nobody else had to give, "output" a result that was replaced.
"""

import json
from typing import NamedTuple

import pytest

from hookonce import agents
from hookonce.agents import point_of
from tests.shared import reference

FILES = {
    "claude-code": "claude",
    "codex": "codex",
    "gemini-cli": "gemini",
    "qwen-code": "qwen",
    "copilot-cli": "copilot",
    "factory-droid": "droid",
    "opencode": "opencode",
    "cline": "cline",
}


class Seen(NamedTuple):
    """What the lab saw at one event."""

    agent: str
    event: str
    can: str
    cannot: str
    ask: str | None
    cases: str


SEEN = [
    Seen("claude-code", "PreToolUse", "prevent rewrite context", "", "denies_headless", "pre-deny pre-exit2-stderr pre-update-nodecision pre-context pre-ask"),
    Seen("claude-code", "PermissionRequest", "prevent allow", "", None, "perm-deny perm-allow"),
    Seen("claude-code", "PostToolUse", "context", "prevent", None, "post-context post-block post-exit2"),
    Seen("claude-code", "PostToolUseFailure", "context", "prevent", None, "postfail-context postfail-exit2"),
    Seen("claude-code", "PostToolBatch", "prevent context", "", None, "batch-block batch-context"),
    Seen("claude-code", "UserPromptSubmit", "prevent context", "", None, "prompt-block prompt-exit2 prompt-context"),
    Seen("claude-code", "SessionStart", "context", "prevent", None, "session-context session-exit2 session-continue-false"),
    Seen("claude-code", "Stop", "retry context", "", None, "stop-block-once stop-exit2-once stop-context"),
    Seen("claude-code", "SubagentStart", "context", "", None, "substart-context"),
    Seen("claude-code", "SubagentStop", "retry", "", None, "substop-block-once"),
    Seen("codex", "PreToolUse", "prevent rewrite context", "", "ignored", "pre-permissionDecision-deny pre-exit2 pre-rewrite-allow patch-rewrite pre-context pre-permissionDecision-ask"),
    Seen("codex", "PostToolUse", "prevent context", "", None, "post-block post-exit2 post-context"),
    Seen("codex", "UserPromptSubmit", "prevent context", "", None, "prompt-block prompt-exit2 prompt-context"),
    Seen("codex", "SessionStart", "prevent context", "", None, "start-continue-false start-context"),
    Seen("codex", "Stop", "retry", "", None, "stop-block-once stop-exit2-once"),
    Seen("gemini-cli", "BeforeTool", "prevent rewrite", "context", "fatal", "pre-decision-deny pre-exit2 pre-rewrite pre-context pre-decision-ask"),
    Seen("gemini-cli", "AfterTool", "prevent context", "", None, "post-block post-exit2 post-context"),
    Seen("gemini-cli", "BeforeAgent", "prevent context", "", None, "prompt-block prompt-exit2 prompt-context"),
    Seen("gemini-cli", "AfterAgent", "retry", "", None, "stop-block-once stop-exit2-once"),
    Seen("gemini-cli", "BeforeModel", "prevent rewrite", "", None, "model-deny model-request-override"),
    Seen("gemini-cli", "AfterModel", "prevent output", "", None, "aftermodel-deny aftermodel-replace"),
    Seen("gemini-cli", "SessionStart", "context", "prevent", None, "start-context start-exit2 start-continue-false"),
    Seen("qwen-code", "PreToolUse", "prevent", "rewrite context", "denies_headless", "pre-decision-deny pre-exit2 pre-rewrite pre-rewrite-allow pre-context pre-permissionDecision-ask"),
    Seen("qwen-code", "PostToolUse", "context", "prevent", None, "post-context post-block post-exit2"),
    Seen("qwen-code", "UserPromptSubmit", "prevent context", "", None, "prompt-block prompt-exit2 prompt-context"),
    Seen("qwen-code", "SessionStart", "context", "prevent", None, "start-context start-exit2 start-continue-false"),
    Seen("qwen-code", "Stop", "retry", "", None, "stop-block-once stop-exit2-once"),
    Seen("copilot-cli", "preToolUse", "prevent rewrite context", "", "denies_headless", "pre-deny pre-exit2-stderr pre-update-nodecision pre-context pre-ask"),
    Seen("copilot-cli", "permissionRequest", "prevent", "", None, "perm-deny perm-exit2"),
    Seen("copilot-cli", "postToolUse", "prevent context", "", None, "post-block post-context"),
    Seen("copilot-cli", "postToolUseFailure", "context", "", None, "postfail-context"),
    Seen("copilot-cli", "userPromptSubmitted", "prevent rewrite context", "", None, "prompt-block prompt-modified prompt-context"),
    Seen("copilot-cli", "sessionStart", "context", "prevent", None, "session-context session-exit2"),
    Seen("copilot-cli", "agentStop", "retry", "", None, "stop-block-once"),
    Seen("copilot-cli", "subagentStart", "context", "", None, "substart-context"),
    Seen("copilot-cli", "subagentStop", "retry", "", None, "substop-block-once"),
    Seen("factory-droid", "PreToolUse", "prevent rewrite", "context", "ignored", "pre-deny pre-exit2-stderr pre-update-nodecision pre-context pre-ask"),
    Seen("factory-droid", "PostToolUse", "context", "prevent", None, "post-context post-block"),
    Seen("factory-droid", "SessionStart", "context", "prevent", None, "session-context session-exit2 session-continue-false"),
    Seen("factory-droid", "Stop", "retry", "context", None, "stop-block-once stop-exit2-once stop-context"),
    Seen("opencode", "tool.execute.before", "prevent rewrite", "", "none", "before-throw before-rewrite"),
    Seen("opencode", "tool.execute.after", "context", "", None, "after-output"),
    Seen("opencode", "chat.message", "prevent", "", None, "message-throw"),
    Seen("opencode", "chat.params", "prevent", "", None, "params-throw"),
    Seen("opencode", "experimental.chat.system.transform", "context", "", None, "system-push"),
    Seen("opencode", "permission.ask", "", "prevent rewrite context", None, "perm-ask-allow-hook"),
    Seen("cline", "PreToolUse", "prevent rewrite context", "", "none", "pre-cancel pre-override pre-context"),
    Seen("cline", "PostToolUse", "context", "", None, "PostToolUse-context"),
    Seen("cline", "TaskStart", "", "prevent context", None, "TaskStart-cancel TaskStart-exit2 TaskStart-context"),
    Seen("cline", "TaskComplete", "", "prevent retry context", None, "TaskComplete-cancel TaskComplete-exit2 TaskComplete-context"),
]
# How new input was taken, where the lab sent only part of it: the case, and what became of the rest.
REWRITES = [
    ("claude-code", "PreToolUse", "whole", "pre-update-partial"),
    ("copilot-cli", "preToolUse", "whole", "pre-update-partial"),
    ("factory-droid", "PreToolUse", "merge", "pre-update-partial"),
]
# What became of the call when its hook died (a signal, no answer) or came too late.
FATES = [
    ("claude-code", "open", "open", "pre-sigkill pre-cmd-not-found pre-timeout1s"),
    ("codex", "open", "open", "pre-command-killed pre-command-missing pre-timeout"),
    ("gemini-cli", "open", "open", "pre-command-killed pre-timeout"),
    ("qwen-code", "open", "open", "pre-command-killed pre-command-missing pre-timeout"),
    ("copilot-cli", "closed", "open", "pre-sigkill pre-cmd-not-found pre-timeout1s"),
    ("factory-droid", "open", "open", "pre-sigkill pre-cmd-not-found pre-timeout1s"),
    ("cline", "open", "open", "pre-exit1 pre-timeout-135s"),
]


def agent_with_config(name):
    """An agent whose configuration is known."""
    return agents.load(name)


def known_cases(name):
    """The names of all cases that the lab ran with an agent."""
    file = reference("facts", "lab-results", f"{FILES[name]}.json")
    found = json.loads(file.read_text(encoding="utf-8"))
    return set(found) if type(found) is dict else {record["case"] for record in found}


@pytest.mark.parametrize("seen", SEEN, ids=lambda seen: f"{seen.agent}-{seen.event}")
def test_a_point_can_do_what_the_lab_saw_and_nothing_that_failed_there(seen):
    """
    No power is claimed that was tried in vain, none is forgotten, and an ask ends as it did.
    """
    point = point_of(agent_with_config(seen.agent), seen.event)

    assert set(seen.can.split()) <= point.capabilities
    assert point.capabilities.isdisjoint(seen.cannot.split())
    assert seen.ask in (None, point.ask)


@pytest.mark.parametrize(("name", "event", "rewrite", "case"), REWRITES)
def test_new_input_is_taken_as_the_lab_saw(name, event, rewrite, case):
    """
    Half of an input was refused where the whole is wanted, and completed where it is merged.
    """
    assert case in known_cases(name)
    assert rewrite == point_of(agent_with_config(name), event).rewrite


@pytest.mark.parametrize(("name", "crash", "late", "cases"), FATES)
def test_a_hook_that_dies_or_comes_too_late_ends_as_the_lab_saw(name, crash, late, cases):
    """
    A killed hook and one past its time let the call pass, unless the agent was seen to refuse.
    """
    assert set(cases.split()) <= known_cases(name)
    assert (crash, late) == (agent_with_config(name).config.crash, agent_with_config(name).config.on_timeout)


@pytest.mark.parametrize("name", FILES)
def test_every_line_rests_on_cases_that_were_run(name):
    """
    A case that the lab does not know shows nothing.
    """
    named = {case for seen in SEEN if seen.agent == name for case in seen.cases.split()}

    assert set() == named - known_cases(name)
