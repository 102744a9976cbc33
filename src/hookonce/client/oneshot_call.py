"""One-shot process: answers a single call in Python when no daemon answers.

It reads the client's whole frame from stdin and exits with the agent's exit code plus 100, so that the client can tell
an answer from an accident (`oneshot.py` is its script). Most calls concern no hook: for those nothing is imported that
they do not need.
"""

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from typing import IO

    from hookonce.client.module_cache import ModuleCache
    from hookonce.dispatch.context import CallContext
    from hookonce.model import Stored

_POLL_INTERVAL_S = 0.1  # seconds between two looks at the clock and at the caller
_MAX_CLIENT_AGE_S = 20.0  # seconds; our own client gives up before, and others are no clients of ours
_EXIT_CODE_OFFSET = 100  # above the agent's exit code, ours says that everything was said
_MAX_STAT_BYTES = 4096  # of what /proc tells of a process in one line
_MAX_ANCESTORS = 16  # processes above us that are looked at
_BACKGROUND_NICENESS = 10  # how nice a process is that nobody waits for
# Seconds of work after which it is killed: a Python that has no memory for an exception tries for ever to raise it, and
# all others wait for their turn.
_BACKGROUND_CPU_S = 120.0
_CALLER_STDERR_FD = 3  # where the client has put the caller's stderr, away from what Python itself might say


class CallTimeout(BaseException):
    """The deadline of the call has passed; a BaseException, so that no ordinary error handling holds it up."""


class _OneshotCall:
    """One call: its arguments, start time, caller, stderr descriptor, and the slot while we hold it.

    `has_current_files`: the files beside the client are known to say what the manifests say now. `late_work` is what
    may be done after the answer, in a copy of this process; None if all is done before it. `cache` is where its modules
    come from, and `early_names` are those that every call has.
    """

    cache: "ModuleCache | None" = None
    early_names: "Container[str]" = ()

    def __init__(self, argv: list[str], caller: int | None, stderr: int, slot: int | None = None) -> None:
        self.argv, self.caller, self.stderr, self.slot = argv, caller, stderr, slot
        self.has_current_files = False
        self.late_work: list[Callable[[], object]] | None = None
        self.started_at = time.monotonic() - _caller_age_s(caller)

    def release_slot(self) -> None:
        """Release the slot: it is for computing, not for waiting for hooks, which may have threads."""
        if self.cache is not None:
            self.cache.import_as_always()
        if self.slot is not None:
            os.close(self.slot)
            self.slot = None

    def defer_record(self, placeholder: "Stored | None", _size: int, write: "Callable[[], object]") -> bool:
        """Have the record of a decided call written after the answer; False if its placeholder cannot be written."""
        from hookonce.store.spool import files

        if self.late_work is None or not (placeholder is None or files.append_placeholder(placeholder)):
            return False
        self.late_work.append(write)
        return True

    def do_late_work(self) -> None:
        """Do it, one process at a time; and have the next one find the modules that this one has imported."""
        from hookonce.client.module_cache import save_cache

        call_names = [name for name in sys.modules if name not in self.early_names]
        with _recorder_turn():
            for work in self.late_work or ():
                work()
            save_cache(call_names)


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

    fields = wire.decode_fields(frame)
    table = lookup.load_current_table(folder, fields[1])
    silence = None if table is None else lookup.answer_silently(table, fields)
    if silence is not None:
        wire.write_best_effort(1, silence)
        ancestors = _list_ancestors()  # now, for some wait for us and end with us
        _fork_background(lambda: _record_call(folder, frame, ancestors))
        return 0
    from hookonce.client import light_imports, module_cache

    early_names = {*sys.modules}
    cache = module_cache.use_cache(folder)
    cache.import_directly()
    light_imports.import_libraries()
    _use_client_home(folder)
    call = _OneshotCall(os.fsdecode(fields[3]).split("\0")[:-1], caller, _CALLER_STDERR_FD, slot)
    call.has_current_files = table is not None
    call.late_work, call.cache, call.early_names = [], cache, early_names
    code = _answer_call(call, fields[2].decode("ascii"), _parse_environment(fields[4]), fields[7])
    if call.late_work:
        _fork_background(call.do_late_work)  # which completes the cache, too
    return code


