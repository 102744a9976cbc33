"""Recorder: entries ─ completed by their session's state ─ store (hash chain) ─ derived records ─ store.

States of the last 256 sessions are cached. An older session is replayed from its last 300 records; what it came to
before those is restored from the store's summaries.
"""

from sqlite3 import Connection

from msgspec.structs import replace

from hookonce.canon.tellers import TRANSCRIPT
from hookonce.derive.spending import Spending
from hookonce.derive.step import SessionState
from hookonce.model import Usage
from hookonce.store.told import TOKEN_COLUMNS, TokenCounts, usage_by_source

_SESSION_SUMMARY_SQL = "SELECT first, calls FROM sessions WHERE agent = ? AND session = ?"


def restore_long_session(connection: Connection, agent: str, session: str, state: SessionState) -> SessionState:
    """Restore start, calls and tokens of a session that has more records than were replayed."""
    row = connection.execute(_SESSION_SUMMARY_SQL, (agent, session)).fetchone()
    if row is None:  # the summaries are being made anew
        return state
    totals = {"first": row[0], "actions": row[1], "prompts": state.turns.prompts or 1}
    turns = replace(state.turns, **totals, has_begun=True, pending_start=None)  # what was read first is not its beginning
    sums = {source: _usage_of_source(source, numbers) for source, numbers in usage_by_source(connection, agent, session).items()}
    return replace(state, turns=turns, spending=Spending(sums=sums))


def _usage_of_source(source: str, numbers: TokenCounts) -> Usage:
    """Token counts as an event has them; in transcripts those of the cache are part of the input."""
    counts = {name: count or None for name, count in zip(TOKEN_COLUMNS, numbers, strict=True)}
    input_tokens, output_tokens, *_ = numbers
    return Usage(**counts, total_tokens=input_tokens + output_tokens if source == TRANSCRIPT else None)
