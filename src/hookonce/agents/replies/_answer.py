"""An answer that is one JSON object: written on one line, and read as strictly as agents read it."""

from hookonce.model import Json, Object, Reply
from hookonce.texts import dump, load

UNSAID = "a hook refuses this and gives no reason"  # where an agent needs some text


def answer(fields: Object) -> Reply:
    """The fields that are there, as the whole of stdout."""
    return Reply(stdout=dump({key: value for key, value in fields.items() if value is not None}).decode())


def object_in(text: str) -> Object | None:
    """The object that is the whole of a text; None for anything else, also for a second one beside it."""
    try:
        found: Json = load(text.strip())
    except (ValueError, RecursionError):
        return None
    return found if type(found) is dict else None


def are(found: Object, kind: type, *keys: str) -> bool:
    """Whether each of these fields is missing or of that kind."""
    return all(found.get(key) is None or type(found[key]) is kind for key in keys)
