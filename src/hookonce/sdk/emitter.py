"""For makers of agents: tell what your agent does, and let hooks have their say.

Every event is written in an open format, goes to the hooks of the user, the organisation, the system and the project
(`.hookonce/hooks.json`, and the observers of `.openhook.json`, once somebody has agreed to them with `hookonce
trust`), and into the record. What they decide comes back: whether to go on, with what input, what to tell the model.
"""

import os
from pathlib import Path
from re import fullmatch
from time import monotonic
from types import TracebackType
from typing import Any, Self, TextIO

from hookonce import formats, ids, times
from hookonce.canon.events import EVENTS
from hookonce.canon.spelling import near
from hookonce.errors import UsageError
from hookonce.handlers.errand import Errand, Ran
from hookonce.handlers.nurseries import Nurseries
from hookonce.handlers.walk import drive
from hookonce.journeys import failmode, ground, on
from hookonce.journeys.respond import Asked, Call, respond
from hookonce.manifest.discover import project_of
from hookonce.model import SCHEMA, Actor, Decision, Event, Gap, Object, Record, Tool, Usage
from hookonce.runtime.loop import Loop
from hookonce.sdk.maker import table
from hookonce.sdk.step import Step
from hookonce.store import log as logs
from hookonce.store.redact import LEVELS, Level, redact
from hookonce.texts import dump

_SOURCE = r"[a-z][a-z0-9-]*"
_PATIENCE = 60.0  # seconds for all hooks of an event


class Emitter:
    """The voice of one session of an agent; `gaps` is what of the last event's hooks could not be done, and why."""

    def __init__(  # noqa: PLR0913  one name for each thing that a maker may choose
        self,
        source: str,
        *,
        log: str | Path | TextIO | None = None,
        format: str = "openhook",  # noqa: A002  as everywhere here
        session: str | None = None,
        cwd: str | Path | None = None,
        model: str | None = None,
        transcript: str | Path | None = None,
        privacy: Level = "minimal",
        timeout: float = _PATIENCE,
    ) -> None:
        """An agent of this name, in small letters with dashes; `log` is where its events are written, if anywhere."""
        if fullmatch(_SOURCE, source) is None:
            raise UsageError(f"an agent's name is in lower case with dashes, such as my-agent; not {source!r}")
        if privacy not in LEVELS:
            raise UsageError(f"no privacy level is called {privacy!r}; there are {', '.join(LEVELS)}")
        self.source, self.model, self.timeout = source, model, timeout
        self.session = session or ids.fresh()
        self.cwd = str(Path(cwd or Path.cwd()).absolute())
        self.transcript = None if transcript is None else str(Path(self.cwd, transcript))
        self.gaps: list[Gap] = []
        self._agent, self._format, self._privacy = table(source), formats.load(format), privacy
        self._log, self._began = log, monotonic()
        self._loop = Loop()
        self._nurseries = Nurseries(self._loop)

    def __enter__(self) -> Self:
        self.session_start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.session_end("completed" if kind is None else "error")
        finally:
            self.close()

    def close(self) -> None:
        """End what was kept ready for the next event."""
        self._nurseries.close()
        self._loop.close()

    def session_start(self) -> Decision:
        """A session begins; `context` of the answer is for the model."""
        return self.emit("session_start")

    def session_end(self, reason: str = "completed", usage: Usage | None = None) -> Decision:
        """It ends: completed, user_exit, timeout or error."""
        told = {"reason": reason, "duration_ms": round((monotonic() - self._began) * 1000)}
        return self.emit("session_end", data=told, usage=usage)

    def prompt(self, text: str) -> Decision:
        """The user says something."""
        return self.emit("before_prompt", prompt=text, actor=Actor(type="user"))

    def tool(self, name: str, given: Object | None = None) -> Step:
        """A tool is about to be used: ask before it is, and tell afterwards what it came to."""
        return Step(
            self, Tool(name=name, native=name, input=given or {}, native_input=given or {}, call_id=ids.fresh())
        )

    def emit(self, type: str, *, data: Object | None = None, **fields: Any) -> Decision:  # noqa: A002  the event's word
        """Any other event, by its canonical name; `fields` are those of `Event`."""
        if type not in EVENTS and not type.startswith("vendor."):
            raise UsageError(f"no event is called {type!r}{near(type, EVENTS)}; what only you have is vendor.…")
        told = data or {}
        if self.transcript is not None:
            told = {"transcript_path": self.transcript} | told
        now = times.now()
        event = Event(
            id=ids.fresh(),
            schema=SCHEMA,
            type=type,
            agent=self.source,
            session=self.session,
            time=now,
            time_source="agent",
            received=now,
            cwd=self.cwd,
            model=self.model,
            data=told,
            **{"actor": Actor(type="ai_agent")} | fields,
        )
        return self._emitted(event)

    def _emitted(self, event: Event) -> Decision:
        on.refresh()
        where = ground.cold(dict(os.environ))
        asked = Asked(agent=self._agent, native=event.type, event=event)
        call = Call(agent=self.source, event=event.type, timeout=self.timeout)
        try:
            record = drive(respond(call, asked, where), self._do).record
        except Exception as problem:  # noqa: BLE001  our own failure is never a decision by accident
            record = _failed(event, problem)
        self.gaps = record.gaps
        self._write(record)
        on.keep(record, where)
        return record.decision or Decision()

    def _do(self, errand: Errand) -> Ran:
        """Do one errand, on a loop of our own: functions stay loaded between two events."""
        ended: list[Ran] = []
        under_way = errand.begin(self._loop, errand.timeout, ended.append)
        try:
            while not ended:
                self._loop.turn()
        finally:
            if not ended:  # somebody interrupts us
                under_way.end()
        return ended[0]

    def _write(self, record: Record) -> None:
        if self._log is None:
            return
        kept = record if self._privacy == "full" else redact(record, self._privacy, native=False)
        text = b"".join(dump(document) + b"\n" for document in self._format.write(kept)).decode()
        if isinstance(self._log, (str, Path)):
            with Path(self._log).open("a", encoding="utf-8") as file:
                file.write(text)
        else:
            self._log.write(text)
            self._log.flush()


def _failed(event: Event, problem: Exception) -> Record:
    """What is said of an event about which hooks could not be asked: no, if one of them has to be."""
    logs.write(f"hooks of {event.agent} {event.type}: {logs.trace(problem)}")
    note = f"{type(problem).__name__}: {logs.words(problem)}"
    gap = Gap(where="$", capability="respond", strategy="fail mode", effect="observes", note=note)
    closed = failmode.is_closed(event.type, project_of(event.cwd or "/"))
    decision = Decision(outcome="deny", reason=failmode.REASON, by="hookonce") if closed else None
    return Record(event=event, decision=decision, gaps=[gap])
