"""A hook's new input is what runs; where an agent cannot take one, nothing does."""

from hookonce.agents import native_of, point_of
from hookonce.lab.claim import Claim, contradicted, held, judged
from hookonce.lab.run import has_asked, is_whole, summary
from hookonce.lab.stage import Stage
from hookonce.model import Object

_NAME = "rewrite"
_NEW = {"command": "echo new > rewritten.txt"}


def claims(_stage: Stage) -> list[str]:
    """One claim."""
    return [_NAME]


def run(stage: Stage) -> list[Claim]:
    """One command, and another in its place."""
    rules: list[Object] = [{"event": "before_tool_execute", "tool": "shell", "change": _NEW}]
    seen = stage.play("refuse-shell", rules=rules, hooks=stage.everywhere)
    if not has_asked(seen, "shell.txt"):
        return [contradicted(_NAME, f"the hook was never asked ({summary(seen)})")]
    if "shell.txt" in seen.files:
        return [contradicted(_NAME, "the old command ran")]
    whole = is_whole(seen, fragile=stage.driver.fragile)
    if "rewritten.txt" in seen.files:
        return [judged(_NAME, "the new command ran, and not the old one", holds=_can(stage) and whole)]
    evidence = "neither the old nor the new command ran"
    if _can(stage) or not whole:
        return [contradicted(_NAME, f"{evidence} ({summary(seen)})")]
    return [held(_NAME, f"the agent cannot take new input, so {evidence}")]


def _can(stage: Stage) -> bool:
    native = native_of(stage.agent, "before_tool_execute")
    return native is not None and "rewrite" in point_of(stage.agent, native).can
