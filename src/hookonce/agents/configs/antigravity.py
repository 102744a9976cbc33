"""Antigravity's configuration: named sets of hooks, in groups at the events for tools and flat at all others.

A set can be switched off. Its hooks never run, so they are events of nobody else's: they come back to
Antigravity as they were, and no conversion brings them to life.
"""

from math import ceil

from msgspec.structs import replace

from hookonce.agents.configs.breadth import is_everything
from hookonce.agents.configs.entry import (
    called,
    hook_of,
    lost,
    no_tool,
    own_keys,
    own_place,
    placed,
    provider_data,
    read_entry,
    warned,
    write_entry,
)
from hookonce.agents.configs.grouped import TOOL_EVENTS
from hookonce.agents.configs.pattern import Mcp, is_written, read, written
from hookonce.agents.configs.point import natives, point_of
from hookonce.agents.configs.reach import reached
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

LONGEST = 2**31 - 1  # seconds; a larger number, or a broken one, costs the whole file
GATEWAY = "call_mcp_tool"  # every MCP call goes through this one tool
_SET = "hookonce"  # the set of hooks that came from elsewhere
_MCP = Mcp(every=GATEWAY, tools=lambda *_: GATEWAY, loss=f"{GATEWAY} is every tool of every MCP server")
_GROUPED = frozenset({"before_tool_execute", "after_tool_execute"})
_SAYS = {"": "command", "command": "command", "prompt": "prompt"}  # type of handler → the key that it needs
_STRUCTURE = frozenset({"type", "command", "prompt", "model", "timeout", "matcher", "hooks"})


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks, each in the set that it came from, and what it cannot say."""
    sets: Object = {}
    gaps: list[Gap] = []
    for index, given in hooks:
        hook = _believed(agent, given)
        native, told = _native(agent, index, hook)
        gaps += told
        if native is None:
            continue
        place = own_place(agent, hook)
        matcher, told = _matcher(agent, index, hook)
        if any(gap.effect == "lost" for gap in told):
            gaps += told
            continue
        entry, heard = _entry(agent, index, hook, native, wording)
        items = _set(agent, sets, place).setdefault(native, [])
        if "group" not in place and _event(agent, native) not in _GROUPED:
            items.append(entry | matcher)
        elif items and "joined" in place and items[-1].get("matcher") == matcher.get("matcher"):
            items[-1]["hooks"].append(entry)
            told = []  # the group's matcher was spoken of before
        else:
            items.append(matcher | place.get("group", {}) | {"hooks": [entry]})
        gaps += told + heard
    return sets, gaps


def _set(agent: Agent, sets: Object, place: Object) -> Object:
    """The set of a hook: of its name, and with its settings, so that nothing gets into one that is switched off."""
    name, settings = place.get("set", _SET), place.get("settings", {})
    while name in sets and settings != {key: sets[name][key] for key in _settings(agent, sets[name])}:
        name += "+"
    found: Object = sets.setdefault(name, dict(settings))
    return found


def _native(agent: Agent, index: int, hook: Hook) -> tuple[str | None, list[Gap]]:
    if hook.handler.type not in _SAYS:
        return None, [lost(index, hook, "handler", f"{agent.title} has no handlers of type {hook.handler.type}")]
    native, gaps = placed(agent, index, hook)
    if native is not None and _kind(agent, native, own_place(agent, hook)) != hook.event:
        return None, [lost(index, hook, "event", f"{native} of {agent.title} is {_event(agent, native)}")]
    return native, gaps


def _event(agent: Agent, native: str) -> str:
    """The canonical event of a name in any case; other spellings are not known there."""
    names = {name.casefold(): kind for name, kind in natives(agent).items()}
    return names.get(native.casefold()) or f"vendor.{agent.name}.{native}"


def _kind(agent: Agent, native: str, place: Object) -> str:
    """The event of a hook in its set; in one that is switched off it is at none."""
    off = place.get("settings", {}).get("enabled") is False
    return f"vendor.{agent.name}.{native}" if off else _event(agent, native)


def _entry(agent: Agent, index: int, hook: Hook, native: str, wording: Wording) -> tuple[Object, list[Gap]]:
    gaps: list[Gap] = []
    place, seconds = own_place(agent, hook), hook.handler.timeout
    if seconds is not None and seconds != (whole := min(ceil(seconds), LONGEST)):
        hook = replace(hook, handler=replace(hook.handler, timeout=whole))
        gaps.append(warned(agent, index, hook, "timeout", f"{agent.title} counts whole seconds: {whole}"))
    if hook.on_failure == "closed":
        gaps.append(warned(agent, index, hook, "on_failure", f"{agent.title} goes on when a hook fails"))
    if _is_bare(agent, hook, native, wording):
        note = f"{called(index, hook)}: {agent.title} hears no exit code; only a decision in JSON refuses"
        where = f"$.hooks[{index}].blocking"
        gaps.append(Gap(where=where, capability="blocking", strategy="warn", effect="observes", note=note))
    entry = write_entry(agent, hook, native, wording)
    return ({"type": place["type"]} | entry if "type" in place else entry), gaps


def _is_bare(agent: Agent, hook: Hook, native: str, wording: Wording) -> bool:
    """Whether a script that was written for somebody else is to refuse here without a translator."""
    own = hook.dialect == agent.name or own_place(agent, hook) or hook.handler.type != "command"
    refuses = hook.blocking and point_of(agent, native).can & {"prevent", "retry"}
    return bool(refuses and not own and wording(hook, native) == hook.handler.command)


def _matcher(agent: Agent, index: int, hook: Hook) -> tuple[Object, list[Gap]]:
    """What stands under `matcher`, if anything, and what it cannot say."""
    place = own_place(agent, hook)
    if "matcher" in place or is_everything(hook.matcher):
        return {key: place[key] for key in place if key == "matcher"}, []
    if hook.event not in TOOL_EVENTS:
        return {}, [warned(agent, index, hook, "matcher", no_tool(hook))]
    texts, losses = written(agent, hook.matcher, _MCP)
    if not texts:
        return {}, [lost(index, hook, "matcher", "its matcher is about no tool at all")]
    return {"matcher": "|".join(texts)}, reached(agent, index, hook, losses)


def _believed(agent: Agent, hook: Hook) -> Hook:
    """The hook with that of its data for Antigravity which Antigravity can read, and which still means the same."""
    keys = {key: value for key, value in own_keys(agent, hook).items() if _is_own(key, value)}
    place = own_place(agent, hook)
    event, name, text = place.get("event"), place.get("set"), place.get("matcher")
    kept: Object = {"joined": True} if place.get("joined") is True else {}
    kept |= {"set": name} if type(name) is str else {}
    kept |= {"event": event} if type(event) is str and _event(agent, event) == hook.event else {}
    if place.get("type") in ("", "command") and hook.handler.type == "command":
        kept["type"] = place["type"]
    if type(group := place.get("group")) is dict:
        kept["group"] = {key: value for key, value in group.items() if key not in _STRUCTURE}
    if type(settings := place.get("settings")) is dict:
        kept["settings"] = {key: settings[key] for key in _settings(agent, settings)}
    if type(text) is str and _meaning(agent, hook.event, text) == hook.matcher:
        kept["matcher"] = text
    return replace(hook, provider_data=provider_data(agent, keys, kept))


def _is_own(key: str, value: Json) -> bool:
    """Whether a key is for Antigravity alone to say; a timeout of nothing is none of the manifest's."""
    return key not in _STRUCTURE or (key == "timeout" and type(value) is int and value == 0)


