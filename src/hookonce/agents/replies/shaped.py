"""The answer that Claude Code coined and others took over: common fields on top, an event's own below them.

An agent has a table with a `Shape` for each of its events. `written(shape, event, decision, given)` is the object to
answer with; `understood(shape, event, found)` is what an object that a hook has answered means, or None where the
agent would refuse it. Exit codes, plain text and unknown keys are read differently everywhere, and are left to the
agent's own file.

A place is the path of keys to a value, and a shape has a place for each thing that can be said at its event; what has
none there is not written, and not read either. `ways` are the ways to say an outcome: the first that has a word for it
is written, and the first whose word means something counts. A way that `needs` a reason is given one where a decision
has none. `named` is whether the event's own part must bear the event's name. `strict` is whether one value of a wrong
kind, or one unknown word, spoils the whole answer; else it is as if it were not there.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hookonce.agents.replies._answer import UNSAID
from hookonce.model import Decision, Object, Outcome

Place = tuple[str, ...]
OWN = "hookSpecificOutput"
NAME: Place = (OWN, "hookEventName")


class Way(NamedTuple):
    """One way to say an outcome: where it stands, where its reason, and what the words for it mean."""

    outcome: Place
    reason: Place
    words: Mapping[str | bool, Outcome | None]
    needs: bool = False


PERMISSION = Way(
    (OWN, "permissionDecision"),
    (OWN, "permissionDecisionReason"),
    {"allow": "allow", "deny": "deny", "ask": "ask"},
)
REQUEST = Way((OWN, "decision", "behavior"), (OWN, "decision", "message"), {"allow": "allow", "deny": "deny"})
BLOCK = Way(("decision",), ("reason",), {"block": "deny", "approve": None})
# To end the turn is the only way to refuse at some events; a shape with this way has no place to `proceed`.
CONTINUE = Way(("continue",), ("stopReason",), {False: "deny", True: None})
CONTEXT: Place = (OWN, "additionalContext")
INPUT: Place = (OWN, "updatedInput")
REQUEST_INPUT: Place = (OWN, "decision", "updatedInput")


class Shape(NamedTuple):
    """How one event says what; a place that is None does not exist there."""

    ways: tuple[Way, ...] = ()
    context: Place | None = None
    input: Place | None = None
    output: Place | None = None
    proceed: Place | None = ("continue",)
    end: Place = ("stopReason",)  # why the turn ends
    message: Place | None = ("systemMessage",)
    suppress: Place | None = ("suppressOutput",)
    named: bool = True
    strict: bool = True


def written(shape: Shape, event: str, decision: Decision, given: Object | None) -> Object:
    """The object that says the decision; `given` is the new input in the agent's own words."""
    made: Object = {}
    if decision.proceed is False:
        _put(made, shape.proceed, value=False)
        _put(made, shape.end, decision.reason)
    _decide(made, shape, decision)
    _put(made, shape.input, given)
    _put(made, shape.context, decision.context)
    _put(made, shape.output, decision.updated_output)
    _put(made, shape.message, decision.system_message)
    _put(made, shape.suppress, decision.suppress_output or None)
    if OWN in made:
        made[OWN] = {NAME[-1]: event} | made[OWN]
    return made


def _decide(made: Object, shape: Shape, decision: Decision) -> None:
    for way in shape.ways if decision.outcome else ():
        for word, outcome in way.words.items():
            if outcome == decision.outcome:
                _put(made, way.outcome, word)
                _put(made, way.reason, UNSAID if way.needs and not _is_text(decision.reason) else decision.reason)
                return


def _is_text(reason: str | None) -> bool:
    return bool(reason and reason.strip())


def _put(made: Object, place: Place | None, value: Any) -> None:
    if place is None or value is None:
        return
    for key in place[:-1]:
        made = made.setdefault(key, {})
    made[place[-1]] = value


def understood(shape: Shape, event: str, found: Object) -> Decision | None:
    """What the agent takes an object for; None where it would not take it at all."""
    if (shape.named and found.get(OWN) is not None and at(found, NAME) != event) or not is_sound(shape, found):
        return None
    outcome, reason = _outcome(shape, found)
    proceed = False if at(found, shape.proceed) is False else None
    if reason is None and proceed is False:
        reason = at(found, shape.end, str)
    return Decision(
        outcome=outcome,
        reason=None if reason == UNSAID else reason or None,
        context=at(found, shape.context, str) or None,
        updated_input=at(found, shape.input, dict),
        updated_output=at(found, shape.output),
        proceed=proceed,
        system_message=at(found, shape.message, str) or None,
        suppress_output=at(found, shape.suppress, bool) or None,
    )


def _outcome(shape: Shape, found: Object) -> tuple[Outcome | None, str | None]:
    for way in shape.ways:
        word = at(found, way.outcome)
        if type(word) in {str, bool} and (outcome := way.words.get(word)) is not None:
            return outcome, at(found, way.reason, str)
    return None, None


def is_sound(shape: Shape, found: Object) -> bool:
    """Whether everything that is read here is of its kind and each word known, where that matters."""
    if not shape.strict:
        return True
    kinds: list[tuple[Place | None, type]] = [(way.reason, str) for way in shape.ways]
    kinds += [(shape.context, str), (shape.input, dict), (shape.proceed, bool), (shape.end, str)]
    kinds += [(shape.message, str), (shape.suppress, bool), ((OWN,), dict)]
    words = [(at(found, way.outcome), way.words) for way in shape.ways]
    return all(type(at(found, place)) in {kind, type(None)} for place, kind in kinds) and all(
        word is None or (type(word) in {str, bool} and word in known) for word, known in words
    )


def at(found: Object, place: Place | None, kind: type | None = None) -> Any:
    """What stands at a place; None where it does not exist, or holds another kind of value than is wanted."""
    value: Any = found if place else None
    for key in place or ():
        value = value.get(key) if type(value) is dict else None
    return value if kind is None or type(value) is kind else None
