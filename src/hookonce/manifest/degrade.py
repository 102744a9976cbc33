"""What becomes of a manifest on an agent that cannot do all of it.

The capabilities that a hook needs are inferred from what it says, never from what it lists. Where the
agent lacks one, the author's strategy counts, else the registry's: *warn* runs the hook with less (an HTTP
handler as a command that calls curl), *exclude* leaves it out, *block* puts a guard in its place that
refuses the action. A function becomes the program that its file is too, a module is left out or guarded. Each such
case is a gap.
"""

import shlex
from collections.abc import Collection, Iterable
from typing import NamedTuple

from msgspec.structs import replace

from hookonce.canon.capabilities import CAPABILITIES, OF_OUTPUT
from hookonce.manifest.http_script import scripted
from hookonce.model import Gap, Handler, Hook, Manifest, Strategy

_FUNCTION, _MODULE = "function", "module"
# A guard needs nothing but a shell: it says why on stderr and refuses.
_GUARD = "echo {reason} >&2; exit 2"


class Degraded(NamedTuple):
    """The hooks that remain, each with its place in the manifest, and what was lost on the way."""

    hooks: list[tuple[int, Hook]]
    gaps: list[Gap]


def capabilities_of(hook: Hook) -> frozenset[str]:
    """What a hook needs of an agent, inferred.

    That a hook rewrites input shows only when it runs. A manifest tells it by listing the capability *and*
    saying what to do without it; either alone is not enough, as the published examples have it.
    """
    handler = hook.handler
    needs = {
        "structured_output": hook.blocking or bool(hook.degradation.keys() & OF_OUTPUT),
        "input_rewrite": "input_rewrite" in hook.degradation and "input_rewrite" in hook.capabilities,
        "llm_evaluated": handler.type in {"prompt", "agent"},
        "http_handler": handler.type == "http",
        "async_execution": handler.background,
        "platform_commands": bool(handler.platform),
        "custom_env": bool(handler.env),
        "configurable_cwd": handler.cwd is not None,
    }
    return frozenset(name for name, needed in needs.items() if needed)


def strategy_of(hook: Hook, capability: str) -> Strategy:
    """The author's choice for a missing capability, else the registry's."""
    return hook.degradation.get(capability) or CAPABILITIES.get(capability, "warn")


def degrade(manifest: Manifest, supported: frozenset[str]) -> Degraded:
    """The manifest as an agent with these capabilities can hold it."""
    result = Degraded([], [])
    for index, given in enumerate(manifest.hooks):
        hook = given if given.handler.type != _FUNCTION else _programmed(index, given, result.gaps)
        if hook.handler.type == _MODULE:
            guarded = _unspoken(index, hook, result.gaps)
            result.hooks.extend([] if guarded is None else [(index, guarded)])
            continue
        missing = sorted(capabilities_of(hook) - supported)
        fate = _strictest(strategy_of(hook, capability) for capability in missing)
        result.gaps.extend(_gap(index, hook, capability, fate) for capability in missing)
        kept = _kept(hook, missing, fate)
        if kept is not None:
            result.hooks.append((index, kept))
    return result


def _programmed(index: int, hook: Hook, gaps: list[Gap]) -> Hook:
    """A function as a command, which its file is too: no agent's own file can name a function."""
    handler = hook.handler
    command = f"python3 {shlex.quote(handler.file or '')}"
    whole = f", and asks all of its functions, not {handler.name} alone" if handler.name else ""
    gaps.append(
        Gap(
            where=f"$.hooks[{index}].handler",
            capability="handler",
            strategy="warn",
            effect="prevents" if hook.blocking else "observes",
            note=f"{hook.name or f'Hook {index + 1}'} is a function; {command} stands in its place{whole}",
        )
    )
    return replace(hook, handler=replace(handler, type="command", command=command, file=None, name=None))


def _unspoken(index: int, hook: Hook, gaps: list[Gap]) -> Hook | None:
    """A module as no agent can call it: left out, or where its failure would refuse, a guard that does."""
    fate: Strategy = "block" if hook.on_failure == "closed" else "exclude"
    gaps.append(
        Gap(
            where=f"$.hooks[{index}].handler",
            capability="handler",
            strategy=fate,
            effect=_EFFECTS[fate],
            note=f"{hook.name or f'Hook {index + 1}'} is a module, which only hookonce itself can ask",
        )
    )
    return guard(hook, "the module protocol") if fate == "block" else None


def at_home(manifest: Manifest, handlers: Collection[str]) -> Degraded:
    """The manifest for the agent that it came from, which takes all of it; a call that was a command there is again."""
    hooks = [
        replace(hook, handler=scripted(hook.handler))
        if hook.handler.type == "http" and "http" not in handlers
        else hook
        for hook in manifest.hooks
    ]
    return Degraded([*enumerate(hooks)], [])


def _strictest(strategies: Iterable[Strategy]) -> Strategy:
    """One decides for all: a guard rather than an absence, an absence rather than half a hook."""
    return min(strategies, key=("block", "exclude", "warn").index, default="warn")


def _kept(hook: Hook, missing: list[str], fate: Strategy) -> Hook | None:
    if fate == "block":
        return guard(hook, next(capability for capability in missing if strategy_of(hook, capability) == fate))
    return None if fate == "exclude" else _reduced(hook, missing)


def guard(hook: Hook, capability: str) -> Hook:
    """A hook that refuses every action that the original would have seen, because it cannot do its work."""
    reason = f"'blocked: this agent lacks {capability}, which the hook {quoted(hook.name or hook.event)} needs'"
    refusing = Handler(type="command", command=_GUARD.format(reason=reason))
    # Nothing may keep it from running, and where it does not run the action must not go on either.
    return replace(hook, handler=refusing, blocking=True, on_failure="closed", dialect=None, provider_data={})


def quoted(text: str) -> str:
    """A name inside a shell word in single quotes: everything else than plain characters is taken out."""
    return "".join(letter for letter in text if letter.isalnum() or letter in " ._-")


def _reduced(hook: Hook, missing: list[str]) -> Hook:
    handler = hook.handler
    if "http_handler" in missing:
        handler = scripted(handler)
    if "async_execution" in missing:
        handler = replace(handler, background=False)
    if "platform_commands" in missing:
        handler = replace(handler, platform={})
    if "custom_env" in missing:
        handler = replace(handler, env={})
    if "configurable_cwd" in missing:
        handler = replace(handler, cwd=None)
    return hook if handler is hook.handler else replace(hook, handler=handler)


_CURL = "; a command that calls curl stands in its place"
_EFFECTS: dict[Strategy, str] = {"block": "prevents", "warn": "observes", "exclude": "lost"}


def _gap(index: int, hook: Hook, capability: str, fate: Strategy) -> Gap:
    """A capability that the agent lacks, and what becomes of the hook as a whole."""
    instead = _CURL if (capability, fate) == ("http_handler", "warn") else ""
    return Gap(
        where=f"$.hooks[{index}]",
        capability=capability,
        strategy=strategy_of(hook, capability),
        effect="prevents" if hook.blocking and fate == "warn" else _EFFECTS[fate],
        note=f"{hook.name or f'Hook {index + 1}'} needs {capability}, which the agent lacks{instead}",
    )
