"""The kernel: sessions, mounts, hooks, context and invocations, each of them told as an event.

Every call may be made by any thread. One that fails raises a Fault, which holds an Error v1, and is told as an event
too; `invoke_module` gives the error back as the module would have.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from time import time

from msgspec.structs import replace

from hookonce import ids as minting
from hookonce.model import Json, Object
from hookonce.modules.bus import Bus, Observer, Post
from hookonce.modules.client import connect
from hookonce.modules.closing import Closing
from hookonce.modules.descriptor import Descriptor
from hookonce.modules.gate import Policy
from hookonce.modules.happening import Ids, Teller
from hookonce.modules.hearing import Hearing, advice, name_of
from hookonce.modules.invoking import Invoker
from hookonce.modules.links import Connect, Links
from hookonce.modules.mounts import Mounts
from hookonce.modules.protocol import TIMEOUT, Fault, plan_of
from hookonce.modules.sense import number, plain, text
from hookonce.modules.sessions import Sessions, newest

_CONTEXT = "/mnt/context"


class Kernel(Closing):
    """One kernel, with everything that is mounted in it."""

    def __init__(
        self,
        policies: Mapping[str, Policy] | None = None,
        *,
        log: Observer | None = None,
        timeout: float = TIMEOUT,
        connecting: Connect = connect,
        mint: Callable[[], str] = minting.fresh,
        clock: Callable[[], float] = time,
    ) -> None:
        """Nothing is mounted. Without policies nothing is granted; `mint` and `clock` make reruns comparable."""
        self.bus, self.mounts, self._links = Bus(), Mounts(), Links(connecting)
        self._sessions, self._teller, self._timeout = Sessions(mint), Teller(self.bus, mint, clock), timeout
        self._invoker = Invoker(self._teller, self.mounts, self._sessions, self._links, policies or {})
        self._hearing = Hearing(self._teller, self.mounts, self._sessions, self._invoker)
        if log is not None:
            self.bus.observe("log", log, behind=0)

    def close(self) -> list[Post]:
        """End every session, every observer and every module that was started; how observing went."""
        for name in self._sessions.all():
            with suppress(Fault):  # somebody else has ended it meanwhile
                self.session_end(name)
        posts = self.bus.close()
        self._links.close()
        return posts

    def session_create(self, plan: Object) -> str:
        """Begin a session for a plan; its id."""
        with self._teller.told("session:start", {"plan": plan}) as call:
            session = self._sessions.begin(plan_of(plain(plan, "a plan")))
            call.ids = replace(call.ids, session_id=session.id)
        return session.id

    def session_fork(self, parent: str) -> str:
        """Begin a session that goes on from another one; its id."""
        with self._teller.told("session:fork", {"parent": parent}) as call:
            session = self._sessions.fork(parent)
            call.ids = replace(call.ids, session_id=session.id)
        return session.id

    def session_end(self, session_id: str) -> None:
        """End a session."""
        with self._teller.told("session:end", None, session_id=session_id):
            self._sessions.end(session_id)

    def mount(self, path: str, descriptor: Descriptor | Object) -> None:
        """Put a module at a path, where there may be others; the document of a descriptor does as well."""
        name = descriptor.get("name") if isinstance(descriptor, dict) else getattr(descriptor, "name", None)
        with self._teller.told("mount:add", {"path": path, "module": name}):
            self.mounts.add(path, descriptor)

    def unmount(self, path: str, name: str | None = None) -> None:
        """Take a module from a path, or all that are there."""
        with self._teller.told("mount:remove", {"path": path} | ({} if name is None else {"module": name})):
            for gone in self.mounts.remove(path, name):
                if not self.mounts.holds(gone.descriptor):
                    self._links.close(gone.descriptor)

    def invoke_module(
        self,
        module: Descriptor | Object | str,
        op: str,
        args: Object | None = None,
        *,
        session_id: str | None = None,
        timeout: float | None = None,
    ) -> Object:
        """What an operation of a module comes to: ok with a result, or an error."""
        ids = Ids(session_id=session_id, request_id=self._teller.mint())
        given = {} if args is None else args
        return self._invoker.invoke(module, op, given, ids, self._timeout if timeout is None else timeout)

    def register_hook(self, event: str, endpoint: str | Observer, priority: int = 0) -> Callable[[], None]:
        """Let a mounted module (its name), or a function, hear of an event (`*`: of all); what ends that is given back.

        A module is invoked with `on_event`. One that hears of `policy:decision` is also asked before a capability is
        granted, and may answer with `decision: grant` or `deny`.
        """
        data: Object = {"event": event, "endpoint": name_of(endpoint), "priority": priority}
        with self._teller.told("hook:register", data | advice(priority)):
            named, place = text(event, "an event's name"), number(priority, "a priority")
            return self._hearing.add(self.bus, named, endpoint, place)

    def observe(self, observer: Observer, name: str = "observer") -> Callable[[], None]:
        """Let a function see every event, without its being a hook; what ends that is given back."""
        return self.bus.observe(name, observer)

    def emit(
        self,
        event: str,
        data: Object | None = None,
        *,
        session_id: str | None = None,
        request_id: str | None = None,
        span_id: str | None = None,
    ) -> str:
        """Tell everybody that something happened; its id."""
        text(event, "an event's name")
        if data is not None and type(data) is not dict:
            raise Fault("bad_request", "the data of an event is an object")
        ids = Ids(session_id=session_id, request_id=request_id or self._teller.mint(), span_id=span_id)
        return str(self._teller.tell(event, data, ids)["id"])

    def context_get(self, session_id: str) -> Object:
        """The context of a session: its fragments by their keys."""
        with self._teller.told("context:get", None, session_id=session_id):
            return self._sessions.context(session_id)

    def context_set_fragment(self, key: str, value: Json, *, session_id: str) -> None:
        """Set a fragment of a session's context; None takes it away."""
        with self._teller.told("context:set", {"key": key}, session_id=session_id):
            self._sessions.put(session_id, text(key, "a key"), value)

    def context_compact(self, limit: int, *, session_id: str) -> Object:
        """Make a context smaller: by the context module that is mounted, else by leaving out its oldest fragments."""
        with self._teller.told("context:pre_compact", {"limit": limit}, session_id=session_id):
            number(limit, "a limit")
            seen = self._sessions.context(session_id)
        data: Object = {"limit": limit}
        kept = self._compacted(seen, limit, session_id)
        with self._teller.told("context:post_compact", data, session_id=session_id):
            data["delta_bytes"] = self._sessions.compact(session_id, seen, kept)
            return self._sessions.context(session_id)

    def _compacted(self, seen: Object, limit: int, session_id: str) -> Object:
        for mount in self.mounts.at(_CONTEXT):
            args = {"context": seen, "limit": limit}
            said = self.invoke_module(mount.descriptor, "compact", args, session_id=session_id)
            if said["ok"] and type(said["result"]) is dict:
                return dict(said["result"])
        return newest(seen, limit)
