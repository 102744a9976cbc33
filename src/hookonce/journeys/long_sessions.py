"""Long sessions: only their last records are read again; what they came to before stands in the summaries."""

from sqlite3 import Connection

from msgspec.structs import replace

from hookonce.canon.tellers import TRANSCRIPT
from hookonce.derive.spending import Spending
from hookonce.derive.step import State
from hookonce.model import Usage
from hookonce.store.told import TOKENS, Numbers, by_teller

_SESSION = "SELECT first, calls FROM sessions WHERE agent = ? AND session = ?"


def before_these(connection: Connection, agent: str, session: str, state: State) -> State:
    """The state of a session of which more is kept than was read: when it began, its calls and its tokens."""
    row = connection.execute(_SESSION, (agent, session)).fetchone()
    if row is None:  # the summaries are being made anew
        return state
    known = {"first": row[0], "actions": row[1], "prompts": state.turns.prompts or 1}
    turns = replace(state.turns, **known, begun=True, unsaid=None)  # what was read first is not its beginning
    sums = {teller: _usage(teller, numbers) for teller, numbers in by_teller(connection, agent, session).items()}
    return replace(state, turns=turns, spending=Spending(sums=sums))


def _usage(teller: str, numbers: Numbers) -> Usage:
    """Counts as an event tells them; in transcripts those of the cache are among the input."""
    told = {name: count or None for name, count in zip(TOKENS, numbers, strict=True)}
    known, made, *_ = numbers
    return Usage(**told, total_tokens=known + made if teller == TRANSCRIPT else None)