def _settings(agent: Agent, members: Object) -> list[str]:
    """The members of a set that are no events: these are known by their names, and unknown ones by being lists."""
    others = [key for key in members if key != "enabled" and type(members[key]) is not list]
    found = [key for key in others if _event(agent, key).startswith("vendor.")]
    return [*found, "enabled"] if type(members.get("enabled")) is bool else found


def _meaning(agent: Agent, kind: str, text: str | None) -> Json:
    return None if text is None or kind not in TOOL_EVENTS else read(agent, text)


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration; an entry that cannot be understood is a gap, never dropped in silence."""
    hooks: list[Hook] = []
    gaps: list[Gap] = []
    for name, members in document.items():
        if type(members) is not dict:
            gaps.append(_gap(f"$.{name}", "is no set of hooks"))
            continue
        settings = {key: members[key] for key in _settings(agent, members)}
        own: Object = {"set": name} | ({"settings": settings} if settings else {})
        for native in [key for key in members if key not in settings]:
            items = members[native] if type(members[native]) is list else [members[native]]
            for number, item in enumerate(items):
                found = _hooks(agent, native, item, own)
                hooks += found or []
                gaps += [_gap(f"$.{name}.{native}[{number}]", "is no hook")] if found is None else []
    return hooks, gaps


def _gap(where: str, why: str) -> Gap:
    return Gap(where=where, strategy="kept out", effect="lost", note=f"{where} {why}")


def _hooks(agent: Agent, native: str, item: Json, own: Object) -> list[Hook] | None:
    """The hooks of one item of an event, which is a group of entries or a single one; None if it is neither."""
    if type(item) is not dict or type(item.get("matcher", "")) is not str:
        return None
    kind, text, entries = _event(agent, native), item.get("matcher"), item.get("hooks", [])
    if kind not in _GROUPED and not (kind.startswith("vendor.") and "hooks" in item):
        return [_hook(agent, native, item, own, text)] if _is_entry(item) else None
    if "hooks" not in item or type(entries) is not list or not all(map(_is_entry, entries)):
        return None  # an entry without a group is read by nobody at these events
    extra = {key: value for key, value in item.items() if key not in {"matcher", "hooks"}}
    group = own | ({"group": extra} if extra or kind not in _GROUPED else {})
    places = [group if number == 0 else group | {"joined": True} for number in range(len(entries))]
    return [_hook(agent, native, entry, place, text) for entry, place in zip(entries, places, strict=True)]


def _is_entry(entry: Json) -> bool:
    if type(entry) is not dict:
        return False
    kind = entry.get("type", "command")
    says = entry.get(_SAYS.get(kind, "")) if type(kind) is str else None
    return type(says) is str and says != ""


def _hook(agent: Agent, native: str, entry: Object, own: Object, text: str | None) -> Hook:
    event = _kind(agent, native, own)
    matcher = _meaning(agent, event, text)
    if text is not None and (matcher is None or not is_written(agent, matcher, _MCP, text)):
        own = own | {"matcher": text}
    typed = entry.get("type")
    own = own | ({"type": typed} if typed in ("", "command") else {})
    left = {key: entry[key] for key in entry if key != "matcher" and (key != "type" or typed == "prompt")}
    return replace(hook_of(agent, native, read_entry(agent, left), matcher, own), event=event)
