"""Versions of the Hook Interchange Format: what a manifest of one version cannot say of a hook, each as a gap.

A field or an event that the version does not have is written all the same, because hookonce reads it; the gap says that
a reader of the specification alone does not.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from hookonce.base.regex import compile_re2
from hookonce.errors import UsageError
from hookonce.manifest.load import MANIFEST_SPEC, NATIVE_NAMES_SPEC, SUPPORTED_SPECS, dump_hook, name_event
from hookonce.model import Agent, Gap, Hook
from hookonce.vocabulary.events import EVENTS
from hookonce.vocabulary.names import hook_label
from hookonce.vocabulary.tools import ARGUMENTS

SPEC_CHOICES = (*(spec.partition("/")[2] for spec in SUPPORTED_SPECS), *SUPPORTED_SPECS)  # as a user may name them
_HOOK_FIELDS = frozenset({"event", "matcher", "handler", "blocking", "degradation", "provider_data"})
_HANDLER_FIELDS = frozenset({"type", "command", "platform", "cwd", "env", "timeout", "async"})
# version → fields of a hook and of a handler
_FIELDS = {
    "hooks/1.0": (_HOOK_FIELDS, _HANDLER_FIELDS),
    "hooks/0.1": (_HOOK_FIELDS | {"name", "capabilities"}, _HANDLER_FIELDS | {"timeout_action", "status_message"}),
}
_HANDLER_TYPES = frozenset({"command", "http", "prompt", "agent"})
_EVENT_GROUPS = frozenset({"core", "extended", "exclusive"})  # the registry of hooks/1.0
_MCP_NAME = "mcp:server/tool"  # stands for any MCP tool
_ANY_MCP_PATTERN = "^mcp:"  # ours, for all MCP tools, whatever they are called there


def parse_spec(text: str) -> str:
    """The version that a user means: `0.1`, `hooks/0.1` and the like."""
    spec = text if text.startswith("hooks/") else f"hooks/{text}"
    if spec not in SUPPORTED_SPECS:
        raise UsageError(f"{text} is no version that can be written; expected one of {', '.join(SUPPORTED_SPECS)}")
    return spec


def to_spec(hooks: list[tuple[int, Hook]], spec: str, source: Agent | str) -> tuple[list[Hook], list[Gap]]:
    """Hooks, given with their indices, in a version of the format, and the gaps of what that version cannot say.

    `source` is the agent, or the version of the manifest, that they come from.
    """
    gaps = [
        gap
        for index, hook in hooks
        for gap in (*_vocabulary_gaps(index, hook, spec), *pattern_gaps(index, hook, spec, source))
    ]
    return [name_event(hook, spec) for _, hook in hooks], gaps


def _vocabulary_gaps(index: int, hook: Hook, spec: str) -> Iterator[Gap]:
    row = EVENTS.get(hook.event)
    if spec != NATIVE_NAMES_SPEC and (row is None or row.group not in _EVENT_GROUPS):
        yield _field_gap(index, hook, "event", f"{spec} has no event {hook.event}; {_FOR_US_ALONE}")
    if hook.handler.type not in _HANDLER_TYPES:
        reason = f"{spec} has no handlers of type {hook.handler.type}; {_FOR_US_ALONE}"
        yield _field_gap(index, hook, "handler.type", reason)
    for field in _unknown_fields(hook, spec):
        yield _field_gap(index, hook, field, f"{spec} has no {field}; {_FOR_US_ALONE}")


_FOR_US_ALONE = "hookonce reads it, and other readers do not"


def _field_gap(index: int, hook: Hook, field: str, reason: str) -> Gap:
    where, note = f"$.hooks[{index}].{field}", f"{hook_label(hook)}: {reason}"
    effect = "prevents" if hook.blocking else "observes"
    return Gap(where=where, capability=field.rpartition(".")[2], strategy="warn", effect=effect, note=note)


def _unknown_fields(hook: Hook, spec: str) -> list[str]:
    """The fields of ours that a version does not have; what the author has added is the author's."""
    hook_fields, handler_fields = _FIELDS[spec]
    document = dump_hook(replace(hook, extra={}, handler=replace(hook.handler, extra={})))
    handler = [f"handler.{name}" for name in document["handler"] if name not in handler_fields]
    return [name for name in document if name not in hook_fields] + handler


def pattern_gaps(index: int, hook: Hook, spec: str, source: Agent | str) -> list[Gap]:
    """Patterns that fit other tools in a version: one looks at canonical names too, the other never does."""
    is_native, was_native = spec == NATIVE_NAMES_SPEC, source != MANIFEST_SPEC
    gaps: list[Gap] = []
    for part in hook.matcher if type(hook.matcher) is list else [hook.matcher]:
        pattern = part.get("pattern") if type(part) is dict else None
        if type(pattern) is not str or is_native == (was_native and pattern != _ANY_MCP_PATTERN):
            continue
        names = _names_by_canon_alone(pattern, source)
        verb = "is tried on native names alone, and no longer on" if is_native else "is also tried on canonical names:"
        if names:
            reason = f"under {spec} the pattern {pattern} {verb} {', '.join(names)}"
            gaps.append(_field_gap(index, hook, "matcher", reason))
    return gaps


def _names_by_canon_alone(pattern: str, source: Agent | str) -> list[str]:
    """The tools that a pattern fits by their canonical names, and not by their native ones as far as they are known."""
    regex = compile_re2(pattern)
    if isinstance(source, str):
        if all(regex.search(name) for name in _NAMES_OF_NOBODY):
            return []  # it fits every name
        pairs = [("", name) for name in (*ARGUMENTS, _MCP_NAME)]
    else:
        mcp_name = source.mcp_name("server", "tool") if source.mcp_name else ""
        pairs = [*source.tools.items(), (mcp_name, _MCP_NAME)]
    names = [name for native, name in pairs if regex.search(name) and not (native and regex.search(native))]
    return list(dict.fromkeys("MCP tools" if name == _MCP_NAME else name for name in names))


_NAMES_OF_NOBODY = ("Zq", "zq_7", "0")
