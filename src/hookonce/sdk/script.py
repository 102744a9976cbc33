"""Hook file as a script: reads the payload of any agent, or a canonical event, from stdin and replies in kind."""

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from msgspec import ValidationError, convert

from hookonce.base.jsontext import decode_text, load_leniently
from hookonce.client import stdin
from hookonce.errors import HookonceError, PayloadError, UsageError
from hookonce.model import Decision, Event, Object, Reply
from hookonce.sdk.answers import encode_decision
from hookonce.sdk.event import EventInput
from hookonce.sdk.functions import load_module, run_functions, select_functions

_USAGE_EXIT_CODE = 64
_REFUSAL_EXIT_CODE = 2  # what most agents take for a no
_CANONICAL_SCHEMA_PREFIX = "hookonce/"


def main(file: str, argv: Sequence[str]) -> int:
    """Run the hooks of a file on stdin; what they print goes to stderr, because stdout is the reply."""
    is_help = [*argv] in (["-h"], ["--help"])
    if is_help or sys.stdin is None or sys.stdin.isatty():
        from shlex import quote  # an agent asks for no help

        name = os.path.basename(file)  # noqa: PTH119  as texts, for `pathlib` is what most programs do without
        sys.stderr.write(f"{name} is a hook: an agent calls it with an event on stdin.\n")
        sys.stderr.write(f"Where that does not tell whose it is: python {name} claude-code PreToolUse\n")
        sys.stderr.write(f"To see what it says: hookonce try {quote(name)} --agent claude-code\n")
        return 0 if is_help else _USAGE_EXIT_CODE
    _import_replies()
    raw = stdin.read_payload()
    sys.stdout.flush()
    stdout_fd = os.dup(1)
    os.dup2(2, 1)
    try:
        with open(file, "rb") as source:  # noqa: PTH123  as above
            module = load_module(file, source.read())
        reply = build_reply(module, raw, argv, os.environ)
    except HookonceError as problem:
        sys.stderr.write(f"{os.path.basename(file)}: {problem}\n")  # noqa: PTH119  as above
        return _REFUSAL_EXIT_CODE if isinstance(problem, PayloadError) else 1
    sys.stdout.flush()
    with os.fdopen(stdout_fd, "wb") as out:
        out.write(f"{reply.stdout}\n".encode(errors="replace") if reply.stdout else b"")
    sys.stderr.write(reply.stderr)
    return reply.code


def _import_replies() -> None:
    """Import what nearly every reply needs, without a look for garbage in it: neither now nor when the program ends."""
    is_collecting = gc.isenabled()
    gc.disable()
    try:
        for name in ("request.call_request", "response"):
            import_module(f"hookonce.dispatch.{name}")
    finally:
        gc.freeze()
        if is_collecting:
            gc.enable()


def build_reply(module: ModuleType, raw: bytes, argv: Sequence[str], environment: Mapping[str, str]) -> Reply:
    """Build the reply of a file's hooks; `argv` are agent and event, where the caller names them."""
    payload = _parse_payload(raw)
    if str(payload.get("schema", "")).startswith(_CANONICAL_SCHEMA_PREFIX) and not argv:
        return Reply(stdout=encode_decision(_decide(module, parse_event(payload))).decode())
    return _reply_to_agent(module, raw, payload, argv, environment)


def parse_event(document: Any) -> Event:
    """Parse a canonical event."""
    try:
        return convert(document, EventInput)
    except ValidationError as problem:
        raise PayloadError(f"this is no canonical event: {problem}") from None


def _parse_payload(raw: bytes) -> Object:
    try:
        document = load_leniently(decode_text(raw, "replace")) if raw.strip() else {}
    except ValueError as problem:
        raise PayloadError(f"stdin is not JSON: {problem}") from None
    if type(document) is not dict:
        raise PayloadError("stdin is not a JSON object")
    return document


def _decide(module: ModuleType, event: Event) -> Decision:
    return run_functions(select_functions(module, None, event), event)


def _reply_to_agent(
    module: ModuleType, raw: bytes, payload: Object, argv: Sequence[str], environment: Mapping[str, str]
) -> Reply:
    """Reply to an agent in its own form; a writer of event formats gets none."""
    from hookonce import agents, formats
    from hookonce.dispatch.identification import identify, payload_event
    from hookonce.dispatch.request.call_request import CallArguments, CallDecision, parse_request
    from hookonce.dispatch.response import build_response

    identification = identify(payload, environment)
    if identification.kind == "format" and not argv:
        read = formats.load(str(identification.name)).read
        if read is not None:
            _decide(module, read(payload).event)
        return Reply()
    name, event = (*argv, None, None)[:2]
    if name is None and identification.kind != "agent":
        candidates = f" (perhaps {', '.join(identification.candidates)})" if identification.candidates else ""
        hint = "name the agent and its event behind the program: python guard.py claude-code PreToolUse"
        raise UsageError(f"nothing says whose payload this is{candidates}; {hint}")
    call = CallArguments(agent=str(name or identification.name), event=event or identification.event)
    agent = agents.load(call.agent)
    if call.event is None and payload_event(agent, payload) is None:
        example_event = agents.config_event_of(agent, "before_tool_execute") or next(iter(agent.events))
        hint = f"name it behind the agent: python guard.py {call.agent} {example_event}"
        raise UsageError(f"the payload names no event of {agent.title}; {hint}")
    request = parse_request(call, raw)
    return build_response(request, CallDecision(decision=_decide(module, request.event))).reply
