"""Gemini CLI config codec, which Qwen Code shares: groups whose entries have names, and settings among the events.

Two flat list shapes were published as well. Gemini CLI reads neither; we do, so that such files can be repaired.
"""

from msgspec.structs import replace

from hookonce.agents._config import groups
from hookonce.agents._config.events import IndexedHooks
from hookonce.agents._config.gaps import misplaced_hook_gaps, skipped_gap
from hookonce.agents._config.groups import map_entries
from hookonce.agents._config.matchers import aliases
from hookonce.agents._config.matchers.aliases import WordMeaning
from hookonce.agents._config.provider_data import own_keys, placement_of, with_provider_data, without_keys
from hookonce.base import invocation
from hookonce.base.jsontext import as_dict
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

_FLAT_LIST_NOTE = "a list of hooks is a shape that was published and that no Gemini CLI reads"


def group_flat_entries(entries: list[Json]) -> tuple[Object, list[Gap]]:
    """The entries of a flat list under their events, as the agent wants them."""
    events: Object = {}
    gaps = [Gap(where="$.hooks", capability="event", strategy="read", effect="observes", note=_FLAT_LIST_NOTE)]
    for number, entry in enumerate(entries):
        native = entry.get("trigger", entry.get("hookName")) if type(entry) is dict else None
        if type(native) is not str:
            gaps.append(skipped_gap(f"$.hooks[{number}]", "names no event"))
        else:
            events.setdefault(native, []).append(_group_of_entry(entry))
    return events, gaps


def _group_of_entry(entry: Object) -> Object:
    matcher_value = entry.get("matcher")
    matcher = entry.get("toolMatcher", matcher_value.get("toolName") if type(matcher_value) is dict else matcher_value)
    inner = {"type": "command", "command": entry.get("command")}
    if (timeout := entry.get("timeoutMs", entry.get("timeout"))) is not None:
        inner["timeout"] = timeout
    return ({"matcher": matcher} if type(matcher) is str else {}) | {"hooks": [inner]}


_SETTING_KEYS = frozenset({"enabled", "disabled", "notifications"})  # what may stand beside the events
_DISABLED_PATH = "$.hooksConfig.disabled"


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks."""
    return render_with_names(agent, hooks, wording, name_piece_meaning)


def render_with_names(
    agent: Agent, hooks: IndexedHooks, wording: Wording, meaning: WordMeaning
) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks, each with its name."""
    restored_hooks = [(index, aliases.restore_native_words(agent, hook, meaning)) for index, hook in hooks]
    native_hooks = [(index, aliases.anchor_words(agent, hook)) for index, hook in restored_hooks]
    document, gaps = groups.render(agent, [(index, _with_name(agent, hook)) for index, hook in native_hooks], wording)
    return document, gaps + aliases.misread_word_gaps(agent, native_hooks, meaning)


def name_piece_meaning(word: str) -> list[Json]:
    """A word that names no tool is looked for in all names."""
    return [{"pattern": word}]


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration; one that is turned off there stays behind, so that it runs nowhere else."""
    tables = [table for table in map(document.get, ("hooksConfig", "hooks")) if type(table) is dict]
    lists = [names for table in tables if type(names := table.get("disabled")) is list]  # the older place, and today's
    disabled_names = {name for names in lists for name in names if type(name) is str}
    extra_gaps: list[Gap] = []
    if type(document.get("hooks")) is list:
        events, extra_gaps = group_flat_entries(document["hooks"])
        document = document | {"hooks": events}

    def keep_enabled(entry: Object) -> Object | None:
        name = _entry_name(entry)
        if name is None or name not in disabled_names:
            return entry
        extra_gaps.append(skipped_gap(_DISABLED_PATH, "is turned off, and left out", name))
        return None

    hooks, gaps = parse_events(agent, map_entries(events_of(document), keep_enabled), name_piece_meaning)
    return hooks, gaps + misplaced_hook_gaps(agent, document) + extra_gaps


def events_of(document: Object) -> Object:
    """What a document has under `hooks`, without settings."""
    return without_keys(as_dict(document.get("hooks")), *_SETTING_KEYS)


def parse_events(agent: Agent, events: Object, meaning: WordMeaning) -> tuple[list[Hook], list[Gap]]:
    """The hooks of these events, with their names."""
    hooks, gaps = groups.parse(agent, {"hooks": events})
    return [aliases.canonicalize_words(agent, _with_own_name(agent, hook), meaning) for hook in hooks], gaps


def _with_name(agent: Agent, hook: Hook) -> Hook:
    if hook.name is None or hook.handler.type not in agent.config.handlers:
        return hook
    return with_provider_data(agent, hook, own_keys(agent, hook) | {"name": hook.name}, placement_of(agent, hook))


def _with_own_name(agent: Agent, hook: Hook) -> Hook:
    """The name that an entry has as the hook's; what is no text stays where it was."""
    keys = own_keys(agent, hook)
    if type(keys.get("name")) is not str or hook.handler.type not in agent.config.handlers:
        return hook
    return with_provider_data(agent, replace(hook, name=keys.pop("name")), keys, placement_of(agent, hook))


def _entry_name(entry: Object) -> str | None:
    """What an entry is called there; our own are called nothing, for whoever installs must see them."""
    if invocation.parse_command(str(entry.get("command"))) is not None:
        return None
    name = entry.get("name") or entry.get("command")
    return name if type(name) is str else None