def _parse_environment(field: bytes) -> dict[str, str]:
    """The caller's own environment: Python adds variables to ours, and the shell of the Python client removes some."""
    pairs = (entry.partition("=") for entry in os.fsdecode(field).split("\0"))
    return {name: value for name, separator, value in pairs if name and separator}


def _answer_call(call: _OneshotCall, call_id: str, environment: dict[str, str], raw: bytes | None) -> int:
    """Answer a call, reading its payload first if there is none."""
    from hookonce.base import wire
    from hookonce.dispatch import context, dispatcher
    from hookonce.dispatch.fail_mode import encode_reply
    from hookonce.handlers.operation import Operation, OperationResult, run_blocking, run_to_completion

    def run_operation(operation: Operation) -> OperationResult:
        call.release_slot()
        return run_to_completion(operation)

    try:
        with DeadlineGuard(call.started_at + dispatcher.call_timeout_s(call.argv), call.caller):
            if raw is None:
                from hookonce.client.stdin import read_payload

                raw = read_payload()
            if not call.has_current_files:
                dispatcher.refresh_client_files()
            call_context = _build_context(call, environment)
            incoming = dispatcher.receive_call(call.argv, raw, call_context, call_id, call.started_at)
            reply = run_blocking(dispatcher.answer_incoming(incoming), run_operation)
    except BaseException as error:  # noqa: BLE001  the payload never came, or came too late
        reply = dispatcher.failure_reply(call.argv, raw or b"", context.oneshot_context(environment), error)
    code = wire.write_reply(call.stderr, reply.code, encode_reply(reply), reply.stderr.encode(errors="replace"))
    _remove_claim(call_id)
    return code


def _build_context(call: _OneshotCall, environment: dict[str, str]) -> "CallContext":
    """The context of a call whose record, and whose agent's process, are written after the answer."""
    from functools import partial

    from msgspec.structs import replace

    from hookonce.dispatch import context

    late_work = call.late_work
    if late_work is None:
        return context.oneshot_context(environment)
    call_context = context.oneshot_context(environment, ancestors=_list_ancestors())
    note_process = call_context.on_record
    return replace(
        call_context,
        defer_record=call.defer_record,
        on_record=lambda record: late_work.append(partial(note_process, record)),
    )


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


def _fork_background(work: "Callable[[], object]") -> None:
    """Do what nobody waits for in a copy of this process; here, if there can be none."""
    try:
        if os.fork():
            return
    except OSError:
        work()
        return
    try:
        os.setsid()
        devnull = os.open(os.devnull, os.O_RDWR)
        for fd in range(_CALLER_STDERR_FD + 2):
            os.dup2(devnull, fd)
        os.nice(_BACKGROUND_NICENESS)
        signals = __import__("_signal")  # `signal` brings `enum`
        signals.setitimer(signals.ITIMER_PROF, _BACKGROUND_CPU_S)
        work()
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
    fd = os.open(f"/proc/{process}/stat", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, _MAX_STAT_BYTES).decode("utf-8", "replace").rpartition(")")[2].split()
    finally:
        os.close(fd)


def _recorder_turn() -> "IO[bytes]":
    """The lock under which one process at a time records, so that many calls do not take the machine."""
    from fcntl import LOCK_EX, flock

    from hookonce.store.spool import files

    lock_file = (files.spool_dir() / "turn").open("ab")
    flock(lock_file, LOCK_EX)
    return lock_file


def _record_call(folder: str, frame: bytes, ancestors: list[tuple[int, str]]) -> None:
    """Record a call that was answered silently."""
    from hookonce.base import wire
    from hookonce.dispatch import context, dispatcher

    _use_client_home(folder)
    fields = wire.decode_fields(frame)
    with _recorder_turn():
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
        import _signal as signal  # type: ignore[import-not-found]  # `signal` without names for all of them

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


def run_script(folder: str, caller: str, slot: str) -> None:
    """Answer the frame on stdin, and end this process at once."""
    code = answer_frame(folder, _read_frame(), int(caller), int(slot) if slot.isdigit() else None)
    os._exit(_EXIT_CODE_OFFSET + code)
