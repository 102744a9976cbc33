"""hookonce as a module: its operations, for hosts that speak the module protocol and for agents that speak MCP."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from sqlite3 import Connection
from threading import Lock
from typing import Any, Literal

from msgspec import to_builtins

from hookonce import __version__, agents, formats
from hookonce.base import settings, times
from hookonce.base.json_stream import StreamLine
from hookonce.base.jsontext import dump
from hookonce.diagnose.document_check import DOCUMENT_CHECKS, check_documents
from hookonce.dispatch import dispatcher
from hookonce.errors import HookonceError
from hookonce.formats.amplifier import envelope
from hookonce.inspect import query_args
from hookonce.inspect.sessions import build_timeline, list_sessions
from hookonce.inspect.store_access import open_store
from hookonce.model import Json, Object
from hookonce.modules import Fault, Module, module
from hookonce.sessions.stored_records import redact_record
from hookonce.store.query import RecordFilter, find_records, resolve_session, session_agent
from hookonce.store.spool import files
from hookonce.translation.pipeline import translate

_MAX_ROWS = 1000  # events in one answer
_DATE_CHARS = len("2026-02-23")
OutcomeFilter = Literal["allow", "ask", "deny", "none"]


def build_module() -> Module:
    """Build the module with all operations; it reads and writes the store, and runs hooks."""
    own_module = _build(_OPERATIONS, "fs.read", "fs.write", "exec.spawn")
    own_module.on_event(_on_event)
    return own_module


def build_query_module() -> Module:
    """Build the module that an agent may query about what it did; it changes nothing and runs nothing."""
    return _build(("query", "sessions", "show", "check", "translate"), "fs.read")


def _build(names: Iterable[str], *capabilities: str) -> Module:
    own_module = module(name="hookonce", kind="tool", capabilities=capabilities, version=__version__)
    for name in names:
        own_module.op(name)(_OPERATIONS[name])
    return own_module


def _respond(agent: str, event: str, payload: Object) -> Object:
    """What the hooks of this machine answer to an agent's payload, in that agent's own form."""
    with _bad_requests():
        name = agents.load(agent).name
    reply = dispatcher.answer_call([name, event, "--via", f"{name}/user"], dump(payload), dict(os.environ))
    return {"stdout": reply.stdout, "stderr": reply.stderr, "exit_code": reply.code}


def _translate(
    document: Object,
    source: str,
    to: str,
    event: str | None = None,
    privacy: Literal["minimal", "standard", "full"] = "minimal",
) -> list[Object]:
    """A payload or an event in another form: the documents that it becomes."""
    with _bad_requests():
        return translate(document, source, to, event=event, privacy=privacy)


def _check(document: Json, kind: str | None = None, strict: bool = False) -> Object:  # noqa: FBT001, FBT002  a caller's word
    """Every problem of a document, each with its path."""
    if kind is not None and kind not in DOCUMENT_CHECKS and kind not in agents.AGENTS:
        raise Fault("bad_request", f"{kind} is none of {', '.join([*DOCUMENT_CHECKS, *agents.AGENTS])}")
    lines = [StreamLine(1, dump(document))]
    report: Object = to_builtins(check_documents("document", lines, strict=strict, source=kind))
    return report


def _query(  # noqa: PLR0913, PLR0917  each is a filter of its own
    agent: str | None = None,
    session: str | None = None,
    type: str | None = None,  # noqa: A002  the field's own name
    tool: str | None = None,
    decision: OutcomeFilter | None = None,
    path: str | None = None,
    text: str | None = None,
    since: str | None = None,
    until: str | None = None,
    last: int = 50,
    format: str = "canonical",  # noqa: A002  as above
) -> list[Any]:
    """Events of the record that fit, the newest `last` of them, oldest first."""
    with _bad_requests():
        target = formats.load(format)
    with _open_store() as connection:
        with _bad_requests():
            query = RecordFilter(
                agent=query_args.agent_filter(agent, connection),
                session=None if session is None else resolve_session(connection, session),
                type=query_args.event_filter(type),
                tool=query_args.tool_filter(tool, connection),
                outcome=decision,
                path=path,
                text=text,
                since=_parse_time(since),
                until=_parse_time(until),
                last=max(1, min(last, _MAX_ROWS)),
            )
        return [document for record in find_records(connection, query) for document in target.write(record)]


def _sessions(agent: str | None = None, since: str | None = None, last: int = 20) -> list[Any]:
    """Sessions of agents in short, the newest `last` of them."""
    with _open_store() as connection:
        with _bad_requests():
            agent = query_args.agent_filter(agent, connection)
        query = RecordFilter(agent=agent, since=_parse_time(since), last=max(1, min(last, _MAX_ROWS)))
        return [*list_sessions(connection, query)]


def _show(session: str, agent: str | None = None) -> Any:
    """One session from its beginning; the beginning of its name is enough, and whose it is where two have it."""
    with _open_store() as connection:
        with _bad_requests():
            name = resolve_session(connection, session, agent)
            query = RecordFilter(agent=agent or session_agent(connection, name), session=name)
        return build_timeline(find_records(connection, query))


def _on_event(event: Object) -> None:
    """Keep an Amplifier event in the record, redacted like everything else."""
    with _bad_requests():
        record = envelope.read(event)
    if settings.load().record:
        files.append(redact_record(record))


_store_lock = Lock()


@contextmanager
def _open_store() -> Iterator[Connection]:
    """One after the other: what one ingests from the spool the next one sees; warnings go to the log only."""
    from hookonce.secrets import log

    with _store_lock, ExitStack() as stack:
        try:
            connection = stack.enter_context(open_store(lambda text: log.write(f"module: {text}")))
        except HookonceError as problem:
            raise Fault("internal", str(problem)) from None
        yield connection


def _parse_time(text: str | None) -> str | None:
    """A time as the record has it; a day is its beginning."""
    if text is None:
        return None
    instant = times.parse_time(f"{text}T00:00:00Z" if len(text) == _DATE_CHARS else text)
    if instant is None:
        raise Fault("bad_request", f"{text!r} is not a time; use 2026-02-23T10:15:30Z, or 2026-02-23")
    return times.format_time(instant)


@contextmanager
def _bad_requests() -> Iterator[None]:
    """Turn what is wrong with arguments into bad_request; a Fault is more than that, and stays."""
    try:
        yield
    except Fault:
        raise
    except HookonceError as problem:
        raise Fault("bad_request", str(problem)) from None


_OPERATIONS: dict[str, Callable[..., Any]] = {
    function.__name__.removeprefix("_"): function
    for function in (_respond, _translate, _check, _query, _sessions, _show)
}
