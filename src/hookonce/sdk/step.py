"""One tool call of an agent that somebody makes: hooks are asked before it, and told afterwards what it came to."""

from time import monotonic
from typing import Any, Protocol

from msgspec.structs import replace

from hookonce.model import Decision, Object, Result, Tool


class Voice(Protocol):
    """As much of an emitter as a step needs."""

    def emit(self, type: str, *, data: Object | None = None, **fields: Any) -> Decision:  # noqa: A002  the event's word
        """Tell of an event, and hear what hooks say."""


class Step:
    """One tool call: `input` is what to do, which hooks may have changed; nothing is to be done if it was `denied`."""

    def __init__(self, emitter: Voice, tool: Tool) -> None:
        """Ask about it."""
        self._emitter, self._tool, self._began = emitter, tool, monotonic()
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
        return self._end("after_tool_execute", Result(ok=True, output=output, exit_code=exit_code))

    def failed(self, error: str, *, exit_code: int | None = None) -> Decision:
        """It has failed."""
        return self._end("tool_use_failure", Result(ok=False, error=error, exit_code=exit_code))

    def _end(self, kind: str, result: Result) -> Decision:
        took = replace(result, duration_ms=round((monotonic() - self._began) * 1000))
        return self._emitter.emit(kind, tool=replace(self._tool, input=self.input, result=took))
