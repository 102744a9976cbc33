"""Experiments about decisions: deny, ask, rewrite, a denied prompt, a denied stop, a script for another agent."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from hookonce.agents import config_event_of, point_of
from hookonce.dispatch.stop_limit import MAX_REFUSALS
from hookonce.lab.fakes import claude_hook
from hookonce.lab.fakes.scenarios import DENIABLE_STEPS, FILE_SECRET, SCENARIOS
from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.certificate import Claim, judge_claim
from hookonce.lab.prove.run import (
    AgentRun,
    describe_end,
    events_of_type,
    find_conversations,
    is_complete,
    is_hook_asked,
    is_text_sent,
    never_asked_claim,
    summarize_run,
)
from hookonce.model import Object

# By what a call is known in a hook's input.
INPUT_MARKERS = {
    "shell": "shell.txt",
    "write": "written.txt",
    "edit": "gamma",
    "read": "secret.txt",
    "mcp": "hello",
    "agent": "scenario=sub",
}
# What shows that a call was made after all, in words and in the run.
_EFFECTS: dict[str, tuple[str, str, Callable[[AgentRun], bool]]] = {
    "shell": ("the command ran", "the command did not run", lambda run: "shell.txt" in run.files),
    "write": ("the file was written", "no file was written", lambda run: "written.txt" in run.files),
    "edit": (
        "the file was changed",
        "the file is as it was",
        lambda run: run.files.get("edited.txt") != SCENARIOS["refuse"].files["edited.txt"],
    ),
    "read": (
        "the model was sent what the file says",
        "the model never saw the file",
        lambda run: is_text_sent(run, FILE_SECRET),
    ),
    "mcp": ("the server was called", "the server was not called", lambda run: bool(run.mcp_calls)),
    "agent": ("the sub-agent worked", "no sub-agent worked", lambda run: "sub.txt" in run.files),
}
_MIN_REQUESTS = 2  # after which the model has asked for the removal
_STOP_REASON = "the lab wants one more turn"


def try_denials(bench: Bench) -> list[Claim]:
    """A deny prevents every kind of tool call, and the model learns why; in one run, or in several if it ends one."""
    missing_steps = bench.driver.missing_steps
    claims = [Claim(f"deny:{name}", "unreachable", why) for name, why in missing_steps.items()]
    run = None if bench.driver.ends_on_refusal else _play_denials(bench, "refuse")
    for name in DENIABLE_STEPS:
        if name not in missing_steps:
            step_run = run or _play_denials(bench, f"refuse-{name}")
            claims.append(_judge_denial(name, step_run, ends_on_refusal=bench.driver.ends_on_refusal))
    return claims


def _play_denials(bench: Bench, scenario: str) -> AgentRun:
    return bench.play(scenario, rules=list(map(deny_rule, DENIABLE_STEPS)), hooks=bench.hooks_for_all_events)


def deny_rule(step_name: str) -> Object:
    """The rule that refuses one kind of call."""
    answer = {"decision": "deny", "reason": _deny_reason(step_name)}
    return {"event": "before_tool_execute", "holds": INPUT_MARKERS[step_name], "say": answer}


def _deny_reason(step_name: str) -> str:
    return f"the lab refuses to {step_name}"


def _judge_denial(step_name: str, run: AgentRun, *, ends_on_refusal: bool) -> Claim:
    name, (effect, no_effect, has_effect) = f"deny:{step_name}", _EFFECTS[step_name]
    was_asked = is_hook_asked(run, INPUT_MARKERS[step_name])
    if has_effect(run):
        return Claim(name, "contradicted", f"{effect}, though the hook {'refused' if was_asked else 'was never asked'}")
    if not was_asked:
        return never_asked_claim(name, run)
    is_reason_sent = is_text_sent(run, _deny_reason(step_name))
    if not is_complete(run, ends_on_refusal=ends_on_refusal) or not (is_reason_sent or ends_on_refusal):
        evidence = f"{no_effect}, but the agent did not go on with the reason ({summarize_run(run)})"
        return Claim(name, "contradicted", evidence)
    ending = "the model was told why" if is_reason_sent else "the run was over"
    return Claim(name, "held", f"{no_effect}, and {ending}")


def try_ask(bench: Bench) -> Claim:
    """An ask decision prevents the call where nobody can be asked."""
    answer = {"decision": "ask", "reason": "the lab wants a person to look"}
    run = _play_with_rule(bench, "refuse-shell", {"event": "before_tool_execute", "say": answer})
    if "shell.txt" in run.files:
        return Claim("ask", "contradicted", "the command ran although no person was asked")
    if not is_hook_asked(run, "shell.txt"):
        return never_asked_claim("ask", run)
    ran_to_end = is_complete(run, ends_on_refusal=bench.driver.ends_on_refusal)
    return judge_claim("ask", f"the command did not run; {describe_end(run)}", holds=ran_to_end)


def try_rewrite(bench: Bench) -> Claim:
    """A hook's new tool input is what runs; where an agent cannot take one, nothing does."""
    rule = {"event": "before_tool_execute", "tool": "shell", "change": {"command": "echo new > rewritten.txt"}}
    run = _play_with_rule(bench, "refuse-shell", rule)
    if not is_hook_asked(run, "shell.txt"):
        return never_asked_claim("rewrite", run)
    if "shell.txt" in run.files:
        return Claim("rewrite", "contradicted", "the old command ran")
    ran_to_end = is_complete(run, ends_on_refusal=bench.driver.ends_on_refusal)
    can_rewrite = _has_capability(bench, "before_tool_execute", "rewrite")
    if "rewritten.txt" in run.files:
        return judge_claim("rewrite", "the new command ran, and not the old one", holds=can_rewrite and ran_to_end)
    evidence = "neither the old nor the new command ran"
    if can_rewrite or not ran_to_end:
        return Claim("rewrite", "contradicted", f"{evidence} ({summarize_run(run)})")
    return Claim("rewrite", "held", f"the agent cannot take new input, so {evidence}")


