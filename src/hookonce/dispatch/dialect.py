"""Dialects: encode an event as the agent or format that a hook was written for, and decode its answer."""

from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce import agents, formats
from hookonce.agents import config_event_of, native_event, native_tool, point_of, translate_rewrite
from hookonce.agents import encode as payload_for
from hookonce.base.invocation import CANONICAL_DIALECT
from hookonce.base.jsontext import dump, load
from hookonce.base.settings import Settings
from hookonce.dispatch.hook_privacy import attribute_event, privacy_level, redact_for_hook
from hookonce.errors import HookonceError
from hookonce.handlers.operation import OperationResult
from hookonce.manifest.discover import Scope, find_project
from hookonce.model import Agent, Decision, Event, Gap, Hook, Object, Outcome, Record, Reply
from hookonce.vocabulary.events import is_document

# Fields that scripts for Claude Code may rely on, and what stands there when the source has none.
_CLAUDE_CODE_DEFAULTS = {
    "session_id": "unknown",
    "transcript_path": "/dev/null",
    "cwd": "/",
    "permission_mode": "default",
}
_OUTCOMES: dict[Any, Outcome] = {"allow": "allow", "deny": "deny", "ask": "ask"}


class HookIdentity(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The hook's event and name in its manifest."""

    event: str
    name: str | None = None


class HookInput(Event, frozen=True, kw_only=True):
    """Input of a canonical hook: the event, the hook's own identity, and the decision that a derived event is about."""

    hook: HookIdentity
    decision: Decision | None = None


class DialectEventError(HookonceError):
    """The dialect cannot express an event."""


def is_agent_dialect(dialect: str) -> bool:
    """Whether a dialect is an agent's, and not a format's or the canonical one."""
    return dialect != CANONICAL_DIALECT and dialect not in formats.FORMATS


def encode_input(
    dialect: str,
    event: Event,
    hook: Hook,
    scope: Scope = "user",
    decision: Decision | None = None,
    current_settings: Settings | None = None,
) -> tuple[bytes, list[Gap]]:
    """A hook's stdin in its dialect, and gaps for the fields that were synthesised, or may not be told.

    `decision` is what a derived event is about, such as a refusal; the settings are looked up if nobody has done so.
    """
    if dialect == CANONICAL_DIALECT:
        told_event = dump(attribute_event(event, current_settings))
        identity = HookIdentity(event=hook.event, name=hook.name)
        addition = dump({"hook": identity} if decision is None else {"hook": identity, "decision": decision})
        return told_event[:-1] + b"," + addition[1:], []  # a `HookInput`, without a copy of the event
    if dialect in formats.FORMATS:
        level, gaps = privacy_level(hook, scope)
        record, key_gaps = redact_for_hook(Record(event=event, decision=decision), level)
        documents = formats.load(dialect).write(record)
        if not documents:
            raise DialectEventError(f"{formats.load(dialect).title} has no event for {event.type}")
        return dump(documents[0]), [*gaps, *key_gaps]
    agent = agents.load(dialect)
    if event.agent == agent.name and type(event.native) is dict and not is_document(event):
        return dump(event.native), []  # its own words, and all of them
    payload = payload_for(agent, event)
    synthetic_fields = {key: value for key, value in _required_fields(agent, event).items() if key not in payload}
    gaps = [
        Gap(where=f"$.{key}", capability="dialect", strategy="synthesised", effect="observes", note=str(value))
        for key, value in synthetic_fields.items()
    ]
    return dump(payload | synthetic_fields), gaps


def dialect_variables(dialect: str, event: Event, cwd: str) -> dict[str, str]:
    """Environment variables that a hook's own agent would set, for when another agent calls."""
    agent = agents.load(dialect) if is_agent_dialect(dialect) else None
    if agent is None or not agent.variables:
        return {}
    event_cwd = event.cwd or cwd
    slot_values = {
        "project": str(find_project(Path(event_cwd))),
        "cwd": event_cwd,
        "session": event.session,
        "event": native_event(agent, event.type),
        "tool": native_tool(agent, event.tool, own=False)[0] if event.tool is not None else None,
    }
    values = {name: slot_values[slot] for name, slot in agent.variables.items()}
    return {name: text for name, text in values.items() if text and "\0" not in text}


def _required_fields(agent: Agent, event: Event) -> Object:
    if agent.name != "claude-code":
        return {}
    return _CLAUDE_CODE_DEFAULTS | (
        {"tool_use_id": f"toolu_{event.id.replace('-', '')}"} if event.tool is not None else {}
    )


def decode_output(
    dialect: str, event: Event, run_result: OperationResult, *, must_answer: bool = False
) -> Decision | None:
    """Decode a hook's answer into a decision; None if it is no answer.

    For a hook that must answer, text where its agent reads a decision in JSON is none, though the agent goes on; nor
    is an object in words that nobody reads here, like those of an agent whose dialect the hook does not name.
    """
    text = run_result.stdout.decode(errors="replace")
    if not is_agent_dialect(dialect):  # who reads events in a format only looks on
        return parse_hif_output(text, must_answer=must_answer) if dialect == CANONICAL_DIALECT else Decision()
    agent = agents.load(dialect)
    if agent.read_reply is None or run_result.code is None:
        return None
    native = config_event_of(agent, event.type) or native_event(agent, event.type)
    decision = agent.read_reply(
        native, Reply(stdout=text, stderr=run_result.stderr.decode(errors="replace"), code=run_result.code)
    )
    if must_answer and decision is not None and decision.outcome is None and _is_garbage(agent, native, text, decision):
        return None
    if decision is None or decision.updated_input is None or event.tool is None:
        return decision
    return replace(decision, updated_input=_canonical_input(agent, native, event, decision.updated_input))


def _is_garbage(agent: Agent, native: str, text: str, decision: Decision) -> bool:
    """Whether a text is neither JSON nor the context that an agent takes it for, at a point where JSON refuses."""
    text = text.strip().lstrip("\ufeff").strip()
    is_context = decision.context is not None and text[:1] not in {"{", "["}
    if not text or is_context or agent.reply is None or "prevent" not in point_of(agent, native).capabilities:
        return False
    if not agent.reply(native, Decision(outcome="deny", reason="-"), None).stdout:
        return False  # it refuses by an exit code
    try:
        return type(load(text)) is not dict
    except (ValueError, RecursionError):
        return True


def _canonical_input(agent: Agent, native: str, event: Event, native_input: Object) -> Object | None:
    """New input of a hook in canonical form, for the call that the hook was shown."""
    if event.tool is None:
        return native_input
    shown_tool = event.tool
    if event.agent != agent.name:
        shown_tool = agents.decode(agent, payload_for(agent, event), native, id=event.id).tool or shown_tool
    if point_of(agent, native).rewrite in {"merge", "fields"} and type(shown_tool.native_input) is dict:
        native_input = shown_tool.native_input | native_input
    return translate_rewrite(agent, shown_tool, event.tool, native_input)


ANSWER_KEYS = frozenset(
    {"decision", "reason", "context", "updated_input", "updated_output", "continue"}
    | {"system_message", "suppress_output"}
)


def parse_hif_output(text: str, *, must_answer: bool = False) -> Decision | None:
    """Parse an answer in the Hook Interchange Format; a deny or ask counts whatever else is wrong with it."""
    if not text.strip():
        return Decision()
    try:
        output: Any = load(text)
    except (ValueError, RecursionError):
        return None
    if type(output) is not dict or (must_answer and output and ANSWER_KEYS.isdisjoint(output)):
        return None
    decision_word = output.get("decision")
    outcome = _OUTCOMES.get(decision_word) if type(decision_word) is str else None
    new_input, continue_flag = output.get("updated_input"), output.get("continue")
    is_valid = (
        type(new_input) in (dict, type(None))
        and type(continue_flag) in (bool, type(None))
        and (decision_word is None or outcome)
    )
    if not is_valid and outcome not in {"deny", "ask"}:
        return None
    return Decision(
        outcome=outcome,
        reason=_text_field(output, "reason"),
        context=_text_field(output, "context"),
        updated_input=new_input if type(new_input) is dict else None,
        updated_output=output.get("updated_output"),
        proceed=False if continue_flag is False else None,
        system_message=_text_field(output, "system_message"),
        suppress_output=True if output.get("suppress_output") is True else None,
    )


def _text_field(output: Object, key: str) -> str | None:
    text = output.get(key)
    return text if type(text) is str and text else None
