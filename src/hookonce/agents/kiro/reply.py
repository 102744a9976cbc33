"""Replies to Kiro: exit codes and plain text, honoured at few events and differently by each generation."""

from typing import Literal, NamedTuple

from hookonce.agents._reply import answer
from hookonce.base.terminal_text import escape_data
from hookonce.model import Decision, Object, Reply


class ExitCodePolicy(NamedTuple):
    """Which exit codes deny at an event, and whether stdout becomes context for the model."""

    deny_on: Literal["none", "explained", "two", "any"] = "none"
    stdout_is_context: bool = False


_IGNORE_POLICY = ExitCodePolicy()
_POLICIES = {
    # hook files of IDE 1.0 and CLI 3: exit code 2 without a word on stderr lets the tool run
    "PreToolUse": ExitCodePolicy("explained"),
    "UserPromptSubmit": ExitCodePolicy("explained", stdout_is_context=True),
    "SessionStart": ExitCodePolicy(stdout_is_context=True),
    # agent files of the command line up to 2.x; the IDE before 1.0 has the first name too, and minds any exit code
    "preToolUse": ExitCodePolicy("two"),
    "userPromptSubmit": ExitCodePolicy(stdout_is_context=True),
    "agentSpawn": ExitCodePolicy(stdout_is_context=True),
    # hook files of the IDE before 1.0
    "promptSubmit": ExitCodePolicy("any", stdout_is_context=True),
}
_STOP_EVENT = "stop"  # the one event, of CLI 2, that reads an object
_TASK_EVENT = "PreTaskExec"  # a refusal is told to the model there, and the task runs all the same


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write a denial on stderr or context on stdout: Kiro reads one of them at a time."""
    if decision.outcome != "deny":
        return Reply(stdout=escape_data(decision.context or ""))
    if native == _STOP_EVENT:
        return answer.json_reply({"decision": "block", "reason": decision.reason or answer.DEFAULT_REASON})
    return answer.exit_code_denial(decision)


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse exit code and texts as Kiro does; None where it goes on as if there were none."""
    policy, stderr = _POLICIES.get(native, _IGNORE_POLICY), hook_reply.stderr.strip()
    if _is_denial(policy, hook_reply.code, stderr):
        return answer.parse_denial(stderr)
    if native == _TASK_EVENT and hook_reply.code == answer.DENY_EXIT_CODE and stderr:
        return Decision(context=stderr)
    if hook_reply.code != 0:
        return None
    if native == _STOP_EVENT:
        return _parse_stop_block(hook_reply.stdout)
    return Decision(context=hook_reply.stdout.strip() or None) if policy.stdout_is_context else Decision()


def _is_denial(policy: ExitCodePolicy, code: int, stderr: str) -> bool:
    if policy.deny_on == "any":
        return code != 0
    return code == answer.DENY_EXIT_CODE and (
        policy.deny_on == "two" or (policy.deny_on == "explained" and stderr != "")
    )


def _parse_stop_block(text: str) -> Decision:
    fields = answer.parse_object(text) or {}
    reason = fields.get("reason")
    if fields.get("decision") != "block" or type(reason) is not str:
        return Decision()
    return Decision(outcome="deny", reason=None if reason in {"", answer.DEFAULT_REASON} else reason)
