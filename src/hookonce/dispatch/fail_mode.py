"""Fail mode: the reply when hookonce itself fails, open (silence) or closed (refusal) where a hook demands it.

Refusals lie in a file beside the client, prepared for the case that not even an interpreter is there.
"""

import os
from collections.abc import Iterable, Iterator
from errno import EINTR, EIO, EMFILE, ENFILE, ENOMEM
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.json import encode

from hookonce import __version__, agents
from hookonce.agents import canonical_event_of, config_events, point_of
from hookonce.base import paths
from hookonce.base.files import replace_file
from hookonce.base.terminal_text import escape_data
from hookonce.dispatch import live_formats, pause
from hookonce.dispatch.fast_path import lookup, manifest_stamps
from hookonce.dispatch.select import ACTION_EVENTS, CandidateHook, Selection, find_candidates
from hookonce.errors import HookonceError, PayloadError
from hookonce.manifest import discover
from hookonce.manifest.discover import find_project, find_sources, load_source
from hookonce.manifest.policy import load_policies
from hookonce.model import Agent, Decision, Gap, Reply
from hookonce.secrets import log
from hookonce.trust.pin_store import Guard, find_guards, load_guards
from hookonce.vocabulary.decision_merge import weaken
from hookonce.vocabulary.events import BROADER_EVENTS
from hookonce.vocabulary.names import AGENT_ALIASES

if TYPE_CHECKING:
    from hookonce.dispatch.request.call_request import CallArguments

FAIL_CLOSED_REASON = "hookonce could not run the required hooks; its log (hookonce logs) shows why"
BROKEN_MANIFEST_REASON = (
    "the file of your hooks or of their policy cannot be read, and one of the hooks must answer before this is done; "
    "hookonce doctor says what is wrong in it"
)
UNKNOWN_CALLER_REASON = (
    "hookonce was called without arguments by an unknown agent, and a required hook has to judge some calls; "
    "run hookonce doctor, which names entries that are too new for an agent\n"
)
_BLOCK_CODE = 2  # the exit code that says no to most agents
UNREFUSED_GAP = Gap(
    where="$.decision",
    capability="blocking",
    strategy="weaken",
    effect="observes",
    note="a required hook could not run, and nothing can be refused at this event",
)
_TRANSIENT_ERRNOS = frozenset({EMFILE, ENFILE, ENOMEM, EIO, EINTR})
_HEADER_MARK = "hookonce"  # the first word of the file; no agent has that name
_WRAPPER_MARK = "wrapper"  # before the refusals of entries that run something which must answer, at any event


def fail_mode_file() -> Path:
    """The fail-mode file: a line for each agent and event that has a refusal."""
    return paths.client_path().with_name(lookup.FAIL_MODE_FILE)


def open_reply(agent: Agent) -> Reply:
    """The agent's reply without an opinion."""
    return Reply(stdout=agent.config.silence)


def build_reply(agent: Agent, native: str, refusal: str | None) -> Reply:
    """The fail mode of an event: the agent's own refusal for this reason, as far as the event has one, or silence."""
    if refusal is None or agent.reply is None:
        return open_reply(agent)
    reason = escape_data(refusal)  # it may name a folder of somebody hostile
    decision, _ = weaken(Decision(outcome="deny", reason=reason), point_of(agent, native))
    if decision == Decision():
        return open_reply(agent)
    return agent.reply(native, decision, None)


def find_refusal(
    event_type: str,
    project: Path | None,
    candidates: Iterable[CandidateHook] | None = None,
    problem: BaseException | None = None,
    cwd: str | None = None,
) -> str | None:
    """Why a call that failed is refused: seen from `cwd` it has a trusted fail-closed hook, whatever that matches.

    What could not be read is refused wherever any hook may block it: whoever wrote it must not choose that nobody
    judges it. With `candidates` these are looked at, and neither the disk nor a pause.
    """
    is_unread = isinstance(problem, PayloadError)
    try:
        if candidates is None:
            candidates = () if pause.is_paused() else find_candidates(project, cwds=(cwd,) if cwd else ())
        event_types = _closed_types_of(candidates, counts_open=is_unread)
    except Exception:  # noqa: BLE001  what cannot be looked at now was looked at when the refusals were made
        event_types = _saved_event_types() | _guarded_event_types(cwd or str(project or "/"), project)
    if not {event_type, BROADER_EVENTS.get(event_type)} & event_types:
        return None
    return unread_reason(problem) if is_unread else FAIL_CLOSED_REASON


