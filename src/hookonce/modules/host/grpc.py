"""gRPC link: a tool or a hook that offers Amplifier's services over gRPC, as a module."""

import os
import ssl
import sys
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from hookonce import __version__
from hookonce.base.files import read_regular_file
from hookonce.model import Object
from hookonce.modules.host.client import Closeable, TimeLimit
from hookonce.modules.host.http import authorization_header
from hookonce.modules.protocol import amplifier_grpc, messages
from hookonce.modules.protocol.descriptor import Descriptor, OperationSchema, build_description
from hookonce.modules.protocol.messages import Fault

_LOG_LEVEL_VARIABLE = "GRPC_VERBOSITY"
_ON_EVENT = "on_event"
_EVENT_ARGS: Object = {"type": "object", "required": ["event"], "properties": {"event": {"type": "object"}}}
_EVENT_SCHEMA = OperationSchema(args=_EVENT_ARGS, result={"type": "object"}, description="handles an event")
_ERROR_CODES = {
    "DEADLINE_EXCEEDED": "timeout",
    "UNAVAILABLE": "unreachable",
    "UNIMPLEMENTED": "unsupported_op",
    "UNAUTHENTICATED": "forbidden",
    "PERMISSION_DENIED": "forbidden",
    "RESOURCE_EXHAUSTED": "oom",
    "INVALID_ARGUMENT": "bad_request",
}
_CHANNEL_OPTIONS = {
    "grpc.primary_user_agent": f"hookonce/{__version__}",
    "grpc.max_send_message_length": -1,  # what is too large is refused before it is sent
    "grpc.max_receive_message_length": messages.MAX_MESSAGE_BYTES,
    "grpc.enable_http_proxy": 0,  # as for modules over HTTP
    "grpc.service_config_disable_resolution": 1,
    "grpc.use_local_subchannel_pool": 1,  # so that a new channel does not wait because another one had failed
}


