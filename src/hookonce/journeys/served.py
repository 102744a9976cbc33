"""hookonce as a module: what it can do, for hosts that speak the module protocol and for agents that speak MCP."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from sqlite3 import Connection
from threading import Lock
from typing import Any, Literal

from msgspec import to_builtins

from hookonce import __version__, agents, formats, times
from hookonce.config import settings
from hookonce.errors import HookonceError
from hookonce.formats import amplifier
from hookonce.journeys import on, sought
from hookonce.journeys.check import KINDS, check
from hookonce.journeys.lines import Line
from hookonce.journeys.looking import looking
from hookonce.journeys.sessions import sessions
from hookonce.journeys.stored import stored
from hookonce.journeys.timeline import timeline
from hookonce.journeys.translate import translate
from hookonce.model import Json, Object
from hookonce.modules import Fault, Module, module
from hookonce.store import spool
from hookonce.store.query import Wanted, owner, records, whole
from hookonce.texts import dump

_MOST = 1000  # events in one answer
_DAY = len("2026-02-23")
Outcome = Literal["allow", "ask", "deny", "none"]


def served() -> Module:
    """The module; it reads and writes the record, and runs hooks."""
    made = module(name="hookonce", kind="tool", capabilities=["fs.read", "fs.write", "exec.spawn"], version=__version__)
    for name, function in _OPERATIONS.items():
        made.op(name)(function)
    made.on_event(_on_event)
    return made


def asking() -> Module:
    """What an agent may ask of what it did; it changes nothing and runs nothing."""
    made = module(name="hookonce", kind="tool", capabilities=["fs.read"], version=__version__)
    for name in ("query", "sessions", "show", "check", "translate"):
        made.op(name)(_OPERATIONS[name])
    return made


def _respond(agent: str, event: str, payload: Object) -> Object:
    """What the hooks of this machine answer to an agent's payload, in that agent's own form."""
    name = _known(agents.load, agent).name
    reply = on.answer([name, event, "--via", f"{name}/user"], dump(payload), dict(os.environ))
    return {"stdout": reply.stdout, "stderr": reply.stderr, "exit_code": reply.code}


def _translate(
    document: Object,
    source: str,
    to: str,
    event: str | None = None,
    privacy: Literal["minimal", "standard", "full"] = "minimal",
) -> list[Object]:
    """A payload or an event in another form: the documents that it becomes."""
    made: list[Object] = _known(lambda _: translate(document, source, to, event=event, privacy=privacy), to)
    return made


def _check(document: Json, kind: str | None = None, strict: bool = False) -> Object:  # noqa: FBT001, FBT002  a caller's word
    """Every problem of a document, each with its path."""
    if kind is not None and kind not in KINDS and kind not in agents.AGENTS:
        raise Fault("bad_request", f"{kind} is none of {', '.join([*KINDS, *agents.AGENTS])}")
    found: Object = to_builtins(check("document", [Line(1, dump(document))], strict=strict, source=kind))
    return found


def _query(  # noqa: PLR0913, PLR0917  each is a filter of its own
    agent: str | None = None,
    session: str | None = None,
    type: str | None = None,  # noqa: A002  the field's own name
    tool: str | None = None,
    decision: Outcome | None = None,
    path: str | None = None,
    text: str | None = None,
    since: str | None = None,
    until: str | None = None,
    last: int = 50,
    format: str = "canonical",  # noqa: A002  as above
) -> list[Any]:
    """Events of the record that fit, the newest `last` of them, oldest first."""
    target = _known(formats.load, format)
    with _looking() as connection:
        wanted = Wanted(
            agent=_known(lambda name: sought.agent(name, connection), agent),
            session=None if session is None else _known(lambda name: whole(connection, name), session),
            type=_known(sought.kind, type),
            tool=_known(lambda name: sought.tool(name, connection), tool),
            outcome=decision,
            path=path,
            text=text,
            since=_moment(since),
            until=_moment(until),
            last=max(1, min(last, _MOST)),
        )
        return [document for record in records(connection, wanted) for document in target.write(record)]


def _sessions(agent: str | None = None, since: str | None = None, last: int = 20) -> list[Any]:
    """Sessions of agents in short, the newest `last` of them."""
    with _looking() as connection:
        agent = _known(lambda name: sought.agent(name, connection), agent)
        return [*sessions(connection, Wanted(agent=agent, since=_moment(since), last=max(1, min(last, _MOST))))]


def _show(session: str, agent: str | None = None) -> Any:
    """One session from its beginning; the beginning of its name is enough, and whose it is where two have it."""
    with _looking() as connection:
        name = _known(lambda text: whole(connection, text, agent), session)
        whose = agent or _known(lambda text: owner(connection, text), name)
        return timeline(records(connection, Wanted(agent=whose, session=name)))


def _on_event(event: Object) -> None:
    """Keep an Amplifier event in the record, redacted like everything else."""
    record = _known(lambda _: amplifier.read(event), "")
    if settings.records():
        spool.append(stored(record))


@contextmanager
def _looking() -> Iterator[Connection]:
    """The record, for one after the other: what one takes up from the spool the next one sees."""
    with _turn, looking(_quiet) as connection:
        yield connection


_turn = Lock()


def _moment(text: str | None) -> str | None:
    """A time as the record has it; a day is its beginning."""
    if text is None:
        return None
    found = times.parse(f"{text}T00:00:00Z" if len(text) == _DAY else text)
    if found is None:
        raise Fault("bad_request", f"{text!r} is no time; say 2026-02-23T10:15:30Z, or 2026-02-23")
    return times.text_of(found)


def _known(find: Any, name: str | None) -> Any:
    """What somebody means, or bad_request where that is nothing."""
    try:
        return find(name)
    except HookonceError as problem:
        raise Fault("bad_request", str(problem)) from None


def _quiet(text: str) -> None:
    """What a person would be warned of goes nowhere: the answer holds what there is."""
    from hookonce.store import log

    log.write(f"module: {text}")


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "respond": _respond,
    "translate": _translate,
    "check": _check,
    "query": _query,
    "sessions": _sessions,
    "show": _show,
}
