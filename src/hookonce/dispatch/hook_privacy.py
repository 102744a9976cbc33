"""Privacy of hooks: what one in an open format is told, by its level and scope (ADR 0040), and what is logged of any.

Hooks in the canonical dialect or in an agent's own judge, and are told everything.
"""

import os
from collections.abc import Mapping
from functools import cache

from msgspec.structs import replace

from hookonce import formats
from hookonce.base import settings
from hookonce.base.invocation import CANONICAL_DIALECT
from hookonce.base.jsontext import dump
from hookonce.base.regex import lazy_pattern
from hookonce.base.settings import PrivacyLevel as Level
from hookonce.errors import HookonceError
from hookonce.handlers.operation import OperationResult
from hookonce.handlers.verdict import HandlerResult
from hookonce.manifest.discover import Scope
from hookonce.model import Event, Gap, Hook, Record
from hookonce.secrets import log
from hookonce.sessions.attribution import user_of
from hookonce.store.integrity import keys
from hookonce.vocabulary.names import hook_name

DEFAULT_LEVEL: Level = "minimal"
_KEY_BYTES = 32
_MAX_LOG_BYTES = 4096  # bytes of what a failed hook has said
# Variables in which agents hand over a prompt, a tool's input or the user's address; git's own choose how it works.
_CALL_VARIABLE = lazy_pattern(r"(?!GIT_)(\w+_)?(PROMPT|EMAIL)|(\w+_)?TOOL_(INPUT|OUTPUT|RESPONSE|RESULT)(_\w+)?")
_KEYED_MARK = {"hashes": "keyed"}  # by what a reader knows that a hash is no SHA-256 of the text alone


def has_open_format(hook: Hook) -> bool:
    """Whether a hook is told events in an open format, and so decides nothing."""
    return hook.dialect != CANONICAL_DIALECT and hook.dialect in formats.FORMATS


def privacy_level(hook: Hook, scope: Scope) -> tuple[Level, list[Gap]]:
    """The level at which a hook in an open format is told events; a gap if that is not the one it asks for."""
    level: Level = hook.privacy or DEFAULT_LEVEL
    if level != "full" or scope != "project":
        return level, []
    note = f"{hook_name(hook)} of a project asks for privacy full, and gets the event at {DEFAULT_LEVEL}"
    return DEFAULT_LEVEL, [Gap(where="$.runs", capability="privacy", strategy="weaken", effect="observes", note=note)]


def redact_for_hook(record: Record, level: Level) -> tuple[Record, list[Gap]]:
    """The record as a hook is told it: redacted, secrets masked, and below full no e-mail address."""
    from hookonce.store.privacy.redact import redact  # most hooks judge, and are told all

    key, gaps = _digest_key()
    user = user_of(record.event, level, None if gaps else key, settings.load().user)
    if level == "full":
        return redact(record, level, user=user), gaps
    output_record = redact(record, level, key, native=False, user=user)
    told_event = output_record.event
    if any(gap.strategy == "hashed" for gap in output_record.gaps):
        told_event = replace(told_event, data=told_event.data | _KEYED_MARK)
    return Record(event=told_event, decision=output_record.decision), gaps


def attribute_event(event: Event, current: settings.Settings | None = None) -> Event:
    """The event as a hook that judges is told it: all of it, and whose it is."""
    (key, gaps), user = _digest_key(), (current or settings.load()).user
    return replace(event, user=user_of(event, "full", None if gaps else key, user))


def filter_variables(environment: Mapping[str, str], level: Level) -> dict[str, str]:
    """The environment of such a hook, below full without what agents put there of the call itself."""
    if level == "full":
        return dict(environment)
    return {name: value for name, value in environment.items() if _CALL_VARIABLE.fullmatch(name) is None}


def _digest_key() -> tuple[bytes, list[Gap]]:
    """The machine's key of hashes; where it cannot be had, one of this process alone, with a gap."""
    try:
        return keys.load_digest_key(), []
    except (OSError, HookonceError) as problem:
        note = f"hashes for hooks can be compared with no others: {problem}"
        gap = Gap(where="$.runs", capability="privacy", strategy="weaken", effect="observes", note=note)
        return _process_key(), [gap]


@cache
def _process_key() -> bytes:
    return os.urandom(_KEY_BYTES)


def mask_failure(handler_result: HandlerResult, event: Event) -> HandlerResult:
    """Mask the failure text, which may repeat the hook's input."""
    if handler_result.result.failure is None:
        return handler_result
    from hookonce.store.privacy.sanitize import sanitize_output  # most hooks do not fail

    failure = sanitize_output(handler_result.result.failure.encode(errors="replace"), dump(event)).decode()
    return replace(handler_result, result=replace(handler_result.result, failure=failure))


def mask_output(run_result: OperationResult, event: Event) -> bytes:
    """Output of a failed hook for the log, masked."""
    from hookonce.store.privacy.sanitize import sanitize_output  # as above

    output = log.truncate_output(run_result.stdout + run_result.stderr, _MAX_LOG_BYTES)
    return output and sanitize_output(output, dump(event)) + b"\n"
