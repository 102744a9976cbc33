"""Cline config codec: one generated shell script for each event, with the hook table in a comment, parsed back."""

import re
from importlib.resources import files as resources
from math import ceil, isfinite
from shlex import quote

from hookonce.agents._config import generated_code
from hookonce.agents._config.events import iterate_hooks
from hookonce.agents._config.gaps import lost_gap, skipped_gap, warning_gap
from hookonce.agents._config.matchers.tool_list import WILDCARD
from hookonce.agents._config.points import config_events, point_of
from hookonce.base.jsontext import load
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

_HEADER = f"#!/bin/sh\n# {generated_code.GENERATED_NOTICE}\n# table: "
# In this order: the editor's extension runs a script without an ending only, the command line any of them.
_SUFFIXES = ("", ".sh", ".bash", ".zsh", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".py", ".ps1")
_SHELL_SUFFIXES = ("", ".sh", ".bash", ".zsh")
_DEFAULT_TIMEOUT_S = 30  # for a hook that names no time of its own
_MAX_TIMEOUT_S = 86400
# Nothing else is ever a tool's name there.
_TOOL_NAME = re.compile(rf"[\w-]+|[\w-]*(?:{re.escape(WILDCARD)}[\w-]*)+", re.ASCII)
_UNSCRIPTABLE = re.compile("[\0\ud800-\udfff]")
_VARIABLE_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """A script for each event that has hooks, and beside it the scripts of others."""
    events: dict[str, list[tuple[int, Hook, Object]]] = {}
    files: Object = {}
    gaps: list[Gap] = []
    for index, hook, native in iterate_hooks(agent, hooks, gaps):
        if hook.handler.type == generated_code.CODE_HANDLER:
            gaps += generated_code.restore_code_file(agent, index, hook, files, _foreign_hooks)
        elif (why := _explain_unfit(agent, hook, native)) is not None:
            gaps.append(lost_gap(index, hook, "handler", why))
        else:
            entry = generated_code.build_table_entry(agent, hook, native, wording)
            events.setdefault(native, []).append((index, hook, entry))
            gaps += generated_code.matcher_gaps(agent, index, hook)
    scripts: Object = {}
    lower_names = {name.lower() for name in files}
    for native, rows in events.items():
        names = [native + ending for ending in _SHELL_SUFFIXES if (native + ending).lower() not in lower_names]
        if not names:
            why = f"all names for a script for {native} are taken"
            gaps += [lost_gap(index, hook, "file", why) for index, hook, _ in rows]
            continue
        if names[0] != native:
            why = f"another script is called {native}, so that {names[0]} runs on Cline's command line only"
            gaps += [warning_gap(agent, index, hook, "file", why) for index, hook, _ in rows]
        scripts[names[0]] = _render_script(agent, native, [entry for _, _, entry in rows])
    return {"files": scripts | files}, gaps


def _explain_unfit(agent: Agent, hook: Hook, native: str) -> str | None:
    if hook.handler.command is None:
        return "there is no command to run"
    if native not in config_events(agent):
        return f"{agent.title} runs no script for {native}"
    words = [hook.handler.command, hook.handler.cwd or "", *hook.handler.env, *hook.handler.env.values()]
    if any(map(_UNSCRIPTABLE.search, words)):
        return "its command holds what no script can hold"
    invalid_names = [name for name in hook.handler.env if _VARIABLE_NAME.fullmatch(name) is None]
    return f"{invalid_names[0]} is not the name of a variable" if invalid_names else None


def _render_script(agent: Agent, native: str, entries: list[Object]) -> str:
    code = resources("hookonce.agents.cline").joinpath("script.sh").read_text(encoding="utf-8")
    head = f"{_HEADER}{generated_code.dump_embeddable_json({'hooks': entries})}\n"
    return f"{head}{_render_switches(agent, native, entries)}{code}{_render_calls(entries)}"


