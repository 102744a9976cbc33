"""Experiment `failing`: fail mode of hooks that crash, are late, print garbage or lose their daemon."""

from collections.abc import Callable
from pathlib import Path

from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.certificate import Claim, judge_claim
from hookonce.lab.prove.run import AgentRun, is_complete, is_hook_asked, never_asked_claim, summarize_run
from hookonce.model import Object

_FAILURE_TEXTS = {"crash": "crashed", "late": "was late", "garbage": "talked nonsense"}
_DEATH_CLAIM = "daemon-death"


def claim_names(_bench: Bench) -> list[str]:
    """One for each way to fail and each mode, and one for the daemon."""
    return [f"{mode}:{failure}" for mode in ("closed", "open") for failure in _FAILURE_TEXTS] + [_DEATH_CLAIM]


def run_experiment(bench: Bench) -> list[Claim]:
    """Failing hooks of both modes, in one run each; refusals that end a run in runs of their own."""
    ends_on_refusal = bench.driver.ends_on_refusal
    closed_run = None if ends_on_refusal else _play_failures(bench, "closed", "fail")
    runs = [
        ("closed", failure, closed_run or _play_failures(bench, "closed", f"fail-{failure}"))
        for failure in _FAILURE_TEXTS
    ]
    open_run = _play_failures(bench, "open", "fail")
    runs += [("open", failure, open_run) for failure in _FAILURE_TEXTS]
    claims = [_judge_failure(*run, ends_on_refusal=ends_on_refusal) for run in runs]
    return [*claims, _try_daemon_death(bench)]


def _play_failures(bench: Bench, mode: str, scenario: str) -> AgentRun:
    rules: list[Object] = [{"holds": failure, "do": failure} for failure in _FAILURE_TEXTS]
    return bench.play(scenario, rules=rules, hooks=_failing_hooks(bench, mode))


def _failing_hooks(bench: Bench, mode: str) -> Callable[[Path], list[Object]]:
    fields: Object = {"event": "before_tool_execute", "blocking": True, "on_failure": mode, "timeout": 1.5}
    return lambda folder: [bench.build_hook(folder, **fields)]


def _judge_failure(mode: str, failure: str, run: AgentRun, *, ends_on_refusal: bool) -> Claim:
    name, ran = f"{mode}:{failure}", f"{failure}.txt" in run.files
    if not is_hook_asked(run, failure):
        return never_asked_claim(name, run)
    evidence = f"the call was {'made' if ran else 'not made'}: the hook {_FAILURE_TEXTS[failure]}"
    if not is_complete(run, ends_on_refusal=ends_on_refusal and mode == "closed"):
        return Claim(name, "contradicted", f"{evidence}, but the agent did not go on ({summarize_run(run)})")
    return judge_claim(name, evidence, holds=ran == (mode == "open"))


def _try_daemon_death(bench: Bench) -> Claim:
    """The daemon is killed while the hook runs: its refusal, or the closed mode, and the next call is answered."""
    answer = {"decision": "deny", "reason": "the lab refuses"}
    rules: list[Object] = [{"holds": "death", "do": "death", "say": answer}]
    hooks = _failing_hooks(bench, "closed")
    run = bench.play("fail-death", rules=rules, hooks=hooks, change_home=lambda home, _: home.start_daemon())
    if not any(run.killed_pids):
        return Claim(_DEATH_CLAIM, "contradicted", f"no daemon was there to be ended ({summarize_run(run)})")
    ran_to_end = is_complete(run, ends_on_refusal=bench.driver.ends_on_refusal)
    is_next_answered = ran_to_end and ("after.txt" in run.files or bench.driver.ends_on_refusal)
    call_text = "made" if "death.txt" in run.files else "not made"
    evidence = f"killed with its socket left behind; the call was {call_text}"
    ending = "" if bench.driver.ends_on_refusal else f", the next one was {'' if is_next_answered else 'not '}answered"
    return judge_claim(_DEATH_CLAIM, evidence + ending, holds="death.txt" not in run.files and is_next_answered)
