"""Records for tests of the store, and a store that holds some of everything."""

import sqlite3
from contextlib import closing

from hookonce.base import ids
from hookonce.model import Decision, Event, Stored, Tool
from hookonce.store import database
from hookonce.store.entry import build_entry
from hookonce.store.integrity import audit, checkpoint, head_file
from hookonce.store.maintenance import retention
from hookonce.store.writer import read_chain_head

# Summaries, which can be made anew from the rows, and how far transcripts were read: the audit promises nothing of them.
DERIVED_TABLES = {
    "daily_counts",
    "token_usage",
    "usage_by_project",
    "spend",
    "hook_runs",
    "sessions",
    "transcript_cursors",
    "quarter_counts",
    "quarter_hook_runs",
    "quarter_usage",
    "undivided_days",
}
UNAUDITED_TABLES = DERIVED_TABLES | {"hook_queue"}


def stored(number=0, **more):
    """A record of a tool call, with something in every column."""
    known = {"id": ids.new_id(), "schema": "hookonce/1", "type": "before_tool_execute", "agent": "codex"}
    known |= {"time": f"2026-11-15T10:00:{number % 60:02d}Z", "time_source": "agent", "session": f"s{number % 2}"}
    known |= {"received": "2026-11-15T10:00:00Z", "cwd": "/w", "model": "m1"}
    known["tool"] = Tool(name="file_read", native="ls", input={"path": f"/w/{number}"})
    return Stored(event=Event(**(known | more)), decision=Decision(outcome="deny"), level="minimal")


def append(writer, count, **more):
    """Keep some, and return their ids."""
    entries = [build_entry(stored(number, **more)) for number in range(count)]
    writer.append(entries)
    head_file.write_head(read_chain_head(writer.connection), None, writer.connection)
    return [one.record.event.id for one in entries]


def signed(writer, count):
    """Keep some, and sign them."""
    found = append(writer, count)
    checkpoint.sign_checkpoint(writer.connection)
    return found


def tampering(*statements, values=()):
    """Change the database as somebody would who has no key."""
    with closing(sqlite3.connect(database.database_file(), isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement, values if "?" in statement else ())


def verified():
    """What the audit says."""
    with closing(database.connect_reader()) as connection:
        return audit.verify(connection)


def flaws():
    """Each flaw as its row and what is said of it."""
    return [(one.seq, one.what) for one in verified().flaws]


def apply_retention(writer, now):
    """Remove what exceeds the settings; the tombstones."""
    return _removed(writer.connection, retention.find_expired_seq(writer.connection, now))


def expire_days(writer, before, today="2026-11-15"):
    """Remove the days before that one; the tombstones."""
    return _removed(writer.connection, retention.last_expired_seq(writer.connection, before, None, today))


def _removed(connection, last):
    return [*iter(lambda: retention.remove_batch(connection, last), None)]
