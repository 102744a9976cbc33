"""Experiment `denied`: a deny prevents every kind of tool call, and the model learns the reason."""

from collections.abc import Callable

from hookonce.lab.fakes.scenarios import DENIABLE_STEPS, FILE_SECRET, SCENARIOS
from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.certificate import Claim, contradicted_claim, held_claim, unreachable_claim
from hookonce.lab.prove.run import AgentRun, is_complete, is_hook_asked, is_text_sent, summarize_run
from hookonce.model import Object

# By what a call is known in a hook's input, and what shows that it was made after all.
_INPUT_MARKERS = {
    "shell": "shell.txt",
    "write": "written.txt",
    "edit": "gamma",
    "read": "secret.txt",
    "mcp": "hello",
    "agent": "scenario=sub",
}
_ORIGINAL_TEXT = SCENARIOS["refuse"].files["edited.txt"]
_EFFECTS: dict[str, tuple[str, str, Callable[[AgentRun], bool]]] = {
    "shell": ("the command ran", "the command did not run", lambda run: "shell.txt" in run.files),
    "write": ("the file was written", "no file was written", lambda run: "written.txt" in run.files),
    "edit": (
        "the file was changed",
        "the file is as it was",
        lambda run: run.files.get("edited.txt") != _ORIGINAL_TEXT,
    ),
    "read": (
        "the model was sent what the file says",
        "the model never saw the file",
        lambda run: is_text_sent(run, FILE_SECRET),
    ),
    "mcp": ("the server was called", "the server was not called", lambda run: bool(run.mcp_calls)),
    "agent": ("the sub-agent worked", "no sub-agent worked", lambda run: "sub.txt" in run.files),
}


def claim_names(_bench: Bench) -> list[str]:
    """One for each kind of call."""
    return [f"deny:{step_name}" for step_name in DENIABLE_STEPS]


def run_experiment(bench: Bench) -> list[Claim]:
    """All of them in one run, or each in its own if a refusal ends a run."""
    step_names = [step_name for step_name in DENIABLE_STEPS if step_name not in bench.driver.missing_steps]
    missing_claims = [
        unreachable_claim(f"deny:{step_name}", why) for step_name, why in bench.driver.missing_steps.items()
    ]
    if bench.driver.ends_on_refusal:
        return missing_claims + [
            _judge_step(step_name, _play_refusals(bench, f"refuse-{step_name}"), ends_on_refusal=True)
            for step_name in step_names
        ]
    agent_run = _play_refusals(bench, "refuse")
    return missing_claims + [_judge_step(step_name, agent_run, ends_on_refusal=False) for step_name in step_names]


def _play_refusals(bench: Bench, scenario: str) -> AgentRun:
    return bench.play(
        scenario, rules=[deny_rule(step_name) for step_name in DENIABLE_STEPS], hooks=bench.hooks_for_all_events
    )


def deny_rule(step_name: str) -> Object:
    """The rule that refuses one kind of call."""
    answer = {"decision": "deny", "reason": _reason(step_name)}
    return {"event": "before_tool_execute", "holds": _INPUT_MARKERS[step_name], "say": answer}


def _reason(step_name: str) -> str:
    return f"the lab refuses to {step_name}"


def _judge_step(step_name: str, agent_run: AgentRun, *, ends_on_refusal: bool) -> Claim:
    name, (effect, no_effect, has_effect) = f"deny:{step_name}", _EFFECTS[step_name]
    was_asked = is_hook_asked(agent_run, _INPUT_MARKERS[step_name])
    if has_effect(agent_run):
        return contradicted_claim(name, f"{effect}, though the hook {'refused' if was_asked else 'was never asked'}")
    if not was_asked:
        return contradicted_claim(name, f"the hook was never asked ({summarize_run(agent_run)})")
    is_reason_sent = is_text_sent(agent_run, _reason(step_name))
    if not is_complete(agent_run, ends_on_refusal=ends_on_refusal) or not (is_reason_sent or ends_on_refusal):
        return contradicted_claim(
            name, f"{no_effect}, but the agent did not go on with the reason ({summarize_run(agent_run)})"
        )
    return held_claim(name, f"{no_effect}, and " + ("the model was told why" if is_reason_sent else "the run was over"))
