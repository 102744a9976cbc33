"""A refusal holds: nothing happens, whatever the tool; where the agent goes on, the model learns why."""

from collections.abc import Callable

from hookonce.lab.claim import Claim, contradicted, held, unreachable
from hookonce.lab.run import Run, has_asked, is_whole, summary, was_told
from hookonce.lab.scenarios import SCENARIOS, SECRET, STEPS
from hookonce.lab.stage import Stage
from hookonce.model import Object

# By what a call is known in a hook's input, and what shows that it was made after all.
_KNOWN = {
    "shell": "shell.txt",
    "write": "written.txt",
    "edit": "gamma",
    "read": "secret.txt",
    "mcp": "hello",
    "agent": "scenario=sub",
}
_UNCHANGED = SCENARIOS["refuse"].files["edited.txt"]
_DONE: dict[str, tuple[str, str, Callable[[Run], bool]]] = {
    "shell": ("the command ran", "the command did not run", lambda run: "shell.txt" in run.files),
    "write": ("the file was written", "no file was written", lambda run: "written.txt" in run.files),
    "edit": ("the file was changed", "the file is as it was", lambda run: run.files.get("edited.txt") != _UNCHANGED),
    "read": (
        "the model was sent what the file says",
        "the model never saw the file",
        lambda run: was_told(run, SECRET),
    ),
    "mcp": ("the server was called", "the server was not called", lambda run: bool(run.called)),
    "agent": ("the sub-agent worked", "no sub-agent worked", lambda run: "sub.txt" in run.files),
}


def claims(_stage: Stage) -> list[str]:
    """One for each kind of call."""
    return [f"deny:{word}" for word in STEPS]


def run(stage: Stage) -> list[Claim]:
    """All of them in one run, or each in its own if a refusal ends a run."""
    words = [word for word in STEPS if word not in stage.driver.lacks]
    lacking = [unreachable(f"deny:{word}", why) for word, why in stage.driver.lacks.items()]
    if stage.driver.fragile:
        return lacking + [_judged(word, _play(stage, f"refuse-{word}"), fragile=True) for word in words]
    seen = _play(stage, "refuse")
    return lacking + [_judged(word, seen, fragile=False) for word in words]


def _play(stage: Stage, scenario: str) -> Run:
    return stage.play(scenario, rules=[rule(word) for word in STEPS], hooks=stage.everywhere)


def rule(word: str) -> Object:
    """The rule that refuses one kind of call."""
    said = {"decision": "deny", "reason": _reason(word)}
    return {"event": "before_tool_execute", "holds": _KNOWN[word], "say": said}


def _reason(word: str) -> str:
    return f"the lab refuses to {word}"


def _judged(word: str, seen: Run, *, fragile: bool) -> Claim:
    name, (what, not_so, is_done) = f"deny:{word}", _DONE[word]
    asked = has_asked(seen, _KNOWN[word])
    if is_done(seen):
        return contradicted(name, f"{what}, though the hook {'refused' if asked else 'was never asked'}")
    if not asked:
        return contradicted(name, f"the hook was never asked ({summary(seen)})")
    told = was_told(seen, _reason(word))
    if not is_whole(seen, fragile=fragile) or not (told or fragile):
        return contradicted(name, f"{not_so}, but the agent did not go on with the reason ({summary(seen)})")
    return held(name, f"{not_so}, and " + ("the model was told why" if told else "the run was over"))
