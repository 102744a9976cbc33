"""Kiro's configuration: the hook files that IDE 1.0 and CLI 3 share; older files are read and stay what they are."""

from msgspec.structs import replace

from hookonce.agents.configs.entry import (
    Entry,
    called,
    config_of,
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
from hookonce.agents.configs.kiro_matcher import from_pattern, to_pattern, vague
from hookonce.agents.configs.kiro_older import (
    DISABLED,
    GENERATION,
    TEXTS,
    from_agent_file,
    from_hook_file,
    is_seconds,
    kept_out,
    named,
    older,
)
from hookonce.agents.configs.point import kind_of, natives
from hookonce.agents.configs.reach import is_certain, reached
from hookonce.model import Agent, Gap, Handler, Hook, Json, Object, Wording
from hookonce.texts import dump

_VERSION = "v1"
_OURS = frozenset({"name", "trigger", "matcher", "action"})  # keys of an entry with a place in a hook
_TOLD = frozenset({GENERATION, "event", "matcher"})  # what a hook of an older file says in other words too


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a file, of whichever generation; an entry that cannot be understood is a gap."""
    given = document.get("hooks")
    if type(given) is dict:
        return from_agent_file(agent, given)
    if type(given) is list:
        read = [_hook(agent, entry) if type(entry) is dict else None for entry in given]
        gaps = [kept_out(f"$.hooks[{number}]", "hook") for number, hook in enumerate(read) if hook is None]
        return _with_head(agent, document, [hook for hook in read if hook is not None]), gaps
    if "when" in document or "then" in document:
        return from_hook_file(agent, document)
    return [], [] if given is None else [kept_out("$.hooks", "list of hooks")]


def _with_head(agent: Agent, document: Object, hooks: list[Hook]) -> list[Hook]:
    """What stands beside the hooks goes with the first of them."""
    head = {key: value for key, value in document.items() if key not in {"version", "hooks"}}
    if not head or not hooks:
        return hooks
    place = own_place(agent, hooks[0]) | {"document": head}
    return [replace(hooks[0], provider_data=provider_data(agent, own_keys(agent, hooks[0]), place)), *hooks[1:]]


def _hook(agent: Agent, entry: Object) -> Hook | None:
    trigger, action = entry.get("trigger"), entry.get("action")
    if type(trigger) is not str or type(action) is not dict or type(action.get("type")) is not str:
        return None
    kind = action["type"]
    if entry.get("enabled") is False or kind not in TEXTS:
        off = Handler(type=DISABLED if kind in TEXTS else f"kiro.{kind}")
        return hook_of(agent, trigger, Entry(off, entry), None, {})
    if type(action.get(TEXTS[kind])) is not str or not action[TEXTS[kind]]:
        return None
    read, own = _taken(agent, entry, action)
    matcher: Json = None
    if type(text := entry.get("matcher")) is str:
        tools = kind_of(agent, trigger) in TOOL_EVENTS
        matcher = from_pattern(agent, text) if tools else None
        exact = to_pattern(agent, matcher) == text and not vague(agent, matcher) and is_certain(agent, matcher)
        own |= {} if tools and exact else {"matcher": text}
    made = named(hook_of(agent, trigger, read, matcher, own), entry)
    return made if kind == "command" else replace(made, blocking=False)


def _taken(agent: Agent, entry: Object, action: Object) -> tuple[Entry, Object]:
    """An entry and its action as one flat thing; the timeout may stand in either."""
    key = TEXTS[action["type"]]
    flat = {name: value for name, value in entry.items() if name not in _OURS}
    flat |= {"type": action["type"], key: action[key]}
    own: Object = {}
    more = {name: value for name, value in action.items() if name not in {"type", key}}
    if is_seconds(more.get("timeout")) and "timeout" not in entry:
        flat["timeout"] = more.pop("timeout")
        own["timeout"] = "action"
    endless = {} if is_seconds(flat.get("timeout", 1)) else {"timeout": flat.pop("timeout")}
    read = read_entry(agent, flat)
    return read._replace(rest=read.rest | endless), own | ({"action": more} if more else {})


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """A file of today; the older file that hooks came from only if they read the same in it."""
    old = older(agent, hooks, wording)
    if old is not None and _told(parse(agent, old)[0]) == _told([hook for _, hook in hooks]):
        return old, []
    gaps: list[Gap] = []
    modern = [(index, _modern(agent, index, hook, gaps)) for index, hook in hooks]
    written = [_entry(agent, index, hook, wording, gaps) for index, hook in modern]
    entries = [entry for entry in written if entry is not None]
    head = own_place(agent, modern[0][1]).get("document") if entries else None
    made = {"version": _VERSION, "hooks": entries}
    return (head if type(head) is dict else {}) | made, gaps


def _told(hooks: list[Hook]) -> list[bytes]:
    return sorted(dump((hook.event, hook.matcher, hook.blocking, hook.handler)) for hook in hooks)


def _modern(agent: Agent, index: int, hook: Hook, gaps: list[Gap]) -> Hook:
    """The hook with what a file of today can say of it, and an event that such a file knows."""
    keys, place = own_keys(agent, hook), own_place(agent, hook)
    if GENERATION in place:
        if left := sorted([*keys, *(key for key in place if key not in _TOLD and place[key])]):
            gaps.append(warned(agent, index, hook, "provider_data", f"only an older file has {', '.join(left)}"))
        return replace(hook, provider_data={})
    known = {key: value for key, value in place.items() if key != "event" or value in list(natives(agent))}
    return replace(hook, provider_data=provider_data(agent, keys, known))


def _entry(agent: Agent, index: int, hook: Hook, wording: Wording, gaps: list[Gap]) -> Object | None:
    native, told = placed(agent, index, hook)
    if native is None:
        gaps += told
        return None
    if hook.handler.type not in config_of(agent).handlers:
        return _untouched(agent, index, hook, native, gaps)
    if why := _unfit(hook):
        gaps.append(lost(index, hook, *why))
        return None
    matcher, unsaid = _matcher(agent, index, hook)
    if any(gap.effect == "lost" for gap in unsaid):
        gaps += unsaid
        return None
    gaps += unsaid if hook.handler.type != "command" else told + unsaid
    entry: Object = {"name": called(index, hook), "trigger": native}
    entry |= {} if matcher is None else {"matcher": matcher}
    return entry | _acting(agent, hook, native, wording)


def _untouched(agent: Agent, index: int, hook: Hook, native: str, gaps: list[Gap]) -> Object | None:
    """An entry of a kind that only Kiro knows, if that is what came along."""
    entry = own_keys(agent, hook) | {"trigger": native}
    again = _hook(agent, entry)
    if again is not None and again.handler == hook.handler:
        return entry
    gaps.append(lost(index, hook, "handler", f"{agent.title} has no handlers of type {hook.handler.type}"))
    return None


def _unfit(hook: Hook) -> tuple[str, str] | None:
    if hook.handler.type == "agent" and hook.blocking:
        return "handler", "an agent action of Kiro tells its model what to do and refuses nothing"
    if hook.matcher == [] and hook.event in TOOL_EVENTS:
        return "matcher", "the matcher names no tool at all"
    return None


def _matcher(agent: Agent, index: int, hook: Hook) -> tuple[str | None, list[Gap]]:
    """The native matcher: as it stood if it still means that, else in today's names."""
    told = own_place(agent, hook).get("matcher")
    own = told if type(told) is str else None
    if hook.event not in TOOL_EVENTS:
        return own, [] if hook.matcher is None else [warned(agent, index, hook, "matcher", no_tool(hook))]
    if own is not None and from_pattern(agent, own) == hook.matcher:
        return own, []
    if hook.matcher is None:
        return None, []
    why = vague(agent, hook.matcher)
    return to_pattern(agent, hook.matcher), reached(agent, index, hook, [] if why is None else [why])


def _acting(agent: Agent, hook: Hook, native: str, wording: Wording) -> Object:
    """The action with its timeout, and the keys that Kiro alone knows; none of those turns a hook off."""
    place, key = own_place(agent, hook), TEXTS[hook.handler.type]
    flat = write_entry(agent, hook, native, wording)
    action = {"type": flat.pop("type"), key: flat.pop(key)}
    if place.get("timeout") == "action" and hook.handler.timeout:
        action["timeout"] = flat.pop("timeout")
    more = place.get("action")
    action = (more if type(more) is dict else {}) | action
    hidden = _OURS | set(TEXTS.values()) | ({"enabled"} if flat.get("enabled") is False else set())
    hidden |= {"timeout"} if not hook.handler.timeout and is_seconds(flat.get("timeout")) else set()
    return {"action": action} | {name: value for name, value in flat.items() if name not in hidden}
