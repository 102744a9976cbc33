"""Test bench of one agent: fresh home and project for each run, hookonce installed by its own command."""

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
from hookonce.agents import canonical_event_of, config_events, point_of
from hookonce.base.jsontext import dump, load
from hookonce.client.sandbox_home import SandboxHome
from hookonce.configure.entries import EventSet
from hookonce.configure.locations import ConfigRoots
from hookonce.lab.drivers import Driver, ExtraRun, RunEnv, write_home
from hookonce.lab.fakes import scenarios
from hookonce.lab.fakes.model_server import ModelServer
from hookonce.lab.fakes.scenarios import SCENARIOS
from hookonce.lab.fetch.programs import AgentProgram
from hookonce.lab.prove.run import AgentRun, request_intervals
from hookonce.model import Object
from hookonce.vocabulary.events import EVENTS

RUN_VARIABLE = "HOOKONCE_LAB_RUN"
_TERM_TIMEOUT_S = 3.0  # seconds to leave in peace
_POLL_INTERVAL_S = 0.05


def end_processes(run_id: str) -> list[str]:
    """End all processes of a run; return the commands of those that were ended."""
    processes = _find_processes(run_id)
    for pid in processes:
        _send_signal(pid, signal.SIGTERM)
    deadline = monotonic() + _TERM_TIMEOUT_S
    while (remaining := _find_processes(run_id)) and monotonic() < deadline:
        sleep(_POLL_INTERVAL_S)
    for pid in remaining:
        _send_signal(pid, signal.SIGKILL)
    return sorted(set(processes.values()))


def _find_processes(run_id: str) -> dict[int, str]:
    marker = f"{RUN_VARIABLE}={run_id}".encode()
    commands_by_pid = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if marker in (folder / "environ").read_bytes().split(b"\0") and int(folder.name) != os.getpid():
                arguments = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
                commands_by_pid[int(folder.name)] = " ".join(arguments[:2]).strip()
    return commands_by_pid


def _send_signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


_FAKES_FOLDER = Path(__file__).resolve().parents[1] / "fakes"
_DEAD_PROXY_URL = "http://127.0.0.1:9"  # where requests go that are not for us: nobody listens
_MAX_OUTPUT_BYTES = 64 << 10  # bytes of what an agent says that are looked at
_LATE_HOOK_WAIT_S = 0.4  # seconds in which an agent that has ended may still call its last hooks
_HOOK_TIMEOUT_S = 10.0  # seconds that a hook of the lab may take, unless an experiment says otherwise


