"""Emitter for makers of agents: emits events, runs the hooks on them, and returns their decision.

Every event is written in an open format, goes to the hooks of the user, the organisation, the system and the
project (`.hookonce/hooks.json`, and the observers of `.openhook.json`, once somebody has agreed to them with
`hookonce trust`), and into the record. The decision says whether to go on, with what input, and what to tell the
model.
"""

from time import monotonic
from typing import Any, Protocol

from msgspec.structs import replace

from hookonce.model import Decision, Object, Result, Tool


class StepEmitter(Protocol):
    """The part of an emitter that a step needs."""

    def emit(self, type: str, *, data: Object | None = None, **fields: Any) -> Decision:  # noqa: A002  the event's word
        """Emit an event; the decision of the hooks."""


class Step:
    """One tool call: `input` is what to do, which hooks may have changed; nothing is to be done if it was `denied`."""

    def __init__(self, emitter: StepEmitter, tool: Tool) -> None:
        """Ask about it."""
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
