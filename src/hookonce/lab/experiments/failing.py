"""A hook that crashes, is late, talks nonsense or loses its daemon: the call goes on, or not, as the manifest says."""

from collections.abc import Callable
from pathlib import Path

from hookonce.journeys.made_home import Home
from hookonce.journeys.places import Place
from hookonce.lab.claim import Claim, contradicted, judged
from hookonce.lab.run import Run, has_asked, is_whole, summary
from hookonce.lab.stage import Stage
from hookonce.model import Object

_TOLD = {"crash": "crashed", "late": "was late", "garbage": "talked nonsense"}
_WAYS = tuple(_TOLD)
_MODES = ("closed", "open")
_DEATH = "daemon-death"


def claims(_stage: Stage) -> list[str]:
    """One for each way to fail and each mode, and one for the daemon."""
    return [f"{mode}:{way}" for mode in _MODES for way in _WAYS] + [_DEATH]


def run(stage: Stage) -> list[Claim]:
    """Failing hooks of both modes, in one run each; refusals that end a run in runs of their own."""
    closed = {way: _play(stage, "closed", f"fail-{way}") for way in _WAYS} if stage.driver.fragile else {}
    whole = None if closed else _play(stage, "closed", "fail")
    passing = _play(stage, "open", "fail")
    fragile = stage.driver.fragile
    found = [_judged(way, "closed", closed.get(way) or whole or passing, fragile=fragile) for way in _WAYS]
    return [*found, *(_judged(way, "open", passing, fragile=fragile) for way in _WAYS), _death(stage)]


def _play(stage: Stage, mode: str, scenario: str) -> Run:
    rules: list[Object] = [{"holds": way, "do": way} for way in _WAYS]
    return stage.play(scenario, rules=rules, hooks=_hooks(stage, mode))


def _hooks(stage: Stage, mode: str) -> Callable[[Path], list[Object]]:
    more: Object = {"event": "before_tool_execute", "blocking": True, "on_failure": mode, "timeout": 1.5}
    return lambda folder: [stage.hook(folder, **more)]


def _judged(way: str, mode: str, seen: Run, *, fragile: bool) -> Claim:
    name, ran = f"{mode}:{way}", f"{way}.txt" in seen.files
    if not has_asked(seen, way):
        return contradicted(name, f"the hook was never asked ({summary(seen)})")
    evidence = f"the call was {'made' if ran else 'not made'}: the hook {_TOLD[way]}"
    if not is_whole(seen, fragile=fragile and mode == "closed"):
        return contradicted(name, f"{evidence}, but the agent did not go on ({summary(seen)})")
    return judged(name, evidence, holds=ran == (mode == "open"))


def _wake(home: Home, _place: Place) -> None:
    home.wake()


def _death(stage: Stage) -> Claim:
    """The daemon is killed while the hook runs: its refusal, or the closed mode, and the next call is answered."""
    said = {"decision": "deny", "reason": "the lab refuses"}
    rules: list[Object] = [{"holds": "death", "do": "death", "say": said}]
    seen = stage.play("fail-death", rules=rules, hooks=_hooks(stage, "closed"), amend=_wake)
    if not any(seen.killed):
        return contradicted(_DEATH, f"no daemon was there to be ended ({summary(seen)})")
    whole = is_whole(seen, fragile=stage.driver.fragile)
    after = whole and ("after.txt" in seen.files or stage.driver.fragile)
    evidence = f"killed with its socket left behind; the call was {'' if 'death.txt' in seen.files else 'not '}made"
    ending = "" if stage.driver.fragile else f", the next one was {'' if after else 'not '}answered"
    return judged(_DEATH, evidence + ending, holds="death.txt" not in seen.files and after)
