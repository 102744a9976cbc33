"""What Cline takes for an answer: an object on stdout, whatever the exit code; to refuse a call is to end the run."""

from typing import Any

from hookonce.agents.replies._answer import answer, are, object_in
from hookonce.model import Decision, Object, Reply

_BEFORE, _AFTER, _PROMPT = "PreToolUse", "PostToolUse", "UserPromptSubmit"
# Scripts and payloads name the events differently. At all others nobody waits for an answer.
_HEARD = {
    _BEFORE: _BEFORE,
    "tool_call": _BEFORE,
    _AFTER: _AFTER,
    "tool_result": _AFTER,
    _PROMPT: _PROMPT,
    "prompt_submit": _PROMPT,
}
_CONTROL = "HOOK_CONTROL\t"  # begins a line that is the answer, among others that are a log
# Arguments that we show beside the lists they stand in; Cline looks at the lists.
_LISTS = {"command": "commands", "path": "files", "pattern": "queries", "url": "requests"}


def reply(native: str, decision: Decision, given: Object | None) -> Reply:
    """The decision in the words that both of Cline's programs know; its editor lacks `context` and new input."""
    ends = decision.outcome == "deny" or decision.proceed is False
    fields = {
        "cancel": True if ends else None,
        "errorMessage": decision.reason if ends else None,
        "contextModification": decision.context,
        "overrideInput": None if given is None else _fresh(given),
    }
    return answer(fields)


def _fresh(given: Object) -> Object:
    """Without a list that says something else than the argument beside it, which is what a hook has changed."""
    stale = {many for one, many in _LISTS.items() if one in given and many in given and not _is_same(given, one, many)}
    return {key: value for key, value in given.items() if key not in stale}


def _is_same(given: Object, one: str, many: str) -> bool:
    entries: Any = given[many] if type(given[many]) is list else []
    texts = [entry.get(one) if type(entry) is dict else entry for entry in entries]
    return bool("\n".join(map(str, texts)) == given[one])


def read_reply(native: str, said: Reply) -> Decision | None:
    """What Cline makes of a script's answer; exit codes mean nothing to it."""
    event = _HEARD.get(native)
    text = _control(said.stdout).strip()
    if event is None or not text:
        return Decision()
    found = object_in(text)
    if found is None or not are(found, bool, "cancel"):
        return None
    if not are(found, str, "errorMessage", "context", "contextModification"):
        return None
    return _understood(event, found)


def _control(text: str) -> str:
    lines = [line for line in text.splitlines() if line.startswith(_CONTROL)]
    return lines[-1].removeprefix(_CONTROL) if lines else text


def _understood(event: str, found: Object) -> Decision:
    """A message that cancels nothing is told to the model, if nothing else is."""
    ends, message = found.get("cancel") is True, found.get("errorMessage") or None
    context = found.get("context") or found.get("contextModification") or None
    if ends:
        ended = Decision(proceed=False) if event == _AFTER else Decision(outcome="deny")
        return Decision(outcome=ended.outcome, proceed=ended.proceed, reason=message, context=context)
    new = found.get("overrideInput") if event == _BEFORE else None
    given = new if new is None or type(new) is dict else {"input": new}
    return Decision(context=context or message, updated_input=given)
