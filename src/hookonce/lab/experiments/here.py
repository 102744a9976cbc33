"""The user's own installation as it stands: its entries are called, a slow hook's refusal holds, doctor is content."""

import os

from hookonce.config import paths
from hookonce.errors import HookonceError
from hookonce.journeys import ledger
from hookonce.journeys.doctor import examine
from hookonce.journeys.made_home import Home
from hookonce.journeys.own import own_house
from hookonce.journeys.places import Place, here, written
from hookonce.journeys.survey import standing
from hookonce.lab.claim import Claim, contradicted, judged
from hookonce.lab.run import Run, ending, has_asked, is_whole, of_kind, summary
from hookonce.lab.stage import Stage
from hookonce.lab.transplant import SCOPE, transplant
from hookonce.model import Object
from hookonce.service.calling import orphaned

# Where they are set, an agent does not read the files that we know of.
_MOVES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME", "QWEN_HOME", "OPENCODE_CONFIG_DIR")
NAMES = _FIRES, _DENY, _DOCTOR = "here:fires", "here:deny", "here:doctor"


def claims(stage: Stage) -> list[str]:
    """Three, where hookonce is or was installed for this agent."""
    place = here()
    path = written(stage.agent, SCOPE, place)
    scopes = standing(stage.agent, place, str(paths.client())).scopes
    stands = any(one.scope == SCOPE and one.state != "absent" for one in scopes)
    return list(NAMES) if stands or (path is not None and ledger.knows(path)) else []


def run(stage: Stage) -> list[Claim]:
    """A command that a hook refuses after a second, with the user's own entries."""
    place, client = here(), str(paths.client())
    wrong = _wrong(stage, place, client)
    why = f"; doctor: {wrong[0]}" if wrong else ""
    doctor = judged(_DOCTOR, "; ".join(wrong) or "nothing is wrong", holds=not wrong)
    try:
        seen = _play(stage, place, client)
    except (HookonceError, OSError) as problem:
        told = f"it cannot be tried: {problem}{why}"
        return [contradicted(_FIRES, told), contradicted(_DENY, told), doctor]
    came, ran = bool(of_kind(seen, "before_tool_execute")), "shell.txt" in seen.files
    fires = "the hook was asked" if came else f"the hook was never asked{why or f' ({summary(seen)})'}"
    denies = f"the command ran{why}" if ran else f"the command did not run; {ending(seen)}"
    whole = has_asked(seen, "shell.txt") and not ran and is_whole(seen, fragile=stage.driver.fragile)
    return [judged(_FIRES, fires, holds=came), judged(_DENY, denies, holds=whole), doctor]


def _play(stage: Stage, place: Place, client: str) -> Run:
    said = {"decision": "deny", "reason": "the lab refuses"}
    rules: list[Object] = [{"event": "before_tool_execute", "do": "slow", "say": said}]

    def amend(_home: Home, lab: Place) -> None:
        transplant(stage.agent, place, lab, client)

    return stage.play("refuse-shell", rules=rules, hooks=stage.everywhere, amend=amend)


def _wrong(stage: Stage, place: Place, client: str) -> list[str]:
    """What doctor says of this agent and of our own house; hooks of others are not our business here."""
    found = [one for one in [*own_house(), *examine(stage.agent, place, client)] if one.kind != "unvouched"]
    found.sort(key=lambda one: one.kind == "drift")  # which says least
    left = orphaned()
    elsewhere = [f"{name} is set: the agent reads its settings there" for name in _MOVES if name in os.environ]
    return [*elsewhere, *(one.message for one in found), *([] if left is None else [left])]
