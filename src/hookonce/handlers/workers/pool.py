"""Worker pool of an event loop, for Python hooks: one worker server for each file, as it is now."""

from time import monotonic
from typing import TYPE_CHECKING, Protocol

from hookonce.base.event_loop import EventLoop
from hookonce.secrets import log

if TYPE_CHECKING:
    from hookonce.handlers.workers.client import WorkerClient

_MAX_FILES = 32  # files
_IDLE_TIMEOUT_S = 600.0  # seconds without a call
_pools: dict[EventLoop, "WorkerPool"] = {}


def pool_of(loop: EventLoop) -> "WorkerPool | None":
    """The pool of an event loop, if it has one."""
    return _pools.get(loop)


class WorkerFile(Protocol):
    """Protocol of a file of functions: its path and digest, and the command of its worker server."""

    @property
    def file(self) -> str:
        """Path."""

    @property
    def digest(self) -> str:
        """Digest of its content."""

    @property
    def server_command(self) -> str:
        """Command of its worker server."""


class WorkerPool:
    """Worker servers of all files that were called lately."""

    def __init__(self, loop: EventLoop) -> None:
        self._loop = loop
        self._clients: dict[str, WorkerClient] = {}
        _pools[loop] = self

    def find_client(self, file: WorkerFile) -> "WorkerClient | None":
        """Find or start the client for a file with its digest; None where it cannot be started."""
        from hookonce.handlers.workers.client import WorkerClient  # who answers one call does without

        client = self._clients.pop(file.file, None)
        if client is not None and not client.has_loaded(file.digest):
            client.retire()  # what it answers now it answers to the end
            client = None
        if client is None:
            try:
                client = WorkerClient(self._loop, file.digest, file.server_command)
            except (OSError, ValueError) as problem:
                log.write(f"daemon: {file.file} cannot be kept ready: {problem}")
                return None
        self._clients[file.file] = client  # the latest is the last
        return client

    def end_idle(self) -> None:
        """End idle servers, and the oldest of too many; the others dismiss idle workers."""
        oldest = monotonic() - _IDLE_TIMEOUT_S
        surplus = max(0, len(self._clients) - _MAX_FILES)
        for file, client in list(self._clients.items()):
            if client.is_over or (client.is_idle and (client.last_call_at < oldest or surplus > 0)):
                surplus -= 1
                client.end()
                del self._clients[file]
            else:
                client.dismiss_idle()

    def close(self) -> None:
        """End all servers."""
        for client in self._clients.values():
            client.end()
        self._clients.clear()
        _pools.pop(self._loop, None)
