"""Invocation of modules by the kernel: capability check, pooled link, response, event."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Lock
from time import monotonic

from msgspec.structs import replace

from hookonce.model import Json, Object
from hookonce.modules.host.client import Link, connect, invoke
from hookonce.modules.kernel.events import EventEmitter, EventIds
from hookonce.modules.kernel.mounts import MountTable
from hookonce.modules.kernel.sessions import SessionTable
from hookonce.modules.protocol.capabilities import CapabilityPolicy, capability_requests, decide_capability
from hookonce.modules.protocol.descriptor import Descriptor, descriptor_key
from hookonce.modules.protocol.messages import Fault, ModuleResponse
from hookonce.modules.protocol.validation import JSON_ENCODE_ERRORS, require_text, require_timeout, resolve_descriptor

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
