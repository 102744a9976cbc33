"""Whether agents may post their events to us, and what keeps their posts from being answered."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from hookonce import invocation
from hookonce.agents import _http
from hookonce.config import settings
from hookonce.edit.refusal import Refusal
from hookonce.errors import HookonceError
from hookonce.journeys import failmode, ledger
from hookonce.journeys.doorbell import silence
from hookonce.journeys.places import Place, resolved
from hookonce.journeys.splice import editor_of
from hookonce.model import Agent, Hook
from hookonce.runtime import address
from hookonce.runtime.address import Address

SCOPE = "user"  # a project's files are for everybody, and the token is not
_OTHERS = 0o077
# Where an agent lists the only addresses that it posts to.
_LISTS = {
    "claude-code": ("~/.claude/settings.json", ("allowedHttpHookUrls",)),
    "qwen-code": ("~/.qwen/settings.json", ("security", "allowedHttpHookUrls")),
}
_LENIENT = frozenset({"qwen-code"})  # to whom an empty list means everything


def forbidden() -> str | None:
    """Why nobody may have a door here, if so."""
    return None if settings.http() else "`http = false` in config.toml forbids the HTTP door"


def shut(project: Path | None) -> str | None:
    """Why there can be no door: forbidden, or a hook has to be asked."""
    try:
        kinds = sorted(failmode.closed(project))
        why = forbidden()
    except HookonceError as problem:
        return str(problem)
    if why is None and kinds:
        why = (
            f"a hook on {kinds[0]} has `on_failure: closed`, and an agent goes on when nobody answers its posts; "
            "over HTTP it could not be kept"
        )
    return why


def refusal(agent: Agent, scope: str, path: Path, project: Path | None) -> str | None:
    """Why an agent's posts cannot be had in a scope."""
    if agent.name not in _http.COMMANDS:
        return f"{agent.title} cannot post its events; {' and '.join(sorted(_http.COMMANDS))} can"
    if scope != SCOPE:
        return "a project's files are for everybody, and the token of the HTTP door is yours; use --scope user"
    if why := shut(project):
        return f"no HTTP door for {agent.title}: {why}"
    if is_readable(path):
        return f"{path} would hold the token of the HTTP door, and others can read it; chmod 600 {path} first"
    return None


def is_readable(path: Path) -> bool:
    """Whether others can read a file, as far as its own mode goes."""
    try:
        return bool(path.stat().st_mode & _OTHERS)
    except OSError:
        return False


def posts(hooks: list[Hook]) -> bool:
    """Whether a door among these is an address."""
    return any(invocation.read(hook.handler.url or "") is not None for hook in hooks)


def kept(hooks: list[Hook], project: Path | None) -> Address | None:
    """The address that an agent's posts go to and may go on going to; None if it shall run our client."""
    return address.known() if posts(hooks) and shut(project) is None else None


def retire() -> None:
    """Have no door any more, if no file that we wrote has its address."""
    known = address.known()
    if known is not None and not any(known.base in _text(path) for path in ledger.known()):
        address.forget()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def problems(agent: Agent, path: Path, place: Place) -> Iterator[str]:
    """What is wrong with the door of an agent that posts to us."""
    if why := shut(place.project):
        yield f"{agent.title} posts its events, and no hook is asked about them: {why}"
        return
    if is_readable(path):
        yield f"{path} holds the token of the HTTP door, and others can read it: chmod 600 {path}"
    known = address.known()
    if known is None:
        yield f"{agent.title} posts its events to an address of which we know nothing any more"
        return
    if not _is_allowed(agent, known, place):
        yield f"{agent.title} does not post to {known.base}: allowedHttpHookUrls in its settings lacks {known.base}/*"
    if (told := silence(known)) is not None:
        yield f"{agent.title} posts its events, and {told}"


def _is_allowed(agent: Agent, known: Address, place: Place) -> bool:
    name, keys = _LISTS[agent.name]
    file = resolved(place, name)
    try:
        listed = editor_of(file).value_at(file.read_bytes(), keys, None)
    except (OSError, Refusal):
        return True
    url = f"{known.base}/on/{agent.name}/PreToolUse?via={agent.name}/{SCOPE}"
    if type(listed) is not list or (not listed and agent.name in _LENIENT):
        return True
    return any(type(one) is str and fnmatchcase(url, one) for one in listed)
