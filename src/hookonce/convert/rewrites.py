"""Input rewriting of hooks: which scripts change a tool's input, by their words, and what guards them elsewhere.

A script that is to change a dangerous input must not run where its change is not heard: where the target takes no new
input, a guard that refuses stands in its place. In our wrapper the script runs, and what it changes is refused.
Where exit code 2 refuses nothing, a guard prints the refusal that the agent reads.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from shlex import quote

from msgspec.structs import replace

from hookonce.agents import config_event_of, config_events, point_of
from hookonce.base.files import read_regular_file
from hookonce.manifest.degrade import REWRITABLE_EVENTS, DegradedManifest, strategy_of
from hookonce.model import Agent, Decision, Gap, Handler, Hook, Reply
from hookonce.vocabulary.names import hook_label

_MAX_SCRIPT_BYTES = 1 << 20
_CAPABILITY = "input_rewrite"
# new input in the words of the format, of its agents and of our own functions; Gemini's word is that of its input too
_REWRITE_WORDS = re.compile(
    r"updated_?input|modified_?(?:args|prompt|transformed_?prompt)|override_?input|\"overwrite\"\s*:"
    r"|hookSpecificOutput.{0,200}tool_input|\bimport\b[^\n;]*\brewrite\b",
    re.IGNORECASE | re.DOTALL,
)
_VARIABLE_PREFIX = re.compile(r"^(?:\$\w+|\$\{[^}]*\}|~)/+")  # the folder is most often the project
_WORD = re.compile(r"[^\s'\"`=:,;|&<>()]+")


def rewrite_events(target: Agent) -> frozenset[str]:
    """The canonical events at which an agent takes new input."""
    events = config_events(target).items()
    return frozenset(kind for native, kind in events if point_of(target, native).rewrite is not None)


def declare_rewrites(
    hooks: list[Hook], target: Agent, folders: Iterable[Path], *, wraps: bool
) -> tuple[list[Hook], list[Gap]]:
    """Hooks that say themselves that they rewrite, where their scripts do; gaps for those that our wrapper guards."""
    places, accepting_events = [*folders], rewrite_events(target)
    gaps: list[Gap] = []
    hooks_with_rewrites: list[Hook] = []
    for index, hook in enumerate(hooks):
        if not _rewrites_input(hook, target, places):
            hooks_with_rewrites.append(hook)
        elif wraps and hook.event not in accepting_events:
            reason = f"where it changes the input the action is refused, because {target.title} takes none here"
            note = f"{hook_label(hook)}: {reason}"
            where = f"$.hooks[{index}]"
            gaps.append(Gap(where=where, capability=_CAPABILITY, strategy="block", effect="prevents", note=note))
            hooks_with_rewrites.append(hook)
        else:
            degradation = {_CAPABILITY: strategy_of(hook, _CAPABILITY)} | hook.degradation
            hooks_with_rewrites.append(replace(hook, degradation=degradation))
    return hooks_with_rewrites, gaps


def _rewrites_input(hook: Hook, target: Agent, folders: list[Path]) -> bool:
    """Whether a script changes input, as far as its words tell; one written for the target knows what is heard."""
    if hook.event not in REWRITABLE_EVENTS or hook.dialect == target.name or _CAPABILITY in hook.degradation:
        return False
    return any(_REWRITE_WORDS.search(text) for text in _script_texts(hook.handler, folders))


def _script_texts(handler: Handler, folders: list[Path]) -> Iterable[str]:
    """The command lines of a handler, and the files that they name."""
    if handler.type not in {"command", "function"}:
        return
    commands = [text for text in (handler.command, *handler.platform.values()) if text]
    yield from commands
    words = dict.fromkeys(word for text in (*commands, handler.file or "") for word in _WORD.findall(text))
    for word in words:
        name = _VARIABLE_PREFIX.sub("", word)
        for path in dict.fromkeys(folder / name for folder in (*folders, Path.home())):
            with suppress(OSError, ValueError):
                yield read_regular_file(path, _MAX_SCRIPT_BYTES).decode(errors="replace")


def word_guards(target: Agent, manifest: DegradedManifest) -> DegradedManifest:
    """The manifest with guards that the target heeds."""
    notes = {gap.where.removesuffix(".handler"): gap.note for gap in manifest.gaps if gap.strategy == "block"}
    reasons = {index: notes.get(f"$.hooks[{index}]") for index, _ in manifest.hooks}
    hooks = [(index, _word_guard(target, hook, reasons[index])) for index, hook in manifest.hooks]
    return manifest._replace(hooks=hooks)


def _word_guard(target: Agent, hook: Hook, reason: str | None) -> Hook:
    native = config_event_of(target, hook.event)
    if reason is None or native is None or target.reply is None or _refuses_by_exit_code(target, native):
        return hook
    if "prevent" not in point_of(target, native).capabilities:
        return hook
    refusal = target.reply(native, Decision(outcome="deny", reason=f"blocked: {reason}"), None)
    command = f"printf '%s\\n' {quote(refusal.stdout)}"
    return replace(hook, dialect=target.name, handler=replace(hook.handler, command=command))


def _refuses_by_exit_code(target: Agent, native: str) -> bool:
    config = target.config
    if config.language == "code":  # generated code refuses for a guard, whose every failure is closed
        return True
    decision = target.read_reply(native, Reply(code=2, stderr="no")) if target.read_reply is not None else None
    return config.exit_code_refuses and decision is not None and decision.outcome == "deny"
