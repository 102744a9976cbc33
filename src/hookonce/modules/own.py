"""A module of one's own, written in Python: operations are functions, and it can be reached in every way there is."""

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hookonce.errors import UsageError
from hookonce.model import Json, Object
from hookonce.modules.descriptor_rules import KINDS, UNVERSIONED
from hookonce.modules.operation import Operation
from hookonce.modules.protocol import TIMEOUT, VERBS, Request, spelled
from hookonce.modules.server import Doing, answer, answer_within

Function = TypeVar("Function", bound=Callable[..., Any])
ON_EVENT = "on_event"


class Module:
    """What a module is and can do; in process it is a link to itself."""

    def __init__(self, *, name: str, kind: str, capabilities: Sequence[str], version: str) -> None:
        if kind not in KINDS:
            raise UsageError(f"{kind} is no kind of module; there are {', '.join(KINDS)}")
        self.name, self.kind, self.capabilities, self.version = name, kind, list(capabilities), version
        self.ops: dict[str, Doing] = {}

    def op(self, name: str) -> Callable[[Function], Function]:
        """Make a function the operation of that name."""

        def keep(function: Function) -> Function:
            if name in VERBS:
                raise UsageError(f"{name} is a word of the protocol itself; call the operation something else")
            self.ops[name] = Operation(name, function)
            return function

        return keep

    def on_event(self, function: Function) -> Function:
        """Let a function see every event: it is acknowledged at once, and seen afterwards, one by one."""
        from hookonce.modules.later import Later

        self.ops[ON_EVENT] = Later(Operation(ON_EVENT, function))
        return function

    def described(self) -> Object:
        """The six fields that describe a module; inputs are those of an invocation."""
        schemas = {name: operation.schemas() for name, operation in self.ops.items()}
        cases = [
            {"if": {"properties": {"op": {"const": name}}}, "then": {"properties": {"args": takes}}}
            for name, (takes, _) in schemas.items()
        ]
        inputs: Object = {"type": "object", "required": ["op"], "properties": {"op": {"enum": list(schemas)}}}
        return {
            "name": self.name,
            "version": self.version,
            "kind": self.kind,
            "capabilities": self.capabilities,
            "inputs": inputs | ({"allOf": cases} if cases else {}),
            "outputs": {"anyOf": [gives for _, gives in schemas.values()]} if schemas else {},
        }

    def descriptor(self, transport: Object) -> Object:
        """The Module Descriptor v1 of this module, reached in that way."""
        told = {"name": self.name, "kind": self.kind, "transport": transport}
        return told | {"capabilities": self.capabilities, "version": self.version}

    def answer(self, document: Json) -> Object:
        """The document that answers a document, on every transport."""
        return answer(self, document)

    def ask(self, request: Request, timeout: float = TIMEOUT) -> Object:
        """Answer a request in this process."""
        return answer_within(self, spelled(request), timeout)

    def close(self) -> None:
        """Nothing is open: this makes a module a link like the others."""

    def run(self, argv: Sequence[str] | None = None) -> None:
        """Serve on stdio, or where the command line says, until nobody wants us any more."""
        from hookonce.modules.program import run

        run(self, sys.argv[1:] if argv is None else argv)


def module(*, name: str, kind: str, capabilities: Sequence[str] = (), version: str = UNVERSIONED) -> Module:
    """A new module; give it operations with `op`, then let it `run`."""
    return Module(name=name, kind=kind, capabilities=capabilities, version=version)
