"""Live intake over HTTP (`POST /events`): events of open formats, alone or many, each asked, recorded and answered.

A body of many events is worked through in short slices, so that other calls are answered in between; an event that
cannot be read costs the others nothing.
"""

import json
import os
import re
import shlex
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import cache
from time import monotonic
from typing import Any, Literal, get_args
from urllib.parse import unquote

from msgspec import DecodeError, Raw, Struct
from msgspec.json import decode
from msgspec.structs import replace

from hookonce import formats
from hookonce.base import ids, paths, settings
from hookonce.base.json_stream import JsonSyntaxError, parse_json
from hookonce.base.jsontext import dump
from hookonce.base.paths import nearest_folder
from hookonce.daemon.http.connection import HttpError, RequestHead
from hookonce.daemon.socket_call import DaemonServices
from hookonce.dispatch import dispatcher, fail_mode, intake, live_formats, pause
from hookonce.dispatch.context import CallContext, oneshot_context
from hookonce.dispatch.dispatcher import IncomingCall
from hookonce.dispatch.fast_path.manifest_stamps import manifest_stamps
from hookonce.dispatch.identification import identify
from hookonce.handlers.command import CommandOperation, ProcessContext
from hookonce.handlers.operation import OperationResult, Task, run_blocking
from hookonce.model import Object, Record, Reply
from hookonce.secrets import log

TARGET = "/events"
ENV_ALLOWLIST = ("HOME", "PATH", "LANG")  # what a hook gets of our environment; the caller does not tell its own
MAX_EVENT_BYTES = 1 << 20
LARGE_EVENT_BYTES = 1 << 17  # to read and redact more takes longer than other callers should wait
_READ_TIMEOUT_S = 10.0  # of a large event, beside what its hooks may take
# A process of its own: a fork cannot use the store, because SQLite lets no child open what its parent has open.
_CHILD_PROGRAM = """import os, sys
sys.path[:] = sys.argv[1].split(os.pathsep)
from hookonce.daemon.http.event_intake import answer_stdin
answer_stdin(*sys.argv[2:])
"""
MAX_EVENTS = 100_000  # in one body: each has an answer, however short it is
_SLICE_S, _PAUSE_S = 0.004, 0.0005  # seconds of work on a body, and until it goes on
_MAX_PENDING_RECORDS = 2048  # that wait for the store; beyond, the next event waits for them
_LINE_TYPES = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines")
_BATCH_TYPE = "application/cloudevents-batch+json"
_BINARY_PREFIX = "ce-"
_SEPARATORS = re.compile(r"[\s,]*")
_BOM = b"\xef\xbb\xbf"
_LOST_MESSAGE = "the result of this event is unknown; send it again, it will not be recorded twice"

BodyShape = Literal["document", "lines", "array", "binary"]
EventState = Literal["recorded", "duplicate", "conflict", "asked", "refused"]


class IntakeResponse(Struct, frozen=True):
    """Status, body, and further lines of the head."""

    status: int
    body: bytes
    header_lines: tuple[str, ...] = ()


