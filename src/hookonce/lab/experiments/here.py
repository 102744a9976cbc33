"""The user's own installation as it stands: its entries are called, a slow hook's refusal holds, doctor is content."""

from hookonce.config import paths
from hookonce.journeys import ledger
from hookonce.journeys.doctor import examine
from hookonce.journeys.made_home import Home
from hookonce.journeys.own import own_house
from hookonce.journeys.places import Place, here, written
from hookonce.journeys.survey import standing
from hookonce.lab.claim import Claim, judged
from hookonce.lab.run import Run, of_kind, summary
from hookonce.lab.stage import Stage
from hookonce.lab.transplant import SCOPE, transplant
from hookonce.model import Object
from hookonce.service.calling import orphaned

_FIRES, _DENY, _DOCTOR = "here:fires", "here:deny", "here:doctor"


def claims(stage: Stage) -> list[str]:
    """Three, where hookonce is or was installed for this agent."""
    place = here()
    path = written(stage.agent, SCOPE, place)
    scopes = standing(stage.agent, place, str(paths.client())).scopes
    stands = any(one.scope == SCOPE and one.state != "absent" for one in scopes)
    return [_FIRES, _DENY, _DOCTOR] if stands or (path is not None and ledger.knows(path)) else []


def run(stage: Stage) -> list[Claim]:
    """A command that a hook refuses after a second, with the user's own entries."""
    place, client = here(), str(paths.client())
    wrong = _wrong(stage, place, client)
    seen = _play(stage, place, client)
    why = f"; doctor: {wrong[0]}" if wrong else ""
    came, ran = bool(of_kind(seen, "before_tool_execute")), "shell.txt" in seen.files
    fires = "the hook was asked" if came else f"the hook was never asked{why or f' ({summary(seen)})'}"
    denies = f"the command ran{why}" if ran else "the command did not run"
    told = "nothing is wrong" if not wrong else "; ".join(wrong)
    return [
        judged(_FIRES, fires, holds=came),
        judged(_DENY, denies, holds=came and not ran),
        judged(_DOCTOR, told, holds=not wrong),
    ]


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
    return [one.message for one in found] + ([] if left is None else [left])
