"""make bench-peers: how long an agent waits for other tools that judge its calls, and for us.

All of them take turns in shuffled rounds, on the same tool calls, without a pause and with 50 ms between calls. The
packages come from the registries of Python and Node, once, into a cache; who cannot be installed is named with the
reason. Writes benchmarks/peers/results.json.
"""

import json
import os
import signal
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from shutil import which
from subprocess import TimeoutExpired, run
from tempfile import TemporaryDirectory
from time import monotonic

from msgspec import Struct
from msgspec.json import encode
from msgspec.json import format as pretty
from msgspec.structs import replace
from peer_catalog import (
    ABSENT,
    ALLOWED_LICENCES,
    HOOKS,
    PACKAGES,
    InstallationError,
    PeerPackage,
    find_licence,
    install_package,
    run_installer,
)
from peer_report import (
    OURS_COMMAND,
    OURS_FUNCTION,
    OURS_NO_HOOKS,
    PAUSES_MS,
    PAYLOADS,
    RESULTS,
    PeerProgram,
    PeerReport,
    PeerRow,
)

from hookonce import __version__
from hookonce.base.process_info import iter_processes
from hookonce.base.times import now
from hookonce.client.sandbox_home import SandboxHome
from hookonce.lab import bench_cases
from hookonce.lab.bench_report import KB, CallTally, machine_label, percentile

sys.path.append(str(Path(__file__).resolve().parents[1]))  # blocks, cases and rounds lie there

from blocks import BenchCell, BlockRunner
from cases import (
    BARE_PATH,
    CALL_NUMBER_MARKER,
    GREP_GUARD,
    BenchCase,
    build_floor_case,
    build_payload,
    command_hooks,
    function_hooks,
    make_home,
)
from rounds import run_rounds

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hookonce" / "peers"
_TRIAL_TIMEOUT_S = 30  # seconds for the first call of a program
_BLOCK_MS, _MIN_BLOCK_CALLS, _MAX_BLOCK_CALLS = 60, 2, 10  # of one program in one round: about how long, how often
# No peer reports home, and one that tries finds nobody.
_OFFLINE = {"DO_NOT_TRACK": "1"} | dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")
_STAND_INS = {
    "guard in Go": ("guard.go", ["go", "build", "-trimpath", "-ldflags=-s -w", "-o"]),
    "guard in Rust": ("guard.rs", ["rustc", "--edition=2021", "-Copt-level=3", "-Cstrip=symbols", "-o"]),
}


class Program(Struct, frozen=True, kw_only=True):
    """A program, how it is called, and what the trial of each payload has shown."""

    about: PeerProgram
    command: list[str]
    environment: dict[str, str]
    exit_codes: dict[str, int] = {}
    trial_ms: float = 0.0
    home: SandboxHome | None = None  # of ours, whose daemon has to answer


def main() -> int:
    """Install, measure, show, and keep."""
    parser = ArgumentParser(description=__doc__, epilog=f"Licences: {', '.join(ALLOWED_LICENCES)}, and no others.")
    parser.add_argument(
        "--quick", action="store_true", help="fewer calls, in under 2 minutes once all is installed; not kept"
    )
    parser.add_argument(
        "--keep", action="store_true", help="write benchmarks/peers/results.json also after a quick run"
    )
    parser.add_argument("--offline", action="store_true", help="install nothing; use what is in the cache")
    parser.add_argument("--cache", type=Path, default=CACHE, help=f"where packages are installed (default: {CACHE})")
    options = parser.parse_args()
    os.environ.pop("HOOKONCE_COLD", None)
    with TemporaryDirectory(prefix="hookonce-peers-", ignore_cleanup_errors=True) as folder, ExitStack() as exit_stack:
        scratch, missing = Path(folder).resolve(), dict(ABSENT)
        exit_stack.callback(_end_processes, scratch)
        programs = [*_own_programs(scratch, exit_stack), *_stand_ins(scratch, missing)]
        programs += _packages(options.cache.resolve(), scratch, missing, offline=options.offline)
        programs = [tried for program in programs if (tried := _try(program, missing)) is not None]
        report = _measure(programs, missing, scratch, is_quick=options.quick)
    _print_report(report)
    if options.keep or not options.quick:
        RESULTS.write_bytes(pretty(encode(report), indent=1) + b"\n")
        print("\nwrote benchmarks/peers/results.json; make docs puts it into docs/performance.md")
    return int(any(row.errors for row in report.rows))


