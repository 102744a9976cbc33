"""The stage of one agent: a fresh home and project for each run, hookonce installed as a user would, and the call."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from statistics import median
from tempfile import gettempdir
from time import monotonic, sleep
from uuid import uuid4

from msgspec.structs import replace

from hookonce import agents
from hookonce.agents import kind_of, natives, point_of
from hookonce.canon.events import EVENTS
from hookonce.journeys.doors import Events
from hookonce.journeys.made_home import Home
from hookonce.journeys.places import Place
from hookonce.lab import leftovers, mark
from hookonce.lab.driver import Driver, Stand, Trip
from hookonce.lab.found import Found
from hookonce.lab.model import Model
from hookonce.lab.run import Heard, Run, gaps
from hookonce.lab.scenarios import SCENARIOS
from hookonce.model import Object
from hookonce.texts import dump, load

_HERE = Path(__file__).resolve().parent
_NOWHERE = "http://127.0.0.1:9"  # where requests go that are not for us: nobody listens
_SAID = 64 << 10  # bytes of what an agent says that are looked at
_AFTER = 0.4  # seconds in which an agent that has ended may still call its last hooks
_SECOND = 10.0  # seconds that a hook of the lab may take, unless an experiment says otherwise


class Stage:
    """Where an agent is run again and again; everything is gone at the end."""

    def __init__(self, driver: Driver, found: Found, cache: Path, events: Events = "default") -> None:
        """Nothing happens yet; `cache` is a folder that the runs share, `events` what install is asked for."""
        self.driver, self.found, self.events = driver, found, events
        self._cache = cache
        self.agent = agents.load(driver.agent)
        self.extra: list[float] = []  # seconds that a tool call took longer with hookonce, by try
        self.is_stuck = False  # whether the agent did not even end without hookonce

    def timed(self, without: Run, within: Run) -> None:
        """Note how much longer a run with hookonce took than the same without it."""
        if gaps(without) and gaps(within):
            self.extra.append(median(gaps(within)) - median(gaps(without)))

    def hook(self, folder: Path, name: str = "witness", **more: object) -> Object:
        """A hook of the lab, as it stands in a manifest."""
        words = [sys.executable, "-I", "-S", str(_HERE / "witness.py"), str(folder), name]
        handler = {"type": "command", "command": shlex.join(words), "timeout": more.pop("timeout", _SECOND)}
        return {"name": name, "handler": handler, **more}

    def kinds(self) -> list[str]:
        """The canonical names of all events that install asks for; of all, also those that payloads turn out to be."""
        known = natives(self.agent)
        if self.events == "all":
            return list(dict.fromkeys([*EVENTS, *(kind_of(self.agent, one) for one in known)]))
        wanted = [kind_of(self.agent, one) for one in known if point_of(self.agent, one).install == "default"]
        return list(dict.fromkeys(wanted))

    def everywhere(self, folder: Path) -> list[Object]:
        """A hook for every event."""
        return [self.hook(folder, event=kind) for kind in self.kinds()]

    def play(
        self,
        scenario: str,
        *,
        rules: list[Object] | None = None,
        hooks: Callable[[Path], list[Object]] | None = None,
        bare: bool = False,
        amend: Callable[[Home, Place], None] | None = None,
        trip: Trip | None = None,
    ) -> Run:
        """Have the agent play a scenario: with these hooks of the lab and their rules, or without hookonce at all.

        `amend` may change the home after everything is installed there; a `trip` says how else the agent is called.
        """
        with _folder() as scratch, Model() as model:
            notes = scratch / "notes"
            notes.mkdir()
            (notes / "rules.json").write_bytes(dump(rules or []))
            stand = self._stand(scratch, model.url, scenario, trip)
            self.driver.prepare(stand)
            home = None if bare else self._install(stand, hooks(notes) if hooks else [])
            try:
                if home is not None and amend is not None:
                    amend(home, Place(home=stand.home, project=stand.project))
                run = self._call(stand, scenario, (trip and trip.words) or self.driver.words, bare=bare)
            finally:
                if home is not None:
                    home.leave()
            kept = {name: _lines(notes / f"{name}.jsonl") for name in ("heard", "killed")}
            return replace(
                run,
                requests=list(model.requests),
                heard=[Heard(one["hook"], one["event"]) for one in kept["heard"]],
                killed=kept["killed"],
                called=_text(scratch / "mcp.log").splitlines(),
            )

    def _stand(self, scratch: Path, url: str, scenario: str, trip: Trip | None) -> Stand:
        home, project = scratch / "home", scratch / "project"
        for path in (home, project):
            path.mkdir()
        files = {**SCENARIOS[scenario].files, **(trip.files if trip else {})}
        for name, text in files.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text.replace("{dir}", str(project)), encoding="utf-8")
        return Stand(
            home=home,
            project=project,
            program=self.found.program,
            url=url,
            prompt=mark.prompt(scenario, self.agent.name, str(project)),
            mcp=[sys.executable, "-I", "-S", str(_HERE / "mcp_server.py"), str(scratch / "mcp.log")],
            cache=self._cache,
            node=self.found.node,
        )

    def _install(self, stand: Stand, hooks: list[Object]) -> Home:
        words = (self.agent.name, *self.driver.install, "--events", self.events)
        return Home(stand.home, hooks or None, words)

    def _call(self, stand: Stand, scenario: str, words: Callable[[Stand], list[str]], *, bare: bool) -> Run:
        run = uuid4().hex
        out, err = stand.home.with_name("stdout"), stand.home.with_name("stderr")
        began = monotonic()
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(  # noqa: S603  the agent that was asked for
                words(stand),
                cwd=stand.project,
                env=self._environment(stand) | {leftovers.MARK: run},
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
            try:
                code = _wait(process, self.driver.patience)
                seconds = monotonic() - began
                sleep(_AFTER)
            finally:  # whoever has had enough of waiting leaves nothing behind either
                _end(process)
                leftovers.end(run)
        if bare:
            self.is_stuck = code is None
        return Run(
            scenario=scenario,
            code=code,
            out=_tail(out),
            err=_tail(err),
            seconds=seconds,
            files=_tree(stand.project),
            requests=[],
        )

    def _environment(self, stand: Stand) -> dict[str, str]:
        """A clean world: nothing of the user's but where programs lie."""
        folders = [str(stand.node.parent)] if stand.node else []
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _NOWHERE)
        direct = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
        usual = {
            "HOME": str(stand.home),
            "PATH": ":".join([*folders, "/usr/local/bin", "/usr/bin", "/bin"]),
            "SHELL": "/bin/sh",
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
        }
        return usual | proxies | direct | self.driver.environment(stand)


@contextmanager
def _folder() -> Iterator[Path]:
    path = Path(gettempdir()).resolve() / f"hookonce-lab-{token_hex(8)}"  # of signs that no agent rewrites
    path.mkdir(mode=0o700)
    try:
        yield path
    finally:
        rmtree(path, ignore_errors=True)


def _wait(process: "subprocess.Popen[bytes]", patience: float) -> int | None:
    try:
        return process.wait(patience)
    except subprocess.TimeoutExpired:
        return None


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _tail(path: Path) -> str:
    """The end of what an agent has said, which may be much."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _SAID))
        return file.read().decode(errors="replace")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _lines(path: Path) -> list[Object]:
    return [load(line) for line in _text(path).splitlines()]


def _tree(project: Path) -> dict[str, str]:
    """The project's files; what agents keep for themselves in folders that begin with a dot is left out."""
    found = {path.relative_to(project): path for path in sorted(project.rglob("*")) if path.is_file()}
    return {str(name): _text(path) for name, path in found.items() if not str(name).startswith(".")}
