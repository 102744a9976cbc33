"""Degradation of a manifest for an agent that lacks some capabilities.

The capabilities that a hook needs are inferred from what it says, never from what it lists. Where the
agent lacks one, the author's strategy counts, else the registry's: *warn* runs the hook with less (an HTTP
handler as a command that calls curl), *exclude* leaves it out, *block* puts a guard in its place that
refuses the action. A function becomes the program that its file is too, a module is left out or guarded. Each such
case is a gap.
"""

import shlex
from collections.abc import Collection
from typing import Any, NamedTuple

from msgspec.structs import replace

from hookonce.manifest.http_script import to_command_handler
from hookonce.manifest.schema import PLATFORMS
from hookonce.model import Gap, Handler, Hook, Manifest, Strategy
from hookonce.vocabulary.decision_merge import CAPABILITIES, OUTPUT_CAPABILITIES
from hookonce.vocabulary.names import MODEL_HANDLER_TYPES, hook_label, hook_name

# A guard needs nothing but a shell: it says why on stderr and refuses.
_GUARD_COMMAND = "echo {reason} >&2; exit 2"


_CURL_CASE = ("http_handler", "warn")
_EFFECTS: dict[Strategy, str] = {"block": "prevents", "warn": "observes", "exclude": "lost"}
# capability → the handler's field that needs it, and the value without it
_FIELD_DEFAULTS: dict[str, tuple[str, Any]] = {
    "async_execution": ("background", False),
    "platform_commands": ("platform", {}),
    "custom_env": ("env", {}),
    "configurable_cwd": ("cwd", None),
}


REWRITABLE_EVENTS = frozenset({"before_tool_execute", "permission_request", "before_prompt"})  # which have an input


class DegradedManifest(NamedTuple):
    """The hooks that remain, each with its place in the manifest, and what was lost on the way."""

    hooks: list[tuple[int, Hook]]
    gaps: list[Gap]


def capabilities_of(hook: Hook) -> frozenset[str]:
    """What a hook needs of an agent, inferred."""
    handler = hook.handler
    # That a hook rewrites input shows only when it runs: its author tells it by saying what to do without.
    needs = {
        "structured_output": hook.blocking or bool(hook.degradation.keys() & OUTPUT_CAPABILITIES),
        "input_rewrite": "input_rewrite" in hook.degradation,
        "llm_evaluated": handler.type in MODEL_HANDLER_TYPES,
        "http_handler": handler.type == "http",
        "async_execution": handler.background,
        "platform_commands": not handler.platform.keys().isdisjoint(PLATFORMS),
        "custom_env": bool(handler.env),
        "configurable_cwd": handler.cwd is not None,
    }
    return frozenset(name for name, is_needed in needs.items() if is_needed)


def strategy_of(hook: Hook, capability: str) -> Strategy:
    """The author's choice for a missing capability, else the registry's."""
    return hook.degradation.get(capability) or CAPABILITIES.get(capability, "warn")


def degrade(
    manifest: Manifest, capabilities: frozenset[str], rewrite_events: frozenset[str] = REWRITABLE_EVENTS
) -> DegradedManifest:
    """The manifest as an agent with these capabilities can hold it, which takes new input at those events alone."""
    gaps: list[Gap] = []
    without_rewrite, fixed_events = capabilities - {"input_rewrite"}, REWRITABLE_EVENTS - rewrite_events
    slots = [
        _degrade_hook(index, hook, without_rewrite if hook.event in fixed_events else capabilities, gaps)
        for index, hook in enumerate(manifest.hooks)
    ]
    return DegradedManifest([(index, hook) for index, hook in enumerate(slots) if hook is not None], gaps)


