"""make bench, make bench-large: what keeping and looking cost, in a home that is made for it.

Appending is compared with a floor of the same run: SQLite alone, which is given the same bodies in the same batches.
Looking is measured when a tenth of the rows is there and when all are: it should take as long.
"""

import os
import random
import sqlite3
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from hookonce import ids, times
from hookonce.journeys.cost import cost, listed
from hookonce.journeys.demo import recorded, session
from hookonce.journeys.stats import stats
from hookonce.model import Event, HookRun, Record, Usage
from hookonce.store import database, reader
from hookonce.store.entry import Entry, entry
from hookonce.store.query import Wanted, records
from hookonce.store.redact import redact
from hookonce.store.tally import Span
from hookonce.store.writer import Writer

DAYS, PROJECTS, BATCH, CHUNK, ROUNDS = 60, 4, 256, 20_000, 5  # four projects on one day, and others on the next
MODELS = {"codex": ("gpt-5", "gpt-5-mini"), "gemini-cli": ("gemini-2.5-pro", "gemini-2.5-flash")}
OTHERS = ("claude-sonnet-4-5", "claude-haiku-4-5")
CHANCE = random.Random(1)  # noqa: S311  the same rows in every run
AIMS = {"events --session": 0.3, "stats": 0.3, "cost": 1.0}


def sessions(count: int) -> Iterator[Entry]:
    """Recorded sessions again and again, at other times and places, until there are that many entries."""
    plots = [[record.event for record in session(name)] for name in recorded()]
    begin, made = datetime(2026, 1, 1, tzinfo=UTC), 0
    for number, plot in enumerate(cycle(plots)):
        round_, day = divmod(number, DAYS)  # few or many, they are of as many days
        name, place = f"s{number:09}", f"/home/dev/project-{day // 5 + CHANCE.randrange(PROJECTS)}"
        model = CHANCE.choice(MODELS.get(plot[0].agent, OTHERS))
        for step, event in enumerate(plot):
            moment = begin + timedelta(days=day, seconds=round_ * 20 % 86_000 + step)
            known = {"id": ids.fresh(), "session": name, "cwd": place, "model": model, "time": times.text_of(moment)}
            yield entry(redact(_record(event, known), "minimal"))
            made += 1
            if made == count:
                return


def _record(event: Event, known: dict[str, str]) -> Record:
    usage = Usage(input_tokens=2000, output_tokens=100) if event.type == "agent_stop" else None
    runs = [HookRun(hook="guard", duration_ms=CHANCE.lognormvariate(1, 1))] if event.tool is not None else []
    return Record(event=replace(event, usage=usage, **known), runs=runs)


def batches(entries: list[Entry]) -> list[list[Entry]]:
    """The entries as they are appended."""
    return [entries[start : start + BATCH] for start in range(0, len(entries), BATCH)]


def floor(path: Path, entries: list[Entry]) -> float:
    """Seconds that SQLite takes for the same bodies, without anything that makes them a record."""
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        plain.execute("PRAGMA journal_mode = WAL")
        plain.execute("PRAGMA synchronous = NORMAL")
        plain.execute("CREATE TABLE IF NOT EXISTS bodies (id TEXT PRIMARY KEY, body BLOB)")
        start = time.perf_counter()
        for some in batches(entries):
            plain.execute("BEGIN")
            plain.executemany("INSERT INTO bodies VALUES (?, ?)", [(one.record.event.id, one.body) for one in some])
            plain.execute("COMMIT")
        return time.perf_counter() - start


def append(writer: Writer, entries: list[Entry]) -> float:
    """Seconds that our own append takes."""
    start = time.perf_counter()
    for some in batches(entries):
        writer.append(some)
    return time.perf_counter() - start


def best(work: Callable[[], object]) -> float:
    """The shortest of a few rounds."""
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def looked(rows: int) -> dict[str, tuple[float, float]]:
    """Seconds of each look: within a process, and as a command that starts, answers and ends."""
    name = f"s{rows // 20:09}"
    price, span = listed(), Span()
    with closing(reader.opened()) as connection:
        works: dict[str, Callable[[], object]] = {
            "events --session": lambda: list(records(connection, Wanted(session=name))),
            "stats": lambda: stats(connection, span),
            "cost": lambda: cost(connection, span, "model", price),
        }
        inside = {work: best(todo) for work, todo in works.items()}
    words = {"events --session": ["events", "--json", "--session", name], "stats": ["stats"], "cost": ["cost"]}
    return {work: (inside[work], best(lambda work=work: _command(words[work]))) for work in works}


def _command(words: list[str]) -> None:
    subprocess.run([sys.executable, "-m", "hookonce", *words], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Fill, look at a tenth, fill, look at all, and tell."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=40_000)
    rows = parser.parse_args().rows
    with TemporaryDirectory(prefix="hookonce-store-") as home:
        os.environ |= {"HOME": home, "HOOKONCE_COLD": "1"}
        _run(rows, Path(home))


def _run(rows: int, home: Path) -> None:
    ours = plain = measured = 0.0
    seen: dict[int, dict[str, tuple[float, float]]] = {}
    coming, kept = sessions(rows), 0
    with Writer() as writer:
        while entries := list(islice(coming, min(CHUNK, max(rows // 10, 1)))):
            ours += append(writer, entries)
            if kept < 5 * CHUNK:  # enough for a ratio
                plain, measured = plain + floor(home / "plain.db", entries), ours
            kept += len(entries)
            if kept == rows or (not seen and kept >= rows // 10):
                seen[kept] = looked(kept)
        sizes = writer.connection.execute("SELECT (SELECT count(*) FROM days), count(*) FROM sessions").fetchone()
        writer.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    size = database.file().stat().st_size
    print(f"append, batches of {BATCH}: {rows / ours:,.0f} per s, {measured / plain:.1f} times SQLite alone")
    print(f"{size / rows:,.0f} bytes per event; {sizes[0]:,} summaries by day, {sizes[1]:,} sessions")
    for kept, looks in seen.items():
        _tell(kept, looks)


def _tell(kept: int, looks: dict[str, tuple[float, float]]) -> None:
    for work, (inside, command) in looks.items():
        aim = AIMS[work]
        held = "held" if max(inside, command) <= aim else "held without its start" if inside <= aim else "missed"
        told = f"{inside * 1000:8.1f} ms, as a command {command * 1000:6.0f} ms (aim: {aim} s; {held})"
        print(f"{kept:>12,} events  {work:18}{told}")


if __name__ == "__main__":
    main()