def _render_switches(agent: Agent, native: str, entries: list[Object]) -> str:
    fails_closed = any(entry.get("on_failure") == "closed" for entry in entries)
    has_limit = point_of(agent, native).hard_timeout_s is not None
    return f"closed={'yes' if fails_closed else ''}\nwaited={'yes' if has_limit else ''}\n"


def _render_calls(entries: list[Object]) -> str:
    return "".join(map(_render_call, entries)) + '[ -z "$first" ] || cat "$work/first"\n'


def _render_call(entry: Object) -> str:
    handler = entry["handler"]
    timeout, action, can_refuse = handler.get("timeout"), handler.get("timeout_action"), entry.get("blocking")
    # What a hook that takes too long comes to, where it says so; only one that blocks can refuse.
    mode = "wait" if action is None else "block" if action == "block" and can_refuse else "warn"
    is_usable = type(timeout) in (int, float) and isfinite(timeout) and timeout > 0
    seconds = min(ceil(timeout), _MAX_TIMEOUT_S) if is_usable else _DEFAULT_TIMEOUT_S
    variables = [f"{name}={value}" for name, value in handler.get("env", {}).items()]
    words = ["async" if handler.get("async") else mode, str(seconds), _tool_expression(entry.get("tools"))]
    words += [handler.get("cwd", "."), handler["command"], *variables]
    return " ".join(["run", *map(quote, words)]) + "\n"


def _tool_expression(tools: list[Json] | None) -> str:
    """The names as an expression for grep; a blank is in no tool's name."""
    if tools is None:
        return ""
    names = [name for name in tools if type(name) is str and _TOOL_NAME.fullmatch(name)]
    return "|".join(name.replace(WILDCARD, "[A-Za-z0-9_-]*") for name in names) or " "


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of scripts: those of a table of ours, and the scripts of others as they are."""
    hooks: list[Hook] = []
    gaps: list[Gap] = []
    files = document.get("files")
    for name, text in files.items() if type(files) is dict else ():
        own_hooks = _parse_own_script(agent, name, text) if type(text) is str else None
        if own_hooks is not None:
            hooks += own_hooks
        elif type(text) is str and (script_hooks := _foreign_hooks(agent, name, text)):
            why = "was changed by hand" if text.startswith(_HEADER) else "is code"
            gaps.append(generated_code.code_file_gap(agent, name, script_hooks, why))
            hooks += script_hooks
        else:
            gaps.append(skipped_gap(f"$.files.{name}", f"is no script for an event of {agent.title}", name))
    return hooks, gaps


def _parse_own_script(agent: Agent, name: str, text: str) -> list[Hook] | None:
    """The hooks of a script of ours; None for any other, and for one that no longer does what its table says."""
    if not text.startswith(_HEADER):
        return None
    line, _, rest = text.removeprefix(_HEADER).partition("\n")
    try:
        entries = generated_code.entries_of_table(load(line)) or []
    except (ValueError, RecursionError):
        return None
    hooks = [hook for entry in entries if (hook := generated_code.parse_table_entry(agent, entry)) is not None]
    if not hooks or len(hooks) < len(entries):
        return None
    native = _event_of_script(agent, name) or entries[0]["on"]
    begins, ends = _render_switches(agent, native, entries), f"\n{_render_calls(entries)}"
    is_whole = rest.startswith(begins) and rest.endswith(ends) and all(entry["on"] == native for entry in entries)
    return hooks if is_whole else None


def _event_of_script(agent: Agent, name: str) -> str | None:
    events = {(native + ending).lower(): native for native in config_events(agent) for ending in _SUFFIXES}
    return events.get(name.lower())


def _foreign_hooks(agent: Agent, name: str, text: str) -> list[Hook]:
    native = _event_of_script(agent, name)
    if native is None or _parse_own_script(agent, name, text) is not None:
        return []
    return generated_code.build_code_hooks(agent, name, text, [native])