class EventResult(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What became of one event: its id, under which id it is recorded, and the answer of its format."""

    line: int | None = None
    id: str | None = None
    state: EventState
    event: str | None = None
    error: str | None = None
    answer: Any = None


@cache
def _media_types() -> dict[str, tuple[BodyShape, str | None]]:
    """How a body of a media type is read, and the format that it claims."""
    table: dict[str, tuple[BodyShape, str | None]] = {"application/json": ("document", None)}
    table |= dict.fromkeys(_LINE_TYPES, ("lines", None))
    for form in map(formats.load, live_formats.LIVE_FORMATS):
        table.setdefault(form.mime, ("document", form.name))
        if form.stream_mime is not None:
            table[form.stream_mime] = ("lines", form.name)
    return table | {_BATCH_TYPE: ("array", "cloudevents")}


def find_shape(head: RequestHead) -> tuple[BodyShape, str | None]:
    """How a request's body is read; HttpError 415 for a media type that is none of these."""
    media_type, _, parameters = head.headers.get("content-type", "").lower().partition(";")
    if f"{_BINARY_PREFIX}specversion" in head.headers:
        return "binary", "cloudevents"
    charset = parameters.partition("charset=")[2].strip().strip('"')
    known_types = _media_types()
    if media_type.strip() not in known_types or charset not in {"", "utf-8", "utf8", "us-ascii"}:
        raise HttpError(415, f"events are posted as {', '.join(known_types)} in UTF-8")
    return known_types[media_type.strip()]


class EventIntake:
    """Answers requests to `POST /events` with the daemon's services."""

    def __init__(self, services: DaemonServices) -> None:
        self._services = services
        self._context: CallContext | None = None  # of the events of one slice
        self.counts = dict.fromkeys(get_args(EventState), 0)

    def answer_request(self, head: RequestHead, body: bytes) -> Task[IntakeResponse]:
        """The response to one request, as a task."""
        try:
            return (yield from self._answer_body(head, body))
        except HttpError as refusal:
            return IntakeResponse(refusal.status, dump({"error": str(refusal)}))

    def _answer_body(self, head: RequestHead, body: bytes) -> Task[IntakeResponse]:
        shape, form_name = find_shape(head)
        self._context = None
        if body == dispatcher.TRIAL_PAYLOAD:
            return IntakeResponse(200, b"{}")
        body = body.removeprefix(_BOM)
        if shape == "binary":
            _check_size(body)
            return (yield from self._answer_one(dump(_binary_document(head, body)), form_name))
        if shape == "lines":
            return (yield from self._answer_lines(body, form_name))
        if shape == "document" and body.lstrip()[:1] != b"[":
            return (yield from self._answer_one(body, form_name))
        return (yield from self._answer_array(body, form_name))

    def _answer_one(self, raw: bytes, form_name: str | None) -> Task[IntakeResponse]:
        _check_size(raw)
        result = yield from self._answer_event(raw, form_name, None)
        if result.state == "refused":
            answer = result.answer if type(result.answer) is dict else {}
            status = 500 if result.error == _LOST_MESSAGE else 400
            return IntakeResponse(status, dump({"error": result.error} | answer))
        names = (f"Hookonce-State: {result.state}", *([f"Hookonce-Event: {result.event}"] if result.event else []))
        return IntakeResponse(200, dump({} if result.answer is None else result.answer), names)

    def _answer_lines(self, body: bytes, form_name: str | None) -> Task[IntakeResponse]:
        results = yield from self._answer_all(_iter_lines(body), form_name)
        lines = b"".join(dump(result) + b"\n" for result in results)
        return IntakeResponse(200, lines, ("Content-Type: application/x-ndjson",))

    def _answer_array(self, body: bytes, form_name: str | None) -> Task[IntakeResponse]:
        try:
            decode(body, type=Raw)  # all of it is looked at before the first event is asked, and nothing is kept
            text = body.decode()
        except (DecodeError, RecursionError, UnicodeDecodeError) as problem:  # others wait while a column is looked for
            fault = _json_fault(body) if len(body) <= MAX_EVENT_BYTES else f"no JSON: {problem}"
            raise HttpError(400, fault) from None
        if text.lstrip()[:1] != "[":
            raise HttpError(400, "expected an array of events")
        results = yield from self._answer_all(_iter_items(text), form_name)
        return IntakeResponse(200, dump(results))

    def _answer_all(self, events: Iterator[tuple[int, bytes]], form_name: str | None) -> Task[list[EventResult]]:
        results, slice_end = list[EventResult](), monotonic() + _SLICE_S
        for line, raw in events:
            if len(results) == MAX_EVENTS or not raw:
                error = f"more than {MAX_EVENTS} events in one body" if raw else "an event that is too deep to be read"
                error += "; nothing from here on was looked at"
                return [*results, EventResult(line=line, state="refused", error=error)]
            results.append((yield from self._answer_event(raw, form_name, line)))
            writer = self._services.store_writer
            while writer.pending_count > _MAX_PENDING_RECORDS and not writer.is_flushed:
                writer.flush_batch()
                yield _PAUSE_S
            if monotonic() > slice_end:
                self._services.last_call_at = monotonic()  # the daemon is not idle
                yield _PAUSE_S
                self._context, slice_end = None, monotonic() + _SLICE_S
        return results

    def _answer_event(self, raw: bytes, form_name: str | None, line: int | None) -> Task[EventResult]:
        if LARGE_EVENT_BYTES < len(raw) <= MAX_EVENT_BYTES:
            self._flush()
            result = yield from _answer_elsewhere(raw, form_name, line)
        else:
            result = yield from _answer_document(raw, form_name, line, self._make_context, self._flush)
        self.counts[result.state] += 1
        return replace(result, line=line)

    def _flush(self) -> None:
        """Tell other processes which events are decided, or will be."""
        self._services.dedup_cache.flush()

    def _make_context(self) -> CallContext:
        """The context of one event; what is the same for all of a slice is looked at once."""
        if self._context is None:
            self._context = replace(
                self._services.call_context,
                environment=_hook_environment(),
                has_cwd=False,
                claim=lambda _: True,  # nobody else knows the id of this call
                observers=[],
                shared_stamps=manifest_stamps(None),
                is_paused=pause.is_paused(),
            )
        return self._context


def _answer_elsewhere(raw: bytes, form_name: str | None, line: int | None) -> Task[EventResult]:
    """Answer a large event in a process of its own, so that other callers do not wait for it."""
    timeout_s = max(dispatcher.call_timeout_s([name]) for name in live_formats.LIVE_FORMATS) + _READ_TIMEOUT_S
    arguments = [os.pathsep.join(sys.path), str(paths.client_path().parent), form_name or "", str(line or 0)]
    command = shlex.join([sys.executable, "-I", "-S", "-c", _CHILD_PROGRAM, *arguments])
    outcome: OperationResult = yield CommandOperation(
        command, raw, ProcessContext(cwd=os.sep, env=_hook_environment()), timeout_s
    )
    try:
        return decode(outcome.stdout, type=EventResult)
    except DecodeError:
        log.write(f"http: a large event was not answered: {outcome.failure or outcome.stderr.decode(errors='replace')}")
        return EventResult(state="refused", error=_LOST_MESSAGE, answer=_failure_answer(raw, form_name))


def _failure_answer(raw: bytes, form_name: str | None) -> Any:
    """The answer to an event of which nobody knows whether its hooks were asked: a refusal where one has to be."""
    try:
        _, name = _identify_document(raw, form_name, 1)
    except HttpError:
        return None
    call_context = replace(oneshot_context(_hook_environment()), cwd=os.sep, has_cwd=False)
    return _parse_answer(dispatcher.failure_reply([name], raw, call_context, HttpError(500, _LOST_MESSAGE)))


def answer_stdin(client_dir: str, form_name: str, line: str) -> None:
    """Answer the event on stdin as a one-shot process does, and write its result to stdout."""
    paths.use_client_home(client_dir)
    oneshot = oneshot_context(_hook_environment())
    fields = {"claim": lambda _: True, "saves_answer": False, "on_record": lambda _: None}  # as above
    call_context = replace(oneshot, cwd=os.sep, has_cwd=False, **fields)
    raw = sys.stdin.buffer.read()
    task = _answer_document(raw, form_name or None, int(line) or None, lambda: call_context, lambda: None)
    sys.stdout.buffer.write(dump(run_blocking(task)))


def _hook_environment() -> dict[str, str]:
    return {key: os.environ[key] for key in ENV_ALLOWLIST if key in os.environ}


def _answer_document(
    raw: bytes,
    form_name: str | None,
    line: int | None,
    make_context: Callable[[], CallContext],
    flush: Callable[[], object],
) -> Task[EventResult]:
    """The result of one event; `flush` tells other processes of it before its first hook begins."""
    try:
        document, name = _identify_document(raw, form_name, line or 1)
        return (yield from _ask_hooks(document, name, raw, make_context(), flush))
    except HttpError as problem:
        return EventResult(state="refused", error=str(problem))


def _ask_hooks(
    document: Object, name: str, raw: bytes, call_context: CallContext, flush: Callable[[], object]
) -> Task[EventResult]:
    records, duplicate_ids = list[Record](), list[str]()

    def handle_record(record: Record) -> None:
        records.append(record)
        call_context.on_record(record)

    callbacks = {"on_record": handle_record, "on_duplicate": duplicate_ids.append}
    own_context = replace(call_context, **callbacks, observers=None if call_context.observers is None else [])
    incoming = dispatcher.receive_call([name], raw, own_context, ids.new_id(), monotonic())
    event_id = formats.document_id(formats.load(name), document)
    if incoming.request is None or incoming.request.document is None:
        reply = dispatcher.late_reply(incoming)
        is_open = reply == fail_mode.open_reply(live_formats.load_caller(name))
        answer = None if is_open else _parse_answer(reply)
        return EventResult(id=event_id, state="refused", error=str(incoming.problem), answer=answer)
    event = incoming.request.event
    if event.cwd is not None:
        incoming = replace(incoming, context=replace(incoming.context, cwd=nearest_folder(event.cwd)))
    reply = yield from _run_call(incoming, flush)
    answer = _parse_answer(reply)
    if not records:
        known_ids = [known_id for known_id in duplicate_ids if call_context.find_event(known_id) is not None]
        return EventResult(id=event_id, state="duplicate", event=next(iter(known_ids), None), answer=answer)
    if not settings.load().record:
        return EventResult(id=event_id, state="asked", answer=answer)
    is_conflict = any(gap.capability == intake.CONFLICT for gap in records[0].gaps)
    state: EventState = "conflict" if is_conflict else "recorded"
    return EventResult(id=event_id, state=state, event=records[0].event.id, answer=answer)


def _run_call(incoming: IncomingCall, flush: Callable[[], object]) -> Task[Reply]:
    task, value = dispatcher.answer_incoming(incoming), None
    try:
        while True:
            wait = task.send(value)
            if not isinstance(wait, (int, float)):
                flush()
            value = yield wait
    except StopIteration as stop:
        reply: Reply = stop.value
        return reply
    finally:
        task.close()


def _identify_document(raw: bytes, form_name: str | None, first_line: int) -> tuple[Object, str]:
    """A document and the name of its format, by its keys or else by what is claimed."""
    _check_size(raw)
    try:
        document = parse_json(raw)
    except JsonSyntaxError:
        raise HttpError(400, _json_fault(raw, first_line)) from None
    identification = identify(document)
    name = identification.name if live_formats.is_live(identification.name) else form_name
    if identification.kind == "agent":
        raise HttpError(400, f"this is a payload of {identification.name}, which is posted to /on/AGENT/EVENT")
    if name is None or type(document) is not dict:
        known_names = ", ".join(live_formats.LIVE_FORMATS)
        raise HttpError(400, f"expected an event of {known_names}: {'; '.join(identification.evidence)}")
    return document, name


def _check_size(raw: bytes) -> None:
    if len(raw) > MAX_EVENT_BYTES:
        raise HttpError(413, f"an event of more than {MAX_EVENT_BYTES} bytes")


def _json_fault(raw: bytes, first_line: int = 1) -> str:
    """Where a text stops being JSON."""
    try:
        json.loads(raw.decode())
    except json.JSONDecodeError as fault:
        return f"no JSON: {fault.msg} at line {fault.lineno + first_line - 1} column {fault.colno}"
    except UnicodeDecodeError as fault:
        return f"no JSON: invalid UTF-8 at byte {fault.start} of line {first_line}"
    except (ValueError, RecursionError):
        pass
    return f"no JSON that can be read at line {first_line}: too deep, or a number that is none"


def _parse_answer(reply: Reply) -> Any:
    return parse_json(reply.stdout.encode()) if reply.stdout else None


def _iter_lines(body: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines of a body that are not blank, by number, one at a time."""
    start, number = 0, 0
    while start < len(body):
        end = body.find(b"\n", start)
        end = len(body) if end < 0 else end
        number += 1
        line = body[start:end].strip()
        start = end + 1
        if line:
            yield number, line


def _iter_items(text: str) -> Iterator[tuple[int, bytes]]:
    """The items of a JSON array that was looked at before, by the line on which each begins, one at a time.

    The last one is empty where nobody can go on.
    """
    scan, end, line, last_start = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode, text.index("[") + 1, 1, 0
    while (start := _SEPARATORS.match(text, end).end()) < len(text) and text[start] != "]":  # type: ignore[union-attr]
        line, last_start = line + text.count("\n", last_start, start), start
        try:
            _, end = scan(text, start)
        except (ValueError, RecursionError):  # what one parser takes and the other does not
            yield line, b""
            return
        yield line, text[start:end].encode()


def _binary_document(head: RequestHead, body: bytes) -> Object:
    """The structured form of an event in CloudEvents' binary mode: attributes in the head, data in the body."""
    prefix, content_type = _BINARY_PREFIX, head.headers.get("content-type")
    document: Object = {
        name.removeprefix(prefix): unquote(value) for name, value in head.headers.items() if name.startswith(prefix)
    }
    if content_type is not None:
        document["datacontenttype"] = content_type
    if not body:
        return document
    media_type = (content_type or "application/json").partition(";")[0].strip().lower()
    if media_type == "application/json" or media_type.endswith("+json"):
        try:
            return document | {"data": parse_json(body)}
        except JsonSyntaxError:
            raise HttpError(400, _json_fault(body)) from None
    if media_type.startswith("text/"):
        return document | {"data": body.decode(errors="replace")}
    return document | {"data_base64": b64encode(body).decode()}
