"""Invoking: a module is admitted by the gate, asked, and told about, whatever comes of it."""

from collections.abc import Mapping
from time import monotonic

from msgspec.structs import replace

from hookonce.model import Json, Object
from hookonce.modules.client import invoke
from hookonce.modules.descriptor import Descriptor
from hookonce.modules.gate import CapabilityPolicy, decide_capability, capability_requests
from hookonce.modules.happening import EventIds, EventEmitter
from hookonce.modules.links import LinkPool
from hookonce.modules.mounts import MountTable
from hookonce.modules.protocol import ModuleResponse, Fault
from hookonce.modules.sense import JSON_ENCODE_ERRORS, resolve_descriptor, require_timeout, require_text
from hookonce.modules.sessions import SessionTable

POLICY_EVENT, DELIVERY_KEY = "policy:decision", "delivers"


class Invoker:
    """Invokes modules; `hook_policies` are policies that are modules themselves, each with its name."""

    def __init__(
        self, emitter: EventEmitter, mounts: MountTable, sessions: SessionTable, links: LinkPool, policies: Mapping[str, CapabilityPolicy]
    ) -> None:
        """Invoke what is mounted, or described."""
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
        self._emitter.emit(
            "module:invoke",
            {"op": str(op)} | data,
            ids,
            module=str(name),
            status="ok" if response.ok else "error",
            duration_ms=round((monotonic() - start) * 1000),
            error=response.error,
        )
        return response.to_document()

    def _call_module(self, descriptor: Descriptor, op: str, args: Object, ids: EventIds, timeout: float, data: Object) -> ModuleResponse:
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
        """Refuse a module that wants what no policy has granted; every decision is an event.

        Modules that observe events, policies among them, are judged by tables alone: none grants itself anything.
        """
        policies = [*self._policies.items(), *([] if DELIVERY_KEY in data else self.hook_policies.values())]
        denied_capabilities = []
        for request in capability_requests(descriptor, op, ids.session_id):
            decision = decide_capability(request, policies)
            event_data = {"capability": request.capability, "op": op} | data | ({} if decision.by is None else {"by": decision.by})
            status = "granted" if decision.is_granted else "denied"
            self._emitter.emit(POLICY_EVENT, event_data, ids, module=descriptor.name, status=status)
            denied_capabilities += [] if decision.is_granted else [request.capability]
        if denied_capabilities:
            message = f"{descriptor.name} wants {', '.join(denied_capabilities)}, which no policy grants"
            raise Fault("forbidden", message, {"capabilities": denied_capabilities})
