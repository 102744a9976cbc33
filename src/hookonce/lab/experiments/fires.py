"""Experiment `fires`: every installed event fires, and a hook's context reaches the model."""

from hookonce.agents import canonical_event_of, config_events, point_of
from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.certificate import Claim
from hookonce.lab.prove.run import AgentRun, is_text_sent, summarize_run
from hookonce.model import Object

_CONTEXT_TYPES = ("session_start", "before_prompt", "before_tool_execute", "after_tool_execute", "subagent_start")
# What happens in the tour, so that an agent that has an event for it has to call it.
_TOUR_TYPES = {*_CONTEXT_TYPES, "session_end", "agent_stop", "subagent_stop"}


def claim_names(bench: Bench) -> list[str]:
    """One for each event, and for each place where the model can be told something."""
    names = [f"fires:{native}" for native in _default_events(bench)]
    return names + [f"context:{native}" for native in _context_events(bench)]


def run_experiment(bench: Bench) -> list[Claim]:
    """The tour, with a hook everywhere that says something of its own at every kind of event; and further trips."""
    rules: list[Object] = [{"event": kind, "say": {"context": _context_marker(kind)}} for kind in _CONTEXT_TYPES]
    tour_run = bench.play("tour", rules=rules, hooks=bench.hooks_for_all_events)
    scenarios_by_event = _scenarios_by_event(bench, tour_run)
    for extra in bench.driver.extra_runs:
        hooks = bench.hooks_for_all_events
        further_run = bench.play(extra.scenario, rules=list(extra.rules), hooks=hooks, extra_run=extra)
        for native, scenario in _scenarios_by_event(bench, further_run).items():
            scenarios_by_event[native] = scenarios_by_event[native] or scenario
    event_claims = [_judge_event(bench, native, scenarios_by_event, tour_run) for native in _default_events(bench)]
    context_events = _context_events(bench)
    return event_claims + [_judge_context(bench, native, scenarios_by_event, tour_run) for native in context_events]


def _default_events(bench: Bench) -> list[str]:
    return [native for native in config_events(bench.agent) if point_of(bench.agent, native).install == "default"]


def _context_events(bench: Bench) -> list[str]:
    events = [name for name in _default_events(bench) if "context" in point_of(bench.agent, name).capabilities]
    return [native for native in events if canonical_event_of(bench.agent, native) in _CONTEXT_TYPES]


def _context_marker(kind: str) -> str:
    return f"lab-context-of-{kind.replace('_', '-')}"


def _scenarios_by_event(bench: Bench, run: AgentRun) -> dict[str, str]:
    """In which scenario each of the agent's own events has come; nothing for those that have not."""
    natives_in_run = {_native_name(bench, event) for event in run.hook_events}
    return {native: run.scenario if native in natives_in_run else "" for native in _default_events(bench)}


def _native_name(bench: Bench, event: Object) -> str | None:
    """The agent's own name of an event; where several are the same to us, the payload says which."""
    names = [native for native in _default_events(bench) if canonical_event_of(bench.agent, native) == event["type"]]
    payload = event.get("native")
    payload_names = [value for value in payload.values() if value in names] if type(payload) is dict else []
    return next(iter(payload_names or names), None)


def _judge_event(bench: Bench, native: str, scenarios_by_event: dict[str, str], run: AgentRun) -> Claim:
    name = f"fires:{native}"
    if native in bench.driver.unsteady_events:
        return Claim(name, "untried", "comes in some runs only")
    if scenarios_by_event[native]:
        return Claim(name, "held", f"came in the scenario {scenarios_by_event[native]}")
    is_expected = native in bench.driver.expected_events and bench.program.version == bench.driver.version
    if canonical_event_of(bench.agent, native) in _TOUR_TYPES or is_expected:
        return Claim(name, "contradicted", f"never came in any run ({summarize_run(run)})")
    return Claim(name, "untried", "no scenario of the lab brings it about")


def _judge_context(bench: Bench, native: str, scenarios_by_event: dict[str, str], run: AgentRun) -> Claim:
    name, marker = f"context:{native}", _context_marker(canonical_event_of(bench.agent, native))
    if is_text_sent(run, marker):
        return Claim(name, "held", "the model was sent what the hook said")
    if scenarios_by_event[native]:
        return Claim(name, "contradicted", "the model was never sent what the hook said")
    return Claim(name, "untried", "the event did not come")
