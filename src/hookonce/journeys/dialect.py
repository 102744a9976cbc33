"""Dialects: whose input a hook reads and in whose words it answers."""

from typing import Any

from msgspec import DecodeError
from msgspec.json import decode, encode
from msgspec.structs import replace

from hookonce import agents, formats
from hookonce.agents import canonical_input, native_event
from hookonce.agents import encode as payload_for
from hookonce.handlers.process import Ran
from hookonce.model import Decision, Event, Gap, Hook, Object, Record, Reply
from hookonce.texts import dump

CANONICAL = "canonical"
# Fields that scripts for Claude Code may rely on, and what stands there when the source has none.
_REQUIRED = {"session_id": "unknown", "transcript_path": "/dev/null", "cwd": "/", "permission_mode": "default"}
_OUTCOMES = {"allow", "deny", "ask"}
_TYPES: dict[str, type] = {
    "decision": str,
    "reason": str,
    "continue": bool,
    "context": str,
    "updated_input": dict,
    "suppress_output": bool,
    "system_message": str,
}


def is_agents(dialect: str) -> bool:
    """Whether a dialect is an agent's, and not a format's or our own."""
    return dialect != CANONICAL and dialect not in formats.FORMATS


def given(dialect: str, event: Event, hook: Hook) -> tuple[bytes, list[Gap]]:
    """What a hook gets on its stdin, and which fields of it were made up."""
    if dialect == CANONICAL:
        named = {"name": hook.name, "event": hook.event}
        return dump(decode(encode(event)) | {"hook": {key: text for key, text in named.items() if text}}), []
    if dialect in formats.FORMATS:
        documents = formats.load(dialect).write(Record(event=event))
        return b"\n".join(dump(document) for document in documents[:1]), []
    payload = payload_for(agents.load(dialect), event)
    if dialect != "claude-code":
        return dump(payload), []
    made_up = {key: value for key, value in _needed(event).items() if key not in payload}
    gaps = [
        Gap(where=f"$.{key}", capability="dialect", strategy="synthesised", effect="observes", note=str(value))
        for key, value in made_up.items()
    ]
    return dump(payload | made_up), gaps


def _needed(event: Event) -> Object:
    return _REQUIRED | ({"tool_use_id": f"toolu_{event.id.replace('-', '')}"} if event.tool is not None else {})


def heard(dialect: str, event: Event, ran: Ran) -> Decision | None:
    """What a hook has answered, in canonical words; None if that is no answer."""
    text = ran.stdout.decode(errors="replace")
    if not is_agents(dialect):  # who reads events in a format only looks on
        return _spoken(text) if dialect == CANONICAL else Decision()
    agent = agents.load(dialect)
    if agent.read_reply is None or ran.code is None:
        return None
    said = Reply(stdout=text, stderr=ran.stderr.decode(errors="replace"), code=ran.code)
    decision = agent.read_reply(native_event(agent, event.type), said)
    if decision is None or decision.updated_input is None or event.tool is None:
        return decision
    return replace(decision, updated_input=canonical_input(agent, event.tool, decision.updated_input))


def _spoken(text: str) -> Decision | None:
    """The answer of the Hook Interchange Format."""
    if not text.strip():
        return Decision()
    try:
        found: Any = decode(text)
    except (DecodeError, RecursionError):
        return None
    if type(found) is not dict or any(
        type(found[key]) is not kind for key, kind in _TYPES.items() if found.get(key) is not None
    ):
        return None
    outcome = found.get("decision")
    if outcome is not None and outcome not in _OUTCOMES:
        return None
    return Decision(
        outcome=outcome,
        reason=found.get("reason"),
        context=found.get("context"),
        updated_input=found.get("updated_input"),
        updated_output=found.get("updated_output"),
        proceed=False if found.get("continue") is False else None,
        system_message=found.get("system_message"),
        suppress_output=found.get("suppress_output"),
    )