def _end_processes(scratch: Path) -> None:
    """End what peers have left running in their homes."""
    for pid, variables in iter_processes("environ"):
        if any(variable.startswith(b"HOME=" + os.fsencode(scratch)) for variable in variables):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _own_programs(scratch: Path, exit_stack: ExitStack) -> Iterator[Program]:
    """The floor, and us: without hooks, and with the README's guard as a function and as a command."""
    floor, floor_words = build_floor_case(scratch)
    yield Program(about=PeerProgram(name=bench_cases.FLOOR, words=floor_words), command=floor.command, environment={})
    homes = {
        OURS_NO_HOOKS: (None, "no hook wants to know"),
        OURS_FUNCTION: (function_hooks(), "the README's guard as a function"),
        OURS_COMMAND: (command_hooks(), "the README's guard as a command with `grep`"),
    }
    for name, (hooks, words) in homes.items():
        home = make_home(scratch / name, hooks)
        exit_stack.callback(home.stop_daemon)
        if home.start_daemon() is None:
            raise SystemExit("no daemon of ours answers here: there is nothing to compare with")
        yield Program(
            about=PeerProgram(name=name, words=words),
            command=home.command_line(),
            environment=home.environment(),
            home=home,
        )


def _stand_ins(scratch: Path, missing: dict[str, str]) -> Iterator[Program]:
    """The README's guard without any package: compiled, as a script, and as a command."""
    environment = {"PATH": BARE_PATH, "HOME": str(scratch)}
    commands = {
        "guard with grep": (["/bin/sh", "-c", GREP_GUARD], "the README's command, started by a shell"),
        "guard in Python": ([sys.executable, str(HOOKS / "guard_script.py")], "a script of one's own"),
    }
    if (node := which("node")) is not None:
        commands["guard in Node"] = ([node, str(HOOKS / "guard_script.mjs")], "a script of one's own")
    else:
        missing["guard in Node"] = "it needs node"
    for name, (source, compiler) in _STAND_INS.items():
        program = scratch / source.replace(".", "-")
        try:
            run_installer([*compiler, str(program), str(HOOKS / source)])
        except InstallationError as problem:
            missing[name] = str(problem)
        else:
            commands[name] = ([str(program)], "compiled, nothing but the standard library")
    for name, (command, words) in commands.items():
        yield Program(about=PeerProgram(name=name, words=words), command=command, environment=environment)


def _packages(cache: Path, scratch: Path, missing: dict[str, str], *, offline: bool) -> Iterator[Program]:
    for peer in PACKAGES:
        _say(f"installing {peer.name} {peer.version} from {peer.registry}, if it is not in the cache")
        try:
            folder = install_package(peer, cache, offline=offline)
        except InstallationError as problem:
            missing[peer.name] = str(problem)
            continue
        yield _build_program(peer, folder, scratch)


def _build_program(peer: PeerPackage, folder: Path, scratch: Path) -> Program:
    home = scratch / f"home of {peer.name}"
    home.mkdir()
    places = {"{bin}": str(folder / "bin"), "{modules}": str(folder / "node_modules"), "{hooks}": str(HOOKS)}
    command = list(peer.command)
    for place, path in places.items():
        command = [word.replace(place, path) for word in command]
    command[0] = which(command[0]) or command[0]
    about = PeerProgram(
        name=peer.name,
        words=peer.words,
        version=peer.version,
        licence=find_licence(peer, folder),
        is_peer=True,
    )
    environment = {"PATH": f"{folder / 'bin'}:{BARE_PATH}", "HOME": str(home)} | _OFFLINE | peer.variables
    return Program(about=about, command=command, environment=environment)


def _try(program: Program, missing: dict[str, str]) -> Program | None:
    """Ask a program everything twice, and note how it judges; one that fails is not measured."""
    verdicts, exit_codes, times = {}, {}, []
    for payload in PAYLOADS * 2:
        text = build_payload(KB, payload).replace(CALL_NUMBER_MARKER.encode(), b"%010d" % len(times))
        begin = monotonic()
        try:
            done = run(
                program.command,
                env=program.environment,
                input=text,
                capture_output=True,
                timeout=_TRIAL_TIMEOUT_S,
                check=False,
            )
        except (OSError, TimeoutExpired) as problem:
            missing[program.about.name] = f"it cannot be called: {type(problem).__name__}"
            return None
        times.append(monotonic() - begin)
        if done.returncode not in {0, 2}:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            missing[program.about.name] = f"it fails: {(lines or ['without a word'])[-1][:120]}"
            return None
        verdicts[payload], exit_codes[payload] = read_verdict(done.returncode, done.stdout), done.returncode
    about = replace(program.about, verdicts=verdicts)
    return replace(program, about=about, exit_codes=exit_codes, trial_ms=min(times) * 1000)


