"""Session table of the kernel: the context of each session, fragments with a key each, the last set last."""

from collections.abc import Callable
from threading import Lock

from msgspec.json import encode

from hookonce.model import Json, Object
from hookonce.modules.protocol.messages import Fault
from hookonce.modules.protocol.validation import copy_json


class SessionTable:
    """All sessions that have not ended, by ids that `mint` makes; no caller sees one half changed."""

    def __init__(self, mint: Callable[[], str]) -> None:
        self._mint, self._contexts, self._lock = mint, dict[str, Object](), Lock()

    def create(self, context: Object) -> str:
        """Create a session with a context of its own; its id."""
        with self._lock:
            self._contexts[session_id := self._mint()] = context
        return session_id

    def end(self, name: str) -> None:
        """End a session; its context is gone with it."""
        with self._lock:
            self._get(name)
            del self._contexts[name]

    def require(self, name: str) -> None:
        """Raise bad_request for a session that does not exist."""
        with self._lock:
            self._get(name)

    def list_ids(self) -> list[str]:
        """The ids of the sessions that have not ended."""
        with self._lock:
            return list(self._contexts)

    def copy_context(self, name: str) -> Object:
        """A copy of a session's context."""
        with self._lock:
            context: Object = copy_json(self._get(name), "a context")
        return context

    def set_fragment(self, name: str, key: str, value: Json) -> None:
        """Set a fragment of a session's context; None takes it away."""
        value = copy_json(value, "a fragment")
        with self._lock:
            context = self._get(name)
            context.pop(key, None)
            if value is not None:
                context[key] = value

    def compact(self, name: str, snapshot: Object, replacement: Object) -> int:
        """Replace a context by its compacted form, but what was set since; by how many bytes it has changed."""
        with self._lock:
            old = self._get(name)
            newer = {key: value for key, value in old.items() if key not in snapshot or snapshot[key] != value}
            gone_keys = snapshot.keys() - old.keys()
            context = {key: value for key, value in replacement.items() if key not in gone_keys}
            self._contexts[name] = copy_json(context, "a context") | newer
            return len(encode(self._contexts[name])) - len(encode(old))

    def _get(self, name: str) -> Object:
        context = self._contexts.get(name) if type(name) is str else None
        if context is None:
            raise Fault("bad_request", f"there is no session {name}, or it has ended")
        return context


def newest_fragments(context: Object, limit: int) -> Object:
    """The last set fragments that fit into so many bytes together."""
    fragments: Object = {}
    for key, value in reversed(context.items()):
        if len(encode({key: value} | fragments)) > limit:
            break
        fragments = {key: value} | fragments
    return fragments
