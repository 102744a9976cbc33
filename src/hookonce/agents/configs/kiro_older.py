"""Kiro's older files: hooks inside an agent file (CLI up to 2, Amazon Q), and one hook to a file (IDE before 1.0).

They are read, and written only for hooks that came from such a file: Kiro of today takes the newest kind alone.
"""

from msgspec.structs import replace

from hookonce.agents.configs.entry import Entry, hook_of, own_keys, own_place, read_entry, write_entry
from hookonce.agents.configs.grouped import TOOL_EVENTS
from hookonce.agents.configs.kiro_matcher import from_kinds, from_selector
from hookonce.agents.configs.point import kind_of, native_of
from hookonce.model import Agent, Gap, Handler, Hook, Json, Object, Wording

GENERATION = "generation"  # the key of our place that tells them apart
AGENT_FILE, HOOK_FILE = 1, 2
DISABLED = "disabled"  # the handler of a hook that is switched off: nobody else may start to run it
# where a hook can refuse, which is not where it can today
_POWERS = {AGENT_FILE: {"before_tool_execute", "agent_stop"}, HOOK_FILE: {"before_tool_execute", "before_prompt"}}
_TODAY = {"userTriggered": "Manual"}
_ACTIONS = {"runCommand": "command", "askAgent": "agent"}
TEXTS = {"command": "command", "agent": "prompt"}  # kind of handler → the key of what it runs or says
_MS = 1000


def kept_out(where: str, what: str) -> Gap:
    """A gap for something in a file that is no hook."""
    return Gap(where=where, strategy="kept out", effect="lost", note=f"{where} is no {what}")


def from_agent_file(agent: Agent, events: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of an agent file: lists of entries under their events."""
    hooks: list[Hook] = []
    gaps: list[Gap] = []
    for event, entries in events.items():
        for number, entry in enumerate(entries if type(entries) is list else [entries]):
            if type(entry) is dict and type(entry.get("command")) is str and entry["command"]:
                hooks.append(_embedded(agent, event, entry))
            else:
                gaps.append(kept_out(f"$.hooks.{event}[{number}]", "hook"))
    return hooks, gaps


def _embedded(agent: Agent, event: str, entry: Object) -> Hook:
    flat = {key: value for key, value in entry.items() if key not in {"matcher", "type", "timeout"}}
    more = {key: entry[key] for key in ("type", "timeout") if key in entry}
    own: Object = {"more": more} if more else {}
    if type(ms := flat.get("timeout_ms")) is int and ms > 0:
        flat["timeout"] = ms // _MS if ms % _MS == 0 else ms / _MS
        del flat["timeout_ms"]
    matcher: Json = None
    if type(text := entry.get("matcher")) is str:
        own |= {"matcher": text}
        matcher = from_selector(agent, text) if kind_of(agent, event) in TOOL_EVENTS else None
    return _hook(agent, AGENT_FILE, event, read_entry(agent, flat), matcher, own)


def from_hook_file(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The one hook of a file: when it comes, then what it does."""
    when, then = document.get("when"), document.get("then")
    if type(when) is not dict or type(then) is not dict or type(when.get("type")) is not str:
        return [], [kept_out("$", "hook")]
    kind = _ACTIONS.get(then["type"]) if type(then.get("type")) is str else None
    if document.get("enabled") is False or kind is None:
        off = Handler(type=DISABLED if kind is not None else f"kiro.{then.get('type')}")
        return [_hook(agent, HOOK_FILE, when["type"], Entry(off, document), None, {})], []
    text = then.get(TEXTS[kind])
    if type(text) is not str or not text:
        return [], [kept_out("$.then", "action")]
    flat = {key: value for key, value in document.items() if key not in {"name", "when", "then", "timeout"}}
    flat |= {"type": kind, TEXTS[kind]: text}
    own: Object = {"when": {key: value for key, value in when.items() if key != "type"}}
    own |= {"more": {"timeout": document["timeout"]}} if "timeout" in document else {}
    own["then"] = {key: value for key, value in then.items() if key not in {"type", TEXTS[kind]}}
    if is_seconds(own["then"].get("timeout")):
        flat["timeout"] = own["then"].pop("timeout")
    tools = kind_of(agent, when["type"]) in TOOL_EVENTS
    matcher = from_kinds(agent, when.get("toolTypes")) if tools else None
    made = _hook(agent, HOOK_FILE, when["type"], read_entry(agent, flat), matcher, own)
    return [named(made, document)], []


def is_seconds(value: Json) -> bool:
    """Whether a value is a time that a hook may take; 0 is none, it lifts the limit."""
    return type(value) in (int, float) and value > 0


def named(hook: Hook, entry: Object) -> Hook:
    """The hook under the name that its entry bears."""
    return replace(hook, name=entry["name"]) if type(entry.get("name")) is str and entry["name"] else hook


def _hook(agent: Agent, generation: int, event: str, entry: Entry, matcher: Json, own: Object) -> Hook:
    """The hook of an older entry: it remembers its event, and refuses where that generation lets it."""
    kind = kind_of(agent, _TODAY.get(event, event))
    place = {GENERATION: generation, "event": event} | own
    made = hook_of(agent, native_of(agent, kind) or event, entry, matcher, place)
    return replace(made, blocking=kind in _POWERS[generation] and entry.handler.type == "command")


def older(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> Object | None:
    """The file that these hooks came from, if all of them came from the same kind of older file."""
    generations = [own_place(agent, hook).get(GENERATION) for _, hook in hooks]
    if generations == [HOOK_FILE]:
        return _hook_file(agent, hooks[0][1], wording)
    if not generations or any(one != AGENT_FILE for one in generations):
        return None
    events: Object = {}
    for _, hook in hooks:
        event = own_place(agent, hook).get("event")
        if type(event) is not str or hook.handler.type != "command":
            return None
        events.setdefault(event, []).append(_old_entry(agent, hook, event, wording))
    return {"hooks": events}


def _old_entry(agent: Agent, hook: Hook, event: str, wording: Wording) -> Object:
    place = own_place(agent, hook)
    entry = write_entry(agent, hook, event, wording)
    del entry["type"]
    if is_seconds(seconds := entry.pop("timeout", None)):
        entry["timeout_ms"] = round(seconds * _MS)
    if type(place.get("matcher")) is str:
        entry["matcher"] = place["matcher"]
    return entry | (more if type(more := place.get("more")) is dict else {})


def _hook_file(agent: Agent, hook: Hook, wording: Wording) -> Object | None:
    place = own_place(agent, hook)
    event, key = place.get("event"), TEXTS.get(hook.handler.type)
    if key is None or type(event) is not str:
        return own_keys(agent, hook)
    flat = write_entry(agent, hook, event, wording)
    kind = flat.pop("type")
    action: Object = {"type": next(native for native, known in _ACTIONS.items() if known == kind)}
    action |= {name: flat.pop(name) for name in (key, "timeout") if name in flat}
    more, when, then = (given if type(given := place.get(name)) is dict else {} for name in ("more", "when", "then"))
    title = {} if hook.name is None else {"name": hook.name}
    return more | flat | title | {"when": when | {"type": event}, "then": then | action}
