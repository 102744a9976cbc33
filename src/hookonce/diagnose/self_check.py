"""Self-check of hookonce: settings, the client, a pause, and the manifests with what they name."""

import os
from collections.abc import Iterator
from contextlib import suppress
from json import dumps
from pathlib import Path

from hookonce import agents
from hookonce.base import paths, settings
from hookonce.client.installation import find_alteration, find_exposure
from hookonce.configure import journal
from hookonce.configure.locations import ConfigRoots, current_roots
from hookonce.configure.status import CALLING_STATES, install_status
from hookonce.diagnose.diagnosis import Diagnosis
from hookonce.dispatch.hook_faults.project_faults import find_faults, machine_faults
from hookonce.dispatch.hook_faults.table import describe_fault
from hookonce.errors import HookonceError
from hookonce.manifest.discover import find_sources
from hookonce.model import Agent
from hookonce.store.integrity.trusted_keys import load_trusted_keys
from hookonce.store.usage import prices
from hookonce.trust.consent import load_vouches
from hookonce.trust.pin_store import load_guards
from hookonce.vocabulary.names import suggest_name

_MAX_VALUE_CHARS = 60  # of a wrong value that are repeated


def check_installation() -> Iterator[Diagnosis]:
    """Our own settings and files, a pause, our client and its interpreter."""
    yield from check_settings()
    for load_file in (load_guards, journal.load_entries, load_trusted_keys, load_vouches):
        try:
            load_file()
        except HookonceError as newer:
            yield Diagnosis(kind="settings", message=str(newer))
    for fault in machine_faults():
        yield Diagnosis(kind=fault.kind, message=describe_fault(fault), path=fault.path or None)
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
        message = f"the interpreter of {client} is gone ({name or 'unknown'}); no hook runs"
        yield Diagnosis(kind="interpreter", message=message, path=str(interpreter_file))


def _client_problem(client: Path) -> str | None:
    """Why agents cannot start our client, if any has an entry for it; or that what they start is not ours."""
    with suppress(HookonceError):
        if (problem := find_alteration()) is not None:
            return problem
    if os.access(client, os.X_OK) or not calling_agents(current_roots(), str(client)):
        return None
    state = "cannot be started" if client.exists() else "does not exist"
    return f"{client} {state}, so no hook runs; hookonce install restores it"


def check_settings() -> Iterator[Diagnosis]:
    """Settings that cannot be read, or that there are none of, and one that leaves everything out of the record."""
    try:
        settings.load().require()
    except HookonceError as problem:
        yield Diagnosis(kind="settings", message=str(problem))
    if not settings.load().record:
        message = "no event is recorded: the setting record is false"
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
        hint = suggest_name(key, settings.setting_types().keys()) or "; if a newer hookonce knows it, upgrade hookonce"
        return f"there is no setting {key}; it is ignored{hint}"
    if settings.fits(key, value):
        return None
    strict_value = settings.STRICT_VALUES.get(key)
    effect = "it is ignored" if strict_value is None else f"it is read as {dumps(strict_value)}"
    value_text = repr(value) if len(repr(value)) <= _MAX_VALUE_CHARS else f"{repr(value)[:_MAX_VALUE_CHARS]}…"
    return f"{key} is {value_text}, and has to be {settings.describe_values(key)}; {effect}"


def calling_agents(roots: ConfigRoots, client: str) -> list[Agent]:
    """The agents that call us, from the user's scope or the project's."""
    pairs = [(agent, install_status(agent, roots, client).scopes) for agent in map(agents.load, agents.AGENTS)]
    return [agent for agent, scopes in pairs if any(scope.state in CALLING_STATES for scope in scopes)]


def check_callers(roots: ConfigRoots, callers: list[Agent]) -> Iterator[Diagnosis]:
    """Hooks that are there, and no agent that would call them."""
    if not callers and find_sources(roots.project):
        message = "hookonce is not installed for any agent, so no hook of a manifest runs. Next: hookonce install"
        yield Diagnosis(kind="uncalled", message=message)


def check_manifests(project: Path, callers: list[Agent]) -> Iterator[Diagnosis]:
    """The manifests: those that cannot be read, and hooks that do not run or do not guard."""
    for fault in find_faults(project, callers):
        where = f"{fault.path}: the hook {fault.hook!r} " if fault.hook else ""
        yield Diagnosis(kind=fault.kind, message=f"{where}{describe_fault(fault)}", path=fault.path or None)
