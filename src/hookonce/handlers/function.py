"""Function handler: a Python file, and the worker process that runs one of its functions.

The command line of that process contains the file's digest: a file that changes makes another command, and a
process that finds another content does not run it. A long-lived process may have workers ready (`workers/pool.py`).
"""

import os
import shlex
import sys
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base.event_loop import EventLoop
from hookonce.base.files import read_regular_file
from hookonce.errors import HookonceError
from hookonce.handlers.command import CommandOperation, ProcessContext
from hookonce.handlers.operation import OperationHandle, OperationResult, ResultCallback
from hookonce.handlers.workers import pool as workers_pool
from hookonce.handlers.workers.protocol import WorkerRequest
from hookonce.model import Handler

_MAX_FILE_BYTES = 1 << 24  # bytes of a file
_PACKAGES = ("hookonce", "msgspec", "re2")
_SERVER_FLAG = "--warm"


class FunctionRef(Struct, frozen=True):
    """A function of a file, or all its hooks (no name), with the digest of the content."""

    file: str
    digest: str
    name: str = ""

    @property
    def command(self) -> str:
        """Command that answers one event in a process of its own."""
        return shlex.join([*_worker_command(), self.file, self.digest, *([self.name] if self.name else [])])

    @property
    def server_command(self) -> str:
        """Command of the worker server of the file."""
        return shlex.join([*_worker_command(), self.file, self.digest, _SERVER_FLAG])


class FunctionOperation(CommandOperation, frozen=True):
    """Operation that calls a function; its command runs it where no worker pool is."""

    function: FunctionRef = FunctionRef("", "")

    def begin(self, loop: EventLoop, timeout: float, on_result: ResultCallback) -> OperationHandle:
        """Use a ready worker where there is one; workers have our own privileges, and no fewer."""
        pool, context, function = workers_pool.pool_of(loop), self.process_context, self.function
        if pool is not None and not context.drops_privileges:
            env = {os.fsencode(name): os.fsencode(value) for name, value in context.env.items()}
            request = WorkerRequest(function.name or None, env, context.cwd, context.umask, self.payload)
            client = pool.find_client(function.file, function.digest, function.server_command)
            if client is not None:
                return client.call(request, timeout, lambda result: on_result(_require_answer(result)), self.claim)
        return super().begin(loop, timeout, lambda result: on_result(_require_answer(result)))


def build_function_operation(
    function: FunctionRef, payload: bytes, process_context: ProcessContext
) -> FunctionOperation:
    """Build the operation that calls a function with a payload."""
    return FunctionOperation(function.command, payload, process_context, 0, function=function)


def load_function(handler: Handler, folder: str) -> FunctionRef:
    """Load the function that a handler names, with the digest of its file as it is now."""
    file = Path(folder, handler.file or "")
    try:
        digest = sha256(read_regular_file(file, _MAX_FILE_BYTES)).hexdigest()
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise HookonceError(f"{file} cannot be read: {reason}") from None
    return FunctionRef(str(file), digest, handler.name or "")


def _require_answer(result: OperationResult) -> OperationResult:
    """A function always answers: exit code 0 without output is a failure."""
    is_silent = result.code == 0 and not result.stdout
    return replace(result, code=None, failure="it has ended without an answer") if is_silent else result


@cache
def _worker_command() -> tuple[str, ...]:
    """Interpreter in isolated mode, worker script, and the search paths of our packages."""
    specs = [find_spec(name) for name in _PACKAGES]
    search_paths = dict.fromkeys(str(Path(spec.origin).parents[1]) for spec in specs if spec and spec.origin)
    program = Path(__file__).parents[1] / "sdk" / "worker.py"
    return sys.executable, "-I", "-S", str(program), os.pathsep.join(search_paths)
