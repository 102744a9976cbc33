"""Sessions of a kernel: what they are for, where they come from, and the context that each of them has."""

from collections.abc import Callable
from threading import Lock

from msgspec import Struct, field
from msgspec.json import encode

from hookonce.model import Json, Object
from hookonce.modules.protocol import Fault, Plan
from hookonce.modules.sense import plain


class Session(Struct, kw_only=True):
    """One session; the context is made of fragments with a key each, what was set last stands last."""

    id: str
    plan: Plan
    parent: str | None = None
    context: Object = field(default_factory=dict)


class Sessions:
    """All sessions that have not ended; nobody sees one half changed."""

    def __init__(self, mint: Callable[[], str]) -> None:
        """None yet; `mint` makes their ids."""
        self._mint, self._known, self._lock = mint, dict[str, Session](), Lock()

    def begin(self, plan: Plan) -> Session:
        """A new session."""
        with self._lock:
            return self._put(Session(id=self._mint(), plan=plan))

    def fork(self, parent: str) -> Session:
        """A session that goes on from where another one stands."""
        with self._lock:
            above = self._live(parent)
            return self._put(Session(id=self._mint(), plan=above.plan, parent=parent, context=_copy(above.context)))

    def _put(self, session: Session) -> Session:
        self._known[session.id] = session
        return session

    def end(self, name: str) -> None:
        """End a session; its context is gone with it."""
        with self._lock:
            self._live(name)
            del self._known[name]

    def check(self, name: str) -> None:
        """Refuse a session that is not there."""
        with self._lock:
            self._live(name)

    def all(self) -> list[str]:
        """The sessions that have not ended."""
        with self._lock:
            return list(self._known)

    def context(self, name: str) -> Object:
        """A copy of a session's context."""
        with self._lock:
            return _copy(self._live(name).context)

    def put(self, name: str, key: str, value: Json) -> None:
        """Set a fragment of a session's context; None takes it away."""
        value = plain(value, "a fragment")
        with self._lock:
            context = self._live(name).context
            context.pop(key, None)
            if value is not None:
                context[key] = value

    def compact(self, name: str, seen: Object, kept: Object) -> int:
        """Put what somebody kept of a context in its place; by how many bytes it has changed.

        What was set while that one was thinking stays.
        """
        with self._lock:
            session = self._live(name)
            before = session.context
            newer = {key: value for key, value in before.items() if key not in seen or seen[key] != value}
            gone = seen.keys() - before.keys()
            session.context = _copy({key: value for key, value in kept.items() if key not in gone}) | newer
            return len(encode(session.context)) - len(encode(before))

    def _live(self, name: str) -> Session:
        session = self._known.get(name) if type(name) is str else None
        if session is None:
            raise Fault("bad_request", f"there is no session {name}, or it has ended")
        return session


def _copy(context: Object) -> Object:
    """A context that shares nothing with another one."""
    copy: Object = plain(context, "a context")
    return copy


def newest(context: Object, limit: int) -> Object:
    """The fragments that were set last and fit into so many bytes together."""
    kept: Object = {}
    for key, value in reversed(context.items()):
        if len(encode({key: value} | kept)) > limit:
            break
        kept = {key: value} | kept
    return kept
