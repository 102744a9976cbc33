"""Turns of a session, its prompt-response cycles: what was asked, what was done for it, what it cost, how it ended.

A turn begins with a prompt to the main agent and ends before the next one; turn 0 is what came before the first.
Every event is in one turn, the one in which it happened. One turn is held at a time, however long the session is.
"""

from collections.abc import Callable, Iterable, Iterator
from sqlite3 import Connection
from typing import Literal

from msgspec import Struct

from hookonce.base.times import elapsed_ms
from hookonce.inspect.stats import UNKNOWN_NAME
from hookonce.inspect.summary import record_subject
from hookonce.model import Event, Json, Record, Stored, Text, Usage, User
from hookonce.sessions.derive import calls, summary, token_usage
from hookonce.sessions.derive.calls import SESSION_ENDS, CallChange, OpenCalls, is_refused, subagent_name
from hookonce.sessions.derive.token_usage import Spending
from hookonce.sessions.derive.turns import BEGIN_EVENTS, RESPONSE_EVENTS
from hookonce.store.query import RecordFilter, find_records
from hookonce.store.usage import prices
from hookonce.store.usage.tokens import TOKEN_COLUMNS, TokenCounts, count_tokens, tier_of, usage_by_source
from hookonce.vocabulary.events import OPERATIONS_BY_FILE_EVENT, TOOL_END_EVENTS, is_derived, is_redundant
from hookonce.vocabulary.usage_sources import (
    MODEL,
    SINGLE_CALL_SOURCES,
    TRANSCRIPT,
    counting_sources,
    usage_source_of,
)

_DATE_CHARS = 10
MAX_LIST_ITEMS = 10_000  # actions, model calls and files of one turn that are listed; the others are only counted
TurnEnd = Literal[
    "response",
    "stop_refused",
    "prompt_refused",
    "interrupted",
    "session_end",
    "session_abort",
    "next_prompt",
    "unfinished",
]
SpendKey = tuple[str, str, int]  # model, day and input tier
PriceLookup = Callable[[str, str], prices.Price | None]  # of a model, on a day


class TurnAction(Struct, kw_only=True, omit_defaults=True):
    """One tool call. `ok` is null while nobody has told; `began_in` is the turn of one that ended in a later turn."""

    id: str
    tool: str
    what: str = ""
    time: str
    duration_ms: int | float | None = None
    ok: bool | None = None
    decision: str | None = None
    reason: str | None = None
    by: str | None = None
    is_refused: bool = False
    is_guess: bool = False
    subagent: str | None = None
    began_in: int | None = None


class TurnModelCall(Struct, kw_only=True, omit_defaults=True):
    """One answer of a model."""

    id: str
    time: str
    model: str | None = None
    usage: Usage | None = None
    subagent: str | None = None


class TurnFile(Struct, kw_only=True):
    """What was done to a file, and lines added and removed as far as calls report them."""

    operations: dict[str, int] = {}
    added_lines: int = 0
    removed_lines: int = 0


class TurnSubagent(Struct, kw_only=True, omit_defaults=True):
    """A sub-agent that was at work."""

    type: str | None = None
    parent: str | None = None
    calls: int = 0


class Turn(Struct, kw_only=True):
    """One turn. Tokens and cost that nobody has told are null, never 0; `cost_micros` is in millionths of a dollar.

    `overflow` counts actions, model calls and files that are in the sums and, because there are so many, in no list.
    """

    agent: str
    session: str | None
    user: User | None = None
    number: int
    id: str | None = None
    first: str
    last: str
    duration_ms: int | None = None
    end: TurnEnd = "unfinished"
    prompt: Text | None = None
    response: Json = None
    events: int = 0
    calls: int = 0
    failures: int = 0
    refusals: int = 0
    asks: int = 0
    models: list[str] = []
    model_calls: list[TurnModelCall] = []
    actions: list[TurnAction] = []
    files: dict[str, TurnFile] = {}
    subagents: dict[str, TurnSubagent] = {}
    usage: Usage | None = None
    cost_micros: int | None = None
    models_without_price: list[str] = []
    overflow: int = 0


def load_session(
    connection: Connection, agent: str | None, session: str
) -> tuple[Iterator[Stored], frozenset[str], PriceLookup]:
    """What the turns of a session are built from: its records, the sources of tokens that count, and prices."""
    sources = counting_sources(usage_by_source(connection, agent or "", session))
    table = prices.load_prices()

    def find_price(model: str, day: str) -> prices.Price | None:
        return prices.price_of(model, day=day, prices=table)

    return find_records(connection, RecordFilter(agent=agent, session=session)), sources, find_price


def build_turns(records: Iterable[Record], sources: frozenset[str], find_price: PriceLookup) -> Iterator[Turn]:
    """The turns of a session's records, which come in their order; `sources` are those whose tokens count in it."""
    builder: TurnBuilder | None = None
    state = SessionProgress(sources=sources, find_price=find_price)
    for number, record in assign_turns(records):
        if builder is None or number != builder.turn.number:
            if builder is not None:
                yield builder.finish("next_prompt")
            builder = TurnBuilder(state, number, record.event)
        builder.add(record)
    if builder is not None:
        yield builder.finish("unfinished")