def standing_decisions(event_type: str, selection: Selection, candidates: Iterable[CandidateHook]) -> list[Decision]:
    """The decisions about a call that need no hook: of its selection, and for a closed hook whose file is broken."""
    if not selection.has_broken_source or find_refusal(event_type, None, candidates) is None:
        return selection.decisions
    return [*selection.decisions, Decision(outcome="deny", reason=BROKEN_MANIFEST_REASON, by="hookonce")]


def find_call_refusal(call: "CallArguments", event_type: str, cwd: str, problem: BaseException | None) -> str | None:
    """Why a call that failed is refused: its wrapper must answer, or a hook of a manifest must that `cwd` has."""
    if call.is_closed and not pause.is_paused():
        return unread_reason(problem) if isinstance(problem, PayloadError) else FAIL_CLOSED_REASON
    try:
        project = find_project(cwd)
    except (OSError, ValueError):
        project = None
    return find_refusal(event_type, project, problem=problem, cwd=cwd)


def unknown_caller_reply(cwd: str) -> Reply:
    """The reply to an agent that nobody knows: no to whatever it is about, where a required hook has to judge calls."""
    if pause.is_paused():
        return Reply()
    try:
        event_types = closed_event_types(find_project(cwd), cwd)
    except Exception:  # noqa: BLE001  what cannot be looked at now was looked at when the refusals were made
        event_types = _saved_event_types() | _guarded_event_types(cwd or "/", None)
    return Reply(code=_BLOCK_CODE, stderr=UNKNOWN_CALLER_REASON) if event_types else Reply()


def _guarded_event_types(cwd: str, project: Path | None) -> set[str]:
    try:
        return {hook.event for guard, _ in find_guards((cwd,), project) for hook in guard.closed_hooks}
    except LookupError:  # a user without a home has trusted nothing
        return set()
    except Exception:  # noqa: BLE001  nobody knows what must be asked
        return {*ACTION_EVENTS}


def unread_reason(problem: BaseException | None) -> str:
    """Reason of a refusal of what could not be read."""
    return f"hookonce cannot read this call ({problem}), and a required hook has to judge it; make the call simpler"


def closed_event_types(project: Path | None, cwd: str | None = None) -> set[str]:
    """Event types with fail-closed hooks; for a manifest that cannot be used now, those that were saved."""
    return _closed_types_of(find_candidates(project, cwds=(cwd,) if cwd else ()))


def _closed_types_of(candidates: Iterable[CandidateHook], *, counts_open: bool = False) -> set[str]:
    event_types: set[str] = set()
    for candidate in candidates:
        hook, is_in_use = candidate.hook, candidate.obstacle in {None, "manifest", "guard"}
        if hook is None:
            event_types |= _saved_event_types() if candidate.obstacle == "manifest" else set()
            event_types |= ACTION_EVENTS if candidate.obstacle == "guard" else set()
        elif is_in_use and hook.blocking and (counts_open or hook.on_failure == "closed"):
            event_types.add(hook.event)
    return event_types


def refresh_fail_mode() -> None:
    """Rewrite the fail-mode file if manifests or policies have changed; only where a client is installed."""
    stamps = _current_stamps()
    if _last_stamps == stamps:
        return
    _rewrite_file()
    _last_stamps[:] = (
        [*stamps[:-2], *_current_stamps()[-2:]] if manifest_stamps.is_settled(stamps) else []
    )  # only what we have made may be new


_last_stamps: manifest_stamps.Stamps = []  # the files of which the refusals were made, and theirs, when we last looked


def _save_good_manifests() -> None:
    for source in find_sources(None):
        if discover.is_last_good(source):
            continue
        try:
            load_source(source)
            replace_file(discover.last_good_path(source), source.data, mode=0o600)
        except (HookonceError, OSError) as problem:
            log.write(f"hooks: {problem}; the last good version counts, if there was one")


def _current_stamps() -> manifest_stamps.Stamps:
    return [
        *manifest_stamps.manifest_stamps(None),
        *lookup.stamp_files([(str(fail_mode_file().parent), [str(fail_mode_file())])]),
    ]


def _rewrite_file() -> None:
    if not paths.client_path().exists():
        return
    _save_good_manifests()
    digest = _source_digest()
    if _read_header()[1:2] == [digest]:
        return
    event_types = closed_event_types(None)
    lines = [f"{_HEADER_MARK}|{digest}|{' '.join(sorted(event_types))}", *_iter_lines(event_types)]
    lines += _iter_guard_lines(load_guards())
    lines += [f"{_WRAPPER_MARK}:{line}" for line in _iter_lines(None)]
    replace_file(fail_mode_file(), "".join(f"{line}\n" for line in lines).encode(), mode=0o600)


