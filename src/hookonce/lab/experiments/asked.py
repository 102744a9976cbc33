"""Where nobody can be asked, a call that a hook wants a person to look at is not made."""

from hookonce.lab.claim import Claim, contradicted, judged
from hookonce.lab.run import ending, has_asked, is_whole, summary
from hookonce.lab.stage import Stage
from hookonce.model import Object

_NAME = "ask"


def claims(_stage: Stage) -> list[str]:
    """One claim."""
    return [_NAME]


def run(stage: Stage) -> list[Claim]:
    """One command that somebody should look at."""
    said = {"decision": "ask", "reason": "the lab wants a person to look"}
    rules: list[Object] = [{"event": "before_tool_execute", "say": said}]
    seen = stage.play("refuse-shell", rules=rules, hooks=stage.everywhere)
    if "shell.txt" in seen.files:
        return [contradicted(_NAME, "the command ran though nobody was asked")]
    if not has_asked(seen, "shell.txt"):
        return [contradicted(_NAME, f"the hook was never asked ({summary(seen)})")]
    whole = is_whole(seen, fragile=stage.driver.fragile)
    return [judged(_NAME, f"the command did not run; {ending(seen)}", holds=whole)]
