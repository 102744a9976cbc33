"""Invoking: a module is admitted by the gate, asked, and told about, whatever comes of it."""

from collections.abc import Mapping
from time import monotonic

from msgspec.structs import replace

from hookonce.model import Json, Object
from hookonce.modules.client import invoke
from hookonce.modules.descriptor import Descriptor
from hookonce.modules.gate import Policy, judged, wishes
from hookonce.modules.happening import Ids, Teller
from hookonce.modules.links import Links
from hookonce.modules.mounts import Mounts
from hookonce.modules.protocol import Answer, Fault
from hookonce.modules.sense import UNWRITABLE, described, seconds, text
from hookonce.modules.sessions import Sessions

POLICY, DELIVERY = "policy:decision", "delivers"


class Invoker:
    """One who invokes modules; `hooks` are policies that are modules themselves, each with its name."""

    def __init__(
        self, teller: Teller, mounts: Mounts, sessions: Sessions, links: Links, policies: Mapping[str, Policy]
    ) -> None:
        """Invoke what is mounted, or described."""
        self._teller, self._mounts, self._sessions, self._links = teller, mounts, sessions, links
        self._policies = dict(policies)
        self.hooks: dict[int, tuple[str, Policy]] = {}

    def invoke(
        self, module: Descriptor | Object | str, op: str, args: Object, ids: Ids, timeout: float, **data: Json
    ) -> Object:
        """What an operation comes to: ok with a result, or an error; `data` is what else the event of it tells."""
        ids, began = replace(ids, span_id=self._teller.mint()), monotonic()
        name = module
        try:
            descriptor = self._mounts.named(module) if isinstance(module, str) else described(module)
            name = descriptor.name
            answer = self._answer(descriptor, text(op, "op"), args, ids, seconds(timeout), data)
        except Fault as fault:
            answer = Answer(ok=False, error=fault.error)
        self._teller.tell(
            "module:invoke",
            {"op": str(op)} | data,
            ids,
            module=str(name),
            status="ok" if answer.ok else "error",
            duration_ms=round((monotonic() - began) * 1000),
            error=answer.error,
        )
        return answer.document()

    def _answer(self, descriptor: Descriptor, op: str, args: Object, ids: Ids, timeout: float, data: Object) -> Answer:
        if ids.session_id is not None:
            self._sessions.check(ids.session_id)
        if type(args) is not dict:
            raise Fault("bad_request", "args is an object")
        self._admit(descriptor, op, ids, data)
        try:
            return invoke(self._links.to(descriptor), op, args, session_id=ids.session_id, timeout=timeout)
        except UNWRITABLE as problem:
            raise Fault("bad_request", f"args cannot be written as JSON: {problem}") from None

    def _admit(self, descriptor: Descriptor, op: str, ids: Ids, data: Object) -> None:
        """Refuse a module that wants what no policy has granted; every ruling is told.

        Modules that hear of events, policies among them, are judged by tables alone: nobody grants itself anything.
        """
        policies = [*self._policies.items(), *([] if DELIVERY in data else self.hooks.values())]
        denied = []
        for wish in wishes(descriptor, op, ids.session_id):
            ruling = judged(wish, policies)
            told = {"capability": wish.capability, "op": op} | data | ({} if ruling.by is None else {"by": ruling.by})
            status = "granted" if ruling.granted else "denied"
            self._teller.tell(POLICY, told, ids, module=descriptor.name, status=status)
            denied += [] if ruling.granted else [wish.capability]
        if denied:
            said = f"{descriptor.name} wants {', '.join(denied)}, which no policy grants"
            raise Fault("forbidden", said, {"capabilities": denied})
