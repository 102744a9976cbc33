"""Hook registry of the kernel: modules and functions that observe events, and modules that decide on capabilities."""

from collections.abc import Callable
from functools import partial

from hookonce.model import Object
from hookonce.modules.kernel.events import EventBus, EventEmitter, EventIds, Observer
from hookonce.modules.kernel.invocation import DELIVERY_KEY, POLICY_EVENT, Invoker
from hookonce.modules.kernel.mounts import MountTable
from hookonce.modules.kernel.sessions import SessionTable
from hookonce.modules.protocol.capabilities import CapabilityRequest, CapabilityVerdict
from hookonce.modules.protocol.messages import Fault

ALL_EVENTS = "*"
ADVISED_PRIORITIES = range(10, 91)  # priorities that hooks are advised to have; 0 is the default
ACK_TIMEOUT_S = 5.0  # for a hook to acknowledge an event
_VERDICTS: dict[str, CapabilityVerdict] = {"grant": "grant", "allow": "grant", "deny": "deny"}


class HookRegistry:
    """Registry of hooks."""

    def __init__(self, emitter: EventEmitter, mounts: MountTable, sessions: SessionTable, invoker: Invoker) -> None:
        self._emitter, self._mounts, self._sessions, self._invoker = emitter, mounts, sessions, invoker

    def register(self, bus: EventBus, event: str, endpoint: str | Observer, priority: int) -> Callable[[], None]:
        """Register a mounted module or a function for an event; returns what unregisters it."""
        accepts = partial(_accepts, event)
        if not isinstance(endpoint, str):
            if not callable(endpoint):
                raise Fault("bad_request", "a hook is a module that is mounted, by its name, or a function")
            return bus.observe(endpoint_name(endpoint), endpoint, accepts, priority=priority)
        self._mounts.find_descriptor(endpoint)
        end_observer = bus.observe(endpoint, partial(self._observe, endpoint), accepts, priority=priority)
        policy_entry = (endpoint, partial(self._decide, endpoint))
        if event in {POLICY_EVENT, ALL_EVENTS}:
            self._invoker.hook_policies[id(policy_entry)] = policy_entry

        def unregister() -> None:
            self._invoker.hook_policies.pop(id(policy_entry), None)
            end_observer()

        return unregister

    def _observe(self, endpoint: str, event: Object) -> None:
        session_id = event.get("session_id")
        known_id = session_id if session_id in self._sessions.list_ids() else None
        response = self._deliver(endpoint, event, EventIds(session_id=known_id, request_id=event.get("request_id")))
        if not response["ok"]:
            raise Fault(response["error"]["code"], response["error"]["message"])

    def _decide(self, endpoint: str, request: CapabilityRequest) -> CapabilityVerdict | None:
        ids, data = EventIds(session_id=request.session_id), {"capability": request.capability, "op": request.op}
        event = self._emitter.build_event(POLICY_EVENT, data, ids, module=request.module, status="asked")
        response = self._deliver(endpoint, event, ids)
        if not response["ok"]:
            return "deny"
        result = response["result"]
        return _VERDICTS.get(str(result.get("decision"))) if type(result) is dict else None

    def _deliver(self, endpoint: str, event: Object, ids: EventIds) -> Object:
        delivery = {DELIVERY_KEY: event["id"]}
        return self._invoker.invoke(endpoint, "on_event", {"event": event}, ids, ACK_TIMEOUT_S, **delivery)


def endpoint_name(endpoint: str | Observer) -> str:
    """The name of a hook."""
    return endpoint if isinstance(endpoint, str) else getattr(endpoint, "__name__", "function")


def priority_advice(priority: int) -> Object:
    """A lint field for a priority outside of the advised range."""
    if not priority or type(priority) is not int or priority in ADVISED_PRIORITIES:
        return {}
    return {"lint": f"a priority of {ADVISED_PRIORITIES[0]} to {ADVISED_PRIORITIES[-1]} is advised"}


def _accepts(event: str, document: Object) -> bool:
    """Whether a document is of a hook's event; never those that say how hooks were invoked."""
    return event in {ALL_EVENTS, document["event"]} and DELIVERY_KEY not in (document.get("data") or {})