class GrpcLink(Closeable):
    """Link to a server; any number of threads may send requests at the same time."""

    def __init__(
        self, descriptor: Descriptor, env: Mapping[str, str] | None = None, watch: messages.MessageWatcher | None = None
    ) -> None:
        """The token is read from the environment at every request, and stored nowhere."""
        parts = urlsplit(descriptor.transport.url or "")
        self._descriptor, self._is_secure = descriptor, parts.scheme.lower() == "https"
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        self._address = f"{host}:{parts.port or (443 if self._is_secure else 80)}"
        self._env, self._watch = os.environ if env is None else env, watch or messages.ignore_message
        self._channel: Any = None
        self._lock, self._is_closed = Lock(), False
        self._operation: str | None = None  # of a tool, once it has been asked

    def close(self) -> None:
        """Close the channel; calls under way end."""
        with self._lock:
            self._is_closed, channel, self._channel = True, self._channel, None
        if channel is not None:
            channel.close()

    def ask(self, request: messages.Request, timeout: float) -> Object:
        """Send a request; every failure is a response too."""
        limit = TimeLimit(timeout, monotonic() + min(timeout, messages.MAX_TIMEOUT_S))
        if not request.op:
            return messages.build_error("bad_request", "op is required and is a text: the name of an operation")
        try:
            return (self._ask_hook if self._descriptor.kind == "hook" else self._ask_tool)(request, limit)
        except Fault as fault:
            return fault.document

    def _ask_tool(self, request: messages.Request, limit: TimeLimit) -> Object:
        if request.op != self._operation:
            name, schema = amplifier_grpc.parse_tool_spec(self._call("ToolService/GetSpec", b"", limit))
            self._operation = name
            if request.op != name:
                return self._answer_plainly(request.op, name, schema)
        body = amplifier_grpc.encode_tool_request(request.args)
        return amplifier_grpc.parse_tool_response(self._call("ToolService/Execute", body, limit)).to_document()

    def _ask_hook(self, request: messages.Request, limit: TimeLimit) -> Object:
        if request.op != _ON_EVENT:
            self._probe_hook(limit)
            return self._answer_plainly(request.op, _ON_EVENT, _EVENT_SCHEMA)
        event = request.args.get("event")
        if type(event) is not dict or type(event.get("event")) is not str:
            raise Fault("bad_request", "args has to hold an event, which has its name in event")
        data = amplifier_grpc.build_hook_data(event, request.session_id)
        raw = self._call("HookService/Handle", amplifier_grpc.encode_hook_request(event["event"], data), limit)
        return {"ok": True, "result": amplifier_grpc.parse_hook_result(raw, data)}

    def _probe_hook(self, limit: TimeLimit) -> None:
        """Reach the server: hooks have no health, and older ones nothing that can be asked without an event."""
        try:
            self._call("HookService/GetSubscriptions", b"", limit)
        except Fault as fault:
            if fault.error.code != "unsupported_op":
                raise

    def _answer_plainly(self, op: str, name: str, schema: OperationSchema) -> Object:
        """The response to health and describe, of a module that has been reached and has one operation."""
        own = self._descriptor
        if op == "health":
            return dict(messages.HEALTH_OK)
        if op == "describe":
            return build_description(own.name, own.version, own.kind, own.capabilities, {name: schema})
        raise Fault("unsupported_op", f"the module has no operation {op}", {"ops": [name]})

    def _call(self, method: str, body: bytes, limit: TimeLimit) -> bytes:
        """The answer to one call; a Fault where there is none."""
        if len(body) > messages.MAX_MESSAGE_BYTES:
            raise Fault("bad_request", f"the request has {len(body)} bytes; {messages.MAX_MESSAGE_BYTES} are the most")
        header = authorization_header(self._descriptor.transport.token_env, self._env)
        grpc, channel = self._open_channel()
        if (remaining_s := limit.deadline - monotonic()) <= 0:
            raise _build_timeout(limit)
        self._watch("sent", f"{method} ".encode() + body)
        try:
            answer: bytes = channel.unary_unary(f"/amplifier.module.{method}")(
                body,
                timeout=remaining_s,
                metadata=[(name.lower(), value) for name, value in header.items()],
            )
        except (grpc.RpcError, ValueError) as problem:  # a ValueError is a channel that was closed meanwhile
            raise self._build_fault(problem, channel, limit) from None
        self._watch("heard", answer)
        return answer

    def _open_channel(self) -> tuple[Any, Any]:
        grpc = _import_library()
        with self._lock:
            if self._is_closed:
                raise Fault("unreachable", "the link to the module is closed")
            if self._channel is None:
                target, options = f"dns:///{self._address}", [*_CHANNEL_OPTIONS.items()]
                if self._is_secure:
                    credentials = grpc.ssl_channel_credentials(_root_certificates())
                    self._channel = grpc.secure_channel(target, credentials, options)
                else:
                    self._channel = grpc.insecure_channel(target, options)
            return grpc, self._channel

    def _build_fault(self, problem: Any, channel: Any, limit: TimeLimit) -> Fault:
        if self._is_closed or isinstance(problem, ValueError):
            return Fault("unreachable", "the link to the module is closed")
        status, text = problem.code().name, problem.details() or "it said nothing more"
        code = _ERROR_CODES.get(status, "internal")
        if code == "timeout":
            return _build_timeout(limit)
        if code != "unreachable":
            return Fault(code, f"the module answered with {status}: {text}", {"status": status})
        with self._lock:
            if self._channel is channel:  # a new one tries at once, where this one would wait
                self._channel = None
        return Fault(code, f"{self._address} cannot be reached: {text}", {"status": status, "retryable": True})


def _import_library() -> Any:
    """The library, without its log on stderr: what fails stands in the answer."""
    has_level = "grpc" in sys.modules or _LOG_LEVEL_VARIABLE in os.environ
    if not has_level:
        os.environ[_LOG_LEVEL_VARIABLE] = "NONE"
    try:
        import grpc
    except ImportError:
        raise Fault("unreachable", amplifier_grpc.MISSING_LIBRARY) from None
    finally:
        if not has_level:  # what we start has a log of its own
            os.environ.pop(_LOG_LEVEL_VARIABLE, None)
    return grpc


def _build_timeout(limit: TimeLimit) -> Fault:
    return Fault("timeout", f"no answer within {limit.timeout:g} seconds", {"seconds": limit.timeout})


def _root_certificates() -> bytes | None:
    """The certificates that this machine trusts, as for modules over HTTP; None: those of the library."""
    file = ssl.get_default_verify_paths().cafile
    try:
        return None if file is None else read_regular_file(Path(file))
    except OSError as problem:
        raise Fault("unreachable", f"the certificates in {file} cannot be read: {problem.strerror}") from None