def _degrade_hook(index: int, hook: Hook, capabilities: frozenset[str], gaps: list[Gap]) -> Hook | None:
    if hook.handler.type == "module":
        return _replace_module(index, hook, gaps)
    if hook.handler.type == "function":
        hook = _function_as_command(index, hook, gaps)
    if unknown_names := hook.handler.platform.keys() - PLATFORMS:  # no agent has a word for systems of nobody's
        platform = {name: text for name, text in hook.handler.platform.items() if name not in unknown_names}
        hook = replace(hook, handler=replace(hook.handler, platform=platform))
    missing = sorted(capabilities_of(hook) - capabilities)
    strategies = {capability: strategy_of(hook, capability) for capability in missing}
    # One decides for all: a guard rather than an absence, an absence rather than half a hook.
    strategy: Strategy = min(strategies.values(), key=("block", "exclude", "warn").index, default="warn")
    effect = "prevents" if hook.blocking and strategy == "warn" else _EFFECTS[strategy]
    for capability in missing:
        curl = "; a command with curl replaces it"
        why = f"needs {capability}, which the agent lacks{curl if (capability, strategy) == _CURL_CASE else ''}"
        gaps.append(_hook_gap(index, hook, capability, strategies[capability], effect, why))
    if strategy == "block":
        return build_guard(hook, next(name for name in missing if strategies[name] == strategy))
    if strategy == "exclude":
        return None
    handler = to_command_handler(hook.handler) if "http_handler" in missing else hook.handler
    defaults = {name: value for capability, (name, value) in _FIELD_DEFAULTS.items() if capability in missing}
    return replace(hook, handler=replace(handler, **defaults))


def _function_as_command(index: int, hook: Hook, gaps: list[Gap]) -> Hook:
    """A function as a command, which its file is too: no agent's own file can name a function."""
    handler = hook.handler
    command = f"python3 {shlex.quote(handler.file or '')}"
    whole = f", and asks all of its functions, not {handler.name} alone" if handler.name else ""
    effect, why = "prevents" if hook.blocking else "observes", f"is a function; {command} replaces it{whole}"
    gaps.append(_hook_gap(index, hook, "handler", "warn", effect, why))
    return replace(hook, handler=replace(handler, type="command", command=command, file=None, name=None))


def _replace_module(index: int, hook: Hook, gaps: list[Gap]) -> Hook | None:
    """A module as no agent can call it: left out, or where its failure would refuse, a guard that does."""
    strategy: Strategy = "block" if hook.on_failure == "closed" else "exclude"
    why = "is a module, which only hookonce can call"
    gaps.append(_hook_gap(index, hook, "handler", strategy, _EFFECTS[strategy], why))
    return build_guard(hook, "the module protocol") if strategy == "block" else None


def _hook_gap(index: int, hook: Hook, capability: str, strategy: Strategy, effect: str, why: str) -> Gap:
    where = f"$.hooks[{index}]" + (".handler" if capability == "handler" else "")
    note = f"{hook_label(hook)} {why}"
    return Gap(where=where, capability=capability, strategy=strategy, effect=effect, note=note)


def without_degradation(manifest: Manifest, handlers: Collection[str]) -> DegradedManifest:
    """The manifest for the agent that it came from, which takes all of it; a call that was a command there is again."""
    hooks = [
        replace(hook, handler=to_command_handler(hook.handler))
        if hook.handler.type == "http" and "http" not in handlers
        else hook
        for hook in manifest.hooks
    ]
    return DegradedManifest([*enumerate(hooks)], [])


def build_guard(hook: Hook, capability: str) -> Hook:
    """A hook that refuses every action that the original would have seen, because it cannot do its work."""
    # The name stands in a shell word in single quotes: everything else than plain characters is taken out.
    name = "".join(letter for letter in hook_name(hook) if letter.isalnum() or letter in " ._-")
    reason = f"'blocked: this agent lacks {capability}, which the hook {name} needs'"
    guard_handler = Handler(type="command", command=_GUARD_COMMAND.format(reason=reason))
    # Nothing may keep it from running, and where it does not run the action must not go on either.
    return replace(hook, handler=guard_handler, blocking=True, on_failure="closed", dialect=None, provider_data={})