class Bench:
    """Runs an agent again and again; nothing remains afterwards."""

    def __init__(self, driver: Driver, program: AgentProgram, cache: Path, events: EventSet = "default") -> None:
        """Nothing happens yet; `cache` is a folder that the runs share, `events` what install is asked for."""
        self.driver, self.program, self.events = driver, program, events
        self._cache = cache
        self.agent = agents.load(driver.agent)
        self.extra_seconds: list[float] = []  # seconds that a tool call took longer with hookonce, by try
        self.is_stuck = False  # whether the agent did not even end without hookonce

    def add_timing(self, bare_run: AgentRun, hooked_run: AgentRun) -> None:
        """Record how much longer a run with hookonce took than the same run without it."""
        if request_intervals(bare_run) and request_intervals(hooked_run):
            self.extra_seconds.append(median(request_intervals(hooked_run)) - median(request_intervals(bare_run)))

    def build_hook(self, folder: Path, name: str = "witness", **fields: object) -> Object:
        """A hook of the lab, as it stands in a manifest."""
        command = [sys.executable, "-I", "-S", str(_FAKES_FOLDER / "recording_hook.py"), str(folder), name]
        handler = {"type": "command", "command": shlex.join(command), "timeout": fields.pop("timeout", _HOOK_TIMEOUT_S)}
        return {"name": name, "handler": handler, **fields}

    def installed_types(self) -> list[str]:
        """The canonical names of all events that install asks for; of all, also those that payloads turn out to be."""
        wants_all, natives = self.events == "all", config_events(self.agent)
        names = [name for name in natives if wants_all or point_of(self.agent, name).install == "default"]
        types = [canonical_event_of(self.agent, name) for name in names]
        return list(dict.fromkeys([*EVENTS, *types] if wants_all else types))

    def hooks_for_all_events(self, folder: Path) -> list[Object]:
        """Build a hook for every event."""
        return [self.build_hook(folder, event=kind) for kind in self.installed_types()]

    def play(
        self,
        scenario: str,
        *,
        rules: list[Object] | None = None,
        hooks: Callable[[Path], list[Object]] | None = None,
        bare: bool = False,
        change_home: Callable[[SandboxHome, ConfigRoots], object] | None = None,
        extra_run: ExtraRun | None = None,
    ) -> AgentRun:
        """Run the agent through a scenario, with these hooks and rules or without hookonce (`bare`).

        `change_home` may edit the home after installation; `extra_run` changes how the agent is called.
        """
        with _run_folder() as scratch, ModelServer() as model:
            notes = scratch / "notes"
            notes.mkdir()
            (notes / "rules.json").write_bytes(dump(rules or []))
            env = self._build_env(scratch, model.url, scenario, extra_run)
            write_home(self.driver, env)
            install_options = (self.agent.name, *self.driver.install, "--events", self.events)
            home = None if bare else SandboxHome(env.home, (hooks and hooks(notes)) or None, install_options)
            try:
                if home is not None and change_home is not None:
                    change_home(home, ConfigRoots(home=env.home, project=env.project))
                build_command = (extra_run and extra_run.command) or self.driver.command
                run = self._run_agent(env, scenario, build_command(env), bare=bare)
            finally:
                if home is not None:
                    home.stop_daemon()
            events = [load(line)["event"] for line in _read_text(notes / "heard.jsonl").splitlines()]
            return replace(
                run,
                requests=list(model.requests),
                hook_events=[event for event in events if "derived_from" not in event],  # what we derive proves nothing
                killed_pids=list(map(load, _read_text(notes / "killed.jsonl").splitlines())),
                mcp_calls=_read_text(scratch / "mcp.log").splitlines(),
            )

    def _build_env(self, scratch: Path, url: str, scenario: str, extra_run: ExtraRun | None) -> RunEnv:
        home, project = scratch / "home", scratch / "project"
        home.mkdir()
        project.mkdir()
        files = {**SCENARIOS[scenario].files, **(extra_run.files if extra_run else {})}
        for name, text in files.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text.replace("{dir}", str(project)), encoding="utf-8")
        return RunEnv(
            home=home,
            project=project,
            program=self.program.program,
            url=url,
            prompt=scenarios.scenario_prompt(scenario, self.agent.name, str(project)),
            mcp=[sys.executable, "-I", "-S", str(_FAKES_FOLDER / "mcp_server.py"), str(scratch / "mcp.log")],
            cache=self._cache,
            node=self.program.node,
        )

    def _run_agent(self, env: RunEnv, scenario: str, command: list[str], *, bare: bool) -> AgentRun:
        run_id = uuid4().hex
        out, err = env.home.with_name("stdout"), env.home.with_name("stderr")
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(  # noqa: S603  the agent that was asked for
                command,
                cwd=env.project,
                env=self._environment(env) | {RUN_VARIABLE: run_id},
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
            try:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(self.driver.timeout_s)
                code = process.returncode  # None if it does not end
                sleep(_LATE_HOOK_WAIT_S)
            finally:  # whoever has had enough of waiting leaves nothing behind either
                if process.poll() is None:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                end_processes(run_id)
        if bare:
            self.is_stuck = code is None
        return AgentRun(
            scenario=scenario,
            code=code,
            out=_read_tail(out),
            err=_read_tail(err),
            files=_read_files(env.project),
            requests=[],
        )

    def _environment(self, env: RunEnv) -> dict[str, str]:
        """A clean world: nothing of the user's but where programs lie."""
        folders = [str(env.node.parent)] if env.node else []
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _DEAD_PROXY_URL)
        direct = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
        usual = {
            "HOME": str(env.home),
            "PATH": ":".join([*folders, "/usr/local/bin", "/usr/bin", "/bin"]),
            "SHELL": "/bin/sh",
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
        }
        return usual | proxies | direct | self.driver.environment(env)


@contextmanager
def _run_folder() -> Iterator[Path]:
    path = Path(gettempdir()).resolve() / f"hookonce-lab-{token_hex(8)}"  # of signs that no agent rewrites
    path.mkdir(mode=0o700)
    try:
        yield path
    finally:
        rmtree(path, ignore_errors=True)


def _read_tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _MAX_OUTPUT_BYTES))
        return file.read().decode(errors="replace")


def _read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _read_files(project: Path) -> dict[str, str]:
    """The project's files; what agents keep for themselves in folders that begin with a dot is left out."""
    files = {path.relative_to(project): path for path in sorted(project.rglob("*")) if path.is_file()}
    return {str(name): _read_text(path) for name, path in files.items() if not str(name).startswith(".")}
