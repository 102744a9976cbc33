"""Kernel of Amplifier modules: sessions, mounts, hooks, context and invocations, each recorded as an event.

Every call may be made by any thread. One that fails raises a Fault, which holds an Error v1, and is an event
too; `invoke_module` returns the error as the module would have.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from threading import Lock
from time import monotonic, time

from msgspec.structs import replace

from hookonce.base.ids import new_id
from hookonce.model import Json, Object
from hookonce.modules.host.client import Closeable, Link, connect, invoke
from hookonce.modules.kernel.events import EventBus, EventEmitter, EventFilter, EventIds, Observer, ObserverQueue
from hookonce.modules.kernel.mounts import MountTable
from hookonce.modules.kernel.sessions import SessionTable, newest_fragments
from hookonce.modules.protocol.capabilities import (
    CapabilityPolicy,
    CapabilityRequest,
    CapabilityVerdict,
    capability_requests,
    decide_capability,
)
from hookonce.modules.protocol.descriptor import Descriptor, descriptor_key
from hookonce.modules.protocol.messages import DEFAULT_TIMEOUT_S, Fault, ModuleResponse, check_plan
from hookonce.modules.protocol.validation import (
    JSON_ENCODE_ERRORS,
    copy_json,
    require_int,
    require_text,
    require_timeout,
    resolve_descriptor,
)

LinkFactory = Callable[[Descriptor], Link]


class LinkPool:
    """Pool of links: one per module, opened at its first call."""

    def __init__(self, connect_link: LinkFactory = connect) -> None:
        self._connect, self._links, self._lock = connect_link, dict[bytes, Link](), Lock()
        self._is_closed = False

    def get(self, descriptor: Descriptor) -> Link:
        """The link to a module; the same one for every caller."""
        key = descriptor_key(descriptor)
        with self._lock:
            if self._is_closed:
                raise Fault("unreachable", "the kernel is closed")
            link = self._links.get(key)
            if link is None:
                link = self._links[key] = self._connect(descriptor)
            return link

    def close(self, descriptor: Descriptor | None = None) -> None:
        """Close the link to a module, or all of them for good."""
        with self._lock:
            self._is_closed |= descriptor is None
            keys = list(self._links) if descriptor is None else [descriptor_key(descriptor)]
            links = [self._links.pop(key) for key in keys if key in self._links]
        for link in links:
            with suppress(OSError):  # it is gone either way
                link.close()


POLICY_EVENT, DELIVERY_KEY = "policy:decision", "delivers"


class Invoker:
    """Invokes modules; `hook_policies` are policies that are modules themselves, each with its name."""

    def __init__(
        self,
        emitter: EventEmitter,
        mounts: MountTable,
        sessions: SessionTable,
        links: LinkPool,
        policies: Mapping[str, CapabilityPolicy],
    ) -> None:
        self._emitter, self._mounts, self._sessions, self._links = emitter, mounts, sessions, links
        self._policies = dict(policies)
        self.hook_policies: dict[int, tuple[str, CapabilityPolicy]] = {}

    def invoke(
        self, module: Descriptor | Object | str, op: str, args: Object, ids: EventIds, timeout: float, **data: Json
    ) -> Object:
        """Invoke an operation: ok with a result, or an error; `data` are further fields of the event."""
        ids, start = replace(ids, span_id=self._emitter.mint()), monotonic()
        name = module
        try:
            descriptor = self._mounts.find_descriptor(module) if isinstance(module, str) else resolve_descriptor(module)
            name = descriptor.name
            response = self._call_module(descriptor, require_text(op, "op"), args, ids, require_timeout(timeout), data)
        except Fault as fault:
            response = ModuleResponse(ok=False, error=fault.error)
        fields: Object = {"module": str(name), "status": "ok" if response.ok else "error", "error": response.error}
        fields["duration_ms"] = round((monotonic() - start) * 1000)
        self._emitter.emit("module:invoke", {"op": str(op)} | data, ids, **fields)
        return response.to_document()

    def _call_module(
        self, descriptor: Descriptor, op: str, args: Object, ids: EventIds, timeout: float, data: Object
    ) -> ModuleResponse:
        if ids.session_id is not None:
            self._sessions.require(ids.session_id)
        if type(args) is not dict:
            raise Fault("bad_request", "args is an object")
        self._check_capabilities(descriptor, op, ids, data)
        try:
            return invoke(self._links.get(descriptor), op, args, session_id=ids.session_id, timeout=timeout)
        except JSON_ENCODE_ERRORS as problem:
            raise Fault("bad_request", f"args cannot be written as JSON: {problem}") from None

    def _check_capabilities(self, descriptor: Descriptor, op: str, ids: EventIds, data: Object) -> None:
        """Refuse a module that wants what no policy has granted; every decision is an event."""
        # Modules that observe events, policies among them, are judged by tables alone: none grants itself anything.
        policies = [*self._policies.items(), *([] if DELIVERY_KEY in data else self.hook_policies.values())]
        denied_capabilities = []
        for request in capability_requests(descriptor, op, ids.session_id):
            decision = decide_capability(request, policies)
            event_data = {"capability": request.capability, "op": op} | data
            event_data |= {} if decision.by is None else {"by": decision.by}
            status = "granted" if decision.is_granted else "denied"
            self._emitter.emit(POLICY_EVENT, event_data, ids, module=descriptor.name, status=status)
            denied_capabilities += [] if decision.is_granted else [request.capability]
        if denied_capabilities:
            message = f"{descriptor.name} wants {', '.join(denied_capabilities)}, which no policy grants"
            raise Fault("forbidden", message, {"capabilities": denied_capabilities})


_CONTEXT_PATH = "/mnt/context"
_ALL_EVENTS = "*"
_ADVISED_PRIORITIES = range(10, 91)  # priorities that hooks are advised to have; 0 is the default
_ACK_TIMEOUT_S = 5.0  # for a hook to acknowledge an event
_VERDICTS: dict[str, CapabilityVerdict] = {"grant": "grant", "allow": "grant", "deny": "deny"}


class Kernel(Closeable):
    """A kernel with everything that is mounted in it."""

    def __init__(
        self,
        policies: Mapping[str, CapabilityPolicy] | None = None,
        *,
        log: Observer | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
        connect_link: LinkFactory = connect,
        mint: Callable[[], str] = new_id,
        clock: Callable[[], float] = time,
    ) -> None:
        """Nothing is mounted and nothing granted; `mint` (ids) and `clock` (times) make reruns comparable."""
        self.bus, self.mounts, self._links = EventBus(), MountTable(), LinkPool(connect_link)
        self._sessions, self._emitter, self._timeout = SessionTable(mint), EventEmitter(self.bus, mint, clock), timeout
        self._invoker = Invoker(self._emitter, self.mounts, self._sessions, self._links, policies or {})
        if log is not None:
            self.bus.observe("log", log, max_queued=0)

    def close(self) -> list[ObserverQueue]:
        """End every session, observer and module; the observers' queues, with what failed or was dropped."""
        for name in self._sessions.list_ids():
            with suppress(Fault):  # another thread has ended it meanwhile
                self.session_end(name)
        queues = self.bus.close()
        self._links.close()
        return queues

    def session_create(self, plan: Object) -> str:
        """Begin a session for a plan; its id."""
        with self._emitter.emit_after("session:start", {"plan": plan}) as ids:
            check_plan(copy_json(plan, "a plan"))
            ids.session_id = self._sessions.create({})
        return ids.session_id

    def session_fork(self, parent: str) -> str:
        """Begin a session that goes on from another one; its id."""
        with self._emitter.emit_after("session:fork", {"parent": parent}) as ids:
            ids.session_id = self._sessions.create(self._sessions.copy_context(parent))
        return ids.session_id

    def session_end(self, session_id: str) -> None:
        """End a session."""
        with self._emitter.emit_after("session:end", None, session_id=session_id):
            self._sessions.end(session_id)

    def mount(self, path: str, descriptor: Descriptor | Object) -> None:
        """Put a module at a path, where there may be others; the document of a descriptor does as well."""
        name = descriptor.get("name") if isinstance(descriptor, dict) else getattr(descriptor, "name", None)
        with self._emitter.emit_after("mount:add", {"path": path, "module": name}):
            self.mounts.add(path, descriptor)

    def unmount(self, path: str, name: str | None = None) -> None:
        """Take a module from a path, or all that are there."""
        with self._emitter.emit_after("mount:remove", {"path": path} | ({} if name is None else {"module": name})):
            for mount in self.mounts.remove(path, name):
                if all(other.descriptor != mount.descriptor for other in self.mounts.list_mounts()):
                    self._links.close(mount.descriptor)

    def invoke_module(
        self,
        module: Descriptor | Object | str,
        op: str,
        args: Object | None = None,
        *,
        session_id: str | None = None,
        timeout: float | None = None,
    ) -> Object:
        """Invoke an operation of a module: ok with a result, or an error."""
        ids = EventIds(session_id=session_id, request_id=self._emitter.mint())
        arguments = {} if args is None else args
        return self._invoker.invoke(module, op, arguments, ids, self._timeout if timeout is None else timeout)

    def register_hook(self, event: str, endpoint: str | Observer, priority: int = 0) -> Callable[[], None]:
        """Register a mounted module (its name) or a function for an event (`*`: all); returns what unregisters it."""
        name = endpoint if isinstance(endpoint, str) else getattr(endpoint, "__name__", "function")
        data: Object = {"event": event, "endpoint": name, "priority": priority}
        if priority and type(priority) is int and priority not in _ADVISED_PRIORITIES:
            data["lint"] = f"a priority of {_ADVISED_PRIORITIES[0]} to {_ADVISED_PRIORITIES[-1]} is advised"
        with self._emitter.emit_after("hook:register", data):
            accepts = partial(_accepts, require_text(event, "an event's name"))
            require_int(priority, "a priority")
            if isinstance(endpoint, str):
                return self._register_module(event, endpoint, accepts, priority)
            if not callable(endpoint):
                raise Fault("bad_request", "a hook is a module that is mounted, by its name, or a function")
            return self.bus.observe(name, endpoint, accepts, priority=priority)

    def _register_module(self, event: str, name: str, accepts: EventFilter, priority: int) -> Callable[[], None]:
        self.mounts.find_descriptor(name)
        end_observer = self.bus.observe(name, partial(self._notify_hook, name), accepts, priority=priority)
        # Who hears of policy decisions is also asked before one is made, and may answer `decision: grant` or `deny`.
        policy_entry = (name, partial(self._ask_hook, name))
        if event in {POLICY_EVENT, _ALL_EVENTS}:
            self._invoker.hook_policies[id(policy_entry)] = policy_entry

        def unregister() -> None:
            self._invoker.hook_policies.pop(id(policy_entry), None)
            end_observer()

        return unregister

    def _notify_hook(self, endpoint: str, event: Object) -> None:
        session_id = event.get("session_id")
        known_id = session_id if session_id in self._sessions.list_ids() else None
        response = self._deliver(endpoint, event, EventIds(session_id=known_id, request_id=event.get("request_id")))
        if not response["ok"]:
            raise Fault(response["error"]["code"], response["error"]["message"])

    def _ask_hook(self, endpoint: str, request: CapabilityRequest) -> CapabilityVerdict | None:
        ids, data = EventIds(session_id=request.session_id), {"capability": request.capability, "op": request.op}
        event = self._emitter.build_event(POLICY_EVENT, data, ids, module=request.module, status="asked")
        response = self._deliver(endpoint, event, ids)
        if not response["ok"]:
            return "deny"
        result = response["result"]
        return _VERDICTS.get(str(result.get("decision"))) if type(result) is dict else None

    def _deliver(self, endpoint: str, event: Object, ids: EventIds) -> Object:
        delivery = {DELIVERY_KEY: event["id"]}
        return self._invoker.invoke(endpoint, "on_event", {"event": event}, ids, _ACK_TIMEOUT_S, **delivery)

    def observe(self, observer: Observer, name: str = "observer") -> Callable[[], None]:
        """Register a function for every event, without its being a hook; returns what unregisters it."""
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
        """Emit an event; its id."""
        require_text(event, "an event's name")
        if data is not None and type(data) is not dict:
            raise Fault("bad_request", "the data of an event is an object")
        ids = EventIds(session_id=session_id, request_id=request_id or self._emitter.mint(), span_id=span_id)
        return str(self._emitter.emit(event, data, ids)["id"])

    def context_get(self, session_id: str) -> Object:
        """The context of a session: its fragments by their keys."""
        with self._emitter.emit_after("context:get", None, session_id=session_id):
            return self._sessions.copy_context(session_id)

    def context_set_fragment(self, key: str, value: Json, *, session_id: str) -> None:
        """Set a fragment of a session's context; None takes it away."""
        with self._emitter.emit_after("context:set", {"key": key}, session_id=session_id):
            self._sessions.set_fragment(session_id, require_text(key, "a key"), value)

    def context_compact(self, limit: int, *, session_id: str) -> Object:
        """Make a context smaller: by the context module that is mounted, else by leaving out its oldest fragments."""
        with self._emitter.emit_after("context:pre_compact", {"limit": limit}, session_id=session_id):
            require_int(limit, "a limit")
            snapshot = self._sessions.copy_context(session_id)
        data: Object = {"limit": limit}
        replacement = self._compact(snapshot, limit, session_id)
        with self._emitter.emit_after("context:post_compact", data, session_id=session_id):
            data["delta_bytes"] = self._sessions.compact(session_id, snapshot, replacement)
            return self._sessions.copy_context(session_id)

    def _compact(self, snapshot: Object, limit: int, session_id: str) -> Object:
        for mount in self.mounts.list_mounts(_CONTEXT_PATH):
            args = {"context": snapshot, "limit": limit}
            response = self.invoke_module(mount.descriptor, "compact", args, session_id=session_id)
            if response["ok"] and type(response["result"]) is dict:
                return dict(response["result"])
        return newest_fragments(snapshot, limit)


def _accepts(event: str, document: Object) -> bool:
    """Whether a document is of a hook's event; never those that say how hooks were invoked."""
    return event in {_ALL_EVENTS, document["event"]} and DELIVERY_KEY not in (document.get("data") or {})
