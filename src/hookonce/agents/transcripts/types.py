"""Types of transcript data: numbers, names, ids and times. Prompts, answers and thoughts stay in the file.

`input_tokens` are all that went in, those of a cache among them; `output_tokens` are all that came out, those of
reasoning among them. Field names are stored as JSON with each cursor.
"""

from typing import Literal

from msgspec import Struct

from hookonce.model import Subagent, Usage

Refuser = Literal["hook", "user", "agent"]


class _TranscriptItem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all items: an id, and the session, turn and sub-agent that it belongs to."""

    id: str
    session: str | None = None
    turn: str | None = None
    subagent: Subagent | None = None


class ModelCall(_TranscriptItem, frozen=True, kw_only=True):
    """One answer of a model, or its failure."""

    time: str | None = None
    asked: str | None = None
    retries: int | None = None
    model: str | None = None
    usage: Usage | None = None
    hour_write_tokens: int = 0  # cache writes kept for an hour, which some vendors charge more for
    stop_reason: str | None = None
    failed: bool = False
    parent_call: str | None = None  # the tool call that started the sub-agent


class Compaction(_TranscriptItem, frozen=True, kw_only=True):
    """Context compaction: tokens of context before and after, as far as the agent writes them."""

    time: str | None = None
    trigger: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None


class ToolOutcome(_TranscriptItem, frozen=True, kw_only=True):
    """What a tool call came to (`id` is the call's id), in the agent's own figures; `tool` is its native name.

    `is_done`: the agent goes on, so every hook that it asks about the call was asked.
    """

    time: str | None = None
    tool: str | None = None
    ok: bool | None = None
    exit_code: int | None = None
    duration_ms: int | float | None = None
    refused_by: Refuser | None = None
    is_done: bool = True

    @property
    def is_known(self) -> bool:
        """Whether it is more than that the call has ended."""
        return self.ok is not None or self.refused_by is not None


class SubagentSpawn(_TranscriptItem, frozen=True, kw_only=True):
    """A sub-agent (`id` is its id) and the tool call that started it."""

    type: str | None = None
    call: str | None = None


class TranscriptBatch(Struct, frozen=True, kw_only=True):
    """Batch of items from a piece of a session file. Batches are concatenated with `+`."""

    calls: tuple[ModelCall, ...] = ()
    compactions: tuple[Compaction, ...] = ()
    outcomes: tuple[ToolOutcome, ...] = ()
    unreadable: int = 0

    def __add__(self, other: "TranscriptBatch") -> "TranscriptBatch":
        return TranscriptBatch(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})


class ReaderMemory(Struct, kw_only=True, omit_defaults=True):
    """State of a reader between chunks, stored with the cursor: context, sub-agents so far, and recent ids."""

    file: str | None = None  # the file's name without its suffix
    session: str | None = None
    turn: str | None = None
    model: str | None = None
    subagent: Subagent | None = None
    parent_call: str | None = None
    seen: list[str] = []
    held: ModelCall | None = None  # one that may be incomplete
    asked: str | None = None  # the time of the model's last input
    retries: int | None = None  # failed attempts since
    spawned: list[SubagentSpawn] = []
    outcomes: dict[str, ToolOutcome] = {}  # of the last calls, by their ids
    # The others are for agents that count in running totals.
    context: int | None = None  # tokens
    counted: int | None = None  # all tokens so far
    totals: dict[str, int] = {}  # the same by kind
    one_by_one: bool = False  # whether calls are listed
    compacting: Compaction | None = None  # one whose result comes later


class TranscriptCursor(Struct, frozen=True, kw_only=True):
    """Position in a session file: device and inode, offset, digest of the bytes before it, and the reader's memory."""

    device: int
    inode: int
    offset: int
    mark: str
    memory: ReaderMemory
    in_long_line: bool = False
