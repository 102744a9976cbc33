"""Mutant runner: changes of behaviour, one at a time, in copies of the tree, and whether the tests notice.

The tables beside this file list the mutants, one table for each area. A mutant is *killed* when one of its tests fails
or hangs, *survives* when all pass, and is *invalid* when the code cannot even be imported: that shows nothing.
"""

import argparse
import difflib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any
from venv import EnvBuilder

ROOT = Path(__file__).resolve().parents[2]
_SOURCE_DIR = "src"
_NOT_COPIED = (".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "build", "dist", "*.egg-info")
_PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
_COLLECTION_ERROR = re.compile(r"^(?:ERROR (?!.*::)|ImportError while loading conftest)", re.MULTILINE)
_TESTS_FAILED_CODES = {1, 2}  # of pytest; higher ones say that it could not run
_BASELINE_TIMEOUT_S = 1200.0
_MUTANT_TIMEOUT_S = 90.0
_TAIL_CHARS = 4000
_INTERRUPT_CODE = 130


class ListError(Exception):
    """The list cannot be run as it is: it does not fit the tree, or its tests fail without any mutant."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One change of behaviour: a text that occurs once in a file, what stands there instead, and who must notice."""

    id: str
    area: str
    file: str
    find: str
    replace: str
    why: str
    tests: tuple[str, ...]
    row: str | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a mutant: killed, survived or invalid; the note says how."""

    mutant: Mutant
    state: str
    note: str
    seconds: float


def load_mutants(tables: Path) -> list[Mutant]:
    """All mutants of the tables in a folder; a group names the file, and the tests of those that name none."""
    return [mutant for table in sorted(tables.glob("*.toml")) for mutant in _read_table(table)]


def _read_table(table: Path) -> Iterator[Mutant]:
    for group in tomllib.loads(table.read_text(encoding="utf-8"))["group"]:
        for entry in group["mutant"]:
            tests = entry.get("tests", group.get("tests", ()))
            yield Mutant(**entry | {"area": table.stem, "file": group["file"], "tests": tuple(tests)})


def require_fit(mutants: list[Mutant], root: Path) -> None:
    """A list that does not fit the tree is not run."""
    if faults := find_faults(mutants, root):
        raise ListError("\n".join(faults))


def find_faults(mutants: Iterable[Mutant], root: Path) -> list[str]:
    """What is wrong with the list, one line each."""
    faults = [f"{name}: the id is used {count} times" for name, count in _repeated_ids(mutants)]
    for mutant in mutants:
        file = root / mutant.file
        count = file.read_text(encoding="utf-8").count(mutant.find) if file.is_file() else 0
        if count != 1:
            faults.append(f"{mutant.id}: {mutant.find!r} occurs {count} times in {mutant.file}; it must be once")
        if mutant.find == mutant.replace:
            faults.append(f"{mutant.id}: nothing is changed")
        if not mutant.tests:
            faults.append(f"{mutant.id}: no test is named")
        faults += [f"{mutant.id}: there is no test {name}" for name in mutant.tests if not _has_test(root, name)]
    return faults


def _repeated_ids(mutants: Iterable[Mutant]) -> Iterator[tuple[str, int]]:
    counts = Counter(mutant.id for mutant in mutants)
    return ((name, count) for name, count in counts.items() if count > 1)


def _has_test(root: Path, name: str) -> bool:
    path, _, function = name.partition("::")
    file = root / path
    if not function:
        return file.exists()
    return file.is_file() and f"\ndef {function}(" in file.read_text(encoding="utf-8")


class Worker:
    """A copy of the tree with an interpreter of its own, so that even programs that tests start run the copy."""

    def __init__(self, root: Path, place: Path) -> None:
        self.tree, self._environment_dir, self._count = place / "tree", place / "env", 0
        self._process: subprocess.Popen[bytes] | None = None
        shutil.copytree(root, self.tree, symlinks=True, ignore=shutil.ignore_patterns(*_NOT_COPIED))
        EnvBuilder(symlinks=True).create(self._environment_dir)
        own_dir, origin_dir = self._site_dir(), Path(sysconfig.get_path("purelib"))
        # Of the original's packages only the folder: what its .pth files add, such as the original tree, stays out.
        (own_dir / "mutants.pth").write_text(f"{self.tree / _SOURCE_DIR}\n{origin_dir}\n", encoding="utf-8")
        self._python = self._environment_dir / "bin" / "python"
        self._copy_scripts(Path(sys.executable).parent)
        (place / "shared").mkdir()
        variables = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        path = f"{self._python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        # Reference material that only some machines have must not be what a mutant is killed by.
        self._variables = variables | {"PATH": path, "HOOKONCE_SHARED": str(place / "shared")}
        self._pytest = [*_PYTEST, "--basetemp", str(place / "tmp")]
        self._require_copy()

    def _site_dir(self) -> Path:
        base = {"base": str(self._environment_dir), "platbase": str(self._environment_dir)}
        return Path(sysconfig.get_path("purelib", "venv" if os.name == "posix" else None, vars=base))

    def _copy_scripts(self, origin_dir: Path) -> None:
        """Commands such as `hookonce`, for tests that start them, with the interpreter of the copy."""
        for script in origin_dir.iterdir():
            target = self._python.parent / script.name
            if target.exists() or not script.is_file() or not (text := script.read_bytes()).startswith(b"#!"):
                continue
            target.write_bytes(b"#!" + os.fsencode(self._python) + b"\n" + text.partition(b"\n")[2])
            target.chmod(0o755)

    def _require_copy(self) -> None:
        """The copy is what is imported, also where a test clears the environment: else every mutant would survive."""
        packages = [path.parent.name for path in (self.tree / _SOURCE_DIR).glob("*/__init__.py")]
        for name in packages:
            command = [str(self._python), "-c", f"import {name}; print({name}.__file__)"]
            printed = subprocess.run(command, env={}, cwd="/", capture_output=True, text=True, check=False)
            if not printed.stdout.startswith(str(self.tree)):
                place = printed.stdout.strip() or printed.stderr
                raise ListError(f"{name} is imported from {place}, not from the copy")

    def run(self, arguments: Iterable[str], timeout_s: float) -> tuple[int | None, str]:
        """The exit code of Python with these arguments, None after the time limit, and what it has said."""
        with subprocess.Popen(
            [str(self._python), *arguments],
            cwd=self.tree,
            env=self._variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as self._process:
            try:
                output, _ = self._process.communicate(timeout=timeout_s)
            except subprocess.TimeoutExpired:
                self.stop()
                return None, ""
        return self._process.returncode, output.decode(errors="replace")

    def stop(self) -> None:
        """End what it runs, and what that has started; nobody waits for it any more."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)

    def run_tests(self, tests: Iterable[str], timeout_s: float, *options: str) -> tuple[int | None, str]:
        """The same for pytest."""
        return self.run([*self._pytest, *options, *tests], timeout_s)

    def judge(self, mutant: Mutant, timeout_s: float) -> Outcome:
        """Apply a mutant, ask its tests, and restore the file."""
        file, start = self.tree / mutant.file, monotonic()
        text, status = file.read_text(encoding="utf-8"), file.stat()
        self._count += 1
        file.write_text(text.replace(mutant.find, mutant.replace), encoding="utf-8")
        # A time of its own: Python tells cached bytecode apart by whole seconds and length.
        os.utime(file, (status.st_mtime, int(status.st_mtime) + self._count))
        try:
            state, note = self._ask_tests(mutant, timeout_s)
        finally:
            file.write_text(text, encoding="utf-8")
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        return Outcome(mutant=mutant, state=state, note=note, seconds=round(monotonic() - start, 2))

    def _ask_tests(self, mutant: Mutant, timeout_s: float) -> tuple[str, str]:
        if mutant.file.endswith(".py"):
            words = Path(mutant.file).relative_to(_SOURCE_DIR).with_suffix("").parts
            code, output = self.run(["-c", f"import {'.'.join(words).removesuffix('.__init__')}"], timeout_s)
            if code != 0:
                return "invalid", f"it cannot be imported: {_last_line(output)}"
        code, output = self.run_tests(mutant.tests, timeout_s, "-x")
        if code == 0:
            return "survived", "all its tests pass"
        if code is None:
            return "killed", f"by the time limit of {timeout_s:g} s"
        if code not in _TESTS_FAILED_CODES or _COLLECTION_ERROR.search(output):
            return "invalid", f"its tests cannot be collected: {_last_line(output)}"
        names = re.findall(r"^(?:FAILED|ERROR) ([^\s\[]+)", output, re.MULTILINE)
        # A test that fails now and then has noticed nothing: it is asked again.
        if names and self.run_tests(names, timeout_s, "-x")[0] == 0:
            return "survived", f"{names[0]} failed once, and passed when it was asked again"
        return "killed", f"by {names[0] if names else 'a test'}"


def _last_line(output: str) -> str:
    return next((line for line in reversed(output.splitlines()) if line.strip()), "it says nothing")


def select_mutants(mutants: list[Mutant], names: Iterable[str]) -> list[Mutant]:
    """Those of the areas and ids that are named; all where none is."""
    wanted = set(names)
    if unknown := wanted - {mutant.id for mutant in mutants} - {mutant.area for mutant in mutants}:
        raise ListError(f"no area or mutant is called {', '.join(sorted(unknown))}; --list shows them")
    return [mutant for mutant in mutants if not wanted or wanted & {mutant.id, mutant.area}]


def require_baseline(workers: list[Worker], mutants: list[Mutant]) -> None:
    """All tests pass without a mutant, or nothing that they say means anything."""
    names_by_file: dict[str, set[str]] = defaultdict(set)
    for name in (name for mutant in mutants for name in mutant.tests):
        names_by_file[name.partition("::")[0]].add(name)
    shares: list[list[str]] = [[] for _ in workers]
    for index, file in enumerate(sorted(names_by_file)):
        names = names_by_file[file]
        shares[index % len(workers)] += [file] if file in names else sorted(names)
    pairs = [(worker, share) for worker, share in zip(workers, shares, strict=True) if share]
    with ThreadPoolExecutor(len(workers)) as pool:
        results = pool.map(lambda pair: pair[0].run_tests(pair[1], _BASELINE_TIMEOUT_S), pairs)
    for code, output in results:
        if code != 0:
            raise ListError(f"tests fail without any mutant:\n{output[-_TAIL_CHARS:] or 'they did not end'}")


def judge_all(workers: list[Worker], mutants: list[Mutant], timeout_s: float) -> Iterator[Outcome]:
    """The outcome of each mutant, as it comes."""
    free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    for worker in workers:
        free.put(worker)

    def judge(mutant: Mutant) -> Outcome:
        worker = free.get()
        try:
            return worker.judge(mutant, timeout_s)
        finally:
            free.put(worker)

    with ThreadPoolExecutor(len(workers)) as pool:
        jobs = [pool.submit(judge, mutant) for mutant in mutants]
        try:
            yield from (job.result() for job in as_completed(jobs))
        finally:
            pool.shutdown(cancel_futures=True)


def run_mutants(mutants: list[Mutant], root: Path, count: int, timeout_s: float, say: Any) -> list[Outcome]:
    """The outcomes of these mutants of a tree, by so many workers."""
    with tempfile.TemporaryDirectory(prefix="mut-", ignore_cleanup_errors=True) as folder:
        workers = [Worker(root, Path(folder, str(number))) for number in range(min(count, len(mutants)))]
        outcomes: list[Outcome] = []
        with _stops_on_interrupt(workers):
            say(f"the tests of {len(mutants)} mutants, without any")
            require_baseline(workers, mutants)
            for outcome in judge_all(workers, mutants, timeout_s):
                outcomes.append(outcome)
                name = f"{outcome.state:8} {outcome.mutant.area}: {outcome.mutant.id}"
                say(f"{len(outcomes):4}/{len(mutants)} {outcome.seconds:6.1f} s  {name} ({outcome.note})")
    return outcomes


@contextmanager
def _stops_on_interrupt(workers: list[Worker]) -> Iterator[None]:
    """Whoever stops us stops the tests too: they have sessions of their own, and no terminal reaches them."""

    def stop(*_signal: object) -> None:
        for worker in workers:
            worker.stop()
        raise KeyboardInterrupt

    handlers = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def describe(outcomes: list[Outcome], root: Path) -> Iterator[str]:
    """A table of the areas, and every mutant that was not killed with its difference."""
    yield f"{'area':14}{'mutants':>8}{'killed':>8}{'survived':>10}{'invalid':>9}"
    by_area: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        by_area[outcome.mutant.area][outcome.state] += 1
    rows = [(area, by_area[area]) for area in sorted(by_area)]
    for area, states in [*rows, ("all", sum((states for _, states in rows), Counter[str]()))]:
        yield f"{area:14}{states.total():8}{states['killed']:8}{states['survived']:10}{states['invalid']:9}"
    for outcome in outcomes:
        if outcome.state != "killed":
            yield from ("", f"{outcome.mutant.id} {outcome.state}: {outcome.note}", f"  {outcome.mutant.why}")
            yield f"  asked: {' '.join(outcome.mutant.tests)}"
            yield from (f"  {line}" for line in _difference(outcome.mutant, root))


def _difference(mutant: Mutant, root: Path) -> Iterator[str]:
    text = (root / mutant.file).read_text(encoding="utf-8")
    lines = (text.splitlines(), text.replace(mutant.find, mutant.replace).splitlines())
    return difflib.unified_diff(*lines, mutant.file, mutant.file, n=1, lineterm="")


def main(argv: list[str] | None = None) -> int:
    """0 if all were killed, 1 if one was not, 2 if the list cannot be run, 130 if somebody stops it."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="AREA|ID", help="only these; may be repeated")
    parser.add_argument("--list", action="store_true", help="show the mutants and run nothing")
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    count = len(os.sched_getaffinity(0))
    parser.add_argument("--workers", type=int, default=count, help="copies that work at a time (%(default)s)")
    parser.add_argument("--timeout", type=float, default=_MUTANT_TIMEOUT_S, help="seconds for one mutant (%(default)g)")
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree that is copied (this one)")
    args = parser.parse_args(argv)
    root = args.root.resolve()
    try:
        mutants = select_mutants(load_mutants(root / "tools" / "mutants"), args.only)
        if args.list:
            rows = [f"{mutant.area:14}{mutant.id:34}{mutant.why}" for mutant in mutants]
            print(json.dumps([asdict(mutant) for mutant in mutants], indent=2) if args.json else "\n".join(rows))
            return 0
        require_fit(mutants, root)
        say = partial(print, file=sys.stderr if args.json else sys.stdout, flush=True)
        outcomes = run_mutants(mutants, root, max(args.workers, 1), args.timeout, say)
    except ListError as problem:
        print(problem, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; nothing is left behind, and nothing is known of the rest", file=sys.stderr)
        return _INTERRUPT_CODE
    if args.json:
        print(json.dumps([asdict(outcome) for outcome in outcomes], indent=2))
    else:
        print("\n".join(describe(outcomes, root)))
    return int(any(outcome.state != "killed" for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
