"""Experiment `asked`: an ask decision prevents the call where nobody can be asked."""

from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.certificate import Claim, contradicted_claim, judge_claim
from hookonce.lab.prove.run import describe_end, is_complete, is_hook_asked, summarize_run
from hookonce.model import Object

_CLAIM = "ask"


def claim_names(_bench: Bench) -> list[str]:
    """One claim."""
    return [_CLAIM]


def run_experiment(bench: Bench) -> list[Claim]:
    """One command that somebody should look at."""
    answer = {"decision": "ask", "reason": "the lab wants a person to look"}
    rules: list[Object] = [{"event": "before_tool_execute", "say": answer}]
    agent_run = bench.play("refuse-shell", rules=rules, hooks=bench.hooks_for_all_events)
    if "shell.txt" in agent_run.files:
        return [contradicted_claim(_CLAIM, "the command ran though nobody was asked")]
    if not is_hook_asked(agent_run, "shell.txt"):
        return [contradicted_claim(_CLAIM, f"the hook was never asked ({summarize_run(agent_run)})")]
    ran_to_end = is_complete(agent_run, ends_on_refusal=bench.driver.ends_on_refusal)
    return [judge_claim(_CLAIM, f"the command did not run; {describe_end(agent_run)}", holds=ran_to_end)]
