"""What one session has used: the sum of what those have told who count in it."""

from sqlite3 import Connection

from hookonce.store.told import TOKEN_COLUMNS, UsageKey, effective_usage

_SELECT_SESSION_TOKENS = f"""SELECT teller, day, model, project, over, {", ".join(TOKEN_COLUMNS)} FROM told
    WHERE agent = ? AND session = ?"""  # noqa: S608  our own words


def load_session_tokens(connection: Connection, agent: str, session: str) -> dict[str, int] | None:
    """Tokens of a session by `TOKEN_COLUMNS`; None if nothing was reported."""
    rows = connection.execute(_SELECT_SESSION_TOKENS, (agent, session)).fetchall()
    token_counts = [numbers for _, numbers in effective_usage({UsageKey(*row[:5]): row[5:] for row in rows})]
    return dict(zip(TOKEN_COLUMNS, map(sum, zip(*token_counts, strict=True)), strict=True)) if token_counts else None
