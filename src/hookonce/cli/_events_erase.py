"""hookonce events erase."""

from argparse import Namespace
from sqlite3 import Connection

from hookonce.cli._warn import warn
from hookonce.cli._words import pluralize
from hookonce.cli.consent import require_consent
from hookonce.errors import HookonceError, UsageError
from hookonce.journeys import sought
from hookonce.journeys.looking import open_store
from hookonce.store.erasure import erase_records, list_session_events
from hookonce.store.query import session_agent, resolve_session
from hookonce.store.writer import Writer


def run_erase(options: Namespace) -> int:
    """Overwrite the content of records for ever; their existence and time stay."""
    if bool(options.words) == (options.session is not None):
        raise UsageError("say which: hookonce events erase ID…, or --session ID, with --agent NAME if need be")
    with open_store(warn) as connection:
        record_ids = _find_record_ids(connection, options)
    if record_ids:  # else they were erased before, and perhaps not cleaned away
        subject = f"{pluralize(len(record_ids), 'record')} {'says' if len(record_ids) == 1 else 'say'}"
        require_consent("events erase", "\n".join([f"erase for ever what {subject}:", *record_ids]))
    with Writer() as writer:
        erasure = erase_records(writer, record_ids)
    print(f"{pluralize(erasure.record_count, 'record')} erased")
    if erasure.cleanup_problem is not None:
        warn(f"old pages of the database may still hold them ({erasure.cleanup_problem}); run it again when nobody uses the record")
        return 1
    return 0


def _find_record_ids(connection: Connection, options: Namespace) -> list[str]:
    if options.session is not None:
        agent = sought.agent_filter(options.agent, connection)
        name = resolve_session(connection, options.session, agent)
        return list_session_events(connection, name, agent or session_agent(connection, name))
    agent_name = sought.agent_filter(options.agent, connection)
    query = "SELECT erased FROM events WHERE id = ? AND agent = coalesce(?, agent)"
    rows = {name: connection.execute(query, (name, agent_name)).fetchone() for name in dict.fromkeys(options.words)}
    if missing := [name for name, row in rows.items() if row is None]:
        agent_note = f" of {agent_name}" if agent_name else ""
        raise HookonceError(f"no record{agent_note} is called {', '.join(missing)}; hookonce events --json tells their ids")
    return [name for name, row in rows.items() if not row[0]]
