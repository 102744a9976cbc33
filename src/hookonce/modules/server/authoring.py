"""Authoring of modules in Python: the `Module` class, its operations as functions, and its command line."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from msgspec.json import encode
from msgspec.json import format as pretty

from hookonce.errors import UsageError
from hookonce.model import Json, Object
from hookonce.modules.protocol import messages
from hookonce.modules.protocol.descriptor import DEFAULT_VERSION, MODULE_KINDS, OperationSchema, build_description
from hookonce.modules.server import operations

Function = TypeVar("Function", bound=Callable[..., Any])
ON_EVENT = "on_event"
_EX_USAGE = 64


class Module:
    """A module: what it is, and its operations; in process it is a link to itself."""

    def __init__(
        self, *, name: str, kind: str, capabilities: Sequence[str] = (), version: str = DEFAULT_VERSION
    ) -> None:
        """Without operations; give it some with `op`, then let it `run`."""
        if kind not in MODULE_KINDS:
            raise UsageError(f"{kind} is no kind of module; there are {', '.join(MODULE_KINDS)}")
        self.name, self.kind, self.capabilities, self.version = name, kind, list(capabilities), version
        self.ops: dict[str, operations.OperationLike] = {}

    def op(self, name: str) -> Callable[[Function], Function]:
        """Decorator that makes a function the operation of that name."""

        def register(function: Function) -> Function:
            if name in messages.VERBS:
                raise UsageError(f"{name} is reserved by the protocol; choose another name for the operation")
            self.ops[name] = operations.OperationFunction(name, function)
            return function

        return register

    def on_event(self, function: Function) -> Function:
        """Decorator of the event handler: events are acknowledged at once, and handled afterwards, one by one."""
        self.ops[ON_EVENT] = operations.JobQueue(operations.OperationFunction(ON_EVENT, function))
        return function

    def describe(self) -> Object:
        """The six fields that describe a module; inputs are those of an invocation."""
        schemas = {name: _operation_schema(operation) for name, operation in self.ops.items()}
        return build_description(self.name, self.version, self.kind, self.capabilities, schemas)

    def descriptor(self, transport: Object) -> Object:
        """The Module Descriptor v1 of this module, reached in that way."""
        document = {"name": self.name, "kind": self.kind, "transport": transport}
        return document | {"capabilities": self.capabilities, "version": self.version}

    def answer(self, document: Json) -> Object:
        """Handle a request document, of any transport; whatever came, there is a response, with the same id."""
        try:
            request = messages.parse_request(document)
        except messages.Fault as fault:
            return operations.with_id(fault.document, messages.request_id_of(document))
        operation = self.ops.get(request.op)
        if request.op == "health":
            response = dict(messages.HEALTH_OK)
        elif request.op == "describe":
            response = self.describe()
        elif operation is None:
            response = messages.build_error(
                "unsupported_op", f"there is no operation {request.op}", ops=sorted(self.ops)
            )
        else:
            response = operations.run_operation(operation, request)
        return operations.with_id(response, request.id)

    def ask(self, request: messages.Request, timeout: float = messages.DEFAULT_TIMEOUT_S) -> Object:
        """Handle a request in this process."""
        return operations.handle_within(self.answer, messages.request_document(request), timeout)

    def close(self) -> None:
        """Nothing is open: a module is a link like the others."""

    def run(self, argv: Sequence[str] | None = None) -> None:
        """Serve on stdio, or as the command line says, until the input ends."""
        options = _build_parser(self.name).parse_args(argv)
        if options.descriptor:
            command = [sys.executable, str(Path(sys.argv[0]).resolve())]
            document = self.descriptor(transport_document(options, command))
            sys.stdout.buffer.write(pretty(encode(document), indent=2) + b"\n")
            return
        with suppress(KeyboardInterrupt):
            try:
                _serve_module(self, options)
            except UsageError as problem:
                sys.stderr.write(f"{problem}\n")
                sys.exit(_EX_USAGE)


def _operation_schema(operation: operations.OperationLike) -> OperationSchema:
    args_schema, result_schema = operation.schemas()
    return OperationSchema(args=args_schema, result=result_schema, description=operation.description)


module = Module  # authors of modules begin with `m = module(…)`


def _serve_module(module: Module, options: Namespace) -> None:
    if options.http is None:
        from hookonce.modules.server.stdio_server import serve_stdio

        serve_stdio(module.answer, options.deadline)
        return
    from hookonce.modules.server.http_server import ModuleHttpServer

    answer, token = module.answer, read_token(options.token_env)
    with ModuleHttpServer(answer, options.http, host=options.host, token=token, deadline=options.deadline) as server:
        sys.stderr.write(f"{module.name} listens at {server.url}\n")
        sys.stderr.flush()
        server.serve_forever()


def read_token(name: str | None) -> str | None:
    """The token in an environment variable; one that is named has to be set."""
    if name is None:
        return None
    if not (token := os.environ.get(name)):
        raise UsageError(f"the variable {name} is to hold the token, and is not set")
    return token


def transport_document(options: Namespace, command: list[str]) -> Object:
    """The transport that a command line asks for: this program on stdio, or HTTP."""
    if options.http is None:
        return {"type": "stdio", "command": command}
    transport: Object = {"type": "http", "url": f"http://{options.host or '127.0.0.1'}:{options.http}"}
    return transport | ({"token_env": options.token_env} if options.token_env else {})


def _build_parser(name: str) -> ArgumentParser:
    parser = ArgumentParser(description=f"{name}: a module. Without --http it speaks JSON lines on stdin and stdout.")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve over HTTP instead; 0 takes any free port")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen; beyond this machine only with a token")
    parser.add_argument("--token-env", metavar="NAME", help="the environment variable with the token that callers need")
    default = messages.DEFAULT_TIMEOUT_S
    parser.add_argument("--deadline", type=float, default=default, metavar="S", help="answer timeout after S seconds")
    parser.add_argument("--descriptor", action="store_true", help="print the Module Descriptor v1 and leave")
    return parser
