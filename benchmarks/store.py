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
from store_report import START, Look, Size, numbers
from store_rows import length, name_of, told

from hookonce.sessions.recorder import Recorder
from hookonce.store import database
from hookonce.store.entry import StoreEntry
from hookonce.store.writer import Writer, read_chain_head

BATCH, CHUNK, FLOORED = (
    256,
    100,
    20,
)  # entries in a transaction, sessions in a chunk, chunks that the floor is given too
ROUNDS, LONG = 5, 3.0  # rounds of a look, and seconds after which one is enough
LARGE = 1_000_000


class Took:
    """What keeping has taken: seconds, seconds of a core, and those of the floor for the same."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.events, self.wall, self.cpu, self.beside, self.floor = 0, 0.0, 0.0, 0.0, 0.0


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and seconds of a core."""
    wall, cpu = perf_counter(), process_time()
    work()
    return perf_counter() - wall, process_time() - cpu


def batches(entries: list[StoreEntry]) -> list[list[StoreEntry]]:
    """The entries as they are appended."""
    return [entries[start : start + BATCH] for start in range(0, len(entries), BATCH)]


def floor(path: Path, entries: list[StoreEntry]) -> None:
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


def fill(recorder: Recorder, until: int, plain: Path | None = None) -> Took:
    """Keep sessions of a whole year until there are that many rows; the floor is a database of its own."""
    took, connection = Took(), recorder.writer.connection
    begin = now = read_chain_head(connection).count
    number = max(connection.execute("SELECT count(*) FROM sessions").fetchone()[0] - 1, 0)
    gc.freeze()
    for chunk in range(until):  # whoever fills in the rest of a year is not slower for it
        if now >= until:
            break
        here = [(now - begin + one * length()) / (until - begin) for one in range(CHUNK)]
        entries = [one for index, when in enumerate(here) for one in told(number + index, min(when, 1.0))]
        wall, cpu = timed(lambda some=entries: [recorder.record(batch) for batch in batches(some)])
        took.events, took.wall, took.cpu = took.events + len(entries), took.wall + wall, took.cpu + cpu
        if plain is not None and chunk < FLOORED:
            took.beside += cpu
            took.floor += timed(lambda some=entries: floor(plain, some))[1]
        number, now = number + CHUNK, read_chain_head(connection).count
        print(f"\r{now:,} of {until:,} ", end="", file=sys.stderr, flush=True)
    return took


def look(words: list[str]) -> Look:
    """A command that starts, answers and ends."""
    name = " ".join(word if " " not in word else f"'{word}'" for word in words if word != "--json")
    found = []
    while len(found) < ROUNDS and (not found or found[0][0] < LONG):
        before, start = getrusage(RUSAGE_CHILDREN), perf_counter()
        subprocess.run([sys.executable, "-m", "hookonce", *words], check=True, stdout=subprocess.DEVNULL)
        wall, after = perf_counter() - start, getrusage(RUSAGE_CHILDREN)
        found.append((wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    wall, cpu = (min(one[index] for one in found) for index in (0, 1))
    return Look(command=name, ms=round(wall * 1000, 1), cpu_ms=round(cpu * 1000, 1))


def looks(sessions: int) -> list[Look]:
    """Everything that can be looked for, as one who looks at a terminal asks for it."""
    session, newest = name_of(sessions // 2), ["events", "--last", "50"]
    asked = [["events", "sql", "SELECT 1"], ["stats"], ["cost"], ["cost", "--by", "project"]]
    asked += [["events", "--json", "--session", session], ["show", session], ["sessions", "--last", "50"], newest]
    asked += [[*newest, "--agent", "codex"], [*newest, "--type", "interrupt"], [*newest, "--tool", "mcp:none/none"]]
    asked += [[*newest, "--decision", "deny"], [*newest, "--path", "src/part_7.py"], [*newest, "--project", "*-77"]]
    asked += [["events", "--since", "2026-06-01T00:00:00Z", "--until", "2026-06-01T00:20:00Z"]]
    asked += [[*newest, "--text", "no such text"]]
    return [_named(look(words), session) for words in asked]


def _named(one: Look, session: str) -> Look:
    plain = one.command.replace(f" {session}", "")
    return Look(command=START if plain.startswith("events sql") else plain, ms=one.ms, cpu_ms=one.cpu_ms)


def measured(recorder: Recorder, took: Took) -> Size:
    """The record as it is now."""
    connection = recorder.writer.connection
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    events = read_chain_head(connection).count
    sessions = connection.execute("SELECT count(*) FROM sessions").fetchone()[0]
    found = looks(sessions)
    return Size(
        events=events,
        sessions=sessions,
        bytes_per_event=database.database_file().stat().st_size // events,
        per_second=round(took.events / took.wall),
        per_cpu_second=round(took.events / took.cpu),
        times_sqlite=round(took.beside / took.floor, 2),
        looks=found,
        verified=look(["audit", "verify"]),
        counted_again=None if events > 2 * LARGE else look(["stats", "--rebuild"]),
    )


def run(rows: int, home: Path) -> list[Size]:
    """Fill and look, at each size once; what was measured before somebody stopped it is not measured again."""
    file = home / "measured.json"
    sizes = decode(file.read_bytes(), type=list[Size]) if file.exists() else []
    steps = [step for step in (100_000, 1_000_000) if 10 * step <= rows] or [max(rows // 10, 1)]
    with Writer() as writer:
        recorder = Recorder(writer)
        for until in [*steps, rows][len(sizes) :]:
            sizes.append(measured(recorder, fill(recorder, until, home / "plain.db")))
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
            fill(Recorder(writer), rows)
        return
    found = numbers(run(rows, home), load)
    store_report.tell(found)
    if rows >= LARGE:
        store_report.keep(found)
        print("\nwrote benchmarks/record.json; make docs puts it into docs/performance.md")
    shutil.rmtree(home)


if __name__ == "__main__":
    main()
