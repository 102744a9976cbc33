"""Command line of the client in an agent's configuration, formatted and parsed: `hookonce-on AGENT [EVENT] …`.

With `--via` it is our own entry, with `--run` the wrapper of somebody's script, which speaks `--dialect`, or of a
handler of ours as JSON, which no shell would run; with `--on-failure closed` a wrapper refuses where that fails. Where
an agent posts its events instead, the entry is a URL that says the same. In a project's files a launcher stands before
it, which finds the client of whoever works there (ADR 0051).
"""

from functools import lru_cache
from typing import Any

from msgspec import MsgspecError, Struct
from msgspec.json import decode, encode

from hookonce.base.regex import lazy_pattern
from hookonce.model import Handler

CLIENT_NAME = "hookonce-on"
CANONICAL_DIALECT = "canonical"  # the dialect of a hook that names none
_OPTIONS = {"--via": "via", "--dialect": "dialect", "--run": "run", "--scope": "scope", "--timeout": "timeout"}
_OPTIONS |= {"--on-failure": "on_failure"}
PORTABLE_CLIENT = f"~/{CLIENT_NAME}"  # the client of a launcher: that of whoever runs it
# $1 to $3 are the exit code, stdout and stderr where there is no client. The account's home comes from the password
# database; HOME counts only where that has no client, and never in a repository. No word is looked up in PATH.
_LAUNCHER = (
    "unset -f [ cd printf 2>/dev/null; home= code=$1 out=$2 err=$3 bin=/.local/share/hookonce/bin; shift 3; "
    'user=$(/usr/bin/id -un 2>/dev/null); case $user in ""|-*|*[!A-Za-z0-9._-]*) ;; *) eval "home=~$user" ;; esac; '
    'case $home in /*) [ -x "$home$bin/hookonce-on" ] && exec "$home$bin/hookonce-on" "$@" ;; esac; '
    'case $HOME in /*) home=$(CDPATH= cd -P "$HOME$bin" 2>/dev/null && printf %s "$PWD") ;; *) home= ;; esac; '
    'dir=$home; while [ "$dir" ]; do for mark in .git .hg .jj .svn; do [ -e "$dir/$mark" ] && home=; done; '
    'dir=${dir%/*}; done; [ "$home" ] && [ -O "$home/hookonce-on" ] && [ -x "$home/hookonce-on" ] && '
    'exec "$home/hookonce-on" "$@"; { /bin/cat <&4 >/dev/null 2>&1 & } 4<&0; '
    '[ "$out" ] && printf "%s\\n" "$out"; [ "$err" ] && printf "%s\\n" "$err" >&2; exit "$code"'
)
_HANDLER_FIELDS = ("type", "url", "method", "headers", "allowed_env", "prompt", "model")  # that an entry cannot say
_HANDLER_START = '{"type":"'
HANDLER_TYPES = frozenset({"http", "prompt", "agent"})  # that a wrapper can run in place of a script
_LAUNCHER_WORDS = ["/bin/sh", "-c", _LAUNCHER, CLIENT_NAME]
_FALLBACK_WORDS = 3
_ADDRESS = lazy_pattern(r"(http://127\.0\.0\.1:[0-9]{1,5})/on/([a-z0-9-]+)/([A-Za-z]{1,64})\?via=([a-z0-9-]+/[a-z]+)")


class Invocation(Struct, frozen=True):
    """One such command, taken apart."""

    client: str
    agent: str
    event: str | None = None
    via: str | None = None
    dialect: str | None = None
    run: str | None = None
    scope: str | None = None
    timeout: float | None = None
    on_failure: str | None = None  # closed: the wrapper refuses where what it runs fails


def format_command(call: Invocation) -> str:
    """The command, every word quoted for a shell; or the address, if that is our client there."""
    if is_address(call.client):
        return f"{call.client}/on/{call.agent}/{call.event}?via={call.via}"
    words = [call.client, call.agent, *([call.event] if call.event else [])]
    for option, field in _OPTIONS.items():
        value = getattr(call, field)
        if value is not None:
            words += [option, f"{value:g}" if field == "timeout" else value]
    from shlex import join  # an agent's call has words already

    return join(words)


def format_launcher(call: Invocation, code: int, stdout: str, stderr: str) -> str:
    """The command for a project's files, which any user can run: the client's words, and the reply without one."""
    from shlex import join, split

    _, *words = split(format_command(call))
    return join([*_LAUNCHER_WORDS, str(code), stdout, stderr, *words])


