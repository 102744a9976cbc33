"""Runner of function calls: one in a process of its own, or one after the other in a worker."""

import os
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from traceback import print_exc
from types import ModuleType
from typing import NoReturn

from msgspec import DecodeError, convert
from msgspec.json import Decoder

from hookonce.base.jsontext import load_leniently
from hookonce.errors import HookonceError
from hookonce.sdk.answers import encode_decision
from hookonce.sdk.event import EventInput
from hookonce.sdk.functions import load_module, run_functions, select_functions

_MAX_MEMORY_BYTES = 1 << 30  # bytes of memory that a function may fill
_decode_event = Decoder(EventInput).decode


def run_once(file: str, digest: str, name: str | None) -> NoReturn:
    """Read an event from stdin and answer it; what a function prints goes to stderr, because it is no answer."""
    stdout_fd = os.dup(1)
    os.dup2(2, 1)

    def work() -> None:
        limit_memory()
        module = load_checked(file, digest)
        with open(0, "rb", closefd=False) as stdin:
            output = answer_event(module, name, stdin.read())
        with os.fdopen(stdout_fd, "wb") as out:
            out.write(output)

    os._exit(run_to_exit_code(work))  # at once, without waiting for its threads


def load_checked(file: str, digest: str) -> ModuleType:
    """Load the file as a module, if it still has this digest."""
    source = Path(file).read_bytes()
    if sha256(source).hexdigest() != digest:
        raise HookonceError(f"{file} has changed while its hook was being started; the next call sees it as it is")
    sys.dont_write_bytecode = True  # bytecode of a file that was edited twice within a second would be the old one's
    return load_module(file, source)


def answer_event(module: ModuleType, name: str | None, payload: bytes) -> bytes:
    """Answer an event with the functions of a file; no opinion is encoded too, for empty output is a failure."""
    try:
        event = _decode_event(payload)
    except DecodeError:  # half a character, which a model can write
        event = convert(load_leniently(payload.decode()), EventInput)
    functions = select_functions(module, name, event)
    if not functions:
        raise HookonceError(f"no function of {module.__file__} is a hook for {event.type}")
    return encode_decision(run_functions(functions, event)) or b"{}"


def limit_memory() -> None:
    """Limit this process's memory."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    soft_limit = _MAX_MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(_MAX_MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft_limit, hard))


def run_to_exit_code(work: Callable[[], object]) -> int:
    """Run a function; the exit code that its end stands for."""
    code = 1
    try:
        work()
        code = 0
    except SystemExit as exit_request:
        if exit_request.code is None or isinstance(exit_request.code, int):
            code = (exit_request.code or 0) & 0xFF
        else:
            sys.stderr.write(f"{exit_request.code}\n")
    except HookonceError as problem:
        sys.stderr.write(f"{problem}\n")
    except BaseException:  # noqa: BLE001  whatever a function raises is told, and is its failure
        print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
    return code