def read_verdict(code: int, output: bytes) -> str:
    """What an answer in the form of Claude Code means for the call: passes, asks or denies."""
    try:
        answer = json.loads(output)
    except ValueError:
        answer = None
    told = answer if isinstance(answer, dict) else {}
    specific = told.get("hookSpecificOutput")
    decision = specific.get("permissionDecision") if isinstance(specific, dict) else told.get("decision")
    if code or decision in {"deny", "block"} or told.get("continue") is False:
        return "denies"
    return "asks" if decision == "ask" else "passes"


def _measure(programs: list[Program], missing: dict[str, str], scratch: Path, *, is_quick: bool) -> PeerReport:
    blocks, load = BlockRunner(scratch), round(os.getloadavg()[0], 1)
    tallies: dict[tuple[str, str, int], CallTally] = {}

    def measure(cell: BenchCell) -> None:
        result = blocks.run_block(cell)
        tally = tallies.setdefault((cell.case.name, cell.case.shell_command, cell.pause_ms), CallTally())
        tally.call_ns += result.call_ns
        tally.errors += result.errors
        if cell.case.is_warm:
            tally.cold_count = (tally.cold_count or 0) + result.heavy_count

    cells = [cell for program in programs for cell in _build_cells(program)]
    rounds, max_seconds = (2, 60.0) if is_quick else (20, 420.0)
    rounds = run_rounds(cells, rounds, max_seconds, measure, _say)
    return PeerReport(
        hookonce=__version__,
        date=now()[:10],
        machine=machine_label(),
        load=load,
        rounds=rounds,
        programs=[program.about for program in programs],
        rows=[_build_row(*key, tally) for key, tally in sorted(tallies.items())],
        missing=missing,
    )


def _build_cells(program: Program) -> Iterator[BenchCell]:
    calls = min(max(round(_BLOCK_MS / max(program.trial_ms, 1)), _MIN_BLOCK_CALLS), _MAX_BLOCK_CALLS)
    for payload in PAYLOADS:
        case = BenchCase(
            name=program.about.name,
            command=program.command,
            environment=program.environment,
            calls=calls,
            shell_command=payload,
            expected=None,
            exit_code=program.exit_codes[payload],
            home=program.home,
            is_warm=program.home is not None and program.home.is_native(),
        )
        for pause_ms in PAUSES_MS:
            yield BenchCell(case=case, calls=calls, pause_ms=pause_ms)


def _build_row(name: str, payload: str, pause_ms: int, tally: CallTally) -> PeerRow:
    times = sorted(tally.call_ns)
    return PeerRow(
        name=name,
        payload=payload,
        pause_ms=pause_ms,
        calls=len(times),
        p50_ms=round(percentile(times, 0.50) / 1e6, 3),
        p99_ms=round(percentile(times, 0.99) / 1e6, 3),
        errors=tally.errors,
        cold=tally.cold_count,
    )


def _print_report(report: PeerReport) -> None:
    titles = [f"{payload}{f', {pause_ms} ms' if pause_ms else ''}" for pause_ms in PAUSES_MS for payload in PAYLOADS]
    print(f"median ms{'':19}" + "".join(f"{title:>25}" for title in titles) + f"{'× function':>12}")
    for program in sorted(report.programs, key=lambda program: report.p50_ms(program.name, PAYLOADS[0], 0)):
        cells = [
            f"{report.p50_ms(program.name, payload, pause_ms):.2f} {program.verdicts[payload]}"
            for pause_ms in PAUSES_MS
            for payload in PAYLOADS
        ]
        line = f"{program.name:28}" + "".join(f"{cell:>25}" for cell in cells)
        print(f"{line}{report.least_ratio(program.name):12.2f}")
    for name, reason in report.missing.items():
        print(f"not measured: {name}: {reason}")


if __name__ == "__main__":
    sys.exit(main())
