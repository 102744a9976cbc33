"""Emitter for makers of agents: emits events in an open format, runs the hooks on them, and returns their decision."""

import os
from functools import partial
from pathlib import Path
from re import fullmatch
from time import monotonic
from typing import Any, Self, TextIO

from msgspec.structs import replace

from hookonce import formats
from hookonce.agents import point
from hookonce.base import ids, times
from hookonce.base.event_loop import EventLoop
from hookonce.base.jsontext import dump
from hookonce.dispatch import context, dispatcher, fail_mode
from hookonce.dispatch.pipeline import process_request
from hookonce.dispatch.request.call_record import append_record
from hookonce.dispatch.request.call_request import CallArguments, CallRequest
from hookonce.errors import UsageError
from hookonce.handlers.operation import run_blocking, run_on_loop
from hookonce.handlers.workers.pool import WorkerPool
from hookonce.manifest.discover import find_project
from hookonce.model import SCHEMA, Actor, Agent, Config, Decision, Event, Gap, Object, Record, Result, Tool, Usage
from hookonce.secrets import log as logs
from hookonce.store.privacy.redact import LEVELS, Level, redact
from hookonce.vocabulary.events import EVENTS


class Step:
    """One tool call: `input` is what to do, which hooks may have changed; nothing is to be done if it was `denied`."""

    def __init__(self, emitter: "Emitter", tool: Tool) -> None:
        self._emitter, self._tool, self._started_at = emitter, tool, monotonic()
        self.decision = emitter.emit("before_tool_execute", tool=tool)
        self.input: Object = self.decision.updated_input or tool.input

    @property
    def denied(self) -> bool:
        """Whether it must not be done."""
        return self.decision.outcome == "deny"

    @property
    def asks(self) -> bool:
        """Whether a person has to say yes first."""
        return self.decision.outcome == "ask"

    @property
    def reason(self) -> str:
        """Why, for the model."""
        return self.decision.reason or ""

    def done(self, output: Any = None, *, exit_code: int | None = None) -> Decision:
        """It is done, and this came of it."""
        return self._emit_result("after_tool_execute", Result(ok=True, output=output, exit_code=exit_code))

    def failed(self, error: str, *, exit_code: int | None = None) -> Decision:
        """It has failed."""
        return self._emit_result("tool_use_failure", Result(ok=False, error=error, exit_code=exit_code))

    def _emit_result(self, event_type: str, result: Result) -> Decision:
        timed_result = replace(result, duration_ms=round((monotonic() - self._started_at) * 1000))
        return self._emitter.emit(event_type, tool=replace(self._tool, input=self.input, result=timed_result))


_CAPABILITIES = {
    "before_tool_execute": point("prevent rewrite context", ask="native"),
    "permission_request": point("prevent", ask="native"),
    "before_prompt": point("prevent rewrite context"),
    "after_tool_execute": point("context"),
    "tool_use_failure": point("context"),
    "session_start": point("context"),
    "agent_stop": point("retry"),
    "subagent_stop": point("retry"),
}


def build_agent(name: str) -> Agent:
    """Build the table of an agent that speaks canonical names and honours every capability."""
    points = {kind: _CAPABILITIES.get(kind, point()) for kind in EVENTS}
    config = Config(files={}, render=lambda *_: ({}, []), parse=lambda *_: ([], []), points=points)
    events = {kind: kind for kind in EVENTS}
    origin: Object = {"source": "its maker", "checked": "", "proof": "documented"}
    return Agent(name=name, title=name, vendor=name, events=events, config=config, **origin)


_SOURCE_PATTERN = r"[a-z][a-z0-9-]*"
_HOOKS_TIMEOUT_S = 60.0  # seconds for all hooks of an event


