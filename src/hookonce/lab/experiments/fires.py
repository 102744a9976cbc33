"""Every event that install asks for comes, and what a hook says there for the model reaches it."""

from hookonce.agents import kind_of, natives, point_of
from hookonce.lab.claim import Claim, contradicted, held, untried
from hookonce.lab.run import Run, summary, was_told
from hookonce.lab.stage import Stage
from hookonce.model import Object

# What happens in the tour, so that an agent that has an event for it has to call it.
_HAPPENS = frozenset(
    {
        "session_start",
        "session_end",
        "before_prompt",
        "before_tool_execute",
        "after_tool_execute",
        "agent_stop",
        "subagent_start",
        "subagent_stop",
    }
)
_TOLD = ("session_start", "before_prompt", "before_tool_execute", "after_tool_execute", "subagent_start")


def claims(stage: Stage) -> list[str]:
    """One for each event, and for each place where the model can be told something."""
    return [f"fires:{native}" for native in _default(stage)] + [f"context:{native}" for native in _telling(stage)]


def run(stage: Stage) -> list[Claim]:
    """The tour, with a hook everywhere that says something of its own at every kind of event; and further trips."""
    rules: list[Object] = [{"event": kind, "say": {"context": _word(kind)}} for kind in _TOLD]
    seen = stage.play("tour", rules=rules, hooks=stage.everywhere)
    came = _came(stage, seen)
    for trip in stage.driver.trips:
        other = stage.play(trip.scenario, rules=list(trip.rules), hooks=stage.everywhere, trip=trip)
        came = {native: came[native] or where for native, where in _came(stage, other).items()}
    fired = [_fired(stage, native, came, seen) for native in _default(stage)]
    return fired + [_told(stage, native, came, seen) for native in _telling(stage)]


def _default(stage: Stage) -> list[str]:
    return [one for one in natives(stage.agent) if point_of(stage.agent, one).install == "default"]


def _telling(stage: Stage) -> list[str]:
    known = [native for native in _default(stage) if "context" in point_of(stage.agent, native).can]
    return [native for native in known if kind_of(stage.agent, native) in _TOLD]


def _word(kind: str) -> str:
    return f"lab-context-of-{kind.replace('_', '-')}"


def _came(stage: Stage, seen: Run) -> dict[str, str]:
    """In which scenario each of the agent's own events has come; nothing for those that have not."""
    heard = {_native(stage, one.event) for one in seen.heard}
    return {native: seen.scenario if native in heard else "" for native in _default(stage)}


def _native(stage: Stage, event: Object) -> str | None:
    """The agent's own name of an event; where several are the same to us, the payload says which."""
    names = [native for native in _default(stage) if kind_of(stage.agent, native) == event["type"]]
    payload = event.get("native")
    said = [value for value in payload.values() if value in names] if type(payload) is dict else []
    return next(iter(said or names), None)


def _fired(stage: Stage, native: str, came: dict[str, str], seen: Run) -> Claim:
    name = f"fires:{native}"
    if native in stage.driver.comes_and_goes:
        return untried(name, "comes in some runs only")
    if came[native]:
        return held(name, f"came in the scenario {came[native]}")
    expected = native in stage.driver.expects and stage.found.version == stage.driver.version
    if kind_of(stage.agent, native) in _HAPPENS or expected:
        return contradicted(name, f"never came in any run ({summary(seen)})")
    return untried(name, "no scenario of the lab brings it about")


def _told(stage: Stage, native: str, came: dict[str, str], seen: Run) -> Claim:
    name, word = f"context:{native}", _word(kind_of(stage.agent, native))
    if was_told(seen, word):
        return held(name, "the model was sent what the hook said")
    if came[native]:
        return contradicted(name, "the model was never sent what the hook said")
    return untried(name, "the event did not come")
