"""Functions as handlers: a file of Python, and the process that runs one of its functions.

The command line of that process says everything about it. What is in the file is known by its digest, which is part of
the command: a file that changes makes another command, and a process that finds another file does not run it. Alone
it is run as any command is; whoever lives on may have processes ready that have loaded the file (`nurseries.py`).
"""

import os
import shlex
import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hookonce.errors import HookonceError
from hookonce.handlers import nurseries
from hookonce.handlers.errand import Ongoing, Ran
from hookonce.handlers.function_wire import Request
from hookonce.handlers.process import Job, World
from hookonce.manifest.contents import contents
from hookonce.model import Handler
from hookonce.runtime.loop import Loop

_MOST = 1 << 24  # bytes of a file
_NEEDED = ("hookonce", "msgspec", "re2")
_WARM = "--warm"


class Function(Struct, frozen=True):
    """A function of a file, or all those that want to be asked; and the file's content, by its digest."""

    file: str
    digest: str
    name: str = ""

    @property
    def command(self) -> str:
        """How one event is answered by a process of its own."""
        return shlex.join([*_begin(), self.file, self.digest, *([self.name] if self.name else [])])

    @property
    def nursery(self) -> str:
        """How many are answered."""
        return shlex.join([*_begin(), self.file, self.digest, _WARM])


class Call(Job, frozen=True):
    """A function that is asked; its command is what runs it where nobody has its file loaded."""

    function: Function

    def begin(self, loop: Loop, timeout: float, done: Callable[[Ran], object]) -> Ongoing:
        """Let a process answer that is ready, where there is one; it has our own privileges, and no fewer."""
        kept, world = nurseries.of(loop), self.world
        if kept is not None and not world.reduced:
            env = {os.fsencode(name): os.fsencode(value) for name, value in world.env.items()}
            request = Request(self.function.name or None, env, world.cwd, world.umask, self.given)
            asking = kept.ask(self.function.file, self.function.digest, self.function.nursery)
            if asking is not None:
                return asking.ask(request, timeout, lambda ran: done(_answered(ran)))
        return super().begin(loop, timeout, lambda ran: done(_answered(ran)))


def call(function: Function, given: bytes, world: World) -> Call:
    """A function to be asked about what a hook gets on stdin."""
    return Call(function.command, given, world, 0, function)


def function_of(handler: Handler, folder: str) -> Function:
    """The function that a handler names, in its file as it is now."""
    file = Path(folder, handler.file or "")
    try:
        known = sha256(contents(file, _MOST)).hexdigest()
    except (OSError, ValueError) as problem:
        told = problem.strerror if isinstance(problem, OSError) else problem
        raise HookonceError(f"{file} cannot be read: {told}") from None
    return Function(str(file), known, handler.name or "")


def _answered(ran: Ran) -> Ran:
    """How it went; a function always says something, and a process that ends before it has failed."""
    silent = ran.code == 0 and not ran.stdout
    return replace(ran, code=None, failure="it has ended without an answer") if silent else ran


@cache
def _begin() -> tuple[str, ...]:
    """The interpreter that we run in, which looks nowhere by itself, and where we and what we need lie."""
    found = [find_spec(name) for name in _NEEDED]
    shelves = dict.fromkeys(str(Path(spec.origin).parents[1]) for spec in found if spec and spec.origin)
    program = Path(__file__).parents[1] / "sdk" / "worker.py"
    return sys.executable, "-I", "-S", str(program), os.pathsep.join(shelves)
