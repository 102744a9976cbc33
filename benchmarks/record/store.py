"""make bench, make bench-large: what keeping and looking cost, in a home that is made for it and removed.

Appending goes the way of every record, with what follows from it, and is compared with a floor of the same run: SQLite
alone, which is given the same bodies in the same batches. Looking is measured with commands, beside one that only
starts, when a tenth of the rows is there and when all are. Whoever stops it can call it again, and it goes on.
"""

import gc
import os
import shutil
import sqlite3
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import gettempdir
from time import perf_counter, process_time

import store_report
from msgspec.json import decode, encode
from store_report import START_COMMAND, QueryTime, StoreSize, build_report
from store_rows import build_session, mean_session_entries, session_name

from hookonce.agents import reports_session_start
from hookonce.sessions.recorder import Recorder
from hookonce.store import database
from hookonce.store.entry import StoreEntry
from hookonce.store.writer import Writer, read_chain_head

BATCH_ENTRIES, CHUNK_SESSIONS, FLOOR_CHUNKS = (
    256,
    100,
    20,
)  # entries in a transaction, sessions in a chunk, chunks that the floor is given too
QUERY_ROUNDS, MAX_ROUND_S = 5, 3.0  # rounds of a look, and seconds after which one is enough
LARGE_STORE_ROWS = 1_000_000


class AppendCost:
    """What keeping has taken: seconds, seconds of a core, and those of the floor for the same."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.events, self.wall, self.cpu, self.beside, self.floor = 0, 0.0, 0.0, 0.0, 0.0


def measure_work(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and seconds of a core."""
    wall, cpu = perf_counter(), process_time()
    work()
    return perf_counter() - wall, process_time() - cpu


def batches(entries: list[StoreEntry]) -> list[list[StoreEntry]]:
    """The entries as they are appended."""
    return [entries[start : start + BATCH_ENTRIES] for start in range(0, len(entries), BATCH_ENTRIES)]


def append_with_sqlite(path: Path, entries: list[StoreEntry]) -> None:
    """SQLite with the same bodies, without anything that makes them a record."""
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        plain.execute("PRAGMA journal_mode = WAL")
        plain.execute("PRAGMA synchronous = NORMAL")
        plain.execute("CREATE TABLE IF NOT EXISTS bodies (id TEXT PRIMARY KEY, body BLOB)")
        for some in batches(entries):
            plain.execute("BEGIN")
            values = [(one.record.event.id, one.body) for one in some]
            plain.executemany("INSERT OR IGNORE INTO bodies VALUES (?, ?)", values)
            plain.execute("COMMIT")


def fill(recorder: Recorder, until: int, plain: Path | None = None) -> AppendCost:
    """Keep sessions of a whole year until there are that many rows; the floor is a database of its own."""
    cost, connection = AppendCost(), recorder.writer.connection
    begin = now = read_chain_head(connection).count
    number = max(connection.execute("SELECT count(*) FROM sessions").fetchone()[0] - 1, 0)
    gc.freeze()
    for chunk in range(until):  # whoever fills in the rest of a year is not slower for it
        if now >= until:
            break
        here = [(now - begin + one * mean_session_entries()) / (until - begin) for one in range(CHUNK_SESSIONS)]
        entries = [one for index, when in enumerate(here) for one in build_session(number + index, min(when, 1.0))]
        wall, cpu = measure_work(lambda some=entries: [recorder.record(batch) for batch in batches(some)])
        cost.events, cost.wall, cost.cpu = cost.events + len(entries), cost.wall + wall, cost.cpu + cpu
        if plain is not None and chunk < FLOOR_CHUNKS:
            cost.beside += cpu
            cost.floor += measure_work(lambda some=entries: append_with_sqlite(plain, some))[1]
        number, now = number + CHUNK_SESSIONS, read_chain_head(connection).count
        print(f"\r{now:,} of {until:,} ", end="", file=sys.stderr, flush=True)
    return cost