def _source_digest() -> str:
    content = [
        __version__,
        _WRAPPER_MARK,
        UNKNOWN_CALLER_REASON,
        [(str(source.path), source.data, source.problem) for source in find_sources(None)],
        load_policies(None),
        list(_iter_guard_folders(load_guards())),
    ]
    return sha256(encode(content)).hexdigest()


def _read_header() -> list[str]:
    """First line of the file: digest of its sources, and the closed event types; [] where there is no such file.

    One that is there and cannot be read now is an error: then the client, which can, has the last word.
    """
    try:
        with fail_mode_file().open(encoding="ascii") as lines:
            return lines.readline().rstrip("\n").split("|")
    except OSError as problem:
        if problem.errno in _TRANSIENT_ERRNOS:
            raise
        return []
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  not ours, not even a home to look in: nothing is known
        return []


def _saved_event_types() -> set[str]:
    header = _read_header()
    return set(header[2].split()) if header[:1] == [_HEADER_MARK] and len(header) > 2 else set()  # noqa: PLR2004  head, stamp, events


def _iter_guard_lines(guards: list[Guard]) -> Iterator[str]:
    """/project|device:inode|event types, then the refusals of those types, with the type before the agent's name."""
    yield from _iter_guard_folders(guards)
    for event_type in sorted({hook.event for guard in guards for hook in guard.closed_hooks}):
        yield from (f"{event_type}:{line}" for line in _iter_lines({event_type}))


def _iter_guard_folders(guards: list[Guard]) -> Iterator[str]:
    for guard in guards:
        event_types = " ".join(sorted({hook.event for hook in guard.closed_hooks}))
        inodes = " ".join(sorted(f"{device}:{inode}" for device, inode, _ in guard.identities))
        for folder in sorted(guard.folders | guard.worktrees):
            yield f"{_escape_printf(os.fsencode(folder))}|{inodes}|{event_types}"


def _iter_lines(event_types: set[str] | None) -> Iterator[str]:
    """agent|event|exit code|stdout|stderr, as a shell can read and print it; at all events if None are named.

    The first is for a call without arguments, whose agent nobody knows.
    """
    if event_types is None or event_types:
        yield f"||{_BLOCK_CODE}||{_escape_printf(UNKNOWN_CALLER_REASON.encode())}"
    for agent in map(agents.load, agents.AGENTS):
        names = [agent.name, *(alias for alias, name in AGENT_ALIASES.items() if name == agent.name)]
        answers = _refusals(agent, event_types)
        yield from (f"{name}|{native}|{answer}" for native, answer in answers.items() for name in names)
    for live_format in live_formats.load_live_formats():
        answers = _refusals(live_format, event_types)
        # Its tool calls us with one command for all events, so that only the payload would say which one it is.
        yield from (f"{live_format.name}||{answer}" for answer in list(answers.values())[:1])
        yield from (f"{live_format.name}|{native}|{answer}" for native, answer in answers.items())


def _refusals(agent: Agent, event_types: set[str] | None) -> dict[str, str]:
    """What is answered at each of an agent's events where a hook of these types must be asked."""
    answers = {}
    for native in {**config_events(agent), **agent.config.points}:
        is_closed = event_types is None or canonical_event_of(agent, native) in event_types
        reply = build_reply(agent, native, FAIL_CLOSED_REASON if is_closed else None)
        if reply == open_reply(agent) or "retry" in point_of(agent, native).capabilities:
            continue  # an agent that is kept from stopping goes on, and without us nobody counts how often
        output = f"{_escape_printf(encode_reply(reply))}|{_escape_printf(reply.stderr.encode())}"
        answers[native] = f"{reply.code}|{output}"
    return answers


def encode_reply(reply: Reply) -> bytes:
    """Bytes for the agent's pipe: the reply on a line of its own, or nothing."""
    return f"{reply.stdout}\n".encode(errors="replace") if reply.stdout else b""


def _escape_printf(data: bytes) -> str:
    """Escape bytes for printf %b, on one line and without our field separator."""
    plain_bytes = set(range(32, 127)) - {ord("\\"), ord("|")}
    return "".join(chr(byte) if byte in plain_bytes else f"\\0{byte:03o}" for byte in data)
