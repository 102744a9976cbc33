"""Kiro config codec: the hook files that IDE 1.0 and CLI 3 share, and two legacy file formats.

Legacy are hooks inside an agent file (CLI up to 2, Amazon Q) and one hook to a file (IDE before 1.0). They are
read, and written only for hooks that came from such a file: Kiro of today takes the newest kind alone.
"""

from msgspec.structs import replace

from hookonce.agents.configs.entry import ConfigEntry, build_hook, own_keys, placement_of, read_entry, write_entry
from hookonce.agents.configs.grouped import TOOL_EVENTS
from hookonce.agents.configs.kiro_matcher import from_kinds, from_selector
from hookonce.agents.configs.point import canonical_event_of, config_event_of
from hookonce.model import Agent, Gap, Handler, Hook, Json, Object, Wording

GENERATION_KEY = "generation"  # the key of our place that tells them apart
AGENT_FILE, HOOK_FILE = 1, 2
DISABLED_HANDLER = "disabled"  # the handler of a hook that is switched off: nobody else may start to run it
# where a hook can refuse, which is not where it can today
_BLOCKING_EVENTS = {AGENT_FILE: {"before_tool_execute", "agent_stop"}, HOOK_FILE: {"before_tool_execute", "before_prompt"}}
_CURRENT_TRIGGERS = {"userTriggered": "Manual"}
_HANDLER_TYPES = {"runCommand": "command", "askAgent": "agent"}
TEXT_KEYS = {"command": "command", "agent": "prompt"}  # kind of handler → the key of what it runs or says
_MS_PER_S = 1000


def skipped_entry_gap(where: str, noun: str) -> Gap:
    """A gap for something in a file that is no hook."""
    return Gap(where=where, strategy="kept out", effect="lost", note=f"{where} is no {noun}")


