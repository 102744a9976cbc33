"""Database schema, its migrations, and how a database differs from it. Bodies of rows are never rewritten."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from sqlite3 import Connection

from hookonce.errors import HookonceError

_MIGRATION_1 = (
    """CREATE TABLE events (
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, time TEXT NOT NULL, received TEXT,
        type TEXT NOT NULL, agent TEXT NOT NULL, session TEXT, subagent TEXT, tool TEXT, outcome TEXT,
        model TEXT, project TEXT, path TEXT,
        body BLOB NOT NULL, erased INTEGER NOT NULL DEFAULT 0, hash BLOB NOT NULL, mac BLOB NOT NULL) STRICT""",
    "CREATE INDEX events_by_session ON events (session, time, seq)",
    "CREATE INDEX events_by_time ON events (time, seq)",
    """CREATE TABLE head (
        one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, hash BLOB NOT NULL,
        count INTEGER NOT NULL) STRICT""",
    "INSERT INTO head VALUES (1, 0, zeroblob(32), 0)",
    """CREATE TABLE checkpoints (
        seq INTEGER PRIMARY KEY, count INTEGER NOT NULL, hash BLOB NOT NULL, at TEXT NOT NULL,
        key TEXT NOT NULL, signature BLOB NOT NULL) STRICT""",
    """CREATE TABLE tombstones (
        first INTEGER PRIMARY KEY, last INTEGER NOT NULL, count INTEGER NOT NULL, before BLOB NOT NULL,
        after BLOB NOT NULL, at TEXT NOT NULL, why TEXT NOT NULL, key TEXT NOT NULL, signature BLOB NOT NULL) STRICT""",
    """CREATE TABLE days (
        day TEXT NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL, project TEXT NOT NULL, tool TEXT NOT NULL,
        type TEXT NOT NULL, outcome TEXT NOT NULL, events INTEGER NOT NULL, input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL, cache_read_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL,
        reasoning_tokens INTEGER NOT NULL, tool_ms REAL NOT NULL,
        PRIMARY KEY (day, agent, model, project, tool, type, outcome)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE hooks (
        day TEXT NOT NULL, hook TEXT NOT NULL, bucket INTEGER NOT NULL, runs INTEGER NOT NULL,
        failures INTEGER NOT NULL, refusals INTEGER NOT NULL, ms REAL NOT NULL, tokens INTEGER NOT NULL,
        PRIMARY KEY (day, hook, bucket)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE sessions (
        agent TEXT NOT NULL, session TEXT NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL, events INTEGER NOT NULL,
        calls INTEGER NOT NULL, refusals INTEGER NOT NULL, project TEXT,
        PRIMARY KEY (agent, session)) STRICT, WITHOUT ROWID""",
)
_USAGE_COLUMNS = """input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cache_read_tokens INTEGER NOT NULL,
        cache_write_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL"""
_USAGE_SUMS = """sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens),
        sum(reasoning_tokens)"""
_USAGE_NAMES = "input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens"
_HAS_TOKENS = "input_tokens + output_tokens + cache_read_tokens + cache_write_tokens + reasoning_tokens > 0"
# Summaries of one size, however many sessions and projects there are. What older ones held is carried over: who of a
# day and a project knew best is believed, as it was then; counting again makes it exact.
_MIGRATION_2 = (
    """CREATE TABLE transcripts (
        path TEXT PRIMARY KEY, agent TEXT NOT NULL, session TEXT, cursor BLOB NOT NULL, at TEXT NOT NULL)
        STRICT, WITHOUT ROWID""",
    """CREATE TABLE counts (
        day TEXT NOT NULL, agent TEXT NOT NULL, type TEXT NOT NULL, tool TEXT NOT NULL, outcome TEXT NOT NULL,
        events INTEGER NOT NULL, PRIMARY KEY (day, agent, type, tool, outcome)) STRICT, WITHOUT ROWID""",
    f"""CREATE TABLE told (
        agent TEXT NOT NULL, session TEXT NOT NULL, teller TEXT NOT NULL, day TEXT NOT NULL, model TEXT NOT NULL,
        project TEXT NOT NULL, over INTEGER NOT NULL, {_USAGE_COLUMNS},
        PRIMARY KEY (agent, session, teller, day, model, project, over)) STRICT, WITHOUT ROWID""",
    f"""CREATE TABLE places (
        day TEXT NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL, over INTEGER NOT NULL, project TEXT NOT NULL,
        {_USAGE_COLUMNS}, PRIMARY KEY (day, agent, model, over, project)) STRICT, WITHOUT ROWID""",
    f"""CREATE TABLE spent (
        day TEXT NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL, over INTEGER NOT NULL,
        {_USAGE_COLUMNS}, PRIMARY KEY (day, agent, model, over)) STRICT, WITHOUT ROWID""",
    "INSERT INTO counts SELECT day, agent, type, tool, outcome, sum(events) FROM days GROUP BY 1, 2, 3, 4, 5",
    f"""INSERT INTO places SELECT day, agent, model, 0, project, {_USAGE_SUMS} FROM (
        SELECT *, min(rank) OVER (PARTITION BY day, agent, project) AS best FROM (
            SELECT *, CASE type WHEN 'after_model' THEN 1 WHEN 'agent_stop' THEN 2 WHEN 'agent_response' THEN 3
                WHEN 'session_end' THEN 4 END AS rank FROM days WHERE {_HAS_TOKENS}))
        WHERE type IN ('after_tool_execute', 'tool_use_failure') OR (rank = best AND (rank < 4 OR agent NOT IN (
            SELECT agent FROM days WHERE {_HAS_TOKENS} AND type <> 'session_end'))) GROUP BY 1, 2, 3, 5""",  # noqa: S608  our own words
    f"INSERT INTO spent SELECT day, agent, model, over, {_USAGE_SUMS} FROM places GROUP BY 1, 2, 3, 4",  # noqa: S608  as above
    "DROP TABLE days",
    # With everything that is asked for by name, so that a row is looked at only if it is wanted.
    "DROP INDEX events_by_time",
    "CREATE INDEX events_by_time ON events (time, seq, type, agent, tool, outcome, project, path)",
)
# Names that `events sql` shows, and that stay from now on; no row is rewritten but those of answers that still stream.
_MIGRATION_3 = (
    "ALTER TABLE told RENAME TO token_usage",
    "ALTER TABLE token_usage RENAME COLUMN teller TO source",
    "ALTER TABLE token_usage RENAME COLUMN over TO input_tier",
    "UPDATE token_usage SET source = 'partial' WHERE source = 'piece'",
    "ALTER TABLE places RENAME TO usage_by_project",
    "ALTER TABLE usage_by_project RENAME COLUMN over TO input_tier",
    "ALTER TABLE spent RENAME TO spend",
    "ALTER TABLE spend RENAME COLUMN over TO input_tier",
    "ALTER TABLE counts RENAME TO daily_counts",
    "ALTER TABLE hooks RENAME TO hook_runs",
    "ALTER TABLE hook_runs RENAME COLUMN bucket TO duration_bucket",
    "ALTER TABLE hook_runs RENAME COLUMN ms TO total_ms",
    "ALTER TABLE sessions RENAME COLUMN first TO first_time",
    "ALTER TABLE sessions RENAME COLUMN last TO last_time",
    "ALTER TABLE transcripts RENAME TO transcript_cursors",
    "ALTER TABLE transcript_cursors RENAME COLUMN at TO read_at",
    "ALTER TABLE head RENAME COLUMN one TO id",
    "ALTER TABLE checkpoints RENAME COLUMN at TO signed_at",
    "ALTER TABLE tombstones RENAME COLUMN before TO previous_hash",
    "ALTER TABLE tombstones RENAME COLUMN after TO last_hash",
    "ALTER TABLE tombstones RENAME COLUMN at TO signed_at",
    "ALTER TABLE tombstones RENAME COLUMN why TO reason",
)
# Derived events that hooks have still to be asked about; `begun_hooks` has two lines for each that began:
# its digest, and the process that began it.
_MIGRATION_4 = (
    """CREATE TABLE hook_queue (
        id TEXT PRIMARY KEY, queued_at TEXT NOT NULL, begun_hooks TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID""",
)
# The same sums by quarter hours of a UTC day (0 to 95): every local day begins with one. What was counted before them
# is known by UTC days alone, until it is counted again.
_MIGRATION_5 = (
    """CREATE TABLE quarter_counts (
        day TEXT NOT NULL, quarter INTEGER NOT NULL, agent TEXT NOT NULL, type TEXT NOT NULL, tool TEXT NOT NULL,
        outcome TEXT NOT NULL, events INTEGER NOT NULL,
        PRIMARY KEY (day, quarter, agent, type, tool, outcome)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE quarter_hook_runs (
        day TEXT NOT NULL, quarter INTEGER NOT NULL, hook TEXT NOT NULL, duration_bucket INTEGER NOT NULL,
        runs INTEGER NOT NULL, failures INTEGER NOT NULL, refusals INTEGER NOT NULL, total_ms REAL NOT NULL,
        tokens INTEGER NOT NULL, PRIMARY KEY (day, quarter, hook, duration_bucket)) STRICT, WITHOUT ROWID""",
    f"""CREATE TABLE quarter_usage (
        day TEXT NOT NULL, quarter INTEGER NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL,
        input_tier INTEGER NOT NULL, project TEXT NOT NULL, {_USAGE_COLUMNS},
        PRIMARY KEY (day, quarter, agent, model, input_tier, project)) STRICT, WITHOUT ROWID""",
    f"""CREATE TABLE token_usage_5 (
        agent TEXT NOT NULL, session TEXT NOT NULL, source TEXT NOT NULL, day TEXT NOT NULL, quarter INTEGER NOT NULL,
        model TEXT NOT NULL, project TEXT NOT NULL, input_tier INTEGER NOT NULL, {_USAGE_COLUMNS},
        PRIMARY KEY (agent, session, source, day, quarter, model, project, input_tier)) STRICT, WITHOUT ROWID""",
    f"""INSERT INTO token_usage_5 SELECT agent, session, source, day, -1, model, project, input_tier,
        {_USAGE_NAMES} FROM token_usage""",  # noqa: S608  our own words
    "DROP TABLE token_usage",
    "ALTER TABLE token_usage_5 RENAME TO token_usage",
    "CREATE TABLE undivided_days (day TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",
    """INSERT INTO undivided_days SELECT day FROM daily_counts UNION SELECT day FROM hook_runs
        UNION SELECT day FROM usage_by_project""",
)
MIGRATIONS: tuple[tuple[str, ...], ...] = (_MIGRATION_1, _MIGRATION_2, _MIGRATION_3, _MIGRATION_4, _MIGRATION_5)
VERSION = len(MIGRATIONS)
SPOOL_NOTE = "agents are answered, and new events wait in the spool"


class NewerStoreError(HookonceError):
    """The database has a schema of a newer hookonce, and is neither read nor written."""


def migrate(connection: Connection) -> None:
    """Migrate a database in one transaction; NewerStoreError for one of a newer version."""
    if read_version(connection) == VERSION:
        return
    with transaction(connection):
        for statements in MIGRATIONS[read_version(connection) :]:  # somebody else may have been faster
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def read_version(connection: Connection) -> int:
    """The schema version of a database; NewerStoreError for one of a newer hookonce."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        reason = f"the record was written by a newer hookonce (its version is {version}, this one knows {VERSION})"
        raise NewerStoreError(f"{reason}: upgrade hookonce to use it; until then {SPOOL_NOTE}")
    return version


SchemaRow = tuple[str, str, str, str | None]
_SELECT_SCHEMA = "SELECT type, name, tbl_name, sql FROM main.sqlite_schema"
# What ANALYZE makes, word for word: SQLite runs the text of any row, whatever its name and type say it is.
_OPTIMIZER_TABLES: dict[SchemaRow, int] = dict.fromkeys(
    (
        ("table", "sqlite_stat1", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
        ("table", "sqlite_stat4", "sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
    ),
    1,
)


@lru_cache(maxsize=VERSION)
def load_expected_schema(version: int) -> Counter[SchemaRow]:
    """The schema objects of a database of that version."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in (statement for migration in MIGRATIONS[:version] for statement in migration):
            connection.execute(statement)
        return Counter(connection.execute(_SELECT_SCHEMA))


def find_schema_faults(connection: Connection) -> Iterator[str]:
    """Differences of a database from the schema of its version."""
    version = connection.execute("PRAGMA main.user_version").fetchone()[0]
    if not 0 < version <= VERSION:
        yield f"the database says that it is of version {version}; known are 1 to {VERSION}"
        return
    expected, actual = load_expected_schema(version), Counter[SchemaRow](connection.execute(_SELECT_SCHEMA))
    if actual == expected:
        return
    foreign_rows, missing_rows = actual - expected - Counter(_OPTIMIZER_TABLES), expected - actual
    known_names, foreign_names = ({row[:2] for row in rows} for rows in (missing_rows, foreign_rows))
    for row in sorted(foreign_rows, key=repr):
        yield f"the {row[0]} {row[1]} of the database {'was built anew' if row[:2] in known_names else 'is not ours'}"
    for row in sorted(missing_rows, key=repr):
        if row[:2] not in foreign_names:
            yield f"the {row[0]} {row[1]} of the database is gone"


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Write transaction: begins at once, so that no other writer comes in between."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # an error of SQLite may have ended it already
            connection.execute("ROLLBACK")
        raise
