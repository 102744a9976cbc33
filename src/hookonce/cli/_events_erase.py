"""hookonce events erase."""

from argparse import Namespace
from sqlite3 import Connection

from hookonce.cli._warn import warn
from hookonce.cli._words import counted
from hookonce.cli.consent import agreed
from hookonce.errors import HookonceError, UsageError
from hookonce.journeys import sought
from hookonce.journeys.looking import looking
from hookonce.store.erasure import erase, of_session
from hookonce.store.query import owner, whole
from hookonce.store.writer import Writer


def run(options: Namespace) -> int:
    """Overwrite what records say, for ever; that they were there, and when, stays."""
    if bool(options.words) == (options.session is not None):
        raise UsageError("say which: hookonce events erase ID…, or --session ID, with --agent NAME if need be")
    with looking(warn) as connection:
        names = _named(connection, options)
    if names:  # else they were erased before, and perhaps not cleaned away
        told = f"{counted(len(names), 'record')} {'says' if len(names) == 1 else 'say'}"
        agreed("events erase", "\n".join([f"erase for ever what {told}:", *names]))
    with Writer() as writer:
        done = erase(writer, names)
    print(f"{counted(done.records, 'record')} erased")
    if done.left is not None:
        warn(f"old pages of the database may still hold them ({done.left}); run it again when nobody uses the record")
        return 1
    return 0


def _named(connection: Connection, options: Namespace) -> list[str]:
    if options.session is not None:
        agent = sought.agent(options.agent, connection)
        name = whole(connection, options.session, agent)
        return of_session(connection, name, agent or owner(connection, name))
    whose = sought.agent(options.agent, connection)
    erased = "SELECT erased FROM events WHERE id = ? AND agent = coalesce(?, agent)"
    known = {name: connection.execute(erased, (name, whose)).fetchone() for name in dict.fromkeys(options.words)}
    if missing := [name for name, row in known.items() if row is None]:
        of = f" of {whose}" if whose else ""
        raise HookonceError(f"no record{of} is called {', '.join(missing)}; hookonce events --json tells their ids")
    return [name for name, row in known.items() if not row[0]]
