"""What the plugin in Amp takes for an answer; a program that a permission rule asks answers by its exit code."""

from hookonce.agents.replies import _assign
from hookonce.agents.replies._assign import Place, at
from hookonce.model import Decision, Object, Outcome, Reply

_PLACES = {
    "tool.call": Place(refuses=True, input="input"),
    "tool.result": Place(refuses=True, output="output"),
    "agent.start": Place(context="message.content", beside={"message.display": False}),
    "agent.end": Place(refuses=True),
    "changes.prompt": Place(context="append"),
}
_ASKED = "delegate"
_CODES: dict[int, Outcome] = {0: "allow", 1: "ask"}


def reply(native: str, decision: Decision, given: Object | None) -> Reply:
    """The decision for the plugin to carry out."""
    return _assign.written(decision, _assign.changes(_PLACES.get(native, Place()), decision, given))


def read_reply(native: str, said: Reply) -> Decision | None:
    """What the plugin would tell Amp."""
    if native == _ASKED:
        outcome = _CODES.get(said.code, "deny")
        return Decision(outcome=outcome, reason=said.stderr.strip() or None if outcome == "deny" else None)
    heard = _assign.told(said)
    if heard is None:
        return None
    more = at(heard.tree, "userMessage") if native == "agent.end" else None
    if heard.thrown is None and type(more) is str:
        return Decision(outcome="deny", reason=more)
    return _assign.understood(_PLACES.get(native, Place()), heard)
