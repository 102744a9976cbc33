"""Session table of the kernel: the plan, the parent and the context of each session."""

from collections.abc import Callable
from threading import Lock

from msgspec import Struct, field
from msgspec.json import encode

from hookonce.model import Json, Object
from hookonce.modules.protocol.messages import Fault, SessionPlan
from hookonce.modules.protocol.validation import copy_json


class KernelSession(Struct, kw_only=True):
    """One session; the context consists of fragments with a key each, the last set stands last."""

    plan: SessionPlan
    parent: str | None = None
    context: Object = field(default_factory=dict)


class SessionTable:
    """All sessions that have not ended, by ids that `mint` makes; no caller sees one half changed."""

    def __init__(self, mint: Callable[[], str]) -> None:
        self._mint, self._sessions, self._lock = mint, dict[str, KernelSession](), Lock()

    def create(self, plan: SessionPlan) -> str:
        """Create a session; its id."""
        with self._lock:
            return self._add(KernelSession(plan=plan))

    def fork(self, parent: str) -> str:
        """Create a session with a copy of another one's plan and context; its id."""
        with self._lock:
            origin = self._get(parent)
            context = copy_json(origin.context, "a context")
            return self._add(KernelSession(plan=origin.plan, parent=parent, context=context))

    def _add(self, session: KernelSession) -> str:
        self._sessions[session_id := self._mint()] = session
        return session_id

    def end(self, name: str) -> None:
        """End a session; its context is gone with it."""
        with self._lock:
            self._get(name)
            del self._sessions[name]

    def require(self, name: str) -> None:
        """Raise bad_request for a session that does not exist."""
        with self._lock:
            self._get(name)

    def list_ids(self) -> list[str]:
        """The ids of the sessions that have not ended."""
        with self._lock:
            return list(self._sessions)

    def copy_context(self, name: str) -> Object:
        """A copy of a session's context."""
        with self._lock:
            context: Object = copy_json(self._get(name).context, "a context")
        return context

    def set_fragment(self, name: str, key: str, value: Json) -> None:
        """Set a fragment of a session's context; None takes it away."""
        value = copy_json(value, "a fragment")
        with self._lock:
            context = self._get(name).context
            context.pop(key, None)
            if value is not None:
                context[key] = value

    def compact(self, name: str, snapshot: Object, replacement: Object) -> int:
        """Replace a context by its compacted form, but what was set since; by how many bytes it has changed."""
        with self._lock:
            session = self._get(name)
            old = session.context
            newer = {key: value for key, value in old.items() if key not in snapshot or snapshot[key] != value}
            gone_keys = snapshot.keys() - old.keys()
            context = {key: value for key, value in replacement.items() if key not in gone_keys}
            session.context = copy_json(context, "a context") | newer
            return len(encode(session.context)) - len(encode(old))

    def _get(self, name: str) -> KernelSession:
        session = self._sessions.get(name) if type(name) is str else None
        if session is None:
            raise Fault("bad_request", f"there is no session {name}, or it has ended")
        return session


def newest_fragments(context: Object, limit: int) -> Object:
    """The last set fragments that fit into so many bytes together."""
    fragments: Object = {}
    for key, value in reversed(context.items()):
        if len(encode({key: value} | fragments)) > limit:
            break
        fragments = {key: value} | fragments
    return fragments