def parse_agent_file(agent: Agent, events: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of an agent file: lists of entries under their events."""
    hooks: list[Hook] = []
    gaps: list[Gap] = []
    for event, entries in events.items():
        for number, entry in enumerate(entries if type(entries) is list else [entries]):
            if type(entry) is dict and type(entry.get("command")) is str and entry["command"]:
                hooks.append(_parse_agent_entry(agent, event, entry))
            else:
                gaps.append(skipped_entry_gap(f"$.hooks.{event}[{number}]", "hook"))
    return hooks, gaps


def _parse_agent_entry(agent: Agent, event: str, entry: Object) -> Hook:
    flat = {key: value for key, value in entry.items() if key not in {"matcher", "type", "timeout"}}
    more = {key: entry[key] for key in ("type", "timeout") if key in entry}
    placement: Object = {"more": more} if more else {}
    if type(ms := flat.get("timeout_ms")) is int and ms > 0:
        flat["timeout"] = ms // _MS_PER_S if ms % _MS_PER_S == 0 else ms / _MS_PER_S
        del flat["timeout_ms"]
    matcher: Json = None
    if type(text := entry.get("matcher")) is str:
        placement |= {"matcher": text}
        matcher = from_selector(agent, text) if canonical_event_of(agent, event) in TOOL_EVENTS else None
    return _build_legacy_hook(agent, AGENT_FILE, event, read_entry(agent, flat), matcher, placement)


def parse_hook_file(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The one hook of a file: when it comes, then what it does."""
    when, then = document.get("when"), document.get("then")
    if type(when) is not dict or type(then) is not dict or type(when.get("type")) is not str:
        return [], [skipped_entry_gap("$", "hook")]
    kind = _HANDLER_TYPES.get(then["type"]) if type(then.get("type")) is str else None
    if document.get("enabled") is False or kind is None:
        disabled_handler = Handler(type=DISABLED_HANDLER if kind is not None else f"kiro.{then.get('type')}")
        return [_build_legacy_hook(agent, HOOK_FILE, when["type"], ConfigEntry(disabled_handler, document), None, {})], []
    text = then.get(TEXT_KEYS[kind])
    if type(text) is not str or not text:
        return [], [skipped_entry_gap("$.then", "action")]
    flat = {key: value for key, value in document.items() if key not in {"name", "when", "then", "timeout"}}
    flat |= {"type": kind, TEXT_KEYS[kind]: text}
    placement: Object = {"when": {key: value for key, value in when.items() if key != "type"}}
    placement |= {"more": {"timeout": document["timeout"]}} if "timeout" in document else {}
    placement["then"] = {key: value for key, value in then.items() if key not in {"type", TEXT_KEYS[kind]}}
    if is_positive_seconds(placement["then"].get("timeout")):
        flat["timeout"] = placement["then"].pop("timeout")
    tools = canonical_event_of(agent, when["type"]) in TOOL_EVENTS
    matcher = from_kinds(agent, when.get("toolTypes")) if tools else None
    hook = _build_legacy_hook(agent, HOOK_FILE, when["type"], read_entry(agent, flat), matcher, placement)
    return [with_entry_name(hook, document)], []


def is_positive_seconds(value: Json) -> bool:
    """Whether a value is a time that a hook may take; 0 is none, it lifts the limit."""
    return type(value) in (int, float) and value > 0


def with_entry_name(hook: Hook, entry: Object) -> Hook:
    """The hook under the name that its entry bears."""
    return replace(hook, name=entry["name"]) if type(entry.get("name")) is str and entry["name"] else hook


def _build_legacy_hook(agent: Agent, generation: int, event: str, entry: ConfigEntry, matcher: Json, own_placement: Object) -> Hook:
    """The hook of an older entry: it remembers its event, and refuses where that generation lets it."""
    kind = canonical_event_of(agent, _CURRENT_TRIGGERS.get(event, event))
    placement = {GENERATION_KEY: generation, "event": event} | own_placement
    hook = build_hook(agent, config_event_of(agent, kind) or event, entry, matcher, placement)
    return replace(hook, blocking=kind in _BLOCKING_EVENTS[generation] and entry.handler.type == "command")


def render_legacy_file(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> Object | None:
    """The legacy file that these hooks came from; None unless all came from the same kind of legacy file."""
    generations = [placement_of(agent, hook).get(GENERATION_KEY) for _, hook in hooks]
    if generations == [HOOK_FILE]:
        return _render_hook_file(agent, hooks[0][1], wording)
    if not generations or any(generation != AGENT_FILE for generation in generations):
        return None
    events: Object = {}
    for _, hook in hooks:
        event = placement_of(agent, hook).get("event")
        if type(event) is not str or hook.handler.type != "command":
            return None
        events.setdefault(event, []).append(_render_agent_entry(agent, hook, event, wording))
    return {"hooks": events}


def _render_agent_entry(agent: Agent, hook: Hook, event: str, wording: Wording) -> Object:
    placement = placement_of(agent, hook)
    entry = write_entry(agent, hook, event, wording)
    del entry["type"]
    if is_positive_seconds(seconds := entry.pop("timeout", None)):
        entry["timeout_ms"] = round(seconds * _MS_PER_S)
    if type(placement.get("matcher")) is str:
        entry["matcher"] = placement["matcher"]
    return entry | (more if type(more := placement.get("more")) is dict else {})


def _render_hook_file(agent: Agent, hook: Hook, wording: Wording) -> Object | None:
    placement = placement_of(agent, hook)
    event, key = placement.get("event"), TEXT_KEYS.get(hook.handler.type)
    if key is None or type(event) is not str:
        return own_keys(agent, hook)
    flat = write_entry(agent, hook, event, wording)
    kind = flat.pop("type")
    action: Object = {"type": next(native for native, handler_type in _HANDLER_TYPES.items() if handler_type == kind)}
    action |= {name: flat.pop(name) for name in (key, "timeout") if name in flat}
    more, when, then = (value if type(value := placement.get(name)) is dict else {} for name in ("more", "when", "then"))
    title = {} if hook.name is None else {"name": hook.name}
    return more | flat | title | {"when": when | {"type": event}, "then": then | action}
