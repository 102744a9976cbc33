"""Benchmark cases: programs called as an agent calls a hook, from a no-op to hooks of a manifest."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import copyfile
from time import monotonic, sleep

from compiler import compile_program
from echo_daemon import ECHO_ANSWER
from msgspec import Struct

import hookonce
from hookonce.base.jsontext import dump
from hookonce.base.process_info import is_process_alive
from hookonce.client.sandbox_home import AGENT, EVENT, SandboxHome
from hookonce.errors import HookonceError
from hookonce.lab import bench_cases
from hookonce.lab.bench_report import KB
from hookonce.model import Object

SOURCES = Path(__file__).resolve().parent
PACKAGE = Path(hookonce.__file__).resolve().parent
GUARD_FILE = SOURCES.parent / "examples" / "hooks" / "guard.py"
# The command of the README that refuses `rm -rf`.
GREP_GUARD = "! grep -q 'rm -rf' || { echo 'not like this' >&2; exit 2; }"
BENIGN, DANGEROUS = "ls -la", "rm -rf /"
CALL_NUMBER_MARKER = "#" * 10  # the call's number, which the spawner writes there
BARE_PATH = "/usr/local/bin:/usr/bin:/bin"
_NO_DAEMON_ENV = {"HOOKONCE_COLD": "1"}  # the client asks no daemon then
_DAEMON_TIMEOUT_S = 5.0  # seconds until an echo must be there, or a killed daemon gone
_POLL_INTERVAL_S = 0.02
_COLD_PAUSE_US = 100_000  # microseconds in which what a cold call leaves to be done after its answer is done
# Takes the call's number out of the event without another program, so that each call has an answer of its own.
_DENY_COMMAND = """read -r event; event=${event#*\\"call_id\\":\\"}
echo "{\\"decision\\":\\"deny\\",\\"reason\\":\\"call ${event%%\\"*}\\"}" """


class BenchCase(Struct, frozen=True, kw_only=True):
    """Program, environment, what it is asked, what it has to say, and calls per round."""

    name: str
    command: list[str]
    environment: dict[str, str]
    calls: int
    shell_command: str = BENIGN  # that the agent wants to run
    expected: bytes | None = b""  # None: whatever it says
    exit_code: int = 0
    pause_us: int = 0
    before_call: Callable[[], object] | None = None
    home: SandboxHome | None = None  # whose daemon has to answer
    is_warm: bool = False  # no interpreter is started for it, or nobody was there


def _command_hooks(*commands: str) -> list[Object]:
    return [
        {
            "name": f"hook-{number}",
            "event": "before_tool_execute",
            "blocking": True,
            "handler": {"type": "command", "command": command},
        }
        for number, command in enumerate(commands, 1)
    ]


_FUNCTION_HOOK: Object = {
    "name": "guard",
    "event": "before_tool_execute",
    "matcher": "shell",
    "blocking": True,
    "handler": {"type": "function", "file": GUARD_FILE.name},
}
# The hooks of each home; `unrecorded` ones keep no record.
_HOOKS_BY_HOME: dict[str, list[Object] | None] = {
    "quiet": None,
    "quiet, unrecorded": None,
    "function": [_FUNCTION_HOOK],
    "true": _command_hooks("true"),
    "true, unrecorded": _command_hooks("true"),
    "three true": _command_hooks("true 1", "true 2", "true 3"),
    "grep": _command_hooks(GREP_GUARD),
    "three greps": _command_hooks(*(f"{GREP_GUARD} # {number}" for number in range(3))),
    "refusing": _command_hooks(_DENY_COMMAND),
    "killed": _command_hooks("true"),
}
# Calls of our client that a daemon answers: in which home, about what, how often in a round.
_WARM_CASES = (
    (bench_cases.NO_HOOKS, "quiet", BENIGN, 80),
    (bench_cases.NO_RECORD, "quiet, unrecorded", BENIGN, 80),
    (bench_cases.MILLION_ROWS, "full", BENIGN, 80),
    (bench_cases.FUNCTION, "function", BENIGN, 60),
    (bench_cases.FUNCTION_DENY, "function", DANGEROUS, 60),
    (bench_cases.COMMAND, "true", BENIGN, 40),
    (bench_cases.COMMAND_NO_RECORD, "true, unrecorded", BENIGN, 40),
    (bench_cases.GREP, "grep", BENIGN, 40),
    (bench_cases.THREE_COMMANDS, "three true", BENIGN, 30),
    (bench_cases.THREE_GREPS, "three greps", BENIGN, 30),
    (bench_cases.COMMAND_DENY, "refusing", BENIGN, 30),
)
# Calls that no daemon answers: with what pause after each, so that the rest of its work is done.
_COLD_CASES = ((bench_cases.COLD, "quiet", 8, _COLD_PAUSE_US), (bench_cases.COLD_HOOK, "true", 6, _COLD_PAUSE_US))
_REFUSALS = (bench_cases.FUNCTION_DENY, bench_cases.COMMAND_DENY)


class BenchCases(Struct, frozen=True, kw_only=True):
    """The cases, what kept others from being here, and what the floor is."""

    cases: list[BenchCase]
    skip_reasons: dict[str, str]
    floor: str


def build_payload(size: int, shell_command: str = BENIGN) -> bytes:
    """A tool call of the agent, about so many bytes long; a large one writes a file."""
    text = "x" * max(size - 300, 0)
    is_small = size <= KB
    return dump(
        {
            "session_id": "bench",
            "transcript_path": "/home/dev/.claude/projects/bench/bench.jsonl",
            "cwd": "/",
            "permission_mode": "default",
            "hook_event_name": EVENT,
            "tool_use_id": f"toolu_{CALL_NUMBER_MARKER}",
            "tool_name": "Bash" if is_small else "Write",
            "tool_input": {"command": shell_command, "description": text}
            if is_small
            else {"file_path": "/home/dev/file", "content": text},
        }
    )


@contextmanager
def prepare_cases(scratch: Path, record: Path | None = None) -> Iterator[BenchCases]:
    """Prepare all cases of this machine; their daemons live as long as the context.

    `record` is the data of a home with a large store; it is added to.
    """
    with ExitStack() as exit_stack:
        homes = {name: make_home(scratch / name, hooks) for name, hooks in _HOOKS_BY_HOME.items()}
        for name, home in homes.items():
            if name.endswith("unrecorded"):
                _disable_recording(home)
        if record is not None:
            homes["full"] = _home_with_records(scratch / "full", record)
        for home in homes.values():
            exit_stack.callback(home.stop_daemon)
        running_homes = {name for name, home in homes.items() if home.start_daemon() is not None}
        floor_case, floor_text = build_floor_case(scratch)
        all_cases = [floor_case, *_bare_cases(), _echo_case(scratch, exit_stack)]
        skip_reasons = {}
        for name, home_name, shell_command, calls in _WARM_CASES:
            if home_name in running_homes:
                try:
                    all_cases.append(warm_case(name, homes[home_name], calls, shell_command, denies=name in _REFUSALS))
                except HookonceError as problem:
                    skip_reasons[name] = str(problem)
            elif home_name in homes:
                skip_reasons[name] = "no daemon answers here"
        all_cases += [_cold_case(name, homes[home], calls, pause) for name, home, calls, pause in _COLD_CASES]
        all_cases += _killed_cases(homes["killed"])
        client_script = PACKAGE / "client" / "native" / "hookonce-on.sh"
        if client_script.is_file():
            all_cases.append(_python_client_case(homes["quiet"], client_script))
        else:
            skip_reasons[bench_cases.PYTHON_CLIENT] = (
                "it is not part of this installation, because a client of machine code is"
            )
        yield BenchCases(cases=all_cases, skip_reasons=skip_reasons, floor=floor_text)


def make_home(path: Path, hooks: list[Object] | None) -> SandboxHome:
    """A home with these hooks, and with the file of a function beside its manifest."""
    home = SandboxHome(path, hooks)
    if hooks is not None:
        copyfile(GUARD_FILE, path / ".config" / "hookonce" / GUARD_FILE.name)
    return home


def function_hooks() -> list[Object]:
    """The README's guard as a function."""
    return [_FUNCTION_HOOK]


def command_hooks() -> list[Object]:
    """The README's guard as a command."""
    return _command_hooks(GREP_GUARD)


def _disable_recording(home: SandboxHome) -> None:
    config_folder = home.path / ".config" / "hookonce"
    config_folder.mkdir(parents=True, exist_ok=True)
    (config_folder / "config.toml").write_text("record = false\n", encoding="utf-8")


def _home_with_records(path: Path, record: Path) -> SandboxHome:
    home = SandboxHome(path)
    for file in record.iterdir():
        if file.is_file():
            file.rename(home.client.parents[1] / file.name)
    return home


def build_floor_case(scratch: Path) -> tuple[BenchCase, str]:
    """The least that a program can be, and how it was made."""
    program = scratch / "nothing"
    compiler = compile_program(SOURCES / "nothing.c", program)
    command = [str(program)] if compiler else ["/bin/true"]
    floor_text = (
        f"a program that does nothing, made by {compiler}" if compiler else "/bin/true, for want of a C compiler"
    )
    return BenchCase(name=bench_cases.FLOOR, command=command, environment={}, calls=80), floor_text


def _bare_cases() -> list[BenchCase]:
    """What hooks and interpreters cost without us; what a program with our SDK costs stands beside them."""
    environment = {"PATH": BARE_PATH, "HOME": "/nonexistent"}
    commands = {
        bench_cases.BARE_TRUE: (["/bin/sh", "-c", "true"], 40),
        bench_cases.BARE_GREP: (["/bin/sh", "-c", GREP_GUARD], 40),
        bench_cases.PYTHON: ([sys.executable, "-I", "-S", "-c", "pass"], 16),
        bench_cases.PYTHON_SITE: ([sys.executable, "-c", "pass"], 16),
        bench_cases.SDK_IMPORT: ([sys.executable, "-c", bench_cases.SDK_IMPORT], 12),
        bench_cases.SDK_PROGRAM: ([sys.executable, str(GUARD_FILE)], 12),
    }
    return [
        BenchCase(name=name, command=command, environment=environment, calls=calls)
        for name, (command, calls) in commands.items()
    ]


def _echo_case(scratch: Path, exit_stack: ExitStack) -> BenchCase:
    home = SandboxHome(scratch / "echo", None, (AGENT,), **_NO_DAEMON_ENV)
    exit_stack.callback(home.stop_daemon)
    socket_path = home.runtime_dir() / "socket"
    places = (SOURCES / "echo_daemon.py", socket_path, PACKAGE.parent, home.client.parent)
    command = [sys.executable, "-I", "-S", *map(str, places)]
    daemon = subprocess.Popen(command, stdin=subprocess.PIPE)
    exit_stack.callback(daemon.wait)
    if daemon.stdin is not None:
        exit_stack.callback(daemon.stdin.close)  # which ends it, and so does our own end
    _wait_until(socket_path.exists)
    environment, is_native = home.environment(), home.is_native()
    return BenchCase(
        name=bench_cases.ECHO,
        command=home.command_line(),
        environment=environment,
        calls=80,
        expected=ECHO_ANSWER,
        is_warm=is_native,
    )


def _wait_until(is_reached: Callable[[], bool]) -> None:
    deadline = monotonic() + _DAEMON_TIMEOUT_S
    while not is_reached() and monotonic() < deadline:
        sleep(_POLL_INTERVAL_S)


def warm_case(name: str, home: SandboxHome, calls: int, shell_command: str, *, denies: bool) -> BenchCase:
    """A call that the home's daemon answers."""
    return BenchCase(
        name=name,
        command=home.command_line(),
        environment=home.environment(),
        calls=calls,
        shell_command=shell_command,
        expected=_expected_refusal(home, shell_command) if denies else b"",
        home=home,
        is_warm=home.is_native(),
    )


def _cold_case(name: str, home: SandboxHome, calls: int, pause_us: int) -> BenchCase:
    environment = home.environment() | _NO_DAEMON_ENV
    return BenchCase(name=name, command=home.command_line(), environment=environment, calls=calls, pause_us=pause_us)


def _killed_cases(home: SandboxHome) -> list[BenchCase]:
    """A call that finds its daemon dead, and the call after that one."""

    def kill_daemon() -> None:
        if (status := home.start_daemon()) is None:
            raise HookonceError("the daemon that is to be killed does not start")
        os.kill(status["pid"], signal.SIGKILL)
        _wait_until(lambda: not is_process_alive(status["pid"]))

    def kill_and_call() -> None:
        kill_daemon()
        _call_once(home, BENIGN)

    command, environment = home.command_line(), home.environment()
    killed = BenchCase(
        name=bench_cases.DAEMON_KILLED, command=command, environment=environment, calls=3, before_call=kill_daemon
    )
    following = BenchCase(
        name=bench_cases.NEXT_CALL,
        command=command,
        environment=environment,
        calls=3,
        before_call=kill_and_call,
        is_warm=home.is_native(),
    )
    return [killed, following]


_CALL_NUMBER = b"0123456789"


def _call_once(home: SandboxHome, shell_command: str) -> bytes:
    payload = build_payload(KB, shell_command).replace(CALL_NUMBER_MARKER.encode(), _CALL_NUMBER)
    return subprocess.run(
        home.command_line(), env=home.environment(), input=payload, capture_output=True, check=False
    ).stdout


def _expected_refusal(home: SandboxHome, shell_command: str) -> bytes:
    """What a hook that refuses makes our client say, with a mark in the place of the call's number."""
    output = _call_once(home, shell_command)
    if b"deny" not in output:
        raise HookonceError(f"the answer of a hook did not come through: {output[:200]!r}")
    return output.replace(_CALL_NUMBER, CALL_NUMBER_MARKER.encode())


def _python_client_case(home: SandboxHome, source: Path) -> BenchCase:
    copy = home.client.with_name(bench_cases.PYTHON_CLIENT)
    copyfile(source, copy)
    copy.chmod(0o755)
    return BenchCase(
        name=bench_cases.PYTHON_CLIENT,
        command=home.command_line(copy),
        environment=home.environment(),
        calls=6,
        pause_us=_COLD_PAUSE_US,
    )