def time_query(words: list[str]) -> QueryTime:
    """A command that starts, answers and ends."""
    name = " ".join(word if " " not in word else f"'{word}'" for word in words if word != "--json")
    found = []
    while len(found) < QUERY_ROUNDS and (not found or found[0][0] < MAX_ROUND_S):
        before, start = getrusage(RUSAGE_CHILDREN), perf_counter()
        subprocess.run([sys.executable, "-m", "hookonce", *words], check=True, stdout=subprocess.DEVNULL)
        wall, after = perf_counter() - start, getrusage(RUSAGE_CHILDREN)
        found.append((wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    wall, cpu = (min(one[index] for one in found) for index in (0, 1))
    return QueryTime(command=name, ms=round(wall * 1000, 1), cpu_ms=round(cpu * 1000, 1))


def time_queries(sessions: int) -> list[QueryTime]:
    """Everything that can be looked for, as one who looks at a terminal asks for it."""
    session, newest = session_name(sessions // 2), ["events", "--last", "50"]
    asked = [["events", "sql", "SELECT 1"], ["stats"], ["cost"], ["cost", "--by", "project"]]
    asked += [["events", "--json", "--session", session], ["show", session], ["sessions", "--last", "50"], newest]
    asked += [[*newest, "--agent", "codex"], [*newest, "--type", "interrupt"], [*newest, "--tool", "mcp:none/none"]]
    asked += [[*newest, "--decision", "deny"], [*newest, "--path", "src/part_7.py"], [*newest, "--project", "*-77"]]
    asked += [["events", "--since", "2026-06-01T00:00:00Z", "--until", "2026-06-01T00:20:00Z"]]
    asked += [[*newest, "--text", "no such text"]]
    return [_strip_session(time_query(words), session) for words in asked]


def _strip_session(one: QueryTime, session: str) -> QueryTime:
    plain = one.command.replace(f" {session}", "")
    return QueryTime(command=START_COMMAND if plain.startswith("events sql") else plain, ms=one.ms, cpu_ms=one.cpu_ms)


def measure_store(recorder: Recorder, cost: AppendCost) -> StoreSize:
    """The record as it is now."""
    connection = recorder.writer.connection
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    events = read_chain_head(connection).count
    sessions = connection.execute("SELECT count(*) FROM sessions").fetchone()[0]
    found = time_queries(sessions)
    return StoreSize(
        events=events,
        sessions=sessions,
        bytes_per_event=database.database_file().stat().st_size // events,
        per_second=round(cost.events / cost.wall),
        per_cpu_second=round(cost.events / cost.cpu),
        times_sqlite=round(cost.beside / cost.floor, 2),
        looks=found,
        verified=time_query(["audit", "verify"]),
        counted_again=None if events > 2 * LARGE_STORE_ROWS else time_query(["stats", "--rebuild"]),
    )


def run(rows: int, home: Path) -> list[StoreSize]:
    """Fill and look, at each size once; what was measured before somebody stopped it is not measured again."""
    file = home / "measured.json"
    sizes = decode(file.read_bytes(), type=list[StoreSize]) if file.exists() else []
    steps = [step for step in (100_000, 1_000_000) if 10 * step <= rows] or [max(rows // 10, 1)]
    with Writer() as writer:
        recorder = Recorder(writer, reports_session_start)
        for until in [*steps, rows][len(sizes) :]:
            sizes.append(measure_store(recorder, fill(recorder, until, home / "plain.db")))
            file.write_bytes(encode(sizes))
            print(f"\r{sizes[-1].events:,} events measured", file=sys.stderr)
    return sizes


def main() -> None:
    """Measure, tell, and keep what was found about as many events as are promised something for."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--fill", type=Path, metavar="HOME", help="only make a home with such a record, and leave it")
    options, load = parser.parse_args(), round(os.getloadavg()[0], 1)
    rows, home = options.rows, options.fill or Path(gettempdir()) / f"hookonce-record-{options.rows}"
    home.mkdir(mode=0o700, exist_ok=True)
    os.environ |= {"HOME": str(home), "HOOKONCE_COLD": "1"}
    if options.fill:
        with Writer() as writer:
            fill(Recorder(writer, reports_session_start), rows)
        return
    found = build_report(run(rows, home), load)
    store_report.print_report(found)
    if rows >= LARGE_STORE_ROWS:
        store_report.save_report(found)
        print("\nwrote benchmarks/record/results.json; make docs puts it into docs/performance.md")
    shutil.rmtree(home)


if __name__ == "__main__":
    main()
