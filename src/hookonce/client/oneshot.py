"""One-shot process: answers a single call in Python when no daemon answers.

`python -I -S oneshot.py BIN CALLER SLOT` reads the client's whole frame from stdin and exits with the agent's exit
code plus 100, so that the client can tell an answer from an accident. BIN is the folder of the client, CALLER the
client's process id, SLOT a descriptor that holds one of the slots for such processes (ADR 0021). Most calls
concern no hook: for those nothing is imported that they do not need.
"""

import os
import sys
import time

_POLL_INTERVAL_S = 0.1  # seconds between two looks at the clock and at the caller
_MAX_CLIENT_AGE_S = 20.0  # seconds; our own client gives up before, and others are no clients of ours
_EXIT_CODE_OFFSET = 100  # above the agent's exit code, ours says that everything was said
_MAX_ANCESTORS = 16  # processes above us that are looked at
_BACKGROUND_NICENESS = 10  # how nice a process is that nobody waits for
_CALLER_STDERR_FD = 3  # where the client has put the caller's stderr, away from what Python itself might say


class CallTimeout(BaseException):
    """The deadline of the call has passed; a BaseException, so that no ordinary error handling holds it up."""


class _OneshotCall:
    """One call: its arguments, start time, caller, stderr descriptor, and the slot while we hold it."""

    def __init__(self, argv: list[str], caller: int | None, stderr: int, slot: int | None = None) -> None:
        self.argv, self.caller, self.stderr, self.slot = argv, caller, stderr, slot
        self.started_at = time.monotonic() - _caller_age_s(caller)

    def release_slot(self) -> None:
        """Release the slot: it is for computing, not for waiting for hooks."""
        if self.slot is not None:
            os.close(self.slot)
            self.slot = None


def main(argv: list[str], caller: int | None = None, stderr: int = 2) -> int:
    """Answer a call whose payload is still on stdin; without a caller nobody has to be watched."""
    call = _OneshotCall(argv, caller, stderr)
    _open_closed_stdio()
    from hookonce.base import ids

    return _answer_call(call, ids.new_id(), dict(os.environ), None)


def answer_frame(folder: str, frame: bytes, caller: int, slot: int | None = None) -> int:
    """Answer the call in a client's frame, by the fast path if that is possible."""
    from hookonce.base import wire
    from hookonce.dispatch.fast_path import lookup

    silence = lookup.answer_silently(folder, frame)
    if silence is not None:
        wire.write_best_effort(1, silence)
        _fork_recorder(folder, frame)
        return 0
    _use_client_home(folder)
    fields = wire.decode_fields(frame)
    call = _OneshotCall(os.fsdecode(fields[3]).split("\0")[:-1], caller, _CALLER_STDERR_FD, slot)
    return _answer_call(call, fields[2].decode("ascii"), _parse_environment(fields[4]), fields[7])


def _parse_environment(field: bytes) -> dict[str, str]:
    """The caller's own environment: Python adds variables to ours, and the shell of the Python client removes some."""
    pairs = (entry.partition("=") for entry in os.fsdecode(field).split("\0"))
    return {name: value for name, separator, value in pairs if name and separator}


def _answer_call(call: _OneshotCall, call_id: str, environment: dict[str, str], raw: bytes | None) -> int:
    """Answer a call, reading its payload first if there is none."""
    from hookonce.base import wire
    from hookonce.client import stdin
    from hookonce.dispatch import context, dispatcher
    from hookonce.dispatch.fail_mode import encode_reply
    from hookonce.handlers.operation import Operation, OperationResult, run_to_completion

    def run_operation(operation: Operation) -> OperationResult:
        call.release_slot()
        return run_to_completion(operation)

    try:
        with DeadlineGuard(call.started_at + dispatcher.call_timeout_s(call.argv), call.caller):
            raw = stdin.read_payload() if raw is None else raw
            reply = dispatcher.answer_call(call.argv, raw, environment, call_id, call.started_at, run_operation)
    except BaseException as error:  # noqa: BLE001  the payload never came, or came too late
        reply = dispatcher.failure_reply(call.argv, raw or b"", context.oneshot_context(environment), error)
    code = wire.write_reply(call.stderr, reply.code, encode_reply(reply), reply.stderr.encode(errors="replace"))
    _remove_claim(call_id)
    return code


def _remove_claim(call_id: str) -> None:
    """Remove the claim of a call that was answered; a claim that stays is swept later."""
    from hookonce.dispatch import dedup

    try:  # noqa: SIM105  `contextlib` is one of the things that most calls do without
        dedup.remove_claim(call_id)
    except Exception:  # noqa: BLE001, S110  as above
        pass


