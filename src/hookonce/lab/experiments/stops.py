"""An agent that a hook keeps from stopping goes on, with the reason; and is let go in the end."""

from hookonce.agents import native_of, point_of
from hookonce.lab.claim import Claim, judged, unreachable
from hookonce.lab.run import ending, of_kind, was_told
from hookonce.lab.stage import Stage
from hookonce.model import Object
from hookonce.runtime.stops import MOST

_NAME = "stop"
_REASON = "the lab wants one more turn"


def claims(_stage: Stage) -> list[str]:
    """One claim."""
    return [_NAME]


def run(stage: Stage) -> list[Claim]:
    """A hook that never lets it stop."""
    native = native_of(stage.agent, "agent_stop")
    if native is None or "retry" not in point_of(stage.agent, native).can:
        return [unreachable(_NAME, "the agent lets no hook keep it from stopping")]
    rules: list[Object] = [{"event": "agent_stop", "say": {"decision": "deny", "reason": _REASON}}]
    seen = stage.play("talk", rules=rules, hooks=stage.everywhere)
    count = len(of_kind(seen, "agent_stop"))
    told = "with" if was_told(seen, _REASON) else "without"
    evidence = f"asked {count} times, went on {told} the reason; {ending(seen)}"
    return [judged(_NAME, evidence, holds=count == MOST + 1 and told == "with" and seen.code == 0)]
