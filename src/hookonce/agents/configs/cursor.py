"""Cursor's configuration: flat lists of entries, and beside the general events some for one kind of tool.

Cursor drops a whole file for one event, type of handler or pattern that it does not know. So nothing is
written that it might not know, whatever a manifest's data for Cursor says.
"""

from re import compile as pattern

from msgspec.structs import replace

from hookonce import invocation
from hookonce.agents.configs.breadth import is_everything
from hookonce.agents.configs.entry import (
    Entry,
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
from hookonce.agents.configs.matcher import ANY_MCP
from hookonce.agents.configs.misplaced import misplaced
from hookonce.agents.configs.pattern import Mcp, compiles, is_written, literal, read, written
from hookonce.agents.configs.point import natives, point_of
from hookonce.agents.configs.reach import reached
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

# event about one kind of tool → the canonical matcher that it stands for
KINDS: dict[str, Json] = {
    "beforeShellExecution": "shell",
    "afterShellExecution": "shell",
    "beforeReadFile": "file_read",
    "afterFileEdit": ["file_write", "file_edit"],
    "beforeMCPExecution": {"pattern": ANY_MCP},
    "afterMCPExecution": {"pattern": ANY_MCP},
}
_MCP = Mcp(
    every="MCP:.*",
    tools=lambda _, tool: f"MCP:{literal(tool)}" if tool else "MCP:.*",
    loss="Cursor tells the name of an MCP tool and not its server, so tools of other servers are meant as well",
)
_MCP_NAME = pattern(r"\^?MCP:")
_SAYS = {"command": "command", "prompt": "prompt"}  # type of handler → the key without which it is none
_STRUCTURE = frozenset({"type", "command", "prompt", "model", "timeout", "matcher"})


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks: general events with a matcher, unless a hook came from a special one."""
    events: Object = {}
    gaps: list[Gap] = []
    for index, given in hooks:
        hook = _believed(agent, given)
        native, told = _native(agent, index, hook)
        gaps += told
        if native is None:
            continue
        matcher, told = _matcher(agent, index, hook, native)
        gaps += told
        if any(gap.effect == "lost" for gap in told):
            continue
        entry = write_entry(agent, hook, native, wording)
        typed: Object = {"type": "command"} if own_place(agent, hook).get("typed") is True else {}
        events.setdefault(native, []).append(typed | entry | ({} if matcher is None else {"matcher": matcher}))
    return {"version": 1, "hooks": events}, gaps


def _native(agent: Agent, index: int, hook: Hook) -> tuple[str | None, list[Gap]]:
    if hook.handler.type not in _SAYS:
        return None, [lost(index, hook, "handler", f"{agent.title} has no handlers of type {hook.handler.type}")]
    native, gaps = placed(agent, index, hook)
    if native is not None and natives(agent).get(native) != hook.event:
        return None, [lost(index, hook, "event", f"{agent.title} would drop the whole file for an event {native}")]
    return native, gaps


def _matcher(agent: Agent, index: int, hook: Hook, native: str) -> tuple[str | None, list[Gap]]:
    """What stands under `matcher`, and what it cannot say."""
    kept = own_place(agent, hook).get("matcher")
    if kept is not None or is_everything(hook.matcher) or native in KINDS:
        return kept, []
    if hook.event not in TOOL_EVENTS:
        return None, [warned(agent, index, hook, "matcher", no_tool(hook))]
    texts, losses = written(agent, hook.matcher, _MCP)
    fit = [text for text in texts if compiles(text)]
    if not fit or not compiles("|".join(fit)):
        return None, [lost(index, hook, "matcher", f"{agent.title} could not read a pattern for these tools")]
    losses += [f"{agent.title} could not read {text}" for text in texts if text not in fit]
    return "|".join(fit), reached(agent, index, hook, losses)


def _believed(agent: Agent, hook: Hook) -> Hook:
    """The hook with that of its data for Cursor which Cursor can read, and which still is about the same tools."""
    keys = {key: value for key, value in own_keys(agent, hook).items() if _fits(key, value)}
    place = own_place(agent, hook)
    event, text = place.get("event"), place.get("matcher")
    kept: Object = {"typed": True} if place.get("typed") is True else {}
    if type(event) is str and _stands(agent, hook, event, text):
        kept["event"] = event
    native = kept.get("event") or next((name for name, kind in natives(agent).items() if kind == hook.event), "")
    if type(text) is str and (text == "*" or compiles(text)) and _meaning(agent, native, text) == hook.matcher:
        kept["matcher"] = text
    others = {name: data for name, data in hook.provider_data.items() if name != agent.name}
    return replace(hook, provider_data=others | provider_data(agent, keys, kept))


def _fits(key: str, value: Json) -> bool:
    if key == "failClosed":
        return type(value) is bool
    if key == "loop_limit":
        return value is None or (type(value) is int and value > 0)
    return key not in _STRUCTURE


def _stands(agent: Agent, hook: Hook, event: str, text: Json) -> bool:
    """Whether a hook may go back to the event that it came from: the tools are the same, and nothing is rewritten."""
    if natives(agent).get(event) != hook.event:
        return False
    call = invocation.read(hook.handler.command or "")
    if event not in KINDS or (call is not None and call.via is not None):
        return True  # our own door is meant for one event, whatever tools that is about
    meaning = _meaning(agent, event, text if type(text) is str else None)
    return hook.matcher == meaning and "input_rewrite" not in hook.capabilities


def _meaning(agent: Agent, native: str, text: str | None) -> Json:
    """The canonical matcher of an entry; at a shell event the text is about the command, which no matcher can say."""
    if native in KINDS and not ("MCP" in native and text and all(map(_MCP_NAME.match, text.split("|")))):
        return KINDS[native]
    return None if text is None or natives(agent).get(native) not in TOOL_EVENTS else read(agent, text)


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration, those at events that Cursor does not know as events of its own."""
    hooks: list[Hook] = []
    gaps = misplaced(agent, document)
    events = document.get("hooks")
    for native, entries in events.items() if type(events) is dict else ():
        for number, entry in enumerate(entries if type(entries) is list else [entries]):
            if _is_entry(entry):
                hooks.append(_hook(agent, native, entry))
            else:
                where = f"$.hooks.{native}[{number}]"
                note = f"{where} is no hook that {agent.title} would take"
                gaps.append(Gap(where=where, strategy="kept out", effect="lost", note=note))
    return hooks, gaps


def _is_entry(entry: Json) -> bool:
    if type(entry) is not dict or type(entry.get("matcher", "")) is not str:
        return False
    kind = entry.get("type", "command")
    says = entry.get(_SAYS.get(kind, "")) if type(kind) is str else None
    return type(says) is str and says != ""


def _hook(agent: Agent, native: str, entry: Object) -> Hook:
    text = entry.get("matcher")
    matcher = _meaning(agent, native, text)
    own: Object = {"typed": True} if entry.get("type") == "command" else {}
    if text is not None and (native in KINDS or matcher is None or not is_written(agent, matcher, _MCP, text)):
        own["matcher"] = text
    if text is not None and native in KINDS and matcher == KINDS[native] != read(agent, text):
        own["narrows"] = True  # the text is about the command or the file, which no matcher can say
    told = _observing(agent, native, read_entry(agent, {key: entry[key] for key in entry if key != "matcher"}))
    made = hook_of(agent, native, told, matcher, own)
    return made if native in natives(agent) else replace(made, event=f"vendor.{agent.name}.{native}")


def _observing(agent: Agent, native: str, entry: Entry) -> Entry:
    """A hook that prevents nothing cannot fail closed in a manifest; the switch stays where it was."""
    if not entry.closed or point_of(agent, native).can & {"prevent", "retry"}:
        return entry
    return entry._replace(closed=False, rest=entry.rest | {"failClosed": True})
