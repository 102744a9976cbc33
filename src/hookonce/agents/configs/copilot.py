"""The hook files of the two Copilots: entries under their event, or in groups as Claude Code has them."""

from typing import Any, get_args

from msgspec.structs import replace

from hookonce.agents.configs import copilot_matcher as _copilot_matcher
from hookonce.agents.configs.breadth import is_everything
from hookonce.agents.configs.copilot_keys import (
    RESERVED,
    Spelling,
    alone,
    gathered,
    heard,
    retimed,
    spread,
    timed,
    told,
)
from hookonce.agents.configs.entry import (
    Entry,
    config_of,
    hook_of,
    lost,
    no_tool,
    own_place,
    placed,
    read_entry,
    warned,
    write_entry,
)
from hookonce.agents.configs.grouped import TOOL_EVENTS
from hookonce.agents.configs.misplaced import misplaced
from hookonce.agents.configs.point import kind_of
from hookonce.agents.configs.reach import is_certain, reached
from hookonce.model import Agent, Gap, HandlerType, Hook, Object, Wording


def render(
    spelling: Spelling, agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording
) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks, and what it cannot say."""
    events: Object = {}
    gaps: list[Gap] = []
    for index, hook in hooks:
        native, unsaid = placed(agent, index, hook)
        gaps += unsaid
        if native is None:
            continue
        if hook.handler.type == "command" and not hook.handler.command:
            gaps.append(lost(index, hook, "handler", "there is a command for some systems only"))
            continue
        matcher, unsaid = _matcher(spelling, agent, native, index, hook)
        gaps += unsaid
        if any(gap.effect == "lost" for gap in unsaid):
            continue
        entry = _entry(spelling, agent, hook, native, wording)
        gaps += _doubts(spelling, agent, index, hook, entry)
        _put(events.setdefault(native, []), own_place(agent, hook), matcher, entry)
    return {**spelling.head, "hooks": events}, gaps


def _entry(spelling: Spelling, agent: Agent, hook: Hook, native: str, wording: Wording) -> Object:
    keys = config_of(agent).handlers.get(hook.handler.type)
    made = write_entry(agent, hook, native, wording)
    wanted = own_place(agent, hook).get("keys")
    if keys is None:
        return _without(made, "matcher", "hooks")
    if hook.handler.type != "command":
        plain = {key: value for key, value in made.items() if key in keys.values() or key not in RESERVED}
        return timed(spelling, plain, wanted)
    if not hook.handler.platform:
        made.pop(spelling.overrides, None)
    return spread(spelling, _without(made, "matcher", "hooks"), wanted)


def _put(items: list[Object], own: Object, matcher: Object, entry: Object) -> None:
    """Beside the others, or into a group; a group is joined only by who has its matcher."""
    if own.get("nested") is not True:
        items.append(entry | matcher)
        return
    last = items[-1] if items else {}
    if own.get("joined") is True and "hooks" in last and last.get("matcher") == matcher.get("matcher"):
        last["hooks"].append(entry)
        return
    extra = own.get("group")
    items.append((_without(extra, "matcher", "hooks") if type(extra) is dict else {}) | matcher | {"hooks": [entry]})


def _matcher(spelling: Spelling, agent: Agent, native: str, index: int, hook: Hook) -> tuple[Object, list[Gap]]:
    own = own_place(agent, hook).get("matcher")
    heeded = hook.event in spelling.heeds
    if type(own) is str and hook.matcher == (_copilot_matcher.from_native(agent, own) if heeded else None):
        return {"matcher": own}, []
    if is_everything(hook.matcher):
        return {}, []
    if heeded:
        text = _copilot_matcher.to_native(agent, hook.matcher, camel=native[0].islower())
        why = _copilot_matcher.vague(agent, hook.matcher, text)
        return {"matcher": text}, reached(agent, index, hook, [] if why is None else [why])
    ignored = (
        f"{agent.title} ignores matchers on {native}: the hook runs for every tool, "
        "and its script, or a wrapper around it, must look at the tool itself"
    )
    return {}, [warned(agent, index, hook, "matcher", ignored if hook.event in TOOL_EVENTS else no_tool(hook))]


def _doubts(spelling: Spelling, agent: Agent, index: int, hook: Hook, entry: Object) -> list[Gap]:
    """What is written, but may not come to what was meant."""
    handler, found = hook.handler, []
    doubtful = _doubtful(spelling, entry)
    if doubtful and handler.type == "command" and "keys" not in own_place(agent, hook):
        keys = " and ".join(doubtful)
        why = f"{agent.title} has one command for Linux and macOS; whether it heeds {keys} is not known"
        found.append(warned(agent, index, hook, "platform_commands", why))
    if handler.type == "command" and (lone := alone(spelling, entry)) is not None:
        found.append(warned(agent, index, hook, "platform_commands", f"{lone} alone is heard on one system only"))
    if handler.type == "http" and handler.method not in (None, "POST"):
        found.append(warned(agent, index, hook, "method", f"{agent.title} always sends POST, not {handler.method}"))
    if handler.type == "http" and not (handler.url or "").startswith("https://"):
        found.append(warned(agent, index, hook, "url", f"{agent.title} calls nothing but https addresses by default"))
    return found


def _doubtful(spelling: Spelling, entry: Object) -> list[str]:
    return sorted({keys[1] for keys in spelling.systems.values()} & {*heard(spelling, entry)})


def parse(spelling: Spelling, agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration; what the agent itself would not understand is a gap."""
    hooks: list[Hook] = []
    gaps = misplaced(agent, document)
    events = document.get("hooks")
    for native, items in events.items() if type(events) is dict else ():
        for where, entry, own in _entries(native, items):
            fault = _fault(spelling, entry, own)
            if fault is None:
                hooks.append(_hook(spelling, agent, native, entry, own))
            else:
                gaps.append(Gap(where=where, strategy="kept out", effect="lost", note=f"{where} {fault}"))
    return hooks, gaps


