"""A refused prompt never reaches the model."""

from hookonce.agents import native_of, point_of
from hookonce.lab.claim import Claim, contradicted, judged, unreachable
from hookonce.lab.run import ending, of_kind, summary, was_told
from hookonce.lab.stage import Stage
from hookonce.model import Object

_NAME = "prompt"


def claims(_stage: Stage) -> list[str]:
    """One claim."""
    return [_NAME]


def run(stage: Stage) -> list[Claim]:
    """A prompt that is refused."""
    native = native_of(stage.agent, "before_prompt")
    if native is None or "prevent" not in point_of(stage.agent, native).can:
        return [unreachable(_NAME, "the agent lets no hook refuse a prompt")]
    said = {"decision": "deny", "reason": "the lab refuses the prompt"}
    rules: list[Object] = [{"event": "before_prompt", "say": said}]
    seen = stage.play("talk", rules=rules, hooks=stage.everywhere)
    if was_told(seen, "scenario=talk"):
        return [contradicted(_NAME, "the model was sent the prompt")]
    if not of_kind(seen, "before_prompt"):
        return [contradicted(_NAME, f"the hook was never asked ({summary(seen)})")]
    ended = seen.code is not None and seen.code >= 0  # with which code, agents do not agree on
    return [judged(_NAME, f"the model was sent nothing; {ending(seen)}", holds=ended)]
