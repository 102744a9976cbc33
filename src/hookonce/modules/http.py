"""A module over HTTP, as its host sees it: one POST for each question, over connections that are kept."""

import os
import ssl
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse
from threading import Lock
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from hookonce.model import Json, Object
from hookonce.modules.closing import Closing
from hookonce.modules.life import Watch
from hookonce.modules.lines import document_of, line_of
from hookonce.modules.protocol import LIMIT, LONGEST, VERBS, Fault, Request, answer_of, failed, failure, spelled
from hookonce.modules.timed import connected, has_news

_KEPT = 8  # connections that wait for the next question
_GOOD = range(200, 300)
_MOVED = range(300, 400)
# What a status means when the body does not say it better.
_STATUS = {401: "forbidden", 403: "forbidden", 404: "unsupported_op", 408: "timeout", 504: "timeout"}
_STATUS |= {502: "unreachable", 503: "unreachable"}


class Http(Closing):
    """A link to a module that listens somewhere; any number of threads may ask at the same time."""

    def __init__(
        self,
        url: str,
        *,
        token_env: str | None = None,
        env: Mapping[str, str] | None = None,
        watch: Watch | None = None,
        limit: int = LIMIT,
    ) -> None:
        """Remember where it is; the token is looked up in the environment at every call, and kept nowhere."""
        parts = urlsplit(url)
        self._secure, self._host, self._port = parts.scheme.lower() == "https", parts.hostname or "", parts.port
        self._base = parts.path.rstrip("/")
        self._token_env, self._env = token_env, os.environ if env is None else env
        self._watch, self._limit = watch, limit
        self._free: list[HTTPConnection] = []
        self._lock, self._closed = Lock(), False

    def ask(self, request: Request, timeout: float) -> Object:
        """What the module answers; whatever goes wrong is an answer too."""
        deadline = monotonic() + min(timeout, LONGEST)
        try:
            return self._asked(request, deadline)
        except Fault as fault:
            return failure(fault.error)
        except TimeoutError:
            return failed("timeout", f"no answer within {timeout:g} seconds", seconds=timeout)
        except ssl.SSLError as problem:
            return failed("unreachable", f"{self._host} cannot prove who it is: {problem.reason or problem}")
        except OSError as problem:
            return failed("unreachable", f"{self._where} cannot be reached: {_said(problem)}", retryable=True)
        except HTTPException as problem:
            return failed("unreachable", f"{self._where} does not speak HTTP: {_said(problem)}")

    @property
    def _where(self) -> str:
        return self._host if self._port is None else f"{self._host} port {self._port}"

    def _asked(self, request: Request, deadline: float) -> Object:
        verb = request.op if request.op in VERBS else "invoke"
        body = line_of(spelled(request) if verb == "invoke" else {})
        if len(body) > self._limit:
            raise Fault("bad_request", f"the request has {len(body)} bytes; {self._limit} are the most")
        headers = self._headers()
        connection = self._connection(deadline)
        kept = False
        try:
            self._heard("sent", body)
            connection.request("POST", f"{self._base}/{verb}", body, headers)
            response = connection.getresponse()
            raw = response.read(self._limit + 1)
            if len(raw) > self._limit:
                raise Fault("internal", f"the answer is longer than {self._limit} bytes")
            if response.length:
                raise Fault("unreachable", "the connection broke in the middle of the answer", {"retryable": True})
            self._heard("heard", raw)
            kept = not response.will_close and response.isclosed()
        finally:
            self._put_back(connection, kept=kept)
        return self._read(response, raw)

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._token_env is not None:
            if not (token := self._env.get(self._token_env)):
                raise Fault("forbidden", f"the variable {self._token_env} is to hold the token, and is not set")
            if not token.isascii() or not token.isprintable():
                raise Fault("forbidden", f"what {self._token_env} holds cannot be sent in a header")
            headers["Authorization"] = f"Bearer {token}"
        return headers

    def _heard(self, way: str, message: bytes) -> None:
        if self._watch is not None:
            self._watch(way, message)

    def _connection(self, deadline: float) -> HTTPConnection:
        """A connection that is still good, or a new one."""
        while (connection := self._taken()) is not None:
            line: Any = connection.sock
            line.deadline = deadline
            if not has_news(line.end):
                return connection
            connection.close()  # the other side has hung up meanwhile
        return connected(self._host, self._port, deadline, secure=self._secure)

    def _taken(self) -> HTTPConnection | None:
        with self._lock:
            if self._closed:
                raise Fault("unreachable", "the link to the module is closed")
            return self._free.pop() if self._free else None

    def _put_back(self, connection: HTTPConnection, *, kept: bool) -> None:
        with self._lock:
            if kept and not self._closed and len(self._free) < _KEPT:
                self._free.append(connection)
                return
        connection.close()

    def _read(self, response: HTTPResponse, raw: bytes) -> Object:
        """The document of an answer; of a failure, the error that it holds or that its status tells."""
        try:
            document = document_of(raw)
        except ValueError:
            document = None
        if response.status in _GOOD:
            if type(document) is dict:
                return document
            return failed("internal", "the module answered with something that is no JSON object")
        if response.status in _MOVED:
            place = response.headers.get("Location", "another place")
            raise Fault("unreachable", f"the module has moved to {place[:200]}: write that into its descriptor")
        return self._failure(response.status, document)

    def _failure(self, status: int, document: Json) -> Object:
        if type(document) is dict:
            told = document if "error" in document else {"error": document}
            answer = answer_of({"ok": False, "error": told["error"]})
            if answer.error is not None and type(told["error"]) is dict and "code" in told["error"]:
                return answer.document()
        code = _STATUS.get(status, "bad_request" if status < 500 else "internal")  # noqa: PLR2004
        return failed(code, f"the module answered with status {status}", status=status)

    def close(self) -> None:
        """Hang up everywhere."""
        with self._lock:
            self._closed, free, self._free = True, self._free, []
        for connection in free:
            connection.close()


def _said(problem: Exception) -> str:
    return getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
