"""A file of hooks as a program: it reads the payload of any agent, or a canonical event, and answers in kind."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec import ValidationError, convert

from hookonce.errors import HookonceError, PayloadError, UsageError
from hookonce.model import Decision, Event, Object, Reply
from hookonce.runtime import stdin
from hookonce.sdk.answers import written
from hookonce.sdk.functions import answer, load, picked
from hookonce.texts import load as parse

_USAGE = 64
_CANONICAL = "hookonce/"


def main(file: str, words: Sequence[str]) -> int:
    """Answer what stands on stdin; whatever hooks print goes to stderr, because stdout is the answer."""
    helping = [*words] in (["-h"], ["--help"])
    if helping or sys.stdin is None or sys.stdin.isatty():
        name = Path(file).name
        sys.stderr.write(f"{name} is a hook: an agent calls it with an event on stdin.\n")
        sys.stderr.write(f"Where that does not tell whose it is: python {name} claude-code PreToolUse\n")
        sys.stderr.write(f"To see what it says: hookonce try {shlex.quote(name)} --agent claude-code\n")
        return 0 if helping else _USAGE
    raw = stdin.payload()
    sys.stdout.flush()
    mouth = os.dup(1)
    os.dup2(2, 1)
    try:
        reply = replied(load(file, Path(file).read_bytes()), raw, words, os.environ)
    except HookonceError as problem:
        sys.stderr.write(f"{Path(file).name}: {problem}\n")
        return 1
    sys.stdout.flush()
    with os.fdopen(mouth, "wb") as out:
        out.write(f"{reply.stdout}\n".encode(errors="replace") if reply.stdout else b"")
    sys.stderr.write(reply.stderr)
    return reply.code


def replied(module: ModuleType, raw: bytes, words: Sequence[str], environment: Mapping[str, str]) -> Reply:
    """The answer of a file's hooks; `words` are the agent and the event, where whoever calls says them."""
    payload = _payload(raw)
    if str(payload.get("schema", "")).startswith(_CANONICAL) and not words:
        return Reply(stdout=written(_said(module, event_of(payload))).decode())
    return _native(module, raw, payload, words, environment)


def event_of(document: Any) -> Event:
    """The event that a canonical hook is given."""
    try:
        return convert(document, Event)
    except ValidationError as problem:
        raise PayloadError(f"this is no canonical event: {problem}") from None


def _payload(raw: bytes) -> Object:
    try:
        found = parse(raw.decode("utf-8-sig")) if raw.strip() else {}
    except (ValueError, RecursionError) as problem:
        raise PayloadError(f"what stands on stdin is no JSON: {problem}") from None
    if type(found) is not dict:
        raise PayloadError("what stands on stdin is no JSON object")
    return found


def _said(module: ModuleType, event: Event) -> Decision:
    return answer(picked(module, None, event), event)


def _native(
    module: ModuleType, raw: bytes, payload: Object, words: Sequence[str], environment: Mapping[str, str]
) -> Reply:
    """The answer to an agent, in the form that it honours; who writes events in a format waits for none."""
    from hookonce import formats
    from hookonce.journeys.identify import identify
    from hookonce.journeys.respond import Call, answered, understand
    from hookonce.runtime.twice import Decided

    found = identify(payload, environment)
    if found.kind == "format" and not words:
        read = formats.load(str(found.name)).read
        if read is not None:
            _said(module, read(payload).event)
        return Reply()
    name, event = (*words, None, None)[:2]
    if name is None and found.kind != "agent":
        candidates = f" (perhaps {', '.join(found.candidates)})" if found.candidates else ""
        told = "name the agent and its event behind the program: python guard.py claude-code PreToolUse"
        raise UsageError(f"nothing says whose payload this is{candidates}; {told}")
    _named(str(name or found.name), event or found.event, payload)
    asked = understand(Call(agent=str(name or found.name), event=event or found.event), raw, environment)
    return answered(asked, Decided(decision=_said(module, asked.event))).reply


def _named(agent: str, event: str | None, payload: Object) -> None:
    """Somebody has to say which event this is: the payload, or whoever calls."""
    from hookonce import agents
    from hookonce.journeys.identify import event_of as told_by

    who = agents.load(agent)
    if event is None and told_by(who, payload) is None:
        known = agents.native_of(who, "before_tool_execute") or next(iter(who.events))
        told = f"name it behind the agent: python guard.py {agent} {known}"
        raise UsageError(f"the payload names no event of {who.title}; {told}")