def format_handler(handler: Handler) -> str:
    """A handler of ours as the text of `--run`."""
    fields = {name: value for name in _HANDLER_FIELDS if (value := getattr(handler, name)) not in (None, {}, [])}
    return encode(fields).decode()


def parse_handler(text: str) -> Handler | None:
    """The handler of such a text; None for a command."""
    if not text.startswith(_HANDLER_START):
        return None
    try:
        handler = decode(text, type=Handler)
    except MsgspecError:
        return None
    return handler if handler.type in HANDLER_TYPES else None


def join_arguments(command: str, arguments: Any) -> str:
    """The command of an entry, with the arguments beside it if it is our client in the exec form, without a shell."""
    is_client = command.endswith(f"/{CLIENT_NAME}") and type(arguments) is list
    if not is_client or not all(type(word) is str for word in arguments):
        return command
    from shlex import join

    return join([command, *arguments])


def is_address(client: str) -> bool:
    """Whether an agent does not run our client, but asks who lives at this address."""
    return client.startswith("http://")


def parse_command(command: str) -> Invocation | None:
    """The command or address taken apart, or None if it is not exactly one of ours."""
    if is_address(command):
        match = _ADDRESS.fullmatch(command)
        return match and Invocation(match[1], match[2], match[3], via=match[4])
    words = split_client_words(command)
    if words[: len(_LAUNCHER_WORDS)] == _LAUNCHER_WORDS:
        words = [PORTABLE_CLIENT, *words[len(_LAUNCHER_WORDS) + _FALLBACK_WORDS :]]
    return parse_words(words) if words and words[0].endswith(f"/{CLIENT_NAME}") else None


def split_client_words(command: str) -> list[str]:
    """The words of a command that names our client and says nothing beyond them; none of any other command."""
    if CLIENT_NAME not in command:
        return []  # most commands are somebody else's, and splitting is slow
    return list(_split_exactly(command))


@lru_cache(maxsize=256)
def _split_exactly(command: str) -> tuple[str, ...]:
    """The words of a command, none if they would not be written so; a file's entries are looked at many times."""
    from shlex import join, split

    try:
        words = split(command)
    except ValueError:
        return ()
    return tuple(words) if join(words) == command else ()


@lru_cache(maxsize=64)
def parse_arguments(*arguments: str) -> Invocation | None:
    """The arguments of a call; cached, because most calls have those of the call before."""
    return parse_words([CLIENT_NAME, *arguments])


def parse_words(words: list[str]) -> Invocation | None:
    """The words of a call: agent, perhaps an event, then options, each once and with a value."""
    client, *rest = words
    names = []
    while rest and not rest[0].startswith("--"):
        names.append(rest.pop(0))
    options: dict[str, Any] = {}
    while rest:
        field = _OPTIONS.get(rest.pop(0))
        if field is None or field in options or not rest:
            return None
        options[field] = rest.pop(0)
    if len(names) not in (1, 2):
        return None
    try:
        timeout = float(options.pop("timeout")) if "timeout" in options else None
    except ValueError:
        return None
    return Invocation(client, names[0], names[1] if len(names) > 1 else None, **options, timeout=timeout)


def is_own_entry(target: str | None, client: str, agent: str | None = None) -> bool:
    """Whether an entry is of this user's hookonce: our path or a launcher, and `--via`; or a URL that says the same.

    Of one agent if that is named. A wrapper is whose script it runs.
    """
    call = parse_command(target or "")
    if call is None or call.via is None or call.run is not None or (agent is not None and call.agent != agent):
        return False
    is_launcher = call.client == PORTABLE_CLIENT and _has_silent_fallback(target or "")
    return call.client == client or is_launcher or is_address(call.client)


def _has_silent_fallback(command: str) -> bool:
    """Whether a launcher without a client decides nothing, as ours do: a project's file may say something else."""
    code, stdout, stderr = split_client_words(command)[len(_LAUNCHER_WORDS) :][:_FALLBACK_WORDS]
    return (code, stderr) == ("0", "") and stdout in {"", "{}"}


def is_closed_wrapper(command: str) -> bool:
    """Whether a command is a wrapper of ours that refuses where what it runs fails."""
    call = parse_command(command)
    return call is not None and call.run is not None and call.on_failure == "closed"


def unwrap_command(command: str, client: str) -> str | None:
    """The script inside a wrapper of ours; None if the command is none, or has a handler that only we can run."""
    call = parse_command(command)
    if call is not None and parse_handler(call.run or "") is not None:
        return None
    return call.run if call is not None and call.client in {client, PORTABLE_CLIENT} else None
