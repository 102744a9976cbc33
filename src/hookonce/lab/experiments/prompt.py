"""Experiment `prompt`: a denied prompt never reaches the model."""

from hookonce.agents import config_event_of, point_of
from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.certificate import Claim, contradicted_claim, judge_claim, unreachable_claim
from hookonce.lab.prove.run import describe_end, events_of_type, is_text_sent, summarize_run
from hookonce.model import Object

_CLAIM = "prompt"


def claim_names(_bench: Bench) -> list[str]:
    """One claim."""
    return [_CLAIM]


def run_experiment(bench: Bench) -> list[Claim]:
    """A prompt that is refused."""
    native = config_event_of(bench.agent, "before_prompt")
    if native is None or "prevent" not in point_of(bench.agent, native).capabilities:
        return [unreachable_claim(_CLAIM, "the agent lets no hook refuse a prompt")]
    answer = {"decision": "deny", "reason": "the lab refuses the prompt"}
    rules: list[Object] = [{"event": "before_prompt", "say": answer}]
    agent_run = bench.play("talk", rules=rules, hooks=bench.hooks_for_all_events)
    if is_text_sent(agent_run, "scenario=talk"):
        return [contradicted_claim(_CLAIM, "the model was sent the prompt")]
    if not events_of_type(agent_run, "before_prompt"):
        return [contradicted_claim(_CLAIM, f"the hook was never asked ({summarize_run(agent_run)})")]
    has_ended = agent_run.code is not None and agent_run.code >= 0  # with which code, agents do not agree on
    return [judge_claim(_CLAIM, f"the model was sent nothing; {describe_end(agent_run)}", holds=has_ended)]
