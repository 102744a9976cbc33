"""Cline's hooks: one shell script for each event, generated from a table that stands in it, and read back."""

import re
from importlib.resources import files as resources
from math import ceil, isfinite
from shlex import quote

from hookonce.agents.configs.entry import lost, placed, warned
from hookonce.agents.configs.fitting import STAR
from hookonce.agents.configs.opaque import CODE, keep, opaque, opaque_gap
from hookonce.agents.configs.point import natives, point_of
from hookonce.agents.configs.table import GENERATED, dumped, entry_of, hook_of, matcher_gaps
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording
from hookonce.texts import load

_MARK = f"#!/bin/sh\n# {GENERATED}\n# table: "
# In this order: the editor's extension runs a script without an ending only, the command line any of them.
_ENDINGS = ("", ".sh", ".bash", ".zsh", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".py", ".ps1")
_OURS = ("", ".sh", ".bash", ".zsh")
_SECONDS = 30  # for a hook that names no time of its own
_DAY = 86400
_TOOL = re.compile(rf"[\w-]+|[\w-]*(?:{re.escape(STAR)}[\w-]*)+", re.ASCII)  # nothing else is ever a tool's name there
_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """A script for each event that has hooks, and beside it the scripts of others."""
    events: dict[str, list[tuple[int, Hook, Object]]] = {}
    files: Object = {}
    gaps: list[Gap] = []
    for index, hook in hooks:
        native, told = placed(agent, index, hook)
        gaps += told
        if native is None:
            continue
        if hook.handler.type == CODE:
            gaps += keep(agent, index, hook, files, _foreign)
        elif (why := _unfit(agent, hook, native)) is not None:
            gaps.append(lost(index, hook, "handler", why))
        else:
            events.setdefault(native, []).append((index, hook, entry_of(agent, hook, native, wording)))
            gaps += matcher_gaps(agent, index, hook)
    scripts: Object = {}
    for native, found in events.items():
        name = _free(native, files)
        gaps += [gap for index, hook, _ in found for gap in _crowded(agent, native, name, index, hook)]
        if name is not None:
            scripts[name] = _script(agent, native, [entry for _, _, entry in found])
    return {"files": scripts | files}, gaps


def _unfit(agent: Agent, hook: Hook, native: str) -> str | None:
    """Why a hook cannot stand in a script."""
    if hook.handler.command is None:
        return "there is no command to run"
    if native not in natives(agent):
        return f"{agent.title} runs no script for {native}"
    words = [hook.handler.command, hook.handler.cwd or "", *hook.handler.env, *hook.handler.env.values()]
    if any("\0" in word or not _is_text(word) for word in words):
        return "its command holds what no script can hold"
    odd = [name for name in hook.handler.env if _VARIABLE.fullmatch(name) is None]
    return f"{odd[0]} is no name of a variable" if odd else None


def _is_text(word: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in word)


def _free(native: str, taken: Object) -> str | None:
    """A name for a script that somebody's script does not have."""
    used = {name.lower() for name in taken}
    return next((native + ending for ending in _OURS if (native + ending).lower() not in used), None)


def _crowded(agent: Agent, native: str, name: str | None, index: int, hook: Hook) -> list[Gap]:
    """What it costs to stand beside somebody's script."""
    if name is None:
        return [lost(index, hook, "file", f"all names for a script for {native} are taken")]
    why = f"another script is called {native}, so that {name} runs on Cline's command line only"
    return [] if name == native else [warned(agent, index, hook, "file", why)]


def _script(agent: Agent, native: str, entries: list[Object]) -> str:
    code = resources("hookonce.agents.configs").joinpath("cline.sh").read_text(encoding="utf-8")
    return f"{_MARK}{dumped({'hooks': entries})}\n{_switches(agent, native, entries)}{code}{_calls(entries)}"


def _switches(agent: Agent, native: str, entries: list[Object]) -> str:
    closed = any(entry.get("on_failure") == "closed" for entry in entries)
    waited = point_of(agent, native).cap is not None
    return f"closed={'yes' if closed else ''}\nwaited={'yes' if waited else ''}\n"


def _calls(entries: list[Object]) -> str:
    return "".join(map(_call, entries)) + '[ -z "$first" ] || cat "$work/first"\n'


def _call(entry: Object) -> str:
    """The line of the script that runs one hook."""
    handler = entry["handler"]
    mode = "async" if handler.get("async") else _late(entry)
    words = [
        mode,
        _seconds(handler.get("timeout")),
        _tools(entry.get("tools")),
        handler.get("cwd", "."),
        handler["command"],
    ]
    variables = [f"{name}={value}" for name, value in handler.get("env", {}).items()]
    return " ".join(["run", *map(quote, words + variables)]) + "\n"


def _late(entry: Object) -> str:
    """What a hook that takes too long comes to, where it says so; only one that blocks can refuse."""
    action = entry["handler"].get("timeout_action")
    return "wait" if action is None else "block" if action == "block" and entry.get("blocking") else "warn"


def _seconds(timeout: Json) -> str:
    usable = type(timeout) in (int, float) and isfinite(timeout) and timeout > 0
    return str(min(ceil(timeout), _DAY) if usable else _SECONDS)


def _tools(tools: list[Json] | None) -> str:
    """The names as an expression for grep; a blank is in no tool's name."""
    if tools is None:
        return ""
    names = [name for name in tools if type(name) is str and _TOOL.fullmatch(name)]
    return "|".join(name.replace(STAR, "[A-Za-z0-9_-]*") for name in names) or " "


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of scripts: those of a table of ours, and the scripts of others as they are."""
    hooks: list[Hook] = []
    gaps: list[Gap] = []
    files = document.get("files")
    for name, text in files.items() if type(files) is dict else ():
        own = _own(agent, name, text) if type(text) is str else None
        if own is not None:
            hooks += own
        elif type(text) is str and (found := _foreign(agent, name, text)):
            why = "was changed by hand" if text.startswith(_MARK) else "is code"
            gaps.append(opaque_gap(agent, name, found, why))
            hooks += found
        else:
            note = f"{name} is no script for an event of {agent.title}"
            gaps.append(Gap(where=f"$.files.{name}", strategy="kept out", effect="lost", note=note))
    return hooks, gaps


def _own(agent: Agent, name: str, text: str) -> list[Hook] | None:
    """The hooks of a script of ours; None for any other, and for one that no longer does what its table says."""
    if not text.startswith(_MARK):
        return None
    line, _, rest = text.removeprefix(_MARK).partition("\n")
    try:
        table = load(line)
    except (ValueError, RecursionError):
        return None
    entries = table.get("hooks") if type(table) is dict else None
    if type(entries) is not list:
        return None
    hooks = [hook for entry in entries if (hook := hook_of(agent, entry)) is not None]
    if not hooks or len(hooks) < len(entries):
        return None
    native = _event(agent, name) or entries[0]["on"]
    kept = all(entry["on"] == native for entry in entries) and rest.startswith(_switches(agent, native, entries))
    return hooks if kept and rest.endswith(f"\n{_calls(entries)}") else None


def _event(agent: Agent, name: str) -> str | None:
    """The event whose script has that name, in any case."""
    events = {(native + ending).lower(): native for native in natives(agent) for ending in _ENDINGS}
    return events.get(name.lower())


def _foreign(agent: Agent, name: str, text: str) -> list[Hook]:
    """The hook that somebody's script is."""
    native = _event(agent, name)
    return [] if native is None or _own(agent, name, text) is not None else opaque(agent, name, text, [native])
