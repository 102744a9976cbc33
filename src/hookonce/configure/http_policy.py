"""HTTP policy: whether agents may post their events to us, and what keeps their posts from being answered."""

from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from hookonce.agents import http_reply
from hookonce.base import invocation
from hookonce.base.files import FileEditError, read_regular_file
from hookonce.client import daemon_endpoints
from hookonce.client.daemon_endpoints import HttpAddress, settings_obstacle
from hookonce.configure import journal
from hookonce.configure.http_probe import probe_listener
from hookonce.configure.locations import ConfigRoots, resolve_path
from hookonce.configure.merge import editor_of
from hookonce.dispatch import fail_mode
from hookonce.errors import HookonceError
from hookonce.model import Agent, Hook

SCOPE = "user"  # a project's files are for everybody, and the token is not
_OTHERS_MODE_BITS = 0o077
# Where an agent lists the only addresses that it posts to.
_URL_ALLOWLISTS = {
    "claude-code": ("~/.claude/settings.json", ("allowedHttpHookUrls",)),
    "qwen-code": ("~/.qwen/settings.json", ("security", "allowedHttpHookUrls")),
}
_EMPTY_LIST_ALLOWS_ALL = frozenset({"qwen-code"})  # to whom an empty list means everything


def listener_obstacle(project: Path | None) -> str | None:
    """Why there can be no listener: forbidden, or a hook must never be skipped."""
    try:
        kinds = sorted(fail_mode.closed_event_types(project))
        reason = settings_obstacle()
    except HookonceError as problem:
        return str(problem)
    if reason is None and kinds:
        reason = f"a hook on {kinds[0]} has `on_failure: closed`, but an agent goes on when its HTTP request fails"
    return reason


def install_obstacle(agent: Agent, scope: str, path: Path, project: Path | None) -> str | None:
    """Why an agent cannot be set up to post its events in a scope."""
    if agent.name not in http_reply.COMMAND_EVENTS:
        return f"{agent.title} cannot send its events over HTTP; {' and '.join(sorted(http_reply.COMMAND_EVENTS))} can"
    if scope != SCOPE:
        return "a project's files are shared, and the HTTP token is private; use --scope user"
    if reason := listener_obstacle(project):
        return f"HTTP is not possible for {agent.title}: {reason}"
    if is_readable_by_others(path):
        return f"{path} would hold the HTTP token, and other users can read the file; chmod 600 {path} first"
    return None


def is_readable_by_others(path: Path) -> bool:
    """Whether others can read a file, as far as its own mode goes."""
    try:
        return bool(path.stat().st_mode & _OTHERS_MODE_BITS)
    except OSError:
        return False


def has_http_entry(hooks: list[Hook]) -> bool:
    """Whether one of these hooks is an HTTP entry of ours."""
    return any(invocation.parse_command(hook.handler.url or "") is not None for hook in hooks)


def current_address(hooks: list[Hook], project: Path | None) -> HttpAddress | None:
    """The address that an agent's posts go to and may go on going to; None if it shall run our client."""
    return (
        daemon_endpoints.load_http_address() if has_http_entry(hooks) and listener_obstacle(project) is None else None
    )


def drop_unused_address() -> None:
    """Forget the listener's address if no file that we wrote has it, and nobody opened it for events."""
    own_address = daemon_endpoints.load_http_address()
    if own_address is None or own_address.takes_events:
        return
    for path in journal.changed_files():
        with suppress(OSError):
            if own_address.base.encode() in read_regular_file(path):
                return
    daemon_endpoints.remove_http_address()


def http_problems(agent: Agent, path: Path, roots: ConfigRoots) -> Iterator[str]:
    """What is wrong with the listener for an agent that posts to us."""
    if reason := listener_obstacle(roots.project):
        yield f"{agent.title} sends its events over HTTP, and no hook runs for them: {reason}"
        return
    if is_readable_by_others(path):
        yield f"{path} holds the HTTP token, and other users can read the file: chmod 600 {path}"
    own_address = daemon_endpoints.load_http_address()
    if own_address is None:
        yield f"{agent.title} sends its events to an HTTP address that hookonce no longer uses"
        return
    if not _is_allowed(agent, own_address, roots):
        base = own_address.base
        yield f"{agent.title} cannot send events to {base}: allowedHttpHookUrls in its settings lacks {base}/*"
    if (problem := probe_listener(own_address)) is not None:
        yield f"{agent.title} sends its events over HTTP, and {problem}"


def _is_allowed(agent: Agent, own_address: HttpAddress, roots: ConfigRoots) -> bool:
    name, keys = _URL_ALLOWLISTS[agent.name]
    file = resolve_path(roots, name)
    try:
        allowlist = editor_of(file).value_at(read_regular_file(file), keys, None)
    except (OSError, FileEditError):
        return True
    url = f"{own_address.base}/on/{agent.name}/PreToolUse?via={agent.name}/{SCOPE}"
    if type(allowlist) is not list or (not allowlist and agent.name in _EMPTY_LIST_ALLOWS_ALL):
        return True
    return any(type(pattern) is str and fnmatchcase(url, pattern) for pattern in allowlist)
