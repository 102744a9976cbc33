"""Stamped daemon: ours, with the time at which a call reaches each step kept in memory and written at its end.

    python -I -S stamped_daemon.py FOLDER-OF-THE-CLIENT STAMPS-FILE

A stamp costs about a microsecond. The clock is that of the whole machine, so that a caller's stamps fit beside these.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic_ns
from typing import Any

ACCEPT, FRAME, HOOK, RESULT, SENT = "accept", "frame", "hook", "result", "sent"
_stamps: list[tuple[str, int]] = []


def _stamp_method(owner: type, method: str, name: str) -> None:
    """Stamp each call of a method before it does anything."""
    original = getattr(owner, method)

    def call_with_stamps(*arguments: Any, **options: Any) -> Any:
        _stamps.append((name, monotonic_ns()))
        return original(*arguments, **options)

    setattr(owner, method, call_with_stamps)


def _stamp_hook(operation: type) -> None:
    """Stamp the start of a hook, and the moment at which its result comes."""
    begin = operation.begin  # type: ignore[attr-defined]

    def call_with_stamps(self: Any, loop: Any, timeout: float, on_result: Callable[[Any], object]) -> Any:
        def stamp_result(result: Any) -> object:
            _stamps.append((RESULT, monotonic_ns()))
            return on_result(result)

        _stamps.append((HOOK, monotonic_ns()))
        return begin(self, loop, timeout, stamp_result)

    operation.begin = call_with_stamps  # type: ignore[attr-defined]


def main(folder: str, stamps_file: str) -> int:
    """Run the daemon of a client's folder, and write what was stamped once it ends."""
    sys.path[:0] = Path(folder, "interpreter").read_text(encoding="utf-8").splitlines()[2:]
    from hookonce.base.paths import use_client_home
    from hookonce.daemon.connection import ClientConnection
    from hookonce.daemon.lifecycle import serve
    from hookonce.daemon.server import Daemon
    from hookonce.handlers.command import CommandOperation
    from hookonce.handlers.function import FunctionOperation

    _stamp_method(Daemon, "_accept", ACCEPT)
    _stamp_method(Daemon, "_handle_frame", FRAME)
    _stamp_method(ClientConnection, "send", SENT)
    for operation in (CommandOperation, FunctionOperation):
        _stamp_hook(operation)
    use_client_home(folder)
    code = serve()
    Path(stamps_file).write_text("".join(f"{name} {at}\n" for name, at in _stamps), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
