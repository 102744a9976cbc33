"""One call of a function, in a process that is its own and ends with it."""

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

from msgspec.json import decode

from hookonce.errors import HookonceError
from hookonce.model import Event
from hookonce.sdk.answers import written
from hookonce.sdk.functions import answer, load, picked

_MOST = 1 << 30  # bytes of memory that a function may fill
_FAILED = 1


def once(file: str, digest: str, name: str | None) -> NoReturn:
    """Read an event from stdin and answer it; what a function prints goes to stderr, because it is no answer."""
    mouth = os.dup(1)
    os.dup2(2, 1)

    def work() -> None:
        limit()
        module = seen(file, digest)
        with open(0, "rb", closefd=False) as given:
            said = spoken(module, name, given.read())
        with os.fdopen(mouth, "wb") as out:
            out.write(said)

    end(work)


def seen(file: str, digest: str) -> ModuleType:
    """The file as a module, if it is still what was looked at."""
    source = Path(file).read_bytes()
    if sha256(source).hexdigest() != digest:
        raise HookonceError(f"{file} has changed while its hook was being started; the next call sees it as it is")
    return load(file, source)


def spoken(module: ModuleType, name: str | None, given: bytes) -> bytes:
    """What the functions of a file say to an event; no opinion is an answer too, and not the same as none."""
    event = decode(given, type=Event)
    functions = picked(module, name, event)
    if not functions:
        raise HookonceError(f"no function of {module.__file__} is a hook for {event.type}")
    return written(answer(functions, event)) or b"{}"


def limit() -> None:
    """A function that fills the memory fails, before others suffer."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = _MOST if hard == resource.RLIM_INFINITY else min(_MOST, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def end(work: Callable[[], object]) -> NoReturn:
    """Do it and end at once: for what a function has left running in threads nobody waits."""
    code = _FAILED
    try:
        work()
        code = 0
    except SystemExit as wish:
        code = _code(wish)
    except HookonceError as problem:
        sys.stderr.write(f"{problem}\n")
    except BaseException:  # noqa: BLE001  whatever a function raises is told, and is its failure
        print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def _code(wish: SystemExit) -> int:
    """The exit code that a function asks for, as Python itself would have it."""
    if wish.code is None or isinstance(wish.code, int):
        return (wish.code or 0) & 0xFF
    sys.stderr.write(f"{wish.code}\n")
    return _FAILED
