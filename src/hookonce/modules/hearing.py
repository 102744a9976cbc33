"""Hooks of a kernel: modules and functions that hear of events, and modules that are asked for capabilities."""

from collections.abc import Callable

from msgspec.structs import replace

from hookonce.model import Object
from hookonce.modules.bus import Bus, Observer
from hookonce.modules.gate import Policy, Verdict, Wish
from hookonce.modules.happening import Ids, Teller
from hookonce.modules.invoking import DELIVERY, POLICY, Invoker
from hookonce.modules.mounts import Mounts
from hookonce.modules.protocol import Fault
from hookonce.modules.sessions import Sessions

EVERYTHING = "*"
ADVISED = range(10, 91)  # priorities that hooks are advised to have; 0 is the default
ACK = 5.0  # seconds in which a hook says that it has heard
_VERDICTS: dict[str, Verdict] = {"grant": "grant", "allow": "grant", "deny": "deny"}


class Hearing:
    """Everybody who hears of events."""

    def __init__(self, teller: Teller, mounts: Mounts, sessions: Sessions, invoker: Invoker) -> None:
        """Nobody yet."""
        self._teller, self._mounts, self._sessions, self._invoker = teller, mounts, sessions, invoker

    def add(self, bus: Bus, event: str, endpoint: str | Observer, priority: int) -> Callable[[], None]:
        """Let a mounted module or a function hear of an event; what ends that is given back."""
        if not isinstance(endpoint, str):
            if not callable(endpoint):
                raise Fault("bad_request", "a hook is a module that is mounted, by its name, or a function")
            return bus.observe(name_of(endpoint), endpoint, _about(event), priority=priority)
        self._mounts.named(endpoint)
        end = bus.observe(endpoint, self._hear(endpoint), _about(event), priority=priority)
        asked = (endpoint, self._policy(endpoint))
        if event in {POLICY, EVERYTHING}:
            self._invoker.hooks[id(asked)] = asked

        def leave() -> None:
            self._invoker.hooks.pop(id(asked), None)
            end()

        return leave

    def _hear(self, endpoint: str) -> Observer:
        def hear(event: Object) -> None:
            ids = Ids(session_id=event.get("session_id"), request_id=event.get("request_id"))
            if ids.session_id not in self._sessions.all():
                ids = replace(ids, session_id=None)
            said = self._tell(endpoint, event, ids)
            if not said["ok"]:
                raise Fault(said["error"]["code"], said["error"]["message"])

        return hear

    def _policy(self, endpoint: str) -> Policy:
        def policy(wish: Wish) -> Verdict | None:
            ids, data = Ids(session_id=wish.session_id), {"capability": wish.capability, "op": wish.op}
            event = self._teller.made(POLICY, data, ids, module=wish.module, status="asked")
            said = self._tell(endpoint, event, ids)
            if not said["ok"]:
                return "deny"
            result = said["result"]
            return _VERDICTS.get(str(result.get("decision"))) if type(result) is dict else None

        return policy

    def _tell(self, endpoint: str, event: Object, ids: Ids) -> Object:
        return self._invoker.invoke(endpoint, "on_event", {"event": event}, ids, ACK, **{DELIVERY: event["id"]})


def name_of(endpoint: str | Observer) -> str:
    """What a hook is called."""
    return endpoint if isinstance(endpoint, str) else getattr(endpoint, "__name__", "function")


def advice(priority: int) -> Object:
    """What is to be said about a priority."""
    if not priority or type(priority) is not int or priority in ADVISED:
        return {}
    return {"lint": f"a priority of {ADVISED[0]} to {ADVISED[-1]} is advised"}


def _about(event: str) -> Callable[[Object], bool]:
    """Which events a hook hears of; never of those that tell how hooks were told."""

    def wants(document: Object) -> bool:
        return event in {EVERYTHING, document["event"]} and DELIVERY not in (document.get("data") or {})

    return wants
