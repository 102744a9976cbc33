"""Experiment `rewritten`: a hook's new tool input is what runs; where an agent cannot take one, nothing does."""

from hookonce.agents import config_event_of, point_of
from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.certificate import Claim, contradicted_claim, held_claim, judge_claim
from hookonce.lab.prove.run import is_complete, is_hook_asked, summarize_run
from hookonce.model import Object

_CLAIM = "rewrite"
_NEW_INPUT = {"command": "echo new > rewritten.txt"}


def claim_names(_bench: Bench) -> list[str]:
    """One claim."""
    return [_CLAIM]


def run_experiment(bench: Bench) -> list[Claim]:
    """One command, and another in its place."""
    rules: list[Object] = [{"event": "before_tool_execute", "tool": "shell", "change": _NEW_INPUT}]
    agent_run = bench.play("refuse-shell", rules=rules, hooks=bench.hooks_for_all_events)
    if not is_hook_asked(agent_run, "shell.txt"):
        return [contradicted_claim(_CLAIM, f"the hook was never asked ({summarize_run(agent_run)})")]
    if "shell.txt" in agent_run.files:
        return [contradicted_claim(_CLAIM, "the old command ran")]
    ran_to_end = is_complete(agent_run, ends_on_refusal=bench.driver.ends_on_refusal)
    if "rewritten.txt" in agent_run.files:
        return [
            judge_claim(_CLAIM, "the new command ran, and not the old one", holds=_can_rewrite(bench) and ran_to_end)
        ]
    evidence = "neither the old nor the new command ran"
    if _can_rewrite(bench) or not ran_to_end:
        return [contradicted_claim(_CLAIM, f"{evidence} ({summarize_run(agent_run)})")]
    return [held_claim(_CLAIM, f"the agent cannot take new input, so {evidence}")]


def _can_rewrite(bench: Bench) -> bool:
    native = config_event_of(bench.agent, "before_tool_execute")
    return native is not None and "rewrite" in point_of(bench.agent, native).capabilities
