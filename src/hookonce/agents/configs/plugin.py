"""A plugin that runs hooks as commands, for agents whose hooks are JavaScript: generated, and read back."""

import json
import re
from collections.abc import Callable
from importlib.resources import files as resources
from itertools import chain, count
from pathlib import PurePath

from hookonce.agents.configs.entry import config_of, lost, placed
from hookonce.agents.configs.opaque import CODE, keep, opaque, opaque_gap
from hookonce.agents.configs.point import natives
from hookonce.agents.configs.table import GENERATED, dumped, entry_of, hook_of, matcher_gaps
from hookonce.model import Agent, Gap, Hook, Object, Wording

# A command as Node starts it can have all of this.
SPAWNED = {
    "command": {field: field for field in ("command", "platform", "cwd", "env", "timeout", "timeout_action")}
    | {"background": "async"}
}
WORKABLE = frozenset({"structured_output", "input_rewrite", "async_execution"}) | {
    "platform_commands",
    "custom_env",
    "configurable_cwd",
}
_MARK = f"// {GENERATED}\n"
_TABLE = "const TABLE = "
_WHOLE = "plugin"  # stands for the events of a plugin in which none can be recognised


def render(
    agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording, *, called: Callable[[str], bool]
) -> tuple[Object, list[Gap]]:
    """The plugin of these hooks, and beside it the files of those that are somebody's code."""
    entries: list[Object] = []
    files: Object = {}
    gaps: list[Gap] = []
    for index, hook in hooks:
        native, told = placed(agent, index, hook)
        gaps += told
        if native is None:
            continue
        if hook.handler.type == CODE:
            gaps += keep(agent, index, hook, files, _foreign)
        elif not called(native):
            gaps.append(lost(index, hook, "event", f"{agent.title} calls nobody at {native}"))
        elif hook.handler.command is None:
            gaps.append(lost(index, hook, "handler", "there is no command to run"))
        else:
            entries.append(entry_of(agent, hook, native, wording))
            gaps += matcher_gaps(agent, index, hook)
    return {"files": ({_free(agent, files): _text(agent, entries)} if entries else {}) | files}, gaps


def _free(agent: Agent, taken: Object) -> str:
    """Our file's name, or one like it where somebody else has that: all files of the folder are loaded."""
    usual = PurePath(config_of(agent).files["user"])
    names = (f"{usual.stem}-{number}{usual.suffix}" for number in count(2))
    return next(name for name in chain([usual.name], names) if name not in taken)


def _text(agent: Agent, entries: list[Object]) -> str:
    here = resources("hookonce.agents.configs")
    code = [here.joinpath(name).read_text(encoding="utf-8") for name in ("plugin.js", f"{agent.name}.js")]
    table = {"tools": list(agent.tools), "hooks": entries}
    return f"{_MARK}{_TABLE}{dumped(table, indent=2)}\n\n{''.join(code)}"


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of plugins: those of a table of ours, and the files of others as they are."""
    hooks: list[Hook] = []
    gaps: list[Gap] = []
    files = document.get("files")
    for name, text in files.items() if type(files) is dict else ():
        if type(text) is not str:
            gaps.append(_gap(f"$.files.{name}", f"{name} is no text"))
            continue
        entries = _entries(text)
        if entries is None:
            found = _foreign(agent, name, text)
            gaps.append(opaque_gap(agent, name, found))
            hooks += found
            continue
        for number, entry in enumerate(entries):
            if (hook := hook_of(agent, entry)) is not None:
                hooks.append(hook)
            else:
                gaps.append(_gap(f"$.files.{name}.hooks[{number}]", f"hook {number + 1} of {name} is no hook"))
    return hooks, gaps


def _gap(where: str, note: str) -> Gap:
    return Gap(where=where, strategy="kept out", effect="lost", note=note)


def _entries(text: str) -> list[object] | None:
    """The table of a plugin of ours; None for any other file, and for one whose table was broken."""
    if not text.startswith(_MARK + _TABLE):
        return None
    try:
        table, _ = json.JSONDecoder().raw_decode(text, len(_MARK + _TABLE))
    except (ValueError, RecursionError):
        return None
    found = table.get("hooks") if type(table) is dict else None
    return found if type(found) is list else None


def _foreign(agent: Agent, name: str, text: str) -> list[Hook]:
    """A hook for each event whose name stands in somebody's code, else one for the whole."""
    if _entries(text) is not None:
        return []
    return opaque(agent, name, text, [native for native in natives(agent) if _speaks_of(text, native)] or [_WHOLE])


def _speaks_of(text: str, native: str) -> bool:
    """Names with a dot can only be quoted, others are usually not."""
    form = rf"""(["'`]){re.escape(native)}\1""" if "." in native else rf"\b{re.escape(native)}\s*[:(]"
    return re.search(form, text) is not None