def try_denied_prompt(bench: Bench) -> Claim:
    """A denied prompt never reaches the model."""
    if not _has_capability(bench, "before_prompt", "prevent"):
        return Claim("prompt", "unreachable", "the agent lets no hook refuse a prompt")
    answer = {"decision": "deny", "reason": "the lab refuses the prompt"}
    run = _play_with_rule(bench, "talk", {"event": "before_prompt", "say": answer})
    if is_text_sent(run, "scenario=talk"):
        return Claim("prompt", "contradicted", "the model was sent the prompt")
    if not events_of_type(run, "before_prompt"):
        return never_asked_claim("prompt", run)
    has_ended = run.code is not None and run.code >= 0  # with which code, agents do not agree on
    return judge_claim("prompt", f"the model was sent nothing; {describe_end(run)}", holds=has_ended)


def try_denied_stop(bench: Bench) -> Claim:
    """A hook keeps an agent from stopping, with the reason, up to the limit."""
    if not _has_capability(bench, "agent_stop", "retry"):
        return Claim("stop", "unreachable", "the agent lets no hook keep it from stopping")
    run = _play_with_rule(bench, "talk", {"event": "agent_stop", "say": {"decision": "deny", "reason": _STOP_REASON}})
    count, is_reason_sent = len(events_of_type(run, "agent_stop")), is_text_sent(run, _STOP_REASON)
    reason_text = f"{'with' if is_reason_sent else 'without'} the reason"
    evidence = f"asked {count} times, went on {reason_text}; {describe_end(run)}"
    return judge_claim("stop", evidence, holds=count == MAX_REFUSALS + 1 and is_reason_sent and run.code == 0)


def try_claude_script(bench: Bench) -> Claim:
    """A hook script written for Claude Code stops `rm -rf` on every agent, unchanged, and no harmless command."""
    command = shlex.join([sys.executable, "-I", "-S", str(Path(claude_hook.__file__).resolve())])
    hook: Object = {"event": "before_tool_execute", "blocking": True, "dialect": "claude-code"}
    hook["handler"] = {"type": "command", "command": command, "timeout": 10}
    run = bench.play("remove", hooks=lambda _folder: [hook])
    if "victim/kept.txt" not in run.files:
        return Claim("claude-script", "contradicted", "the folder is gone")
    if "before.txt" not in run.files:
        evidence = f"the harmless command did not run either ({summarize_run(run)})"
        return Claim("claude-script", "contradicted", evidence)
    is_reason_sent, ends_on_refusal = is_text_sent(run, claude_hook.REASON), bench.driver.ends_on_refusal
    ran_to_end = is_complete(run, ends_on_refusal=ends_on_refusal) and len(find_conversations(run)) >= _MIN_REQUESTS
    if not ran_to_end or not (is_reason_sent or ends_on_refusal):
        evidence = f"the folder is still there, but not for the script's reason ({summarize_run(run)})"
        return Claim("claude-script", "contradicted", evidence)
    reason_note = "the model was told why" if is_reason_sent else "the run was over"
    return Claim("claude-script", "held", f"the folder is still there, and {reason_note}; the harmless command ran")


def _play_with_rule(bench: Bench, scenario: str, rule: Object) -> AgentRun:
    return bench.play(scenario, rules=[rule], hooks=bench.hooks_for_all_events)


def _has_capability(bench: Bench, event_type: str, capability: str) -> bool:
    native = config_event_of(bench.agent, event_type)
    return native is not None and capability in point_of(bench.agent, native).capabilities
