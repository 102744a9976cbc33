"""Auggie's configuration: groups as Claude Code has them, and a second set of events with flat lists of entries.

Auggie drops all hooks of a file for one event that it does not know, so none is ever written.
"""

from msgspec.structs import replace

from hookonce import invocation
from hookonce.agents.configs import grouped as _grouped
from hookonce.agents.configs.argv import joined, parted, shelled, unshelled
from hookonce.agents.configs.augment_matcher import BOTH, canonical_matcher, is_first, is_second, native_matcher
from hookonce.agents.configs.breadth import is_everything
from hookonce.agents.configs.entry import lost, own_keys, own_place, provider_data, warned
from hookonce.agents.configs.grouped import TOOL_EVENTS
from hookonce.agents.configs.matcher import ANY_MCP, from_native, to_native
from hookonce.agents.configs.misplaced import misplaced
from hookonce.agents.configs.point import native_of, natives
from hookonce.agents.configs.reach import is_certain, reached
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

# event with a flat list → the canonical matcher that it stands for, None where it is about no tool
FLAT: dict[str, Json] = {
    "beforeShellExecution": "shell",
    "afterShellExecution": "shell",
    "beforeReadFile": "file_read",
    "afterFileEdit": ["file_write", "file_edit"],
    "beforeMCPExecution": {"pattern": ANY_MCP},
    "afterMCPExecution": {"pattern": ANY_MCP},
    "stop": None,
}
_STRUCTURE = frozenset({"type", "command", "args", "timeout", "matcher", "hooks"})
# What a door of ours wants to be told beyond the bare call: the prompt, and the server of an MCP tool.
_ASKED = {"metadata": {"includeConversationData": True, "includeMCPMetadata": True}}


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks, and what it cannot say."""

    def words(hook: Hook, native: str) -> str | None:
        direct = "args" in own_keys(agent, hook) or own_place(agent, hook).get("direct") is True
        return wording(hook, native) if direct else shelled(wording(hook, native))

    gaps: list[Gap] = []
    ready: list[tuple[int, Hook]] = []
    for index, given in hooks:
        hook, told = _ready(agent, index, _believed(agent, given), wording)
        gaps += told
        ready += [] if any(gap.effect == "lost" for gap in told) else [(index, hook)]
    made, told = _grouped.render(agent, ready, words)
    return {"hooks": {native: _spread(native, groups) for native, groups in made["hooks"].items()}}, gaps + told


def _ready(agent: Agent, index: int, hook: Hook, wording: Wording) -> tuple[Hook, list[Gap]]:
    """The hook with its matcher in Auggie's words, and its arguments apart where they were."""
    place = own_place(agent, hook)
    native = place.get("event") or native_of(agent, hook.event)
    if hook.handler.type != "command":
        return hook, [lost(index, hook, "handler", f"{agent.title} has no handlers of type {hook.handler.type}")]
    if native is not None and natives(agent).get(native) != hook.event:
        return hook, [lost(index, hook, "event", f"{agent.title} would drop all hooks for an event {native}")]
    gaps: list[Gap] = []
    if hook.on_failure == "closed":
        gaps.append(warned(agent, index, hook, "on_failure", f"{agent.title} goes on when a hook fails"))
    tools = hook.event in TOOL_EVENTS
    if tools and not is_everything(hook.matcher) and "matcher" not in place:
        text, losses = ("", []) if native in FLAT else native_matcher(agent, hook.matcher)
        if text is None:
            return hook, [lost(index, hook, "matcher", f"{agent.title} could not read a pattern for these tools")]
        gaps += [] if native in FLAT else reached(agent, index, hook, losses)
        place = place | {"matcher": text}
    keys, command = own_keys(agent, hook), hook.handler.command
    if "args" in place and wording(hook, native or "") == command:
        keys, command = keys | {"args": place["args"]}, parted(command, place["args"])
    handler, data = replace(hook.handler, command=command), provider_data(agent, keys, place)
    # Groups are written with the usual ways of matchers: to them it shall mean what it says.
    matcher = from_native(agent, place["matcher"]) if tools and "matcher" in place else hook.matcher
    return replace(hook, matcher=matcher, handler=handler, provider_data=data), gaps


