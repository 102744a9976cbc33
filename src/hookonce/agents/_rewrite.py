"""New input for a tool call: in the agent's own words, and as it was said in another agent's.

Some agents' input is shown in another shape than it comes in: a list of commands also as one text, a patch with the
files in it. What a hook has changed is put back where it came from, and read again: only what then says the same is
sent, for whatever else an agent made of it would be somebody's guess.
"""

from typing import Any, NamedTuple

from msgspec.structs import replace

from hookonce.agents._tool import canonical, named, native_arguments
from hookonce.canon.arguments import ARGUMENTS
from hookonce.model import Agent, Object, Tool

_NOTHING = object()


class _Shape(NamedTuple):
    """How a call's input is shown.

    `places` has the canonical name of each argument that was sent, `derived` what is shown without having been sent
    like that, `sources` the arguments that it is read out of. What is `tied` says one thing in several ways: a hook
    that changes one of them has said nothing of the others.
    """

    places: dict[str, str]
    derived: set[str]
    sources: set[str]

    @property
    def tied(self) -> set[str]:
        return self.derived | {self.places[mine] for mine in self.sources}


def rewritten(agent: Agent, tool: Tool, new: Object) -> Tool | None:
    """A call of this agent with new input, canonical and its own; None where its own words cannot say it."""
    if new == tool.input:
        return tool
    if type(tool.native_input) is not dict:
        return None  # an answer has no room for anything but an object
    shape = _shape(agent, tool, tool.native_input)
    draft = _draft(agent, tool, shape, new)
    if draft is None:
        return None
    name, found = _read(agent, tool, draft)
    changed = _changed(tool.input, new)
    loose = shape.tied - changed if changed & shape.tied else set()
    if any(found.get(key, _NOTHING) != new.get(key, _NOTHING) for key in (found | new).keys() - loose):
        return None
    return replace(tool, name=name, input=found, native_input=draft)


def retold(agent: Agent, shown: Tool, tool: Tool, said: Object) -> Object:
    """Canonical input for a call that a hook has seen as `shown`, in this agent's words, and answered in them.

    What the hook was not shown it cannot have taken out, and what only that agent's way to show things has added is
    no part of the call.
    """
    before, after = shown.input, _read(agent, shown, said)[1]
    kept = {key: value for key, value in tool.input.items() if key in after or key not in before}
    new = {key: after[key] for key in _changed(before, after) if key in tool.input or key not in before}
    return kept | new


def _changed(old: Object, new: Object) -> set[str]:
    """What stands there anew; what was taken out is not among it."""
    return {key for key, value in new.items() if key not in old or old[key] != value}


def _read(agent: Agent, tool: Tool, given: Object) -> tuple[str, Object]:
    """Name and input of a call as the canon has them, were it called with this."""
    name = tool.name if tool.name.startswith("mcp:") else named(agent, tool.native)
    arguments = canonical(agent, tool.native, name, given)
    shape = agent.shapes.get(tool.native)
    return (name, arguments) if shape is None else shape(name, arguments)


def _shape(agent: Agent, tool: Tool, given: Object) -> _Shape:
    name = tool.name if tool.name.startswith("mcp:") else named(agent, tool.native)
    places = {mine: next(iter(canonical(agent, tool.native, name, {mine: None}))) for mine in given}
    sent = {known: given[mine] for mine, known in places.items()}
    derived = {key for key, value in tool.input.items() if key not in sent or sent[key] != value}
    sources = {mine for mine in given if derived and _is_source(agent, tool, given, mine, derived)}
    return _Shape(places, derived, sources)


def _is_source(agent: Agent, tool: Tool, given: Object, mine: str, derived: set[str]) -> bool:
    """Whether something that is derived would not be there without this argument."""
    _, rest = _read(agent, tool, {key: value for key, value in given.items() if key != mine})
    return any(rest.get(key) != tool.input[key] for key in derived)


def _draft(agent: Agent, tool: Tool, shape: _Shape, new: Object) -> Object | None:
    """The agent's own input with every change in its place; None where one has none."""
    changed, gone = _changed(tool.input, new), tool.input.keys() - new.keys()
    if any(key not in tool.input and _is_only_shown(agent, tool, key) for key in changed):
        return None
    held = shape.sources if changed & shape.derived else set()
    draft = {mine: value for mine, value in tool.native_input.items() if shape.places[mine] not in gone or mine in held}
    back = {known: mine for mine, known in shape.places.items()}
    for key in changed - shape.derived:
        mine = back.get(key) or next(iter(native_arguments(agent, tool.native, tool.name, {key: None})))
        draft[mine] = new[key]
    for key in sorted(changed & shape.derived):
        if _read(agent, tool, draft)[1].get(key) == new[key]:
            continue
        made, count = _put_back({mine: draft[mine] for mine in shape.sources}, tool.input[key], new[key])
        if count != 1:
            return None
        draft |= made
    return draft


def _is_only_shown(agent: Agent, tool: Tool, key: str) -> bool:
    """Whether an argument of the canon is none of the tool's own, and would be shown if anything said it."""
    tables = (agent.arguments.get(name, {}) for name in ("*", tool.name, tool.native))
    own = {canon for table in tables for canon in table.values()}
    return tool.native in agent.shapes and key in ARGUMENTS.get(tool.name, {}) and key not in own


def _put_back(value: Any, old: Any, new: Any) -> tuple[Any, int]:
    """The value with the one text, or list of lines, that says the old replaced; and how many there were."""
    if type(old) is not str or type(new) is not str:
        return value, 0
    if value == old:
        return new, 1
    if type(value) is list and all(type(line) is str for line in value) and "\n".join(value) == old:
        return [new], 1
    if type(value) not in (dict, list):
        return value, 0
    pairs = list(value.items() if type(value) is dict else enumerate(value))
    made = [(key, *_put_back(inner, old, new)) for key, inner in pairs]
    count = sum(found for *_, found in made)
    return ({key: inner for key, inner, _ in made} if type(value) is dict else [inner for _, inner, _ in made]), count