def assign_turns(records: Iterable[Record]) -> Iterator[tuple[int, Record]]:
    """Each record with the number of its turn."""
    number = 0
    for record in records:
        number += starts_turn(record.event)
        yield number, record


def starts_turn(event: Event) -> bool:
    """Whether an event is a prompt to the main agent, and not one that was told before."""
    return event.type == "before_prompt" and event.subagent is None and not is_redundant(event)


class SessionProgress(Struct, kw_only=True):
    """What goes on from one turn to the next: calls that have not ended, with the turn that each began in, and sums."""

    sources: frozenset[str]
    find_price: PriceLookup
    open_calls: OpenCalls = OpenCalls()
    turn_of_call: dict[str, int] = {}
    spend: dict[SpendKey, TokenCounts] = {}
    cost_of_spend: dict[SpendKey, int] = {}


class TurnBuilder:
    """Builder of one turn from its records."""

    def __init__(self, state: SessionProgress, number: int, first: Event) -> None:
        self._state, self._spending, self._end = state, Spending(), list[TurnEnd]()
        self._actions: dict[str, TurnAction] = {}
        self._is_answer_open = False  # whether more of the model's last answer may come
        self._models: dict[str, None] = {}
        self._priceless_models: dict[str, None] = {}
        self._spend_keys: dict[SpendKey, None] = {}
        self.turn = Turn(agent=first.agent, session=first.session, number=number, first=first.time, last=first.time)

    def add(self, record: Record) -> None:
        """Add a record of the turn."""
        event, turn = record.event, self.turn
        turn.events += 1
        turn.last = max(turn.last, event.time)
        turn.user = turn.user or event.user
        if record.decision is not None and not is_derived(event):  # what follows from a refusal repeats it
            turn.refusals += record.decision.outcome == "deny"
            turn.asks += record.decision.outcome == "ask"
        if event.data.get("repeat") is not True:
            self._update_end(record)
        if is_redundant(event) and not (is_derived(event) and event.type in SESSION_ENDS):
            return
        if starts_turn(event):
            turn.id, turn.prompt = event.id, event.prompt
        if event.model is not None:
            self._models[event.model] = None
        self._update_subagents(event)
        self._update_calls(record)
        self._update_files(event)
        if not is_derived(event):
            self._update_usage(event)

    def finish(self, default_end: TurnEnd) -> Turn:
        """The turn; `default_end` is how it ended where none of its events says so."""
        self._close_answer()
        self._sum_cost()
        turn = self.turn
        turn.end = self._end[-1] if self._end else default_end
        turn.duration_ms = elapsed_ms(turn.first, turn.last)
        turn.models, turn.models_without_price = list(self._models), sorted(self._priceless_models)
        turn.usage = token_usage.total_usage(self._spending, self._state.sources)
        return turn

    def _update_end(self, record: Record) -> None:
        """How the turn ended, as far as this record; work of the main agent after an end cancels it."""
        event = record.event
        if event.type in SESSION_ENDS:
            self._end = self._end or [_SESSION_END_NAMES[event.type]]
        elif event.subagent is not None:
            return
        elif event.type == "before_prompt" and is_refused(record):
            self._end = ["prompt_refused"]
        elif event.type == "interrupt":
            self._end = ["interrupted"]
        elif event.type == "agent_stop":
            self._end = ["stop_refused" if is_refused(record) else "response"]
        elif event.type in BEGIN_EVENTS:
            self._end = []
        if event.type in {"agent_stop", *RESPONSE_EVENTS} and event.data.get("response") is not None:
            self.turn.response = event.data["response"]
            self._end = self._end or ["response"]

    def _update_subagents(self, event: Event) -> None:
        name, subagents = subagent_name(event), self.turn.subagents
        if name is None or event.subagent is None:
            return
        if name not in subagents and not self._has_room(subagents):
            return
        child = subagents.setdefault(name, TurnSubagent())
        child.type, child.parent = child.type or event.subagent.type, child.parent or event.subagent.parent
        child.calls += event.type == calls.CALL_START

    def _update_calls(self, record: Record) -> None:
        event, state, turn = record.event, self._state, self.turn
        state.open_calls, change = calls.update_calls(state.open_calls, record)
        turn.calls += change.new_call is not None or summary.is_orphan_outcome(event, change)
        if change.new_call is not None:
            state.turn_of_call[change.new_call.id] = turn.number
            if len(state.turn_of_call) > MAX_LIST_ITEMS:  # refused calls, of whose end nobody will hear
                del state.turn_of_call[next(iter(state.turn_of_call))]
            self._add_action(record, change)
        for call in summary.list_finished(event, change):
            turn.failures += call.ok is False and not call.refused
            began_in = state.turn_of_call.get(call.id, turn.number)
            if call.end is not None or not call.refused:  # a refused call may run all the same
                state.turn_of_call.pop(call.id, None)
            action = self._actions.get(call.id)
            if action is None and call.end is not None and self._has_room(turn.actions):
                action = self._actions[call.id] = TurnAction(id=call.id, tool=call.tool, time=call.started)
                action.what, action.subagent = record_subject(record), call.subagent
                action.began_in = began_in if began_in != turn.number else None
                turn.actions.append(action)
            if action is not None:
                action.duration_ms, action.ok, action.is_guess = call.duration_ms, call.ok, call.guessed
                action.is_refused = call.refused

    def _add_action(self, record: Record, change: CallChange) -> None:
        call, decision = change.new_call, record.decision
        if call is None or not self._has_room(self.turn.actions):
            return
        action = TurnAction(id=call.id, tool=call.tool, what=record_subject(record), time=call.time)
        action.subagent = call.subagent
        if decision is not None:
            action.decision, action.reason, action.by = decision.outcome, decision.reason, decision.by
        self._actions[call.id] = action
        self.turn.actions.append(action)

    def _update_files(self, event: Event) -> None:
        changes = summary.list_file_changes(event)
        for change in changes:
            path = change.data.get("path")
            file = self._file_at(path)
            if file is not None:
                operation = OPERATIONS_BY_FILE_EVENT.get(change.type, "write")
                file.operations[operation] = file.operations.get(operation, 0) + 1
                stats = summary.count_write(summary.FileStats(), event, change, is_only_file=len(changes) == 1)
                file.added_lines += stats.added
                file.removed_lines += stats.removed
        tool = event.tool
        if event.type in TOOL_END_EVENTS and tool is not None and tool.name == "file_read":
            file = self._file_at(tool.input.get("path"))
            if file is not None:
                file.operations["read"] = file.operations.get("read", 0) + 1

    def _file_at(self, path: Json) -> TurnFile | None:
        files = self.turn.files
        if type(path) is not str or (path not in files and not self._has_room(files)):
            return None
        return files.setdefault(path, TurnFile(operations={}))

    def _has_room(
        self, items: list[TurnAction] | list[TurnModelCall] | dict[str, TurnFile] | dict[str, TurnSubagent]
    ) -> bool:
        has_room = len(items) < MAX_LIST_ITEMS
        self.turn.overflow += not has_room
        return has_room

    def _update_usage(self, event: Event) -> None:
        source = usage_source_of(event)
        previous_usage = self._spending.partial_usage
        self._spending = token_usage.update_spending(self._spending, event)
        if event.type == "after_model" and source == (TRANSCRIPT if TRANSCRIPT in self._state.sources else MODEL):
            self._add_model_call(event, previous_usage)
        elif event.usage is not None and source in self._state.sources:
            self._add_cost(event.model, event.time, event.usage, is_single=source in SINGLE_CALL_SOURCES)

    def _add_model_call(self, event: Event, previous_usage: Usage | None) -> None:
        """An answer of the model; pieces of one that is streaming report what it has come to so far."""
        turn, usage = self.turn, event.usage
        if self._is_answer_open and previous_usage is not None and usage is not None and turn.model_calls:
            turn.model_calls[-1].usage = token_usage.max_usage(previous_usage, usage)
        elif self._has_room(turn.model_calls):
            self._close_answer()
            call = TurnModelCall(id=event.id, time=event.time, model=event.model, usage=usage)
            call.subagent = subagent_name(event)
            turn.model_calls.append(call)
            self._is_answer_open = True
        elif usage is not None:
            self._add_cost(event.model, event.time, usage, is_single=True)
        if usage_source_of(event) != MODEL or event.data.get("finish_reason"):
            self._close_answer()

    def _close_answer(self) -> None:
        if self._is_answer_open:
            self._is_answer_open = False
            call = self.turn.model_calls[-1]
            if call.usage is not None:
                self._add_cost(call.model, call.time, call.usage, is_single=True)

    def _add_cost(self, model: str | None, time: str, usage: Usage, *, is_single: bool) -> None:
        counts = count_tokens(usage)
        key = (model or "", time[:_DATE_CHARS], tier_of(counts) if is_single else 0)
        sums = self._state.spend.get(key, (0,) * len(counts))
        self._state.spend[key] = tuple(map(int.__add__, sums, counts))
        self._spend_keys[key] = None

    def _sum_cost(self) -> None:
        """Add what the sums of the session have grown by: so rounding is done once, and not for each call."""
        state, turn = self._state, self.turn
        for key in self._spend_keys:
            model, day, tier = key
            price = state.find_price(model, day)
            tokens = dict(zip(TOKEN_COLUMNS, state.spend[key], strict=True))
            usage = Usage(
                **tokens | {"output_tokens": tokens["output_tokens"] or None}
            )  # no output: it is not reported
            cost = None if price is None else prices.apply_price(price, usage, input_tier=tier)
            if cost is None:
                self._priceless_models[model or UNKNOWN_NAME] = None
                continue
            turn.cost_micros = (turn.cost_micros or 0) + cost - state.cost_of_spend.get(key, 0)
            state.cost_of_spend[key] = cost


_SESSION_END_NAMES: dict[str, TurnEnd] = {"session_end": "session_end", "session_abort": "session_abort"}
