"""What one session has used: the sum of what those have told who count in it."""

from sqlite3 import Connection

from hookonce.store.told import TOKENS, Key, counted

_ROWS = f"""SELECT teller, day, model, project, over, {", ".join(TOKENS)} FROM told
    WHERE agent = ? AND session = ?"""  # noqa: S608  our own words


def session_tokens(connection: Connection, agent: str, session: str) -> dict[str, int] | None:
    """The counts of `TOKENS`; None for a session of which nobody has told any."""
    rows = connection.execute(_ROWS, (agent, session)).fetchall()
    found = [numbers for _, numbers in counted({Key(*row[:5]): row[5:] for row in rows})]
    return dict(zip(TOKENS, map(sum, zip(*found, strict=True)), strict=True)) if found else None
