"""Self-check of hookonce: settings, the client, a pause, and the manifests with what they name."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from json import dumps
from pathlib import Path
from shutil import which

from hookonce import agents
from hookonce.agents import config_event_of
from hookonce.base import paths, settings
from hookonce.client.installation import find_alteration, find_exposure
from hookonce.client.missed_calls import describe_missed_calls, read_missed_calls
from hookonce.configure.locations import ConfigRoots, current_roots
from hookonce.configure.status import CALLING_STATES, install_status
from hookonce.diagnose.checks.handlers import code_obstacles, command_faults, remote_obstacles, resolve_command
from hookonce.diagnose.checks.manifest import event_problem
from hookonce.diagnose.diagnosis import Diagnosis
from hookonce.dispatch.pause import pause_end
from hookonce.dispatch.run import call_budget_s
from hookonce.dispatch.select import find_candidates
from hookonce.errors import HookonceError
from hookonce.handlers.environment import find_program
from hookonce.manifest.discover import ManifestSource, find_sources, load_source
from hookonce.manifest.load import describe_handler
from hookonce.model import Agent, Hook
from hookonce.store.usage import prices
from hookonce.trust.pin_store import find_trusted_hook
from hookonce.vocabulary.events import DERIVED_EVENTS
from hookonce.vocabulary.names import suggest_name

_DETACHED_EVENT = "session_end"  # nobody waits for these hooks
_MAX_VALUE_CHARS = 60  # of a wrong value that are repeated


def check_installation() -> Iterator[Diagnosis]:
    """Our own settings, a pause, our client and its interpreter."""
    yield from check_settings()
    if (end := pause_end()) is not None:
        yield Diagnosis(kind="paused", message=f"no hook is asked until {end}; hookonce resume ends it")
    client = paths.client_path()
    if (problem := _client_problem(client)) is not None:
        yield Diagnosis(kind="client", message=problem, path=str(client))
    if (exposure := find_exposure()) is not None:
        yield Diagnosis(kind="client", message=exposure, path=str(client.parent))
    if not client.exists():
        return
    interpreter_file = client.with_name("interpreter")
    name = interpreter_file.read_text(encoding="utf-8").partition("\n")[0] if interpreter_file.exists() else ""
    if not name or not Path(name).exists():
        message = f"the interpreter of {client} is gone ({name or 'unknown'}); agents get no opinion from us"
        yield Diagnosis(kind="interpreter", message=message, path=str(interpreter_file))
    if (missed_calls := read_missed_calls()) is not None:
        yield Diagnosis(kind="unanswered", message=describe_missed_calls(missed_calls), path=str(client))


def _client_problem(client: Path) -> str | None:
    """Why agents cannot start our client, if any has an entry for it; or that what they start is not ours."""
    with suppress(HookonceError):
        if (problem := find_alteration()) is not None:
            return problem
    if os.access(client, os.X_OK) or not calling_agents(current_roots(), str(client)):
        return None
    state = "cannot be started" if client.exists() else "does not exist"
    return f"{client} {state}, so no hook runs; hookonce install puts it back"


def check_settings() -> Iterator[Diagnosis]:
    """Settings that cannot be read, or that there are none of, and one that leaves everything out of the record."""
    try:
        settings.load().require()
    except HookonceError as problem:
        yield Diagnosis(kind="settings", message=str(problem))
    if not settings.load().record:
        message = "nothing of calls is kept: the setting record is false"
        yield Diagnosis(kind="record", message=message, path=str(paths.config_dir() / "config.toml"))
    for file in settings.settings_files():
        with suppress(HookonceError):  # a file that cannot be read is reported elsewhere
            for key, value in settings.read_file(file).items():
                if (problem_text := _setting_problem(key, value)) is not None:
                    yield Diagnosis(kind="settings", message=f"{file}: {problem_text}", path=str(file))
    try:
        prices.load_prices()
    except HookonceError as problem:
        yield Diagnosis(kind="settings", message=f"{problem}, so hookonce cost shows nothing")


def _setting_problem(key: str, value: object) -> str | None:
    if key not in settings.setting_types():
        return f"there is no setting {key}, it does nothing{suggest_name(key, settings.setting_types().keys())}"
    if settings.fits(key, value):
        return None
    strict_value = settings.STRICT_VALUES.get(key)
    effect = "it does nothing" if strict_value is None else f"it is read as {dumps(strict_value)}"
    value_text = repr(value) if len(repr(value)) <= _MAX_VALUE_CHARS else f"{repr(value)[:_MAX_VALUE_CHARS]}…"
    return f"{key} is {value_text}, and has to be {settings.describe_values(key)}; {effect}"


def calling_agents(roots: ConfigRoots, client: str) -> list[Agent]:
    """The agents that call us, from the user's scope or the project's."""
    pairs = [(agent, install_status(agent, roots, client).scopes) for agent in map(agents.load, agents.AGENTS)]
    return [agent for agent, scopes in pairs if any(scope.state in CALLING_STATES for scope in scopes)]


def check_callers(roots: ConfigRoots, callers: list[Agent]) -> Iterator[Diagnosis]:
    """Hooks that are there, and no agent that would call them."""
    if not callers and find_sources(roots.project):
        message = "no agent calls hookonce yet, so no hook of a manifest runs; hookonce install changes that"
        yield Diagnosis(kind="uncalled", message=message)


def check_manifests(project: Path, callers: list[Agent]) -> Iterator[Diagnosis]:
    """The manifests: those that cannot be read, hooks that are not trusted, and those that cannot run to their end."""
    yield from _guard_findings(project)
    for source in find_sources(project):
        try:
            hooks = load_source(source).hooks
        except (HookonceError, ValueError) as problem:
            effect = (
                "no hook of it runs" if source.scope == "project" else "its last good version counts, if there was one"
            )
            message = f"{source.path}: {effect}: {problem}"
            yield Diagnosis(kind="manifest", message=message, path=str(source.path))
            continue
        for hook in hooks:
            where = f"{source.path}: the hook {hook.name or describe_handler(hook.handler)!r} on {hook.event}"
            for kind, reason in _hook_problems(hook, source, project, callers):
                yield Diagnosis(kind=kind, message=f"{where} {reason}", path=str(source.path))


def _guard_findings(project: Path) -> Iterator[Diagnosis]:
    """Calls that are refused because hooks that were trusted once, and are closed, cannot be asked."""
    reasons = [candidate.reason for candidate in find_candidates(project) if candidate.obstacle == "guard"]
    for reason in dict.fromkeys(reasons):
        yield Diagnosis(kind="refused", message=f"calls in {project} are refused: {reason}", path=str(project))


def _hook_problems(
    hook: Hook, source: ManifestSource, project: Path, callers: list[Agent]
) -> Iterator[tuple[str, str]]:
    is_projects = source.scope == "project"
    if is_projects and find_trusted_hook(project, source.data, hook) is None:
        yield "untrusted", "does not run: nobody has trusted it as it is now (hookonce trust)"
    folder = project if is_projects else source.path.parent
    find = which if hook.environment == "caller" else find_program
    yield from command_faults(resolve_command(folder, hook, source.scope), "project" if is_projects else "user", find)
    yield from remote_obstacles(hook.handler, os.environ)
    yield from code_obstacles(hook.handler, folder, source.scope)
    if source.is_openhook:
        return  # its events have OpenHook's names, and it sets no times
    if (reason := event_problem(hook.event)) is not None:
        yield "event", f"cannot run: {reason}"
    if hook.event in DERIVED_EVENTS and not settings.load().record:
        yield "event", "cannot run: its event is derived from the record, and record = false keeps none"
    for reason in _timeout_problems(hook, callers):
        yield "timeout", reason


def _timeout_problems(hook: Hook, callers: list[Agent]) -> Iterator[str]:
    """A hook's own time, where an agent does not wait that long; without any agent, where none does."""
    timeout = hook.handler.timeout
    if not timeout or hook.handler.background or hook.event == _DETACHED_EVENT:
        return
    if callers:
        for limit, titles in sorted(_agent_limits(hook.event, callers).items()):
            if timeout > limit:
                yield f"has {timeout:g} s, of which it gets {limit:g} s at most with {', '.join(titles)}"
        return
    max_limit = max(_agent_limits(hook.event, map(agents.load, agents.AGENTS)), default=timeout)
    if timeout > max_limit:
        yield f"has {timeout:g} s, and no agent waits longer than {max_limit:g} s there"


def _agent_limits(event: str, callers: Iterable[Agent]) -> dict[float, list[str]]:
    titles_by_limit: dict[float, list[str]] = {}
    for agent in callers:
        if (native := config_event_of(agent, event)) is not None:
            titles_by_limit.setdefault(call_budget_s(agent, native, None), []).append(agent.title)
    return titles_by_limit
