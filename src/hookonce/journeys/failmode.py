"""What an agent hears when we fail: its silence, or its refusal where a hook says so that has to be asked.

Refusals lie beside the client, made beforehand, for the case that not even an interpreter is there.
"""

from collections.abc import Iterator
from errno import EINTR, EIO, EMFILE, ENFILE, ENOMEM
from hashlib import sha256
from pathlib import Path

from msgspec.json import encode

from hookonce import __version__, agents, light
from hookonce.agents import config_of, kind_of, natives, point_of
from hookonce.canon.names import AGENT_ALIASES
from hookonce.canon.weaken import weaken
from hookonce.config import paths
from hookonce.edit.file import replace_file
from hookonce.errors import HookonceError
from hookonce.journeys import pause
from hookonce.journeys.chosen import manifest_of, standing
from hookonce.manifest import good, watched
from hookonce.manifest.discover import sources
from hookonce.manifest.policy import policies
from hookonce.model import Agent, Decision, Reply
from hookonce.store import log

REASON = "hookonce could not ask the hooks that have to be asked; its log (hookonce logs) says why"
_MOMENTARY = frozenset({EMFILE, ENFILE, ENOMEM, EIO, EINTR})
_HEAD = "hookonce"  # the first word of the file; no agent has that name


def file() -> Path:
    """Where the refusals lie: a line for each agent and event that has one."""
    return paths.client().with_name("failmode.bin")


def open_reply(agent: Agent) -> Reply:
    """No opinion, as the agent takes it."""
    return Reply(stdout=config_of(agent).silence)


def closed_reply(agent: Agent, native: str) -> Reply:
    """The agent's own refusal, as far as the event has one."""
    decision, _ = weaken(Decision(outcome="deny", reason=REASON), point_of(agent, native))
    if agent.reply is None or decision == Decision():
        return open_reply(agent)
    return agent.reply(native, decision, None)


def is_closed(kind: str, project: Path | None) -> bool:
    """Whether an event has a trusted hook, of whatever scope, that has to be asked; matchers do not count."""
    try:
        kinds = set() if pause.is_paused() else closed(project)
    except Exception:  # noqa: BLE001  what cannot be looked at now was looked at when the refusals were made
        kinds = _known()
    also = {"after_tool_execute"} if kind == "tool_use_failure" else set()
    return not kinds.isdisjoint({kind, *also})


def closed(project: Path | None) -> set[str]:
    """The events with such hooks; of a file that cannot be used now, what was known when it could."""
    found: set[str] = set()
    for one in standing(project):
        if one.hook is None:
            found |= _known() if one.lacks == "sense" else set()
        elif one.lacks in {None, "sense"} and one.hook.on_failure == "closed" and one.hook.blocking:
            found.add(one.hook.event)
    return found


def refresh() -> None:
    """Make the refusals anew if manifests or policies have changed since; for a client that is there."""
    now = _now()
    if _seen == now:
        return
    _renew()
    _seen[:] = [*now[:-2], *_now()[-2:]] if watched.is_settled(now) else []  # only what we have made may be new


_seen: watched.Stamps = []  # the files of which the refusals were made, and theirs, when we last looked


def _keep_good() -> None:
    """Manifests that can be used are kept for the time when they cannot."""
    for source in sources(None):
        if good.is_known(source):
            continue
        try:
            manifest_of(source)
            replace_file(good.file(source), source.data, mode=0o600)
        except (HookonceError, OSError) as problem:
            log.write(f"hooks: {problem}; the last good version counts, if there was one")


def _now() -> watched.Stamps:
    return [*watched.stamps(None), *light.stamps([(str(file().parent), [str(file())])])]


def _renew() -> None:
    if not paths.client().exists():
        return
    _keep_good()
    stamp = _stamp()
    if _head()[1:2] == [stamp]:
        return
    kinds = closed(None)
    lines = [f"{_HEAD}|{stamp}|{' '.join(sorted(kinds))}", *_lines(kinds)]
    replace_file(file(), "".join(f"{line}\n" for line in lines).encode(), mode=0o600)


def _stamp() -> str:
    known = [__version__, [(str(one.path), one.data, one.problem) for one in sources(None)], policies(None)]
    return sha256(encode(known)).hexdigest()


def _head() -> list[str]:
    """The first line: of what the refusals were made, and for which events; nothing where there is no such file.

    One that is there and cannot be read now is an error: then the client, which can, has the last word.
    """
    try:
        with file().open(encoding="ascii") as lines:
            return lines.readline().rstrip("\n").split("|")
    except OSError as problem:
        if problem.errno in _MOMENTARY:
            raise
        return []
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  not ours, not even a home to look in: nothing is known
        return []


def _known() -> set[str]:
    head = _head()
    return set(head[2].split()) if head[:1] == [_HEAD] and len(head) > 2 else set()  # noqa: PLR2004  head, stamp, events


def _lines(kinds: set[str]) -> Iterator[str]:
    """agent|event|exit code|stdout|stderr, as a shell can read and print it."""
    for agent in map(agents.load, agents.AGENTS):
        names = [agent.name, *(alias for alias, name in AGENT_ALIASES.items() if name == agent.name)]
        for native in natives(agent):
            reply = closed_reply(agent, native) if kind_of(agent, native) in kinds else open_reply(agent)
            if reply == open_reply(agent) or "retry" in point_of(agent, native).can:
                continue  # an agent that is kept from stopping goes on, and without us nobody counts how often
            answer = f"{reply.code}|{_printable(bytes_of(reply))}|{_printable(reply.stderr.encode())}"
            yield from (f"{name}|{native}|{answer}" for name in names)


def bytes_of(reply: Reply) -> bytes:
    """What goes to the agent's pipe: the answer on a line of its own, or nothing."""
    return f"{reply.stdout}\n".encode(errors="replace") if reply.stdout else b""


def _printable(data: bytes) -> str:
    """Bytes in the words of printf %b, all on one line and without our own mark between fields."""
    plain = set(range(32, 127)) - {ord("\\"), ord("|")}
    return "".join(chr(byte) if byte in plain else f"\\0{byte:03o}" for byte in data)
