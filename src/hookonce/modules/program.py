"""The command line of a module that is written in Python."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.json import encode
from msgspec.json import format as pretty

from hookonce.errors import UsageError
from hookonce.model import Object
from hookonce.modules.protocol import DEFAULT_TIMEOUT_S

if TYPE_CHECKING:
    from hookonce.modules.own import Module

_EX_USAGE = 64


def run_command_line(module: "Module", argv: Sequence[str]) -> None:
    """Run a module's command line: print its descriptor, or serve it until the input ends."""
    options = _build_parser(module.name).parse_args(argv)
    if options.descriptor:
        sys.stdout.buffer.write(pretty(encode(module.descriptor(_transport_document(options))), indent=2) + b"\n")
        return
    with suppress(KeyboardInterrupt):
        try:
            _serve_module(module, options)
        except UsageError as problem:
            sys.stderr.write(f"{problem}\n")
            sys.exit(_EX_USAGE)


def _serve_module(module: "Module", options: Namespace) -> None:
    if options.http is None:
        from hookonce.modules.serve_stdio import serve_stdio

        serve_stdio(module, deadline=options.deadline)
        return
    from hookonce.modules.serve_http import ModuleHttpServer

    token = read_token(options.token_env)
    with ModuleHttpServer(module, options.http, host=options.host, token=token, deadline=options.deadline) as server:
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


def _transport_document(options: Namespace) -> Object:
    if options.http is None:
        return {"type": "stdio", "command": [sys.executable, str(Path(sys.argv[0]).resolve())]}
    transport: Object = {"type": "http", "url": f"http://{options.host}:{options.http}"}
    return transport | ({"token_env": options.token_env} if options.token_env else {})


def _build_parser(name: str) -> ArgumentParser:
    parser = ArgumentParser(description=f"{name}: a module. Without --http it speaks JSON lines on stdin and stdout.")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve over HTTP instead; 0 takes any free port")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen; beyond this machine only with a token")
    parser.add_argument("--token-env", metavar="NAME", help="the environment variable with the token that callers need")
    parser.add_argument("--deadline", type=float, default=DEFAULT_TIMEOUT_S, metavar="S", help="answer timeout after S seconds")
    parser.add_argument("--descriptor", action="store_true", help="print the Module Descriptor v1 and leave")
    return parser
