"""A plugin that runs hooks as commands, for agents whose hooks are JavaScript: generated, and read back."""

import json
import re
from collections.abc import Callable
from importlib.resources import files as resources
from itertools import chain, count
from pathlib import PurePath

from hookonce.agents.configs.entry import config_of, lost_gap, resolve_event
from hookonce.agents.configs.opaque import CODE_HANDLER, restore_code_file, build_code_hooks, code_file_gap
from hookonce.agents.configs.point import config_events
from hookonce.agents.configs.table import GENERATED_NOTICE, dump_embeddable_json, build_table_entry, parse_table_entry, matcher_gaps
from hookonce.model import Agent, Gap, Hook, Object, Wording

# A command as Node starts it can have all of this.
SPAWN_HANDLERS = {
    "command": {field: field for field in ("command", "platform", "cwd", "env", "timeout", "timeout_action")}
    | {"background": "async"}
}
SPAWN_CAPABILITIES = frozenset({"structured_output", "input_rewrite", "async_execution"}) | {
    "platform_commands",
    "custom_env",
    "configurable_cwd",
}
_HEADER = f"// {GENERATED_NOTICE}\n"
_TABLE_PREFIX = "const TABLE = "
_WHOLE_PLUGIN = "plugin"  # stands for the events of a plugin in which none can be recognised


def render(
    agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording, *, is_called: Callable[[str], bool]
) -> tuple[Object, list[Gap]]:
    """The plugin of these hooks, and beside it the files of those that are somebody's code."""
    entries: list[Object] = []
    files: Object = {}
    gaps: list[Gap] = []
    for index, hook in hooks:
        native, event_gaps = resolve_event(agent, index, hook)
        gaps += event_gaps
        if native is None:
            continue
        if hook.handler.type == CODE_HANDLER:
            gaps += restore_code_file(agent, index, hook, files, _foreign_code_hooks)
        elif not is_called(native):
            gaps.append(lost_gap(index, hook, "event", f"{agent.title} calls nobody at {native}"))
        elif hook.handler.command is None:
            gaps.append(lost_gap(index, hook, "handler", "there is no command to run"))
        else:
            entries.append(build_table_entry(agent, hook, native, wording))
            gaps += matcher_gaps(agent, index, hook)
    return {"files": ({_free_file_name(agent, files): _render_plugin(agent, entries)} if entries else {}) | files}, gaps


def _free_file_name(agent: Agent, files: Object) -> str:
    """Our file's name, or one like it where somebody else has that: all files of the folder are loaded."""
    default_path = PurePath(config_of(agent).files["user"])
    names = (f"{default_path.stem}-{number}{default_path.suffix}" for number in count(2))
    return next(name for name in chain([default_path.name], names) if name not in files)


def _render_plugin(agent: Agent, entries: list[Object]) -> str:
    here = resources("hookonce.agents.configs")
    code = [here.joinpath(name).read_text(encoding="utf-8") for name in ("plugin.js", f"{agent.name}.js")]
    table = {"tools": list(agent.tools), "hooks": entries}
    return f"{_HEADER}{_TABLE_PREFIX}{dump_embeddable_json(table, indent=2)}\n\n{''.join(code)}"


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of plugins: those of a table of ours, and the files of others as they are."""
    hooks: list[Hook] = []
    gaps: list[Gap] = []
    files = document.get("files")
    for name, text in files.items() if type(files) is dict else ():
        if type(text) is not str:
            gaps.append(_parse_gap(f"$.files.{name}", f"{name} is no text"))
            continue
        entries = _parse_table(text)
        if entries is None:
            code_hooks = _foreign_code_hooks(agent, name, text)
            gaps.append(code_file_gap(agent, name, code_hooks))
            hooks += code_hooks
            continue
        for number, entry in enumerate(entries):
            if (hook := parse_table_entry(agent, entry)) is not None:
                hooks.append(hook)
            else:
                gaps.append(_parse_gap(f"$.files.{name}.hooks[{number}]", f"hook {number + 1} of {name} is no hook"))
    return hooks, gaps


def _parse_gap(where: str, note: str) -> Gap:
    return Gap(where=where, strategy="kept out", effect="lost", note=note)


def _parse_table(text: str) -> list[object] | None:
    if not text.startswith(_HEADER + _TABLE_PREFIX):
        return None
    try:
        table, _ = json.JSONDecoder().raw_decode(text, len(_HEADER + _TABLE_PREFIX))
    except (ValueError, RecursionError):
        return None
    entries = table.get("hooks") if type(table) is dict else None
    return entries if type(entries) is list else None


def _foreign_code_hooks(agent: Agent, name: str, text: str) -> list[Hook]:
    """A hook for each event whose name stands in somebody's code, else one for the whole."""
    if _parse_table(text) is not None:
        return []
    return build_code_hooks(agent, name, text, [native for native in config_events(agent) if _mentions_event(text, native)] or [_WHOLE_PLUGIN])


def _mentions_event(text: str, native: str) -> bool:
    """Names with a dot can only be quoted, others are usually not."""
    form = rf"""(["'`]){re.escape(native)}\1""" if "." in native else rf"\b{re.escape(native)}\s*[:(]"
    return re.search(form, text) is not None
