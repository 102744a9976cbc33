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
from hookonce.modules.protocol import TIMEOUT

if TYPE_CHECKING:
    from hookonce.modules.own import Module

_WRONG_USAGE = 64


def run(module: "Module", argv: Sequence[str]) -> None:
    """Do what the command line says: describe the module, or serve it until nobody wants it any more."""
    words = _parser(module.name).parse_args(argv)
    if words.descriptor:
        sys.stdout.buffer.write(pretty(encode(module.descriptor(_transport(words))), indent=2) + b"\n")
        return
    with suppress(KeyboardInterrupt):
        try:
            _serve(module, words)
        except UsageError as problem:
            sys.stderr.write(f"{problem}\n")
            sys.exit(_WRONG_USAGE)


def _serve(module: "Module", words: Namespace) -> None:
    if words.http is None:
        from hookonce.modules.serve_stdio import serve

        serve(module, deadline=words.deadline)
        return
    from hookonce.modules.serve_http import Server

    token = token_of(words.token_env)
    with Server(module, words.http, host=words.host, token=token, deadline=words.deadline) as server:
        sys.stderr.write(f"{module.name} listens at {server.url}\n")
        sys.stderr.flush()
        server.serve_forever()


def token_of(name: str | None) -> str | None:
    """The token that a variable holds; one that is named has to be there."""
    if name is None:
        return None
    if not (token := os.environ.get(name)):
        raise UsageError(f"the variable {name} is to hold the token, and is not set")
    return token


def _transport(words: Namespace) -> Object:
    """How the module is reached if it is started with these words."""
    if words.http is None:
        return {"type": "stdio", "command": [sys.executable, str(Path(sys.argv[0]).resolve())]}
    transport: Object = {"type": "http", "url": f"http://{words.host}:{words.http}"}
    return transport | ({"token_env": words.token_env} if words.token_env else {})


def _parser(name: str) -> ArgumentParser:
    parser = ArgumentParser(description=f"{name}: a module. Without --http it speaks JSON lines on stdin and stdout.")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve over HTTP instead; 0 takes any free port")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen; beyond this machine only with a token")
    parser.add_argument("--token-env", metavar="NAME", help="the environment variable with the token that callers need")
    parser.add_argument("--deadline", type=float, default=TIMEOUT, metavar="S", help="answer timeout after S seconds")
    parser.add_argument("--descriptor", action="store_true", help="print the Module Descriptor v1 and leave")
    return parser
