"""Function handler: a Python file, and the worker process that runs one of its functions.

The command line of that process contains the file's digest: a file that changes makes another command, and a
process that finds another content does not run it. A long-lived process may have workers ready (`workers/pool.py`).
"""

import os
import shlex
import sys
from functools import cache, lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from time import time_ns

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
_SETTLE_NS = 100_000_000  # nanoseconds within which a file may change once more without its times telling
_MAX_DIGESTS = 256  # files


class FunctionRef(Struct, frozen=True):
    """A function of a file, or all its hooks (no name), with the digest of the content."""

    file: str
    digest: str
    name: str = ""

    @property
    def command(self) -> str:
        """Command that answers one event in a process of its own."""
        return _join_command(self.file, self.digest, self.name)

    @property
    def server_command(self) -> str:
        """Command of the worker server of the file."""
        return _join_command(self.file, self.digest, _SERVER_FLAG)


class FunctionOperation(CommandOperation, frozen=True):
    """Operation that calls a function; its command runs it where no worker pool is."""

    function: FunctionRef = FunctionRef("", "")
    is_isolated: bool = False  # whether it runs in a worker that has answered nobody else

    def begin(self, loop: EventLoop, timeout: float, on_result: ResultCallback) -> OperationHandle:
        """Use a worker where there is a pool of them; workers have our own privileges, and no fewer."""
        pool, context, function = workers_pool.pool_of(loop), self.process_context, self.function

        def handle_result(result: OperationResult) -> None:
            on_result(_require_answer(result))

        client = None if pool is None or context.drops_privileges else pool.find_client(function)
        if client is None:
            return super().begin(loop, timeout, handle_result)
        env = client.encode_environment(context.env)
        request = WorkerRequest(function.name or None, env, context.cwd, context.umask, self.payload)
        return client.begin_call(request, timeout, handle_result, self.claim, is_isolated=self.is_isolated)


def build_function_operation(
    function: FunctionRef, payload: bytes, process_context: ProcessContext, *, is_isolated: bool = False
) -> FunctionOperation:
    """Build the operation that calls a function with a payload."""
    return FunctionOperation(function.command, payload, process_context, 0, function=function, is_isolated=is_isolated)


def load_function(handler: Handler, folder: str) -> FunctionRef:
    """Load the function that a handler names, with the digest of its file as it is now."""
    file = os.path.join(folder, handler.file or "")  # noqa: PTH118  as text; somebody waits
    try:
        return FunctionRef(file, _digest_of(file), handler.name or "")
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise HookonceError(f"{file} cannot be read: {reason}") from None


def _digest_of(file: str) -> str:
    """Digest of a file's content, remembered while nobody can have written to it since."""
    status = os.stat(file)  # noqa: PTH116  as text; somebody waits
    stamp = status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev
    known_stamp, digest = _digests.get(file, (None, ""))
    if stamp == known_stamp:
        return digest
    digest = sha256(read_regular_file(Path(file), _MAX_FILE_BYTES)).hexdigest()
    if time_ns() - max(stamp[:2]) > _SETTLE_NS:
        if len(_digests) >= _MAX_DIGESTS:
            _digests.clear()
        _digests[file] = stamp, digest
    return digest


_digests: dict[str, tuple[tuple[int, ...], str]] = {}


def _require_answer(result: OperationResult) -> OperationResult:
    """A function always answers: exit code 0 without output is a failure."""
    is_silent = result.code == 0 and not result.stdout
    return replace(result, code=None, failure="it has ended without an answer") if is_silent else result


@lru_cache(maxsize=_MAX_DIGESTS)
def _join_command(file: str, digest: str, name: str) -> str:
    return shlex.join([*_worker_command(), file, digest, *([name] if name else [])])


@cache
def _worker_command() -> tuple[str, ...]:
    """Interpreter in isolated mode, worker script, and the search paths of our packages."""
    specs = [find_spec(name) for name in _PACKAGES]
    search_paths = dict.fromkeys(str(Path(spec.origin).parents[1]) for spec in specs if spec and spec.origin)
    program = Path(__file__).parents[1] / "sdk" / "worker.py"
    return sys.executable, "-I", "-S", str(program), os.pathsep.join(search_paths)
