"""Hook replies as one JSON object on stdout, or as exit code 2 with the reason on stderr."""

from collections.abc import Container, Iterable

from hookonce.base.jsontext import drop_none, dump, load
from hookonce.model import Decision, Json, Object, Reply

DEFAULT_REASON = "a hook refuses this and gives no reason"  # where an agent needs some text
DENY_EXIT_CODE = 2


def json_reply(fields: Object) -> Reply:
    """Reply with the fields that are not None as one line of JSON."""
    return Reply(stdout=dump(drop_none(fields)).decode())


def parse_object(text: str) -> Object | None:
    """Parse a text that is exactly one JSON object; None for anything else, also for two objects."""
    try:
        value: Json = load(text.strip())
    except (ValueError, RecursionError):
        return None
    return value if type(value) is dict else None


def value_at(value: Json, keys: Iterable[str]) -> Json:
    """The value at a path of keys, through objects and lists; None where it does not exist."""
    for key in keys:
        if type(value) is list and key.isdecimal():
            value = value[int(key)] if int(key) < len(value) else None
        else:
            value = value.get(key) if type(value) is dict else None
    return value


def text_context(native: str, text: str, events: Container[str]) -> Decision:
    """What a reply that is plain text means: context for the model at these events, else nothing."""
    return Decision(context=text or None) if native in events else Decision()


def have_type(fields: Object, expected_type: type, *keys: str) -> bool:
    """Whether each of these fields is missing, null or of that type."""
    return all(fields.get(key) is None or type(fields[key]) is expected_type for key in keys)


# A refusal has one channel only: what else the model shall know follows the reason there.
_CONTEXT_SEPARATOR = "\n\nContext: "


def exit_code_denial(decision: Decision) -> Reply:
    """Deny by exit code 2; with a default reason if there is none: an empty stderr would let the action pass."""
    context_text = "" if decision.context is None else _CONTEXT_SEPARATOR + decision.context
    return Reply(stderr=(decision.reason or DEFAULT_REASON) + context_text, code=DENY_EXIT_CODE)


def parse_denial(text: str) -> Decision:
    """Parse the stderr text of a denial: reason and context."""
    reason, _, context = text.strip().partition(_CONTEXT_SEPARATOR)
    return Decision(outcome="deny", reason=None if reason in {"", DEFAULT_REASON} else reason, context=context or None)
