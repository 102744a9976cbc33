"""Kiro config codec: the hook files that IDE 1.0 and CLI 3 share, and two legacy file formats.

Hooks inside an agent file (CLI up to 2, Amazon Q) and one hook to a file (IDE before 1.0) are read, and written only
for hooks that came from such a file: Kiro of today takes the newest kind alone.
"""

from msgspec.structs import replace

from hookonce.agents._config.entry import ConfigEntry, build_hook, iterate_entries, read_entry, write_entry
from hookonce.agents._config.events import resolve_event
from hookonce.agents._config.gaps import (
    handler_gap,
    has_loss,
    lost_gap,
    no_tool_gap,
    skipped_gap,
    warning_gap,
)
from hookonce.agents._config.matchers.dialect import TOOL_EVENTS, is_exact, reusable_matcher, write_matcher
from hookonce.agents._config.points import canonical_event_of, config_event_of, config_events
from hookonce.agents._config.provider_data import (
    add_placement,
    own_keys,
    own_matcher,
    placement_of,
    with_provider_data,
    without_keys,
)
from hookonce.agents.kiro.matcher import KIRO_DIALECT, from_kinds, from_selector
from hookonce.base.invocation import parse_command
from hookonce.base.jsontext import as_dict, dump
from hookonce.model import Agent, Gap, Handler, Hook, Json, Object, Wording
from hookonce.vocabulary.names import hook_label

GENERATION_KEY = "generation"  # the key of our place that tells them apart
AGENT_FILE, HOOK_FILE = 1, 2
DISABLED_HANDLER = "disabled"  # the handler of a hook that is switched off: nobody else may start to run it
# where a hook can refuse, which is not where it can today
_BLOCKING_EVENTS = {
    AGENT_FILE: {"before_tool_execute", "agent_stop"},
    HOOK_FILE: {"before_tool_execute", "before_prompt"},
}
_CURRENT_TRIGGERS = {"userTriggered": "Manual"}
_HANDLER_TYPES = {"runCommand": "command", "askAgent": "agent"}
TEXT_KEYS = {"command": "command", "agent": "prompt"}  # kind of handler → the key of what it runs or says
_MS_PER_S = 1000


