"""What is measured: programs that are called as an agent calls a hook, from nothing at all to a hook of a manifest."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import copyfile
from time import monotonic, sleep

from msgspec import Struct

from hookonce.errors import HookonceError
from hookonce.journeys.bench_report import (
    COLD,
    ECHO,
    FLOOR,
    HOOKED,
    HOOKED_UNRECORDED,
    KB,
    MILLION,
    PYTHON,
    UNRECORDED,
    WARM,
)
from hookonce.journeys.made_home import AGENT, EVENT, Home
from hookonce.model import Object
from hookonce.runtime.compiler import compiled
from hookonce.runtime.echo import SAID
from hookonce.texts import dump

PACKAGE = Path(__file__).resolve().parents[1]
SOURCES = PACKAGE / "bench"
MARK = "#" * 10  # the call's number, which the spawner writes there
ANSWERING, TWIN = "warm, a hook that refuses", "twin"
_ALONE = {"HOOKONCE_COLD": "1"}  # the client asks no daemon then
_PATIENCE = 5.0  # seconds until an echo must be there
_LOOK = 0.02
_BEHIND = 100_000  # microseconds in which what a cold call leaves to be done after its answer is done
# Takes the call's number out of the event without another program, so that each call has an answer of its own.
_REFUSE = """read -r event; event=${event#*\\"call_id\\":\\"}
echo "{\\"decision\\":\\"deny\\",\\"reason\\":\\"call ${event%%\\"*}\\"}" """
_LISTEN = "import sys; sys.path[:0] = sys.argv[2:]; from hookonce.runtime.echo import serve; serve(sys.argv[1])"


class Case(Struct, frozen=True, kw_only=True):
    """A program, the world it is called in, what it has to say, and how often it is called in a round."""

    name: str
    words: list[str]
    environment: dict[str, str]
    calls: int
    expected: bytes = b""
    pause: int = 0
    home: Home | None = None  # whose daemon has to answer
    is_warm: bool = False  # no interpreter is started for it, or nobody was there


# Calls of our client: in which home, without its daemon or not, how often in a round, with what pause after each.
_OURS = (
    (WARM, "quiet", False, 80, 0),
    (UNRECORDED, "unrecorded", False, 80, 0),
    (MILLION, "full", False, 80, 0),
    (HOOKED, "hooked", False, 30, 0),
    (HOOKED_UNRECORDED, "hooked, unrecorded", False, 30, 0),
    (ANSWERING, "refusing", False, 30, 0),
    (COLD, "quiet", True, 8, _BEHIND),
    ("cold, a hook", "hooked", True, 4, 0),
)
_HOOKS = {"quiet": None, "hooked": "true", "refusing": _REFUSE, "unrecorded": None, "hooked, unrecorded": "true"}


def _asked(command: str | None) -> list[Object] | None:
    """A hook that is asked before each tool call."""
    if command is None:
        return None
    return [{"event": "before_tool_execute", "blocking": True, "handler": {"type": "command", "command": command}}]


class Cases(Struct, frozen=True, kw_only=True):
    """The cases, what kept others from being here, and what the floor is."""

    cases: list[Case]
    skipped: dict[str, str]
    floor: str


def payload(size: int) -> bytes:
    """A tool call of the agent, about so many bytes long."""
    text = "x" * max(size - 300, 0)
    return dump(
        {
            "session_id": "bench",
            "transcript_path": "/home/dev/.claude/projects/bench/bench.jsonl",
            "cwd": "/",
            "permission_mode": "default",
            "hook_event_name": EVENT,
            "tool_use_id": f"toolu_{MARK}",
            "tool_name": "Write",
            "tool_input": {"file_path": "/home/dev/file", "content": text},
        }
    )


@contextmanager
def cases(scratch: Path, record: Path | None = None) -> Iterator[Cases]:
    """Everything that can be called on this machine; its daemons live as long as this lasts.

    `record` is the data of a home in which much has been kept; what is kept there now comes to it.
    """
    with ExitStack() as ending:
        homes = {name: Home(scratch / name, _asked(hook)) for name, hook in _HOOKS.items()}
        for name in ("unrecorded", "hooked, unrecorded"):
            _unrecorded(homes[name])
        if record is not None:
            homes["full"] = _full(scratch / "full", record)
        for home in homes.values():
            ending.callback(home.leave)
        awake = {name for name, home in homes.items() if home.wake() is not None}
        floor, told = _floor(scratch)
        made, skipped = [floor, _python(), _echo(scratch, ending)], {}
        for name, place, alone, calls, pause in _OURS:
            if place not in homes:
                continue
            if alone or place in awake:
                made.append(_ours(name, homes[place], calls, pause, alone=alone))
            else:
                skipped[name] = "no daemon answers here"
        twin = PACKAGE / "client" / "hookonce-on.sh"
        if twin.is_file():
            made.append(_twin(homes["quiet"], twin))
        else:
            skipped[TWIN] = "it is not part of this installation, because a client of machine code is"
        yield Cases(cases=made, skipped=skipped, floor=told)


def _unrecorded(home: Home) -> None:
    place = home.path / ".config" / "hookonce"
    place.mkdir(parents=True, exist_ok=True)
    (place / "config.toml").write_text("record = false\n", encoding="utf-8")


def _full(path: Path, record: Path) -> Home:
    """A home with much in its record."""
    home = Home(path)
    for file in record.iterdir():
        if file.is_file():
            file.rename(home.client.parents[1] / file.name)
    return home


def _floor(scratch: Path) -> tuple[Case, str]:
    """A program that does nothing, made like our client where it can be made."""
    program = scratch / "nothing"
    compiler = compiled(SOURCES / "nothing.c", program)
    words = [str(program)] if compiler else ["/bin/true"]
    told = f"a program that does nothing, made by {compiler}" if compiler else "/bin/true, for want of a C compiler"
    return Case(name=FLOOR, words=words, environment={}, calls=80), told


def _python() -> Case:
    return Case(name=PYTHON, words=[sys.executable, "-I", "-S", "-c", "pass"], environment={}, calls=16)


def _echo(scratch: Path, ending: ExitStack) -> Case:
    """Our client, and a daemon that only says the same to everybody."""
    home = Home(scratch / "echo", None, (AGENT,), **_ALONE)
    ending.callback(home.leave)
    place = home.folder() / "socket"
    words = [sys.executable, "-I", "-S", "-c", _LISTEN, str(place), str(PACKAGE.parent)]
    daemon = subprocess.Popen(words, stdin=subprocess.PIPE)  # noqa: S603  our own code
    ending.callback(daemon.wait)
    if daemon.stdin is not None:
        ending.callback(daemon.stdin.close)  # which ends it, and so does our own end
    end = monotonic() + _PATIENCE
    while not place.exists() and monotonic() < end:
        sleep(_LOOK)
    world, warm = home.environment(), home.is_native()
    return Case(name=ECHO, words=home.words(), environment=world, calls=80, expected=SAID, is_warm=warm)


def _ours(name: str, home: Home, calls: int, pause: int, *, alone: bool) -> Case:
    return Case(
        name=name,
        words=home.words(),
        environment=home.environment() | (_ALONE if alone else {}),
        calls=calls,
        expected=_refusal(home) if name == ANSWERING else b"",
        pause=pause,
        home=None if alone else home,
        is_warm=not alone and home.is_native(),
    )


def _refusal(home: Home) -> bytes:
    """What the hook that refuses makes our client say, with a mark in the place of the call's number."""
    number = b"0123456789"
    given = payload(KB).replace(MARK.encode(), number)
    said = subprocess.run(  # noqa: S603  our own client
        home.words(), env=home.environment(), input=given, capture_output=True, check=False
    ).stdout
    if number not in said:
        raise HookonceError(f"the answer of a hook did not come through: {said[:200]!r}")
    return said.replace(number, MARK.encode())


def _twin(home: Home, source: Path) -> Case:
    """The client for machines that have no C compiler, beside the other one."""
    copy = home.client.with_name(TWIN)
    copyfile(source, copy)
    copy.chmod(0o755)
    return Case(name=TWIN, words=home.words(copy), environment=home.environment(), calls=6, pause=_BEHIND)
