"""Hook replies as one JSON object on stdout, or as exit code 2 with the reason on stderr."""

from hookonce.model import Json, Object, Reply
from hookonce.texts import dump, load

DEFAULT_REASON = "a hook refuses this and gives no reason"  # where an agent needs some text


def json_reply(fields: Object) -> Reply:
    """Reply with the fields that are not None as one line of JSON."""
    return Reply(stdout=dump({key: value for key, value in fields.items() if value is not None}).decode())


def parse_object(text: str) -> Object | None:
    """Parse a text that is exactly one JSON object; None for anything else, also for two objects."""
    try:
        value: Json = load(text.strip())
    except (ValueError, RecursionError):
        return None
    return value if type(value) is dict else None


def have_type(fields: Object, expected_type: type, *keys: str) -> bool:
    """Whether each of these fields is missing, null or of that type."""
    return all(fields.get(key) is None or type(fields[key]) is expected_type for key in keys)
