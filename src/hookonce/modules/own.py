"""Authoring of modules in Python: the `Module` class, its operations as functions, and its command line."""

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hookonce.errors import UsageError
from hookonce.model import Json, Object
from hookonce.modules.descriptor_rules import MODULE_KINDS, DEFAULT_VERSION
from hookonce.modules.operation import Operation
from hookonce.modules.protocol import DEFAULT_TIMEOUT_S, VERBS, Request, request_document
from hookonce.modules.server import OperationLike, handle_request, handle_within

Function = TypeVar("Function", bound=Callable[..., Any])
ON_EVENT = "on_event"


class Module:
    """A module: what it is, and its operations; in process it is a link to itself."""

    def __init__(self, *, name: str, kind: str, capabilities: Sequence[str], version: str) -> None:
        if kind not in MODULE_KINDS:
            raise UsageError(f"{kind} is no kind of module; there are {', '.join(MODULE_KINDS)}")
        self.name, self.kind, self.capabilities, self.version = name, kind, list(capabilities), version
        self.ops: dict[str, OperationLike] = {}

    def op(self, name: str) -> Callable[[Function], Function]:
        """Decorator that makes a function the operation of that name."""

        def register(function: Function) -> Function:
            if name in VERBS:
                raise UsageError(f"{name} is a word of the protocol itself; call the operation something else")
            self.ops[name] = Operation(name, function)
            return function

        return register

    def on_event(self, function: Function) -> Function:
        """Decorator of the event handler: events are acknowledged at once, and handled afterwards, one by one."""
        from hookonce.modules.later import JobQueue

        self.ops[ON_EVENT] = JobQueue(Operation(ON_EVENT, function))
        return function

    def describe(self) -> Object:
        """The six fields that describe a module; inputs are those of an invocation."""
        schemas = {name: operation.schemas() for name, operation in self.ops.items()}
        cases = [
            {"if": {"properties": {"op": {"const": name}}}, "then": {"properties": {"args": args_schema}}}
            for name, (args_schema, _) in schemas.items()
        ]
        inputs: Object = {"type": "object", "required": ["op"], "properties": {"op": {"enum": list(schemas)}}}
        return {
            "name": self.name,
            "version": self.version,
            "kind": self.kind,
            "capabilities": self.capabilities,
            "inputs": inputs | ({"allOf": cases} if cases else {}),
            "outputs": {"anyOf": [result_schema for _, result_schema in schemas.values()]} if schemas else {},
        }

    def descriptor(self, transport: Object) -> Object:
        """The Module Descriptor v1 of this module, reached in that way."""
        document = {"name": self.name, "kind": self.kind, "transport": transport}
        return document | {"capabilities": self.capabilities, "version": self.version}

    def answer(self, document: Json) -> Object:
        """Handle a request document, of any transport."""
        return handle_request(self, document)

    def ask(self, request: Request, timeout: float = DEFAULT_TIMEOUT_S) -> Object:
        """Handle a request in this process."""
        return handle_within(self, request_document(request), timeout)

    def close(self) -> None:
        """Nothing is open: a module is a link like the others."""

    def run(self, argv: Sequence[str] | None = None) -> None:
        """Serve on stdio, or as the command line says, until the input ends."""
        from hookonce.modules.program import run_command_line

        run_command_line(self, sys.argv[1:] if argv is None else argv)


def module(*, name: str, kind: str, capabilities: Sequence[str] = (), version: str = DEFAULT_VERSION) -> Module:
    """A new module; give it operations with `op`, then let it `run`."""
    return Module(name=name, kind=kind, capabilities=capabilities, version=version)
