"""What Kiro takes for an answer: exit codes and plain text, heard at few events and otherwise by each generation."""

from typing import Literal, NamedTuple

from hookonce.agents.replies._answer import UNSAID, answer, object_in
from hookonce.agents.replies._refusal import REFUSES, refusal, refused
from hookonce.model import Decision, Object, Reply


class Ear(NamedTuple):
    """What is heard at an event: which exit codes refuse, and whether what is printed is told to the model."""

    refuses: Literal["none", "explained", "two", "any"] = "none"
    printed: bool = False


_DEAF = Ear()
_EARS = {
    # hook files of IDE 1.0 and CLI 3: exit code 2 without a word on stderr lets the tool run
    "PreToolUse": Ear("explained"),
    "UserPromptSubmit": Ear("explained", printed=True),
    "SessionStart": Ear(printed=True),
    # agent files of the command line up to 2.x; the IDE before 1.0 has the first name too, and minds any exit code
    "preToolUse": Ear("two"),
    "userPromptSubmit": Ear(printed=True),
    "agentSpawn": Ear(printed=True),
    # hook files of the IDE before 1.0
    "promptSubmit": Ear("any", printed=True),
}
_GOES_ON = "stop"  # the one event, of CLI 2, that reads an object
_TASK = "PreTaskExec"  # a refusal is told to the model there, and the task runs all the same


def reply(native: str, decision: Decision, given: Object | None) -> Reply:
    """A refusal on stderr or what the model shall know on stdout: Kiro listens to one of them at a time."""
    if decision.outcome != "deny":
        return Reply(stdout=decision.context or "")
    if native == _GOES_ON:
        return answer({"decision": "block", "reason": decision.reason or UNSAID})
    return refusal(decision)


def read_reply(native: str, said: Reply) -> Decision | None:
    """What Kiro makes of a script's exit code and texts; None where it goes on as if there were none."""
    ear, why = _EARS.get(native, _DEAF), said.stderr.strip()
    if _is_refusal(ear, said.code, why):
        return refused(why)
    if native == _TASK and said.code == REFUSES and why:
        return Decision(context=why)
    if said.code != 0:
        return None
    if native == _GOES_ON:
        return _continued(said.stdout)
    return Decision(context=said.stdout.strip() or None) if ear.printed else Decision()


def _is_refusal(ear: Ear, code: int, why: str) -> bool:
    if ear.refuses == "any":
        return code != 0
    return code == REFUSES and (ear.refuses == "two" or (ear.refuses == "explained" and why != ""))


def _continued(text: str) -> Decision:
    """An agent that wants to stop goes on for this reason."""
    found = object_in(text) or {}
    reason = found.get("reason")
    if found.get("decision") != "block" or type(reason) is not str:
        return Decision()
    return Decision(outcome="deny", reason=None if reason in {"", UNSAID} else reason)