class Emitter:
    """Emitter of one session; `gaps` is what of the last event's hooks could not be done, and why."""

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
        timeout: float = _HOOKS_TIMEOUT_S,
    ) -> None:
        """An agent of this name, in small letters with dashes; `log` is where its events are written, if anywhere."""
        if fullmatch(_SOURCE_PATTERN, source) is None:
            raise UsageError(f"an agent's name is in lower case with dashes, such as my-agent; not {source!r}")
        if privacy not in LEVELS:
            raise UsageError(f"no privacy level is called {privacy!r}; there are {', '.join(LEVELS)}")
        self.source, self.model, self.timeout = source, model, timeout
        self.session = session or ids.new_id()
        self.cwd = str(Path(cwd or Path.cwd()).absolute())
        self.transcript = None if transcript is None else str(Path(self.cwd, transcript))
        self.gaps: list[Gap] = []
        self._agent, self._format, self._privacy = build_agent(source), formats.load(format), privacy
        self._log, self._started_at = log, monotonic()
        self._loop = EventLoop()
        self._worker_pool = WorkerPool(self._loop)

    def __enter__(self) -> Self:
        self.session_start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self.session_end("completed" if kind is None else "error")
        finally:
            self.close()

    def close(self) -> None:
        """End the worker pool."""
        self._worker_pool.close()
        self._loop.close()

    def session_start(self) -> Decision:
        """A session begins; `context` of the answer is for the model."""
        return self.emit("session_start")

    def session_end(self, reason: str = "completed", usage: Usage | None = None) -> Decision:
        """It ends: completed, user_exit, timeout or error."""
        data = {"reason": reason, "duration_ms": round((monotonic() - self._started_at) * 1000)}
        return self.emit("session_end", data=data, usage=usage)

    def prompt(self, text: str) -> Decision:
        """The user says something."""
        return self.emit("before_prompt", prompt=text, actor=Actor(type="user"))

    def tool(self, name: str, given: Object | None = None) -> Step:
        """A tool is about to be used: ask before it is, and tell afterwards what it came to."""
        arguments = given or {}
        return Step(self, Tool(name=name, native=name, input=arguments, native_input=arguments, call_id=ids.new_id()))

    def emit(self, type: str, *, data: Object | None = None, **fields: Any) -> Decision:  # noqa: A002  the event's word
        """Any other event, by its canonical name; `fields` are those of `Event`."""
        if type not in EVENTS and not type.startswith("vendor."):
            from hookonce.dispatch.hook_faults.manifest_words import suggest_event  # all agents' names, for this alone

            raise UsageError(f"no event is called {type!r}{suggest_event(type)}; name an event of your own vendor.…")
        transcript = {} if self.transcript is None else {"transcript_path": self.transcript}
        now = times.now()
        event = Event(
            id=ids.new_id(),
            schema=SCHEMA,
            type=type,
            agent=self.source,
            session=self.session,
            time=now,
            time_source="agent",
            received=now,
            cwd=self.cwd,
            model=self.model,
            data=transcript | (data or {}),
            **{"actor": Actor(type="ai_agent")} | fields,
        )
        return self._dispatch(event)

    def _dispatch(self, event: Event) -> Decision:
        dispatcher.refresh_client_files()
        call_context = replace(context.oneshot_context(dict(os.environ)), detaches_observers=False)
        call = CallArguments(agent=self.source, event=event.type, timeout=self.timeout)
        request = CallRequest(arguments=call, agent=self._agent, native=event.type, event=event)
        try:
            # On one loop of our own, functions stay loaded between two events.
            record = run_blocking(process_request(request, call_context), partial(run_on_loop, self._loop)).record
        except Exception as problem:  # noqa: BLE001  our own failure is never a decision by accident
            record = _build_failure_record(event, problem)
        self.gaps = record.gaps
        self._write(record)
        append_record(record, call_context)
        return record.decision or Decision()

    def _write(self, record: Record) -> None:
        if self._log is None:
            return
        written_record = record if self._privacy == "full" else redact(record, self._privacy, native=False)
        text = b"".join(dump(document) + b"\n" for document in self._format.write(written_record)).decode()
        if isinstance(self._log, (str, Path)):
            with Path(self._log).open("a", encoding="utf-8") as file:
                file.write(text)
        else:
            self._log.write(text)
            self._log.flush()


def _build_failure_record(event: Event, problem: Exception) -> Record:
    """Record of an event whose hooks could not be run: denied, if a hook must fail closed."""
    logs.write(f"hooks of {event.agent} {event.type}: {logs.format_trace(problem)}")
    note = f"{type(problem).__name__}: {logs.safe_message(problem)}"
    gap = Gap(where="$", capability="respond", strategy="fail mode", effect="observes", note=note)
    refusal = fail_mode.find_refusal(event.type, find_project(event.cwd or "/"), problem=problem, cwd=event.cwd)
    decision = Decision(outcome="deny", reason=refusal, by="hookonce") if refusal else None
    return Record(event=event, decision=decision, gaps=[gap])
