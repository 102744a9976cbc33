"""Experiment `stops`: a hook keeps an agent from stopping, with the reason, up to the limit."""

from hookonce.agents import config_event_of, point_of
from hookonce.dispatch.stop_limit import MAX_REFUSALS
from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.certificate import Claim, judge_claim, unreachable_claim
from hookonce.lab.prove.run import describe_end, events_of_type, is_text_sent
from hookonce.model import Object

_CLAIM = "stop"
_REASON = "the lab wants one more turn"


def claim_names(_bench: Bench) -> list[str]:
    """One claim."""
    return [_CLAIM]


def run_experiment(bench: Bench) -> list[Claim]:
    """A hook that never lets it stop."""
    native = config_event_of(bench.agent, "agent_stop")
    if native is None or "retry" not in point_of(bench.agent, native).capabilities:
        return [unreachable_claim(_CLAIM, "the agent lets no hook keep it from stopping")]
    rules: list[Object] = [{"event": "agent_stop", "say": {"decision": "deny", "reason": _REASON}}]
    agent_run = bench.play("talk", rules=rules, hooks=bench.hooks_for_all_events)
    count = len(events_of_type(agent_run, "agent_stop"))
    reason_word = "with" if is_text_sent(agent_run, _REASON) else "without"
    evidence = f"asked {count} times, went on {reason_word} the reason; {describe_end(agent_run)}"
    return [
        judge_claim(_CLAIM, evidence, holds=count == MAX_REFUSALS + 1 and reason_word == "with" and agent_run.code == 0)
    ]