def _use_client_home(folder: str) -> None:
    from hookonce.base import paths  # most calls do without

    paths.use_client_home(folder)


def _fork_recorder(folder: str, frame: bytes) -> None:
    """Record the call in a forked background process, after its answer."""
    ancestors = _list_ancestors()  # now, for some wait for us and end with us
    if os.fork():
        return
    try:
        os.setsid()
        devnull = os.open(os.devnull, os.O_RDWR)
        for fd in range(_CALLER_STDERR_FD + 2):
            os.dup2(devnull, fd)
        os.nice(_BACKGROUND_NICENESS)
        _use_client_home(folder)
        _record_call(frame, ancestors)
    finally:
        os._exit(0)


def _list_ancestors() -> list[tuple[int, str]]:
    """The processes above us, each with the moment of its start, as far as /proc tells."""
    ancestors: list[tuple[int, str]] = []
    pid = os.getpid()
    try:
        while pid > 1 and len(ancestors) < _MAX_ANCESTORS:
            stat = _read_stat(pid)
            ancestors.append((pid, stat[19]))
            pid = int(stat[1])
    except (OSError, ValueError, IndexError):
        pass
    return ancestors


def _read_stat(process: int | str | None) -> list[str]:
    with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123  before all imports
        return file.read().rpartition(")")[2].split()


def _record_call(frame: bytes, ancestors: list[tuple[int, str]]) -> None:
    """Record a call under a lock, one process at a time, so that many calls do not take the machine."""
    from fcntl import LOCK_EX, flock

    from hookonce.base import wire
    from hookonce.dispatch import context, dispatcher
    from hookonce.store.spool import files

    fields = wire.decode_fields(frame)
    with (files.spool_dir() / "turn").open("ab") as lock_file:
        flock(lock_file, LOCK_EX)
        argv = os.fsdecode(fields[3]).split("\0")[:-1]
        environment = _parse_environment(fields[4])
        call_context = context.oneshot_context(environment, runs_hooks=False, ancestors=ancestors)
        dispatcher.record_call(argv, fields[7], call_context, fields[2].decode("ascii"))


def _caller_age_s(caller: int | None) -> float:
    """Seconds since the client started, for which the agent has waited already; 0 where /proc does not tell."""
    try:
        # Whoever is gone was not waiting; and where numbers are not those of /proc, somebody else has the caller's.
        is_parent = caller == os.getppid() and os.readlink("/proc/self") == str(os.getpid())  # noqa: PTH115
        process = caller if is_parent else "self"
        ticks = int(_read_stat(process)[19])
        return min(time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"), _MAX_CLIENT_AGE_S)
    except (OSError, ValueError, IndexError):
        return 0.0


def _open_closed_stdio() -> None:
    """Open closed standard descriptors on /dev/null: their numbers would become those of our next files."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if fd == 1 else os.O_RDWR)  # the lowest free number, which is this one


class DeadlineGuard:
    """Deadline guard: an interval timer that raises at the deadline and exits when the caller was killed."""

    def __init__(self, deadline: float, caller: int | None) -> None:
        """Guard until a moment of the monotonic clock, as long as the caller is there."""
        import signal

        self._deadline, self._caller, self._signal = deadline, caller, signal

    def _check(self, *_: object) -> None:
        if self._caller is not None and os.getppid() != self._caller:
            os._exit(1)
        if time.monotonic() > self._deadline:
            self._signal.setitimer(self._signal.ITIMER_REAL, 0)
            raise CallTimeout("there was no answer in time")

    def __enter__(self) -> None:
        self._previous_handler = self._signal.signal(self._signal.SIGALRM, self._check)
        self._signal.setitimer(self._signal.ITIMER_REAL, _POLL_INTERVAL_S, _POLL_INTERVAL_S)

    def __exit__(self, *_: object) -> None:
        self._signal.setitimer(self._signal.ITIMER_REAL, 0)
        self._signal.signal(self._signal.SIGALRM, self._previous_handler)


def _read_frame() -> bytes:
    with open(0, "rb", closefd=False) as file:
        return file.read()


def run_script(folder: str, caller: str, slot: str) -> int:
    """Read the package's path from the file beside the client, then answer the frame on stdin."""
    with open(f"{folder}/interpreter", encoding="utf-8") as file:  # noqa: PTH123  as above
        sys.path[:0] = file.read().splitlines()[2:]
    return answer_frame(folder, _read_frame(), int(caller), int(slot) if slot.isdigit() else None)


if __name__ == "__main__":
    os._exit(_EXIT_CODE_OFFSET + run_script(*sys.argv[1:4]))