def parse_agent_file(agent: Agent, events: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of an agent file: lists of entries under their events."""
    hooks: list[Hook] = []
    gaps: list[Gap] = []
    for event, where, entry in iterate_entries(events):
        if type(entry) is dict and type(entry.get("command")) is str and entry["command"]:
            hooks.append(_parse_agent_entry(agent, event, entry))
        else:
            gaps.append(skipped_gap(where, "is no hook"))
    return hooks, gaps


def _parse_agent_entry(agent: Agent, event: str, entry: Object) -> Hook:
    flat = without_keys(entry, "matcher", "type", "timeout")
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
        return [], [skipped_gap("$", "is no hook")]
    kind = _HANDLER_TYPES.get(then["type"]) if type(then.get("type")) is str else None
    if document.get("enabled") is False or kind is None:
        handler = Handler(type=DISABLED_HANDLER if kind is not None else f"kiro.{then.get('type')}")
        return [_build_legacy_hook(agent, HOOK_FILE, when["type"], ConfigEntry(handler, document), None, {})], []
    text = then.get(TEXT_KEYS[kind])
    if type(text) is not str or not text:
        return [], [skipped_gap("$.then", "is no action")]
    flat = without_keys(document, "name", "when", "then", "timeout") | {"type": kind, TEXT_KEYS[kind]: text}
    placement: Object = {"when": without_keys(when, "type")}
    placement |= {"more": {"timeout": document["timeout"]}} if "timeout" in document else {}
    placement["then"] = without_keys(then, "type", TEXT_KEYS[kind])
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


def _build_legacy_hook(
    agent: Agent, generation: int, event: str, entry: ConfigEntry, matcher: Json, own_placement: Object
) -> Hook:
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
    if (text := own_matcher(agent, hook)) is not None:
        entry["matcher"] = text
    return entry | as_dict(placement.get("more"))


def _render_hook_file(agent: Agent, hook: Hook, wording: Wording) -> Object | None:
    placement = placement_of(agent, hook)
    event, key = placement.get("event"), TEXT_KEYS.get(hook.handler.type)
    if key is None or type(event) is not str:
        return own_keys(agent, hook)
    flat = write_entry(agent, hook, event, wording)
    kind = flat.pop("type")
    action: Object = {"type": next(native for native, handler_type in _HANDLER_TYPES.items() if handler_type == kind)}
    action |= {name: flat.pop(name) for name in (key, "timeout") if name in flat}
    more, when, then = (as_dict(placement.get(name)) for name in ("more", "when", "then"))
    title = {} if hook.name is None else {"name": hook.name}
    return more | flat | title | {"when": when | {"type": event}, "then": then | action}


_VERSION = "v1"
_MAPPED_KEYS = frozenset({"name", "trigger", "matcher", "action"})  # keys of an entry with a place in a hook
_RESTATED_KEYS = frozenset({GENERATION_KEY, "event", "matcher"})  # what a hook of an older file says in other words too


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a file, of whichever generation; an entry that cannot be understood is a gap."""
    hooks_value = document.get("hooks")
    if type(hooks_value) is dict:
        return parse_agent_file(agent, hooks_value)
    if type(hooks_value) is list:
        slots = [_parse_hook(agent, entry) if type(entry) is dict else None for entry in hooks_value]
        faulty_numbers = [number for number, hook in enumerate(slots) if hook is None]
        gaps = [skipped_gap(f"$.hooks[{number}]", "is no hook") for number in faulty_numbers]
        hooks, head = [hook for hook in slots if hook is not None], without_keys(document, "version", "hooks")
        if head and hooks:  # what stands beside the hooks goes with the first of them
            hooks[0] = add_placement(agent, hooks[0], {"document": head})
        return hooks, gaps
    if "when" in document or "then" in document:
        return parse_hook_file(agent, document)
    return [], [] if hooks_value is None else [skipped_gap("$.hooks", "is no list of hooks")]


def _parse_hook(agent: Agent, entry: Object) -> Hook | None:
    trigger, action = entry.get("trigger"), entry.get("action")
    if type(trigger) is not str or type(action) is not dict or type(action.get("type")) is not str:
        return None
    kind = action["type"]
    if entry.get("enabled") is False or kind not in TEXT_KEYS:
        handler = Handler(type=DISABLED_HANDLER if kind in TEXT_KEYS else f"kiro.{kind}")
        return build_hook(agent, trigger, ConfigEntry(handler, entry), None, {})
    if type(action.get(TEXT_KEYS[kind])) is not str or not action[TEXT_KEYS[kind]]:
        return None
    config_entry, placement = _flatten_entry(agent, entry, action)
    matcher: Json = None
    if type(text := entry.get("matcher")) is str:
        tools = canonical_event_of(agent, trigger) in TOOL_EVENTS
        matcher = KIRO_DIALECT.read(agent, text) if tools else None
        placement |= {} if tools and is_exact(KIRO_DIALECT, agent, matcher, text) else {"matcher": text}
    hook = with_entry_name(build_hook(agent, trigger, config_entry, matcher, placement), entry)
    return hook if kind == "command" else replace(hook, blocking=False)


def _flatten_entry(agent: Agent, entry: Object, action: Object) -> tuple[ConfigEntry, Object]:
    """An entry and its action as one flat thing; the timeout may stand in either."""
    key = TEXT_KEYS[action["type"]]
    flat = without_keys(entry, *_MAPPED_KEYS) | {"type": action["type"], key: action[key]}
    placement: Object = {}
    more = without_keys(action, "type", key)
    if is_positive_seconds(more.get("timeout")) and "timeout" not in entry:
        flat["timeout"] = more.pop("timeout")
        placement["timeout"] = "action"
    endless = {} if is_positive_seconds(flat.get("timeout", 1)) else {"timeout": flat.pop("timeout")}
    config_entry = read_entry(agent, flat)
    config_entry = config_entry._replace(extra_keys=config_entry.extra_keys | endless)
    return config_entry, placement | ({"action": more} if more else {})


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """A file of today; the older file that hooks came from only if they read the same in it."""
    legacy = render_legacy_file(agent, hooks, wording)
    signatures = _hook_signatures([hook for _, hook in hooks])
    if legacy is not None and _hook_signatures(parse(agent, legacy)[0]) == signatures:
        return legacy, []
    gaps: list[Gap] = []
    current_hooks = [(index, _drop_legacy_data(agent, index, hook, gaps)) for index, hook in hooks]
    entry_slots = [_render_entry(agent, index, hook, wording, gaps) for index, hook in current_hooks]
    entries = [entry for entry in entry_slots if entry is not None]
    head = placement_of(agent, current_hooks[0][1]).get("document") if entries else None
    return as_dict(head) | {"version": _VERSION, "hooks": entries}, gaps


def _hook_signatures(hooks: list[Hook]) -> list[bytes]:
    return sorted(dump((hook.event, hook.matcher, hook.blocking, hook.handler)) for hook in hooks)


def _drop_legacy_data(agent: Agent, index: int, hook: Hook, gaps: list[Gap]) -> Hook:
    keys, placement = own_keys(agent, hook), placement_of(agent, hook)
    if GENERATION_KEY in placement:
        if lost_keys := sorted([*keys, *(key for key in placement if key not in _RESTATED_KEYS and placement[key])]):
            why = f"only an older file has {', '.join(lost_keys)}"
            gaps.append(warning_gap(agent, index, hook, "provider_data", why))
        return replace(hook, provider_data={})
    if placement.get("event") not in list(config_events(agent)):
        placement = without_keys(placement, "event")
    return with_provider_data(agent, hook, keys, placement)


def _render_entry(agent: Agent, index: int, hook: Hook, wording: Wording, gaps: list[Gap]) -> Object | None:
    native, event_gaps = resolve_event(agent, index, hook)
    if native is None:
        gaps += event_gaps
        return None
    if hook.handler.type not in agent.config.handlers:
        return _restore_own_entry(agent, index, hook, native, gaps)
    if why := _explain_unfit(hook):
        gaps.append(lost_gap(index, hook, *why))
        return None
    matcher, matcher_gaps = _render_matcher(agent, index, hook)
    if has_loss(matcher_gaps):
        gaps += matcher_gaps
        return None
    gaps += matcher_gaps if hook.handler.type != "command" else event_gaps + matcher_gaps
    entry: Object = {"name": _entry_name(hook, native), "trigger": native}
    entry |= {} if matcher is None else {"matcher": matcher}
    return entry | _render_action(agent, hook, native, wording)


def _entry_name(hook: Hook, native: str) -> str:
    """The name that Kiro lists a hook by; entries of ours all run the same, so that they are told by their event."""
    call = parse_command(hook.handler.command or "")
    return hook_label(hook) if call is None or call.via is None else f"hookonce {native}"


def _restore_own_entry(agent: Agent, index: int, hook: Hook, native: str, gaps: list[Gap]) -> Object | None:
    """An entry of a kind that only Kiro knows, if that is what came along."""
    entry = own_keys(agent, hook) | {"trigger": native}
    parsed_hook = _parse_hook(agent, entry)
    if parsed_hook is not None and parsed_hook.handler == hook.handler:
        return entry
    gaps.append(handler_gap(agent, index, hook))
    return None


def _explain_unfit(hook: Hook) -> tuple[str, str] | None:
    if hook.handler.type == "agent" and hook.blocking:
        return "handler", "an agent action of Kiro tells its model what to do and refuses nothing"
    if hook.matcher == [] and hook.event in TOOL_EVENTS:
        return "matcher", "the matcher names no tool at all"
    return None


def _render_matcher(agent: Agent, index: int, hook: Hook) -> tuple[str | None, list[Gap]]:
    if hook.event not in TOOL_EVENTS:
        return own_matcher(agent, hook), [] if hook.matcher is None else [no_tool_gap(agent, index, hook)]
    text = reusable_matcher(KIRO_DIALECT, agent, hook)
    return (text, []) if text is not None or hook.matcher is None else write_matcher(KIRO_DIALECT, agent, index, hook)


def _render_action(agent: Agent, hook: Hook, native: str, wording: Wording) -> Object:
    """The action with its timeout, and the keys that Kiro alone knows; none of those turns a hook off."""
    placement, key = placement_of(agent, hook), TEXT_KEYS[hook.handler.type]
    flat = write_entry(agent, hook, native, wording)
    action = {"type": flat.pop("type"), key: flat.pop(key)}
    if placement.get("timeout") == "action" and hook.handler.timeout:
        action["timeout"] = flat.pop("timeout")
    hidden_keys = _MAPPED_KEYS | set(TEXT_KEYS.values()) | ({"enabled"} if flat.get("enabled") is False else set())
    hidden_keys |= {"timeout"} if not hook.handler.timeout and is_positive_seconds(flat.get("timeout")) else set()
    return {"action": as_dict(placement.get("action")) | action} | without_keys(flat, *hidden_keys)
