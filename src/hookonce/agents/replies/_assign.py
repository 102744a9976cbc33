"""The answer that our plugins read: `{throw: text}`, `{assign: {path: value}}`, both or neither.

A path leads into the `output` of the call that the plugin has sent, its steps joined by dots.
"""

from collections.abc import Mapping
from typing import NamedTuple

from hookonce.agents.replies._answer import UNSAID, answer, object_in
from hookonce.model import Decision, Json, Object, Reply

_ADDS = ".-"  # the end of a path that adds to what is there


class Place(NamedTuple):
    """Where in the output of an event something goes, and what must stand beside a text for the model."""

    refuses: bool = False
    input: str | None = None
    context: str | None = None
    output: str | None = None
    beside: Mapping[str, Json] = {}


class Told(NamedTuple):
    """What a hook wants thrown, and its assignments as one tree."""

    thrown: str | None
    tree: Object


def changes(place: Place, decision: Decision, given: Object | None) -> Object:
    """The assignments that say what is new."""
    found: Object = {}
    if place.input is not None and given is not None:
        found[place.input] = given
    if place.context is not None and decision.context is not None:
        found |= {place.context: decision.context, **place.beside}
    if place.output is not None and decision.updated_output is not None:
        found[place.output] = decision.updated_output
    return found


def written(decision: Decision, assigned: Object) -> Reply:
    """A refusal is thrown; the plugin then assigns nothing."""
    thrown = (decision.reason or UNSAID) if decision.outcome == "deny" else None
    return answer({"throw": thrown, "assign": assigned or None})


def told(said: Reply) -> Told | None:
    """An answer as the plugin reads it: silence and unknown words are failures, a refusal counts in any case."""
    found = object_in(said.stdout)
    if found is None or not found.keys() <= {"throw", "assign"}:
        return None
    thrown, assigned = found.get("throw"), found.get("assign", {})
    if type(thrown) is not str and ("throw" in found or said.code != 0):
        return None
    tree = _tree(assigned) if type(assigned) is dict else None
    if tree is None:
        return None if type(thrown) is not str else Told(thrown, {})
    return Told(thrown, tree)


def _tree(assigned: Object) -> Object | None:
    tree: Object = {}
    for path, value in assigned.items():
        *above, last = path.split(".") if not path.endswith(_ADDS) else [path]
        holder = tree
        for key in above:
            holder = holder.setdefault(key, {})
            if type(holder) is not dict:
                return None
        holder[last] = value
    return tree


def at(tree: Object, path: str | None) -> Json:
    """What was assigned to a place, if anything was."""
    found: Json = None if path is None else tree
    for key in [path] if path and path.endswith(_ADDS) else (path or "").split("."):
        if type(found) is list and key.isdecimal():
            found = found[int(key)] if int(key) < len(found) else None
        else:
            found = found.get(key) if type(found) is dict else None
    return found


def understood(place: Place, heard: Told) -> Decision | None:
    """The decision that an answer comes to at this place."""
    new, context = at(heard.tree, place.input), at(heard.tree, place.context)
    if new is not None and type(new) is not dict:
        return None
    refused = place.refuses and heard.thrown is not None
    return Decision(
        outcome="deny" if refused else None,
        reason=heard.thrown or None if refused and heard.thrown != UNSAID else None,
        context=context if type(context) is str and context else None,
        updated_input=new,
        updated_output=at(heard.tree, place.output),
    )
