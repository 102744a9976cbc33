"""Benchmark cases: programs called as an agent calls a hook, from a no-op to a manifest hook."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import copyfile
from time import monotonic, sleep

from compiler import compile_program
from echo_daemon import ECHO_ANSWER
from msgspec import Struct

import hookonce
from hookonce.base.jsontext import dump
from hookonce.client.sandbox_home import AGENT, EVENT, SandboxHome
from hookonce.errors import HookonceError
from hookonce.lab.latency import (
    COLD,
    COLD_HOOK,
    ECHO,
    FLOOR,
    KB,
    PYTHON,
    PYTHON_CLIENT,
    WARM,
    WARM_DENY,
    WARM_HOOK,
    WARM_HOOK_NO_RECORD,
    WARM_MILLION_ROWS,
    WARM_NO_RECORD,
)
from hookonce.model import Object

SOURCES = Path(__file__).resolve().parent
PACKAGE = Path(hookonce.__file__).resolve().parent
CALL_NUMBER_MARKER = "#" * 10  # the call's number, which the spawner writes there
_NO_DAEMON_ENV = {"HOOKONCE_COLD": "1"}  # the client asks no daemon then
_ECHO_START_TIMEOUT_S = 5.0  # seconds until an echo must be there
_POLL_INTERVAL_S = 0.02
_COLD_PAUSE_US = 100_000  # microseconds in which what a cold call leaves to be done after its answer is done
# Takes the call's number out of the event without another program, so that each call has an answer of its own.
_DENY_COMMAND = """read -r event; event=${event#*\\"call_id\\":\\"}
echo "{\\"decision\\":\\"deny\\",\\"reason\\":\\"call ${event%%\\"*}\\"}" """


class BenchCase(Struct, frozen=True, kw_only=True):
    """Program, environment, expected output, and calls per round."""

    name: str
    command: list[str]
    environment: dict[str, str]
    calls: int
    expected: bytes = b""
    pause_us: int = 0
    home: SandboxHome | None = None  # whose daemon has to answer
    is_warm: bool = False  # no interpreter is started for it, or nobody was there


# Calls of our client: in which home, without its daemon or not, how often in a round, with what pause after each.
_CLIENT_CASES = (
    (WARM, "quiet", False, 80, 0),
    (WARM_NO_RECORD, "unrecorded", False, 80, 0),
    (WARM_MILLION_ROWS, "full", False, 80, 0),
    (WARM_HOOK, "hooked", False, 30, 0),
    (WARM_HOOK_NO_RECORD, "hooked, unrecorded", False, 30, 0),
    (WARM_DENY, "refusing", False, 30, 0),
    (COLD, "quiet", True, 8, _COLD_PAUSE_US),
    (COLD_HOOK, "hooked", True, 4, 0),
)
_HOOK_BY_HOME = {
    "quiet": None,
    "hooked": "true",
    "refusing": _DENY_COMMAND,
    "unrecorded": None,
    "hooked, unrecorded": "true",
}


def _hook_manifest(command: str | None) -> list[Object] | None:
    if command is None:
        return None
    return [{"event": "before_tool_execute", "blocking": True, "handler": {"type": "command", "command": command}}]


class BenchCases(Struct, frozen=True, kw_only=True):
    """The cases, what kept others from being here, and what the floor is."""

    cases: list[BenchCase]
    skip_reasons: dict[str, str]
    floor: str


def build_payload(size: int) -> bytes:
    """A tool call of the agent, about so many bytes long."""
    text = "x" * max(size - 300, 0)
    return dump(
        {
            "session_id": "bench",
            "transcript_path": "/home/dev/.claude/projects/bench/bench.jsonl",
            "cwd": "/",
            "permission_mode": "default",
            "hook_event_name": EVENT,
            "tool_use_id": f"toolu_{CALL_NUMBER_MARKER}",
            "tool_name": "Write",
            "tool_input": {"file_path": "/home/dev/file", "content": text},
        }
    )


@contextmanager
def prepare_cases(scratch: Path, record: Path | None = None) -> Iterator[BenchCases]:
    """Prepare all cases of this machine; their daemons live as long as the context.

    `record` is the data of a home with a large store; it is added to.
    """
    with ExitStack() as exit_stack:
        homes = {name: SandboxHome(scratch / name, _hook_manifest(hook)) for name, hook in _HOOK_BY_HOME.items()}
        for name in ("unrecorded", "hooked, unrecorded"):
            _disable_recording(homes[name])
        if record is not None:
            homes["full"] = _home_with_records(scratch / "full", record)
        for home in homes.values():
            exit_stack.callback(home.stop_daemon)
        running_homes = {name for name, home in homes.items() if home.start_daemon() is not None}
        floor_case, floor_text = _floor_case(scratch)
        all_cases, skip_reasons = [floor_case, _python_case(), _echo_case(scratch, exit_stack)], {}
        for name, home_name, without_daemon, calls, pause in _CLIENT_CASES:
            if home_name not in homes:
                continue
            if without_daemon or home_name in running_homes:
                all_cases.append(_client_case(name, homes[home_name], calls, pause, without_daemon=without_daemon))
            else:
                skip_reasons[name] = "no daemon answers here"
        client_script = PACKAGE / "client" / "native" / "hookonce-on.sh"
        if client_script.is_file():
            all_cases.append(_python_client_case(homes["quiet"], client_script))
        else:
            skip_reasons[PYTHON_CLIENT] = "it is not part of this installation, because a client of machine code is"
        yield BenchCases(cases=all_cases, skip_reasons=skip_reasons, floor=floor_text)


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


def _floor_case(scratch: Path) -> tuple[BenchCase, str]:
    program = scratch / "nothing"
    compiler = compile_program(SOURCES / "nothing.c", program)
    command = [str(program)] if compiler else ["/bin/true"]
    floor_text = (
        f"a program that does nothing, made by {compiler}" if compiler else "/bin/true, for want of a C compiler"
    )
    return BenchCase(name=FLOOR, command=command, environment={}, calls=80), floor_text


def _python_case() -> BenchCase:
    return BenchCase(name=PYTHON, command=[sys.executable, "-I", "-S", "-c", "pass"], environment={}, calls=16)


def _echo_case(scratch: Path, exit_stack: ExitStack) -> BenchCase:
    home = SandboxHome(scratch / "echo", None, (AGENT,), **_NO_DAEMON_ENV)
    exit_stack.callback(home.stop_daemon)
    socket_path = home.runtime_dir() / "socket"
    command = [sys.executable, "-I", "-S", str(SOURCES / "echo_daemon.py"), str(socket_path), str(PACKAGE.parent)]
    daemon = subprocess.Popen(command, stdin=subprocess.PIPE)
    exit_stack.callback(daemon.wait)
    if daemon.stdin is not None:
        exit_stack.callback(daemon.stdin.close)  # which ends it, and so does our own end
    deadline = monotonic() + _ECHO_START_TIMEOUT_S
    while not socket_path.exists() and monotonic() < deadline:
        sleep(_POLL_INTERVAL_S)
    environment, is_native = home.environment(), home.is_native()
    return BenchCase(
        name=ECHO,
        command=home.command_line(),
        environment=environment,
        calls=80,
        expected=ECHO_ANSWER,
        is_warm=is_native,
    )


def _client_case(name: str, home: SandboxHome, calls: int, pause: int, *, without_daemon: bool) -> BenchCase:
    return BenchCase(
        name=name,
        command=home.command_line(),
        environment=home.environment() | (_NO_DAEMON_ENV if without_daemon else {}),
        calls=calls,
        expected=_expected_refusal(home) if name == WARM_DENY else b"",
        pause_us=pause,
        home=None if without_daemon else home,
        is_warm=not without_daemon and home.is_native(),
    )


def _expected_refusal(home: SandboxHome) -> bytes:
    """What the hook that refuses makes our client say, with a mark in the place of the call's number."""
    number = b"0123456789"
    numbered_payload = build_payload(KB).replace(CALL_NUMBER_MARKER.encode(), number)
    output = subprocess.run(
        home.command_line(), env=home.environment(), input=numbered_payload, capture_output=True, check=False
    ).stdout
    if number not in output:
        raise HookonceError(f"the answer of a hook did not come through: {output[:200]!r}")
    return output.replace(number, CALL_NUMBER_MARKER.encode())


def _python_client_case(home: SandboxHome, source: Path) -> BenchCase:
    copy = home.client.with_name(PYTHON_CLIENT)
    copyfile(source, copy)
    copy.chmod(0o755)
    return BenchCase(
        name=PYTHON_CLIENT,
        command=home.command_line(copy),
        environment=home.environment(),
        calls=6,
        pause_us=_COLD_PAUSE_US,
    )
