"""Telling: from lines, one after the other, what is worth it; nothing twice."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from msgspec import DecodeError
from msgspec.json import decode
from msgspec.structs import replace

from hookonce.model import Json, Object
from hookonce.texts import load
from hookonce.transcripts.reading import Compaction, Memory, ModelCall, Reading, Spawn, ToolCall, Total

Line = Callable[["Telling", Object], None]

_REMEMBERED = 512  # ids; repetitions stand near one another, and whoever keeps the values knows all ids
_OPEN = 256  # tool calls at once
_SPAWNED = 256  # sub-agents whose files are still looked for


class Telling:
    """A reading in the making."""

    def __init__(self, memory: Memory) -> None:
        """Go on from what is remembered; the memory that is given stays as it is."""
        self.memory = deepcopy(memory)
        self._seen = dict.fromkeys(memory.seen)
        self._calls: list[ModelCall] = []
        self._tools: list[ToolCall] = []
        self._compactions: list[Compaction] = []
        self._spawns: list[Spawn] = []
        self._totals: list[Total] = []
        self._unreadable = 0

    def read(self, line: Line, raw: bytes) -> None:
        """Hear what a line says; one that cannot be read is counted."""
        if not raw.strip():
            return
        document = _document(raw)
        if type(document) is dict:
            line(self, document)
        else:
            self._unreadable += 1

    def base(self, **more: Any) -> dict[str, Any]:
        """What everything that is told has: session, turn and sub-agent, unless a line knows better."""
        return {name: getattr(self.memory, name) for name in ("session", "turn", "subagent")} | more

    def given(self, at: str | None) -> None:
        """The model is given something to answer."""
        self.memory.asked = at or self.memory.asked

    def tried(self, retries: int | None) -> None:
        """The model was asked in vain, and will be again."""
        self.memory.retries = retries

    def call(self, call: ModelCall, *, whole: bool = True, timed: bool = True) -> None:
        """A model call. What is not whole is held until it is, or until another one begins.

        It is `timed` if its line stands between what it answers and what follows from it.
        """
        held = self.memory.held
        if held is not None and held.id != call.id:
            self._tell(held)
        before = held if held is not None and held.id == call.id else self.memory
        call = replace(call, asked=before.asked if timed else None, retries=before.retries)
        if whole:
            self._tell(call)
        elif not self._is_known("call", call.id):
            self.memory.held = call

    def _tell(self, call: ModelCall) -> None:
        self.memory.held = None
        if self._once("call", call.id):
            self.memory.retries = None
            self._calls.append(call)

    def begin(self, tool: ToolCall) -> None:
        """A tool call that was asked for."""
        if tool.id not in self.memory.open and not self._is_known("tool", tool.id):
            if len(self.memory.open) == _OPEN:
                self._ended(next(iter(self.memory.open.values())))
            self.memory.open[tool.id] = tool

    def note(self, call_id: str, *, ok: bool | None, duration_ms: int | None) -> None:
        """What is told of an open tool call before its end."""
        if (known := self.memory.open.get(call_id)) is not None:
            self.memory.open[call_id] = replace(known, ok=ok, duration_ms=duration_ms)

    def end(self, call_id: str, at: str | None, *, ok: bool | None, duration_ms: int | None = None) -> None:
        """The end of a tool call; what was noted before stays where nothing is told now."""
        if (known := self.memory.open.get(call_id)) is not None:
            result = known.ok if ok is None else ok
            took = known.duration_ms if duration_ms is None else duration_ms
            self._ended(replace(known, ended=at, ok=result, duration_ms=took))

    def _ended(self, tool: ToolCall) -> None:
        self.memory.open.pop(tool.id, None)
        if self._once("tool", tool.id):
            self._tools.append(tool)

    def compaction(self, one: Compaction) -> None:
        """A conversation was made shorter."""
        if self._once("compaction", one.id):
            self._compactions.append(one)

    def spawn(self, one: Spawn) -> None:
        """A sub-agent was started."""
        if self._once("spawn", one.id):
            self._spawns.append(one)
            self.memory.spawned = [*self.memory.spawned, one][-_SPAWNED:]

    def total(self, one: Total) -> None:
        """What the agent has counted itself."""
        self._totals.append(one)

    def close(self) -> None:
        """Nothing follows: what was held or open is told as it is."""
        if self.memory.held is not None:
            self._tell(self.memory.held)
        for tool in list(self.memory.open.values()):
            self._ended(tool)
        if self.memory.compacting is not None:
            self.compaction(self.memory.compacting)
            self.memory.compacting = None

    def told(self) -> tuple[Memory, Reading]:
        """What to remember, and what was told."""
        self.memory.seen = list(self._seen)[-_REMEMBERED:]
        reading = Reading(
            calls=tuple(self._calls),
            tools=tuple(self._tools),
            compactions=tuple(self._compactions),
            spawns=tuple(self._spawns),
            totals=tuple(self._totals),
            unreadable=self._unreadable,
        )
        return self.memory, reading

    def _is_known(self, kind: str, known: str) -> bool:
        return f"{kind} {known}" in self._seen

    def _once(self, kind: str, known: str) -> bool:
        """Whether it is the first time; only the latest are remembered, however much is read at once."""
        if self._is_known(kind, known):
            return False
        self._seen[f"{kind} {known}"] = None
        if len(self._seen) > _REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return True


def _document(raw: bytes) -> Json:
    try:
        return decode(raw)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return load(raw.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None
