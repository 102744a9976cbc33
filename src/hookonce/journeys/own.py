"""What keeps our own hooks from running: settings, the client, a pause, and the manifests with what they name."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from hookonce import agents
from hookonce.agents import native_of
from hookonce.config import paths, settings
from hookonce.errors import HookonceError
from hookonce.journeys import futile
from hookonce.journeys.askable import obstacles
from hookonce.journeys.budget import budget
from hookonce.journeys.chosen import manifest_of
from hookonce.journeys.client import altered
from hookonce.journeys.doctor import Finding
from hookonce.journeys.pause import paused_until
from hookonce.journeys.places import Place, here
from hookonce.journeys.startable import faults, seen_from
from hookonce.journeys.strange_settings import strange_settings
from hookonce.journeys.survey import standing, what_runs
from hookonce.journeys.unanswered import told as told_unanswered
from hookonce.journeys.unanswered import unanswered
from hookonce.journeys.unheard import unheard
from hookonce.manifest.discover import Source, sources
from hookonce.manifest.trust import trusted
from hookonce.model import Agent, Hook
from hookonce.store import prices

_CALLS = frozenset({"installed", "partly", "outdated"})
_DETACHED = "session_end"  # nobody waits for these hooks


def own_house() -> Iterator[Finding]:
    """Our own settings, a pause, our client and its interpreter."""
    yield from own_settings()
    if (until := paused_until()) is not None:
        told = f"no hook is asked until {until}; hookonce resume ends it"
        yield Finding(agent=None, kind="paused", message=told)
    client = paths.client()
    if (unfit := _unfit(client)) is not None:
        yield Finding(agent=None, kind="client", message=unfit, path=str(client))
    if not client.exists():
        return
    told_in = client.with_name("interpreter")
    name = told_in.read_text(encoding="utf-8").partition("\n")[0] if told_in.exists() else ""
    if not name or not Path(name).exists():
        message = f"the interpreter of {client} is gone ({name or 'unknown'}); agents get no opinion from us"
        yield Finding(agent=None, kind="interpreter", message=message, path=str(told_in))
    if (missed := unanswered()) is not None:
        yield Finding(agent=None, kind="unanswered", message=told_unanswered(missed), path=str(client))


def _unfit(client: Path) -> str | None:
    """Why agents cannot start our client, if any has an entry for it; or that what they start is not ours."""
    with suppress(HookonceError):
        if (wrong := altered()) is not None:
            return wrong
    if client.exists() and os.access(client, os.X_OK):
        return None
    if not callers(here(), str(client)):
        return None
    state = "cannot be started" if client.exists() else "does not exist"
    return f"{client} {state}, so no hook runs; hookonce install puts it back"


def own_settings() -> Iterator[Finding]:
    """Settings that cannot be read, or that there are none of, and one that leaves everything out of the record."""
    try:
        settings.setting("untrusted")
    except HookonceError as problem:
        yield Finding(agent=None, kind="settings", message=str(problem))
    if not settings.records():
        told = "nothing of calls is kept: the setting record is false"
        yield Finding(agent=None, kind="record", message=told, path=str(paths.configuration() / "config.toml"))
    for file, told in strange_settings():
        yield Finding(agent=None, kind="settings", message=told, path=str(file))
    try:
        prices.known_prices()
    except HookonceError as problem:
        yield Finding(agent=None, kind="settings", message=f"{problem}, so hookonce cost shows nothing")


def callers(place: Place, client: str) -> list[Agent]:
    """The agents that call us, from the user's scope or the project's."""
    known = [agents.load(name) for name in agents.AGENTS]
    return [one for one in known if any(scope.state in _CALLS for scope in standing(one, place, client).scopes)]


def uncalled(place: Place, calling: list[Agent]) -> Iterator[Finding]:
    """Hooks that are there, and nobody who would ask them."""
    if not calling and sources(place.project):
        told = "no agent calls hookonce yet, so no hook of a manifest runs; hookonce install changes that"
        yield Finding(agent=None, kind="uncalled", message=told)


def own_hooks(project: Path, calling: list[Agent]) -> Iterator[Finding]:
    """The manifests: those that cannot be read, hooks that are not trusted, and those that cannot run to their end."""
    for source in sources(project):
        try:
            hooks = manifest_of(source).hooks
        except (HookonceError, ValueError) as problem:
            told = f"{source.path}: no hook of it runs: {problem}"
            yield Finding(agent=None, kind="manifest", message=told, path=str(source.path))
            continue
        for hook in hooks:
            where = f"{source.path}: the hook {hook.name or what_runs(hook.handler)!r} on {hook.event}"
            for kind, why in _troubles(hook, source, project, calling):
                yield Finding(agent=None, kind=kind, message=f"{where} {why}", path=str(source.path))


def _troubles(hook: Hook, source: Source, project: Path, calling: list[Agent]) -> Iterator[tuple[str, str]]:
    is_projects = source.scope == "project"
    if is_projects and trusted(project, source.data, hook) is None:
        yield "untrusted", "does not run: nobody has trusted it as it is now (hookonce trust)"
    folder = project if is_projects else source.path.parent
    command = seen_from(folder, hook, source.scope)
    yield from faults(command, "project" if is_projects else "user")
    yield from obstacles(hook.handler, os.environ)
    yield from futile.obstacles(hook.handler, folder, source.scope)
    if source.is_openhook:
        return  # its events have OpenHook's names, and it sets no times
    if (why := unheard(hook.event)) is not None:
        yield "event", f"cannot run: {why}"
    for why in _too_long(hook, calling):
        yield "timeout", why


def _too_long(hook: Hook, calling: list[Agent]) -> Iterator[str]:
    """A hook's own time, where an agent does not wait that long; without any agent, where none does."""
    wish = hook.handler.timeout
    if not wish or hook.handler.background or hook.event == _DETACHED:
        return
    if calling:
        for limit, titles in sorted(_limits(hook.event, calling).items()):
            if wish > limit:
                yield f"has {wish:g} s, of which it gets {limit:g} s at most with {', '.join(titles)}"
        return
    most = max(_limits(hook.event, [agents.load(name) for name in agents.AGENTS]), default=wish)
    if wish > most:
        yield f"has {wish:g} s, and no agent waits longer than {most:g} s there"


def _limits(event: str, asking: list[Agent]) -> dict[float, list[str]]:
    """How long the hooks of an event may take, with the agents for which that holds."""
    found: dict[float, list[str]] = {}
    for agent in asking:
        if (native := native_of(agent, event)) is not None:
            found.setdefault(budget(agent, native, None), []).append(agent.title)
    return found
