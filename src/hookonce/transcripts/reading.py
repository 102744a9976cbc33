"""What session files tell us. Numbers, names, ids and times: what was said and thought stays in the file.

Tokens are counted alike for all agents: `input_tokens` are all that went in, those of a cache among them;
`output_tokens` are all that came out, those of reasoning among them.
"""

from msgspec import Struct

from hookonce.model import Subagent, Usage


class _Told(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What all that is told has: an id, and whose it is."""

    id: str
    session: str | None = None
    turn: str | None = None
    subagent: Subagent | None = None


class ModelCall(_Told, frozen=True, kw_only=True):
    """One answer of a model, or its failure. `parent_call` is the tool call that started the sub-agent.

    `hour_write_tokens` are those of the written cache that are kept for an hour, which some vendors charge more for.
    `asked` is when the model was given the last of what it answers, `retries` how often it was asked in vain before.
    """

    time: str | None = None
    asked: str | None = None
    retries: int | None = None
    model: str | None = None
    usage: Usage | None = None
    hour_write_tokens: int = 0
    stop_reason: str | None = None
    failed: bool = False
    parent_call: str | None = None


class ToolCall(_Told, frozen=True, kw_only=True):
    """One tool call by its native name. Without an end it was never finished; its duration only where it is told."""

    name: str
    model_call: str | None = None
    started: str | None = None
    ended: str | None = None
    ok: bool | None = None
    duration_ms: int | None = None


class Compaction(_Told, frozen=True, kw_only=True):
    """A conversation that was made shorter: tokens of context before and after, as far as they are told."""

    time: str | None = None
    trigger: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None


class Spawn(_Told, frozen=True, kw_only=True):
    """A sub-agent (its id is the id) and the tool call that started it."""

    type: str | None = None
    call: str | None = None


class Total(_Told, frozen=True, kw_only=True):
    """What an agent itself has counted for a session and a model so far; side calls, which it does not list, too."""

    model: str
    usage: Usage


class Reading(Struct, frozen=True, kw_only=True):
    """What a piece of a session file tells. Two readings one after the other are one: every field is joined."""

    calls: tuple[ModelCall, ...] = ()
    tools: tuple[ToolCall, ...] = ()
    compactions: tuple[Compaction, ...] = ()
    spawns: tuple[Spawn, ...] = ()
    totals: tuple[Total, ...] = ()
    unreadable: int = 0

    def __add__(self, other: "Reading") -> "Reading":
        """Both, in order."""
        return Reading(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})


class Memory(Struct, kw_only=True, omit_defaults=True):
    """What has to be known of the lines before: whose they are, what is open, and which ids were told.

    `held` is a model call that may not be complete yet, `asked` when the model was last given something, `retries`
    how often it was asked in vain since, `spawned` which sub-agents there are. The last four are for agents that count
    in running totals: the tokens of the context, all tokens so far, whether calls are told one by one, and a compaction
    whose result comes later.
    """

    session: str | None = None
    turn: str | None = None
    model: str | None = None
    subagent: Subagent | None = None
    parent_call: str | None = None
    seen: list[str] = []
    open: dict[str, ToolCall] = {}
    held: ModelCall | None = None
    asked: str | None = None
    retries: int | None = None
    spawned: list[Spawn] = []
    context: int | None = None
    counted: int | None = None
    one_by_one: bool = False
    compacting: Compaction | None = None


class Cursor(Struct, frozen=True, kw_only=True):
    """How far a file was read: which file, how many bytes, what stood before that place, and what to remember."""

    device: int
    inode: int
    offset: int
    mark: str
    memory: Memory
    in_long_line: bool = False
