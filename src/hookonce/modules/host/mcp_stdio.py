"""MCP over stdio: the process of a server, which may also ask us something, or say that its tools have changed."""

from collections import deque
from collections.abc import Callable
from threading import Lock
from time import monotonic

from hookonce.model import Json, Object
from hookonce.modules.host.mcp import McpSession
from hookonce.modules.host.process import ModuleProcess
from hookonce.modules.host.stdio import ChildProcess, ModuleLifecycle
from hookonce.modules.protocol import mcp, messages
from hookonce.modules.protocol.stderr_tail import StderrTail

_REPLY_TIMEOUT_S = 1.0  # for a server to read what it asked for
TOOLS_CHANGED = "notifications/tools/list_changed"


class McpLifecycle(ModuleLifecycle):
    """Running process of a server, its pending requests, and our replies to its own."""

    def __init__(
        self,
        process: ModuleProcess,
        log: StderrTail,
        watch: messages.MessageWatcher,
        on_tools_changed: Callable[[], object],
    ) -> None:
        super().__init__(process, log, watch)
        self.session: McpSession | None = None
        self.handshake_lock = Lock()
        self.pending.echoes_ids = True
        self._replies, self._on_tools_changed = deque[Object](), on_tools_changed

    def notify(self, document: Object, deadline: float) -> None:
        """Send a notification."""
        self._send(0, messages.encode_line(document), deadline)

    def _dispatch_document(self, document: Json, line: bytes) -> None:
        for message in document if type(document) is list else [document]:
            if type(message) is not dict or "method" not in message:
                super()._dispatch_document(message, line)
            elif (reply := mcp.answer_server_request(message)) is not None:
                self._replies.append(reply)
            elif message["method"] == TOOLS_CHANGED:
                self._on_tools_changed()

    def _process_chunk(self, chunk: bytes) -> None:
        super()._process_chunk(chunk)
        self._send_replies()

    def _send(self, request_id: int, line: bytes, deadline: float) -> bool:
        is_sent = super()._send(request_id, line, deadline)
        self._send_replies()
        return is_sent

    def _send_replies(self) -> None:
        """Send what the server has asked for; whoever is writing now, perhaps this thread, does it afterwards."""
        while self._replies and not self.end_reason and self._write_lock.acquire(blocking=False):
            if not self._replies:  # another thread has sent it before we had the lock
                self._write_lock.release()
                continue
            line = messages.encode_line(self._replies.popleft())
            self._send_and_release(0, line, monotonic() + _REPLY_TIMEOUT_S)

    def _timeout_response(self, request_id: int, timeout: float) -> Object:
        response = super()._timeout_response(request_id, timeout)
        if not self.end_reason and self.session is not None:
            params: Object = {"requestId": request_id, "reason": "timeout"}
            self.notify(mcp.request_message("notifications/cancelled", params), monotonic() + _REPLY_TIMEOUT_S)
        return response


class McpStdioTransport(ChildProcess):
    """A server that is our child process."""

    change_count = 0  # how often it has said that its tools are others now

    def open_connection(self) -> McpLifecycle:
        """The running server."""
        lifecycle = self._ensure_running()
        assert isinstance(lifecycle, McpLifecycle)  # noqa: S101  for type checkers
        return lifecycle

    def _build_lifecycle(self, process: ModuleProcess) -> ModuleLifecycle:
        return McpLifecycle(process, self._log, self._watch, self._count_change)

    def _count_change(self) -> None:
        self.change_count += 1
