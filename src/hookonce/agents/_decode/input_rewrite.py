"""Rewrite of a tool call's input: canonical new input → the agent's native input, and across dialects.

Where decoding changes the shape of the input, a change is put back where the value came from and decoded again: only a
native input that decodes to what the hook wanted is sent, anything else would be a guess.
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce.agents._decode.tool_calls import canonical_arguments, canonical_tool_name, native_arguments
from hookonce.model import Agent, Object, Tool
from hookonce.vocabulary.tools import ARGUMENTS

_MISSING = object()


class _InputMapping(Struct, frozen=True):
    """Mapping between native and canonical input of one call."""

    canonical_names: dict[str, str]
    derived_keys: set[str]  # canonical arguments that were computed, not sent
    source_keys: set[str]  # native keys that they were computed from

    @property
    def linked_keys(self) -> set[str]:
        """Keys that say one thing in several ways: changing one of them says nothing about the others."""
        return self.derived_keys | {self.canonical_names[native_key] for native_key in self.source_keys}


def rewrite_input(agent: Agent, tool: Tool, new_input: Object) -> Tool | None:
    """The call with new input, canonical and native; None where the agent's own input cannot express it."""
    if new_input == tool.input:
        return tool
    if type(tool.native_input) is not dict:
        return None  # an answer has no room for anything but an object
    mapping = _map_input(agent, tool, tool.native_input)
    native_input = _build_native_input(agent, tool, mapping, new_input)
    if native_input is None:
        return None
    name, canonical_input = _to_canonical(agent, tool, native_input)
    changed_keys = _changed_keys(tool.input, new_input)
    implied_keys = mapping.linked_keys - changed_keys if changed_keys & mapping.linked_keys else set()
    keys = (canonical_input | new_input).keys() - implied_keys
    if any(canonical_input.get(key, _MISSING) != new_input.get(key, _MISSING) for key in keys):
        return None
    return replace(tool, name=name, input=canonical_input, native_input=native_input)


def translate_rewrite(agent: Agent, translated_tool: Tool, tool: Tool, native_input: Object) -> Object:
    """Canonical input after a hook rewrote the call (`translated_tool`, as it saw it) in this agent's dialect.

    Arguments that the hook was not shown are kept, and arguments that only the dialect added are dropped.
    """
    before, after = translated_tool.input, _to_canonical(agent, translated_tool, native_input)[1]
    unchanged_input = {key: value for key, value in tool.input.items() if key in after or key not in before}
    changed_keys = _changed_keys(before, after)
    changed_input = {
        key: value for key, value in after.items() if key in changed_keys and (key in tool.input or key not in before)
    }
    return unchanged_input | changed_input


def _changed_keys(old: Object, new: Object) -> set[str]:
    """Keys with a new value; removed keys are not among them."""
    return {key for key, value in new.items() if key not in old or old[key] != value}


def _to_canonical(agent: Agent, tool: Tool, native_input: Object) -> tuple[str, Object]:
    name = tool.name if tool.name.startswith("mcp:") else canonical_tool_name(agent, tool.native)
    arguments = canonical_arguments(agent, tool.native, name, native_input)
    shape = agent.shape_readers.get(tool.native)
    return (name, arguments) if shape is None else shape(name, arguments)


def _map_input(agent: Agent, tool: Tool, native_input: Object) -> _InputMapping:
    name = tool.name if tool.name.startswith("mcp:") else canonical_tool_name(agent, tool.native)
    names = {key: next(iter(canonical_arguments(agent, tool.native, name, {key: None}))) for key in native_input}
    direct_values = {canonical_name: native_input[key] for key, canonical_name in names.items()}
    derived_keys = _changed_keys(direct_values, tool.input)
    candidates = native_input if derived_keys else ()
    source_keys = {key for key in candidates if _is_source(agent, tool, native_input, key, derived_keys)}
    return _InputMapping(names, derived_keys, source_keys)


def _is_source(agent: Agent, tool: Tool, native_input: Object, native_key: str, derived_keys: set[str]) -> bool:
    others = {key: value for key, value in native_input.items() if key != native_key}
    remaining_input = _to_canonical(agent, tool, others)[1]
    return any(remaining_input.get(key) != tool.input[key] for key in derived_keys)


def _build_native_input(agent: Agent, tool: Tool, mapping: _InputMapping, new_input: Object) -> Object | None:
    """The native input with every change in its place; None where a change has no place."""
    changed_keys, removed_keys = _changed_keys(tool.input, new_input), tool.input.keys() - new_input.keys()
    if any(key not in tool.input and _is_derived_argument(agent, tool, key) for key in changed_keys):
        return None
    retained_keys = mapping.source_keys if changed_keys & mapping.derived_keys else set()
    native_input = {
        native_key: value
        for native_key, value in tool.native_input.items()
        if mapping.canonical_names[native_key] not in removed_keys or native_key in retained_keys
    }
    native_keys = {canonical_name: native_key for native_key, canonical_name in mapping.canonical_names.items()}
    direct_keys = changed_keys - mapping.derived_keys
    for key in filter(direct_keys.__contains__, new_input):  # in the order that the hook gave them
        native_key = native_keys.get(key) or next(iter(native_arguments(agent, tool.native, tool.name, {key: None})))
        native_input[native_key] = new_input[key]
    for key in sorted(changed_keys & mapping.derived_keys):
        if _to_canonical(agent, tool, native_input)[1].get(key) == new_input[key]:
            continue
        sources = {native_key: native_input[native_key] for native_key in mapping.source_keys}
        new_sources, count = _replace_text(sources, tool.input[key], new_input[key])
        if count != 1:
            return None
        native_input |= new_sources
    return native_input


def _is_derived_argument(agent: Agent, tool: Tool, key: str) -> bool:
    """Whether a canonical argument is derived by this tool's shape function, and is no argument of the tool itself."""
    tables = (agent.arguments.get(name, {}) for name in ("*", tool.name, tool.native))
    own_arguments = {canon for table in tables for canon in table.values()}
    return tool.native in agent.shape_readers and key in ARGUMENTS.get(tool.name, {}) and key not in own_arguments


def _replace_text(value: Any, old: Any, new: Any) -> tuple[Any, int]:
    """Replace the one text (or list of lines) that equals the old value; returns also how many there were."""
    if type(old) is not str or type(new) is not str:
        return value, 0
    if value == old:
        return new, 1
    if type(value) is list and all(type(line) is str for line in value) and "\n".join(value) == old:
        return [new], 1
    if type(value) not in (dict, list):
        return value, 0
    pairs = list(value.items() if type(value) is dict else enumerate(value))
    replacements = [(key, *_replace_text(inner, old, new)) for key, inner in pairs]
    count = sum(occurrences for *_, occurrences in replacements)
    new_value = {key: inner for key, inner, _ in replacements}
    return new_value if type(value) is dict else list(new_value.values()), count
