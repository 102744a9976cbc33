"""Gemini CLI's configuration, and Qwen Code's after it: groups whose entries have names, and settings among them."""

from msgspec.structs import replace

from hookonce import invocation
from hookonce.agents.configs import grouped as _grouped
from hookonce.agents.configs.entry import config_of, own_keys, own_place, provider_data
from hookonce.agents.configs.gemini_flat import grouped
from hookonce.agents.configs.mapped import mapped
from hookonce.agents.configs.misplaced import misplaced
from hookonce.agents.configs.words import Meaning, anchored, as_written, misread, understood
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

_SETTINGS = frozenset({"enabled", "disabled", "notifications"})  # what may stand beside the events
_OFF = "$.hooksConfig.disabled"


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks."""
    return write(agent, hooks, wording, piece)


def write(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording, meaning: Meaning) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks, each with its name."""
    spoken = [(index, anchored(agent, as_written(agent, hook, meaning))) for index, hook in hooks]
    made, gaps = _grouped.render(agent, [(index, _with_name(agent, hook)) for index, hook in spoken], wording)
    return made, gaps + misread(agent, spoken, meaning)


def piece(word: str) -> list[Json]:
    """A word that names no tool is looked for in all names."""
    return [{"pattern": word}]


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration; one that is turned off there stays behind, so that it runs nowhere else."""
    off = _turned_off(document)
    left: list[Gap] = []
    if type(document.get("hooks")) is list:
        events, left = grouped(document["hooks"])
        document = document | {"hooks": events}

    def running(entry: Object) -> Object | None:
        name = _name(entry)
        if name is None or name not in off:
            return entry
        left.append(Gap(where=_OFF, strategy="kept out", effect="lost", note=f"{name} is turned off, and left out"))
        return None

    hooks, gaps = read(agent, mapped(events_of(document), running), piece)
    return hooks, gaps + misplaced(agent, document) + left


def events_of(document: Object) -> Object:
    """What a document has under `hooks`, without settings."""
    table = document.get("hooks")
    return {key: value for key, value in table.items() if key not in _SETTINGS} if type(table) is dict else {}


def read(agent: Agent, events: Object, meaning: Meaning) -> tuple[list[Hook], list[Gap]]:
    """The hooks of these events, with their names."""
    hooks, gaps = _grouped.parse(agent, {"hooks": events})
    return [understood(agent, _with_own_name(agent, hook), meaning) for hook in hooks], gaps


def _with_name(agent: Agent, hook: Hook) -> Hook:
    """The hook's name as a key of its entry."""
    if hook.name is None or hook.handler.type not in config_of(agent).handlers:
        return hook
    keys = own_keys(agent, hook) | {"name": hook.name}
    return replace(hook, provider_data=hook.provider_data | provider_data(agent, keys, own_place(agent, hook)))


def _with_own_name(agent: Agent, hook: Hook) -> Hook:
    """The name that an entry has as the hook's; what is no text stays where it was."""
    keys = own_keys(agent, hook)
    if type(keys.get("name")) is not str or hook.handler.type not in config_of(agent).handlers:
        return hook
    name = keys.pop("name")
    rest = {slug: data for slug, data in hook.provider_data.items() if slug != agent.name}
    return replace(hook, name=name, provider_data=rest | provider_data(agent, keys, own_place(agent, hook)))


def _turned_off(document: Object) -> frozenset[str]:
    """The names under `disabled`, wherever this version or an older one has them."""
    lists = [found.get("disabled") for found in map(document.get, ("hooksConfig", "hooks")) if type(found) is dict]
    return frozenset(name for names in lists if type(names) is list for name in names if type(name) is str)


def _name(entry: Object) -> str | None:
    """What an entry is called there; our own are called nothing, for whoever installs must see them."""
    if invocation.read(str(entry.get("command"))) is not None:
        return None
    name = entry.get("name") or entry.get("command")
    return name if type(name) is str else None