def _believed(agent: Agent, hook: Hook) -> Hook:
    """The hook with that of its data for Auggie which Auggie can read, and which still means the same."""
    keys = {key: value for key, value in own_keys(agent, hook).items() if key not in _STRUCTURE}
    place = own_place(agent, hook)
    event, text, words, group = (place.get(name) for name in ("event", "matcher", "args", "group"))
    kept: Object = {name: True for name in ("joined", "direct") if place.get(name) is True}
    call = invocation.read(hook.handler.command or "")
    if call is not None and call.via is not None:
        kept["group"] = _ASKED
    elif type(group) is dict:
        kept["group"] = {key: value for key, value in group.items() if key not in _STRUCTURE}
    if type(event) is str and natives(agent).get(event) == hook.event and FLAT.get(event, hook.matcher) == hook.matcher:
        kept["event"] = event
    if type(text) is str and canonical_matcher(agent, hook.event, text) == hook.matcher:
        kept["matcher"] = text
    if parted(hook.handler.command, words) is not None:
        kept["args"] = words
    return replace(hook, provider_data=provider_data(agent, keys, kept))


def _spread(native: str, groups: list[Object]) -> list[Object]:
    """The groups of an event as Auggie has them: flat, or two for a matcher of two halves."""
    if native in FLAT:
        return [{key: entry[key] for key in entry if key != "type"} for group in groups for entry in group["hooks"]]
    return [
        group | ({"matcher": half} if "matcher" in group else {})
        for group in groups
        for half in group.get("matcher", "").split(BOTH)
    ]


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration; what cannot be understood is a gap."""
    events = document.get("hooks")
    found = {native: _gathered(native, groups) for native, groups in events.items()} if type(events) is dict else {}
    hooks, gaps = _grouped.parse(agent, {"hooks": found})
    gaps += misplaced(agent, document)
    for hook in hooks:
        if hook.handler.command is None:
            where = f"$.hooks.{own_place(agent, hook).get('event') or native_of(agent, hook.event)}"
            note = f"{where} has an entry without a command"
            gaps.append(Gap(where=where, strategy="kept out", effect="lost", note=note))
    return [_told(agent, hook) for hook in hooks if hook.handler.command is not None], gaps


def _gathered(native: str, groups: Json) -> Json:
    """The groups of an event with two halves of one matcher together, and flat entries in groups of their own."""
    items = groups if type(groups) is list else [groups]
    if native in FLAT:
        return [{"hooks": [entry]} for entry in items]
    made: list[Json] = []
    for group in items:
        text = group.get("matcher") if type(group) is dict else None
        first = made[-1].get("matcher") if made and type(made[-1]) is dict else None
        if is_first(first) and is_second(text) and made[-1] == group | {"matcher": first}:
            made[-1] = group | {"matcher": f"{first}{BOTH}{text}"}
        else:
            made.append(group)
    return made


def _told(agent: Agent, hook: Hook) -> Hook:
    """A hook as its group gave it, with Auggie's own ways with matchers, arguments and shells understood."""
    keys, place = own_keys(agent, hook), own_place(agent, hook)
    native = place.get("event") or native_of(agent, hook.event) or ""
    event = hook.event if native in natives(agent) else f"vendor.{agent.name}.{native}"
    text = place.pop("matcher") if "matcher" in place else to_native(agent, hook.matcher)
    matcher = FLAT[native] if native in FLAT else text and canonical_matcher(agent, event, text)
    exact = bool(matcher) and native_matcher(agent, matcher) == (text, []) and is_certain(agent, matcher)
    if text is not None and not exact:
        place["matcher"] = text
    command = joined(hook.handler.command, keys.get("args"))
    if command is not None:
        place["args"] = keys.pop("args")
    else:
        command = unshelled(hook.handler.command or "")
        if command == hook.handler.command != shelled(command):
            place["direct"] = True
    handler = replace(hook.handler, command=command)
    data = provider_data(agent, keys, place)
    return replace(hook, event=event, matcher=matcher or None, handler=handler, provider_data=data)
