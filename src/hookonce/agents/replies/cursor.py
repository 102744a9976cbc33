"""What Cursor takes for an answer: one flat object, in which each event has its own few fields.

The events that ask for permission take an answer that cannot be read for a refusal; at all others it is passed over.
"""

from itertools import islice

from hookonce.agents.replies._answer import UNSAID, answer, object_in
from hookonce.model import Decision, Json, Object, Outcome, Reply

_BLOCK = 2
_SEARCHED = 200  # beginnings of objects that are tried, from the end, behind text that is none
_UNREAD = "a hook's answer could not be read"
# The fields that are heard at an event; at an event that is not here, none is.
_FIELDS = {
    "preToolUse": ("permission", "user_message", "agent_message", "updated_input", "additional_context"),
    "beforeShellExecution": ("permission", "user_message", "agent_message"),
    "beforeMCPExecution": ("permission", "user_message", "agent_message"),
    "beforeReadFile": ("permission", "user_message"),
    "beforeTabFileRead": ("permission", "user_message"),
    "subagentStart": ("permission", "user_message"),
    "beforeSubmitPrompt": ("continue", "user_message", "additional_context"),
    "sessionStart": ("continue", "user_message", "additional_context"),
    "postToolUse": ("additional_context", "updated_mcp_tool_output"),
    "postToolUseFailure": ("additional_context",),
    "stop": ("followup_message",),
    "subagentStop": ("followup_message",),
    "preCompact": ("user_message",),
}
_KINDS: dict[str, type] = {"continue": bool, "updated_input": dict}  # all others are texts
_ANY = "updated_mcp_tool_output"
# An allow spares nobody Cursor's own question. A question is kept as one, heard or not.
_WORDS: dict[Json, Outcome | None] = {"allow": None, "deny": "deny", "ask": "ask"}
_NO_QUESTION = frozenset({"beforeReadFile", "beforeTabFileRead"})
_WRITE = frozenset({"file_path", "content"})


def reply(native: str, decision: Decision, given: Object | None) -> Reply:
    """The decision as Cursor honours it at this event."""
    if given is not None and given.keys() >= _WRITE:
        # Cursor would write the old content to the new path; nothing tells here which of them a hook has changed.
        decision = Decision(outcome="deny", reason="a hook wants other input, and what Cursor writes cannot be changed")
        given = None
    fields = {"user_message": decision.system_message, "updated_input": given, "additional_context": decision.context}
    return answer(fields | _decided(native, decision))


def _decided(native: str, decision: Decision) -> Object:
    heard, reason = _FIELDS.get(native, ()), decision.reason
    if decision.outcome is None:
        return {}
    if "followup_message" in heard:
        return {"followup_message": reason or UNSAID}  # it is the next prompt
    if "continue" in heard:
        return {"continue": False, "user_message": reason}
    told = {key: reason for key in ("user_message", "agent_message") if key in heard}
    return {"permission": decision.outcome} | told


def read_reply(native: str, said: Reply) -> Decision | None:
    """What Cursor makes of a script's answer; one that prints nothing has failed, which changes nothing."""
    heard, text = _FIELDS.get(native, ()), said.stdout.strip()
    if said.code == _BLOCK:
        refuses = "permission" in heard or "continue" in heard
        return Decision(outcome="deny", reason=text or said.stderr.strip() or None) if refuses else Decision()
    if said.code != 0:
        return None
    if not text:
        return Decision()
    found = _object(text)
    if found is None or not _is_sound(native, found):
        return Decision(outcome="deny", reason=_UNREAD) if "permission" in heard else None
    return _understood(native, _native(heard, found))


def _object(text: str) -> Object | None:
    """The object that a text is, or that it ends with: there may be a log before it."""
    found = object_in(text)
    if found is not None or not text.endswith("}"):
        return found
    ends = (text[start:] for start in reversed(range(len(text))) if text[start] == "{")
    return next((one for one in map(object_in, islice(ends, _SEARCHED)) if one is not None), None)


def _is_sound(native: str, found: Object) -> bool:
    said = {key: found[key] for key in _FIELDS.get(native, ()) if found.get(key) is not None and key != _ANY}
    if any(type(value) is not _KINDS.get(key, str) for key, value in said.items()):
        return False
    word = said.get("permission")
    return word is None or (word in _WORDS and not (word == "ask" and native in _NO_QUESTION))


def _native(heard: tuple[str, ...], found: Object) -> Object:
    """The fields that count, also where they stand in two of Claude Code's words."""
    said = {key: found[key] for key in heard if found.get(key) not in (None, "")}
    text, reason = found.get("additionalContext"), found.get("reason")
    if "additional_context" in heard and type(text) is str and text:
        said.setdefault("additional_context", text)
    if "followup_message" in heard and found.get("decision") == "block" and type(reason) is str and reason:
        said.setdefault("followup_message", reason)
    return said


def _understood(native: str, said: Object) -> Decision:
    """What the user is shown is the reason, unless the model is told another one."""
    shown, told, next_prompt = said.get("user_message"), said.get("agent_message"), said.get("followup_message")
    outcome: Outcome | None = _WORDS.get(said.get("permission"))
    if said.get("continue") is False or next_prompt:
        outcome = "deny"
    reason = (told or shown or next_prompt) if outcome else None
    apart = shown != reason and (outcome is not None or native == "preCompact")
    return Decision(
        outcome=outcome,
        reason=None if reason == UNSAID else reason,
        context=said.get("additional_context"),
        updated_input=said.get("updated_input") if outcome != "deny" else None,
        updated_output=said.get(_ANY),
        system_message=shown if apart else None,
    )