def _entries(native: str, items: Any) -> list[tuple[str, Any, Object]]:
    """Every entry of an event with its place: where it is, and how it stood there."""
    if type(items) is not list:  # not even a single entry is taken for a list of one
        return [(f"$.hooks.{native}", None, {})]
    found: list[tuple[str, Any, Object]] = []
    for number, item in enumerate(items):
        where = f"$.hooks.{native}[{number}]"
        if type(item) is not dict:
            found.append((where, item, {}))
            continue
        own = {"matcher": item["matcher"]} if "matcher" in item else {}
        if type(item.get("hooks")) is not list:
            found.append((where, _without(item, "matcher"), own))
            continue
        own["nested"], group = True, _without(item, "matcher", "hooks")
        for place, entry in enumerate(item["hooks"]):
            more = ({"group": group} if group else {}) | ({"joined": True} if place else {})
            found.append((f"{where}.hooks[{place}]", entry, own | more))
    return found


def _without(item: Object, *keys: str) -> Object:
    return {key: value for key, value in item.items() if key not in keys}


def _fault(spelling: Spelling, entry: Any, own: Object) -> str | None:
    if type(entry) is not dict:
        return "is no hook"
    if type(own.get("matcher", "")) is not str:
        return "has a matcher that is no text"
    if entry.get("type", "command") == "command" and told(spelling, entry)[0] is None:
        return "has no command"
    return None


def _hook(spelling: Spelling, agent: Agent, native: str, entry: Object, own: Object) -> Hook:
    text, matcher, camel = own.get("matcher"), None, native[:1].islower()
    if text is not None and kind_of(agent, native) in spelling.heeds:
        matcher = _copilot_matcher.from_native(agent, text)
        same = matcher is not None and _copilot_matcher.to_native(agent, matcher, camel=camel) == text
        if same and is_certain(agent, matcher):
            own = _without(own, "matcher")
    read, keys = _read(spelling, agent, entry)
    lone = alone(spelling, entry) if entry.get("type", "command") == "command" else None
    more = ({"keys": keys} if keys else {}) | ({"system": lone} if lone else {})
    return hook_of(agent, native, read, matcher, own | more)


def _read(spelling: Spelling, agent: Agent, entry: Object) -> tuple[Entry, list[str]]:
    """The entry, and its keys if they are not those that we would write."""
    kind = entry.get("type", "command")
    if kind == "command":
        plain = gathered(spelling, entry)
        keys = [*heard(spelling, entry), *(key for key in ("type", *spelling.timeouts) if key in entry)]
        usual = spread(spelling, plain | {"type": "command"}, None) == entry and not _doubtful(spelling, entry)
        return read_entry(agent, plain), [] if usual else keys
    if kind == "http" and "http" in config_of(agent).handlers:
        return read_entry(agent, retimed(spelling, entry)), [key for key in spelling.timeouts[1:] if key in entry]
    read = read_entry(agent, entry)
    if read.handler.type in get_args(HandlerType):
        # Copilot's prompt is typed in for the user, and judges nothing: not what a manifest means by the word.
        read = read._replace(handler=replace(read.handler, type=f"{agent.name}:{kind}"))
    return read, []
