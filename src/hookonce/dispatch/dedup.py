"""Deduplication of calls: hooks run once for a call that reaches us several times.

Entries: an agent that reads two configurations calls us through both. The first call decides; one through another
entry waits for that decision and gives it too; one through the same entry is another call. All calls that look
alike are in one file, in the order in which they came. A session ends once: some agents tell it twice through the
same entry, the second time without a payload; then it is the last end that the agent has told of. Whoever comes
second finishes what the first did not. A decision counts for the very content that it was made for: a call id alone
is what a model's server says. So the key holds both, and the files are sealed with it: whoever has the same call can
read what was decided, and nobody else.

Claims: whoever creates the claim file of a call's id runs its hooks, and the file then holds the answer for others
that have the same call, such as a one-shot process beside a slow daemon; it is sealed with the payload.
"""

import os
from collections.abc import Callable, Generator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic, time

from msgspec import Struct, ValidationError, convert, to_builtins
from msgspec.json import Encoder, decode
from msgspec.structs import replace

from hookonce.base.jsontext import canonical_bytes, dump, load
from hookonce.base.process_info import is_process_alive
from hookonce.base.runtime_dir import (
    NoRuntimeDirError,
    create_exclusive,
    runtime_file,
    runtime_path,
    update_locked,
    write_atomic,
)
from hookonce.base.sealing import is_sealed, recall_value, seal, seal_value, unseal
from hookonce.dispatch.request.call_request import CallDecision
from hookonce.errors import HookonceError
from hookonce.model import Event, Reply
from hookonce.vocabulary.events import CALLER_FIELDS

_CONTENT_WINDOW_S = 10  # seconds after a decision in which the same content may come through another entry
CALL_ID_WINDOW_S = 600  # and the same call, by its id
_SESSION_END_WINDOW_S = 60  # and the end of the same session
_SESSION_START, _SESSION_END = "session_start", "session_end"
NO_PID = 0  # of an entry that no process decides
_DEDUP_POLL_INTERVAL_S = 0.01
_MAX_PAGE_WAIT_S = 1.0  # seconds for which a page may be busy; its writer may have been stopped
_ENTRY_KEYS = frozenset({"called_through", *CALLER_FIELDS})  # what data say of an entry is no part of the call

_encode_sorted = Encoder(order="sorted").encode

DedupEntries = list["DedupEntry"]
_JoinTask = Generator[float, None, "DedupEntry"]
DedupStore = Callable[[str, Callable[[DedupEntries], DedupEntries]], DedupEntries]


class DedupTimeoutError(HookonceError):
    """The call through another entry was not decided in time."""


class PageBusyError(HookonceError):
    """A page is being written by another process, so nobody can say what is on it."""


class DedupEntry(Struct, frozen=True):
    """One call: the event's id per entry, who decides, and the decision, once there is one.

    Of a session's end also the event itself, and the ids under which it came through the same entry once more.
    `scripts` are decisions of scripts that stand in the agent's own configuration: each answers for itself, and all of
    them are in the one record of the call.
    """

    ids: dict[str, str]
    pid: int
    time: float
    decided: CallDecision | None = None
    by: str = ""
    also: list[str] = []
    event: Event | None = None
    scripts: list[CallDecision] = []

    @property
    def first_id(self) -> str:
        """The id of the event that counts."""
        return next(iter(self.ids.values()))


def dedup_key(event: Event) -> str:
    """Deduplication key: agent by evidence, session, sub-agent, event type, call id and content."""
    if event.type == _SESSION_END:  # one page for all of them: who says nothing does not say which session ends
        return digest_key(event.agent, _SESSION_END)
    return digest_key(event.agent, *_session_key(event), event.type, _tool_call_id(event), _content_digest(event))


def digest_key(*parts: str | None) -> str:
    """Key of a page of entries."""
    return sha256(dump(parts)).hexdigest()[:40]


def _session_key(event: Event) -> tuple[str | None, str | None]:
    return event.session, event.subagent.id if event.subagent is not None else None


def _tool_call_id(event: Event) -> str | None:
    return event.tool.call_id if event.tool is not None else None


def _content_digest(event: Event) -> str:
    """Digest of what hooks judge."""
    tool = event.tool
    data = {name: value for name, value in event.data.items() if name not in _ENTRY_KEYS}
    content: list[object] = [event.prompt, data]
    if tool is not None:
        result = tool.result  # but for how long it took; entries may spell a native name in two ways
        outcome = None if result is None else [result.ok, result.exit_code, result.error, result.output]
        content = [tool.name, tool.mcp_server, tool.input, event.cwd, outcome]
    try:
        return sha256(_encode_sorted(content)).hexdigest()
    except UnicodeEncodeError:  # half a character
        return sha256(canonical_bytes({"": to_builtins(content)})).hexdigest()


def join_call(event: Event, via: str, deadline: float, store: DedupStore) -> _JoinTask:
    """Join the call: returns its entry when it is ours to decide, or once it is decided elsewhere.

    If the process that decides is gone without a decision, the next one decides; but if its hooks have begun, it is
    whoever answers that very call in its place, and finds their results.
    """
    if event.type == _SESSION_START or (event.type == _SESSION_END and _has_gone_on(event, store)):
        _drop_session_ends(event, store)
    page_deadline = monotonic() + _MAX_PAGE_WAIT_S

    def join() -> DedupEntry:
        try:
            return _join(event, via, store)
        except PageBusyError:
            if monotonic() < page_deadline:
                raise
            return _join(event, via, lambda _, transform: transform([]))  # its hooks are asked, at worst twice

    problem = "the same call came through another entry, and was not decided there in time"
    return (yield from await_decision(join, event.id, deadline, problem))


def await_decision(join: Callable[[], DedupEntry], call_id: str, deadline: float, problem: str) -> _JoinTask:
    """Join an entry again and again, until it is this call's to decide, or decided; the problem if that is too late."""
    while True:
        with suppress(PageBusyError):  # who writes it now is soon done
            entry = join()
            if entry.by == call_id or entry.decided is not None:
                return entry
        if monotonic() > deadline:
            raise DedupTimeoutError(problem)
        yield _DEDUP_POLL_INTERVAL_S


def _has_gone_on(event: Event, store: DedupStore) -> bool:
    """Whether a session has called since its end was told, and ends again; only second ends look into the record."""
    entries = update_entries(digest_key(event.agent, _SESSION_END), lambda entry: entry, store)
    ends = [entry.event for entry in entries if entry.event and entry.decided and not _has_event(entry, event)]
    own_ends = [end for end in ends if _session_key(end) == _session_key(event)]
    if event.session is None or not own_ends:
        return False
    from hookonce.store.spool.overlay import has_call_after  # an agent's call does without the database

    return has_call_after(own_ends[-1], (_SESSION_START, _SESSION_END))


def _drop_session_ends(event: Event, store: DedupStore) -> None:
    """Forget the ends of a session that begins again, because it will end again."""
    page, key = digest_key(event.agent, _SESSION_END), _session_key(event)
    update_entries(page, lambda entry: None if entry.event and _session_key(entry.event) == key else entry, store)


def _join(event: Event, via: str, store: DedupStore) -> DedupEntry:
    window_s = CALL_ID_WINDOW_S if _tool_call_id(event) else _CONTENT_WINDOW_S
    if event.type == _SESSION_END:
        window_s = _SESSION_END_WINDOW_S

    def join(entries: DedupEntries) -> DedupEntries:
        entries = [entry for entry in entries if not is_stale(entry, window_s)]
        matches = [entry for entry in entries if _has_event(entry, event)] or [
            entry for entry in entries if _is_same_call(entry, event, via)
        ]
        if not matches:
            end_event = event if event.type == _SESSION_END else None
            return [*entries, DedupEntry({via: event.id}, os.getpid(), time(), by=event.id, event=end_event)]
        match = matches[-1 if is_empty_payload(event) else 0]
        return [_add_event(entry, event, via) if entry is match else entry for entry in entries]

    return next(entry for entry in store(dedup_key(event), join) if _has_event(entry, event))


def _has_event(entry: DedupEntry, event: Event) -> bool:
    return event.id in entry.ids.values() or event.id in entry.also


def _is_same_call(entry: DedupEntry, event: Event, via: str) -> bool:
    """Whether a similar call is this one: it came through another entry; or it is the same session end."""
    if entry.event is None:
        return via not in entry.ids
    if is_empty_payload(event):
        return True
    is_alike = event.session is not None or _content_digest(event) == _content_digest(entry.event)
    return is_alike and _session_key(event) == _session_key(entry.event)


def is_empty_payload(event: Event) -> bool:
    """Whether an agent has sent no payload and no session."""
    return event.session is None and not event.native


def _add_event(entry: DedupEntry, event: Event, via: str) -> DedupEntry:
    """The entry with this event; if its deciding process is dead, we decide."""
    if via not in entry.ids:
        entry = replace(entry, ids=entry.ids | {via: event.id})
    elif not _has_event(entry, event):
        entry = replace(entry, also=[*entry.also, event.id])
    if entry.decided is None and not is_process_alive(entry.pid) and (entry.by == event.id or not _has_begun(entry.by)):
        entry = replace(entry, pid=os.getpid(), by=event.id)
    return entry


def is_stale(entry: DedupEntry, window_s: float) -> bool:
    """A decision counts for a while; without one, only a living process does, or one whose hooks have begun."""
    if entry.decided is not None or entry.event is not None or entry.scripts:
        return time() - entry.time > window_s
    return not is_process_alive(entry.pid) and not _has_begun(entry.by)


def is_expired(entry: DedupEntry) -> bool:
    """Whether an entry is older than every window."""
    return time() - entry.time > CALL_ID_WINDOW_S


def _has_begun(call_id: str) -> bool:
    """Whether hooks of a call have claims, which are gone when it was answered, or nobody waits for that."""
    from hookonce.handlers.supervise.claim_slots import iter_claims  # few calls find a dead process

    with suppress(OSError, NoRuntimeDirError):
        return any(name.startswith(f"{call_id}.") for name in iter_claims(runtime_path("calls", "")))
    return False


def publish_decision(event: Event, call_decision: CallDecision, store: DedupStore) -> DedupEntry | None:
    """Publish the decision; the entry with all ids that joined so far, unless it was dropped."""
    new_entry = DedupEntry({}, os.getpid(), time(), call_decision)
    entries = update_entries(dedup_key(event), lambda entry: _replace_entry(entry, event, new_entry), store)
    return next((entry for entry in entries if entry.first_id == event.id), None)


def abandon_call(event: Event, store: DedupStore) -> None:
    """Give up deciding: whoever waits with the same call decides."""
    update_entries(dedup_key(event), lambda entry: _replace_entry(entry, event, None), store)


def update_entries(key: str, update: Callable[[DedupEntry], DedupEntry | None], store: DedupStore) -> DedupEntries:
    """Update each entry of a key, or drop it (None); the new entries, none where somebody else writes the page."""
    try:
        return store(key, lambda entries: [new for entry in entries if (new := update(entry)) is not None])
    except PageBusyError:
        return []


def _replace_entry(entry: DedupEntry, event: Event, replacement: DedupEntry | None) -> DedupEntry | None:
    """Our entry as it is now; a session end that nobody decides any more stays known."""
    if entry.first_id != event.id:
        return entry
    if replacement is None:
        return replace(entry, pid=NO_PID, by="") if entry.event is not None or entry.scripts else None
    return replace(replacement, ids=entry.ids, also=entry.also, event=entry.event, scripts=entry.scripts)


def disk_store(key: str, transform: Callable[[DedupEntries], DedupEntries]) -> DedupEntries:
    """Deduplication store in the runtime directory, shared by all processes.

    Where nothing can be written hooks are asked all the same, at worst once through each entry.
    """
    try:
        return update_page(dedup_file(key), key, transform)
    except (OSError, NoRuntimeDirError):
        return transform([])


def dedup_file(key: str) -> Path:
    """File of a key."""
    return runtime_file("doors", page_name(key))


def page_name(key: str) -> str:
    """File name of a key, which does not tell the key."""
    return sha256(key.encode()).hexdigest()[:40]


def update_page(
    path: Path | str,
    key: str,
    transform: Callable[[DedupEntries], DedupEntries],
    acquire_lock: Callable[[int], object] | None = None,
) -> DedupEntries:
    """Update the entries of a file under its lock, see `update_locked`; the new entries."""
    new_entries: DedupEntries = []

    def transform_page(data: bytes) -> bytes:
        nonlocal new_entries
        entries = parse_entries(data, key) if (page := recall_value(key, data)) is None else page
        new_entries = transform(entries)
        return data if new_entries == entries else seal_value(key, dump(new_entries), new_entries)

    update_locked(path, transform_page, acquire_lock)
    return new_entries


def parse_entries(data: bytes, key: str) -> DedupEntries:
    """Entries of the file of a key; none if it cannot be read."""
    if not data:
        return []
    try:
        return decode_entries(unseal(key, data))
    except ValueError:
        return []


def decode_entries(data: bytes) -> DedupEntries:
    """Entries of their JSON bytes; ValueError if they are none."""
    try:
        return decode(data, type=list[DedupEntry])
    except ValueError:  # what JavaScript may say and msgspec refuses
        return convert(load(data.decode()), type=list[DedupEntry])


class CallClaim(Struct, frozen=True):
    """Claim of a call: begun by a process, as its file says, or done with the very reply that was given.

    `keeps_results`: the results of its hooks outlive that process.
    """

    done: bool
    reply: Reply | None = None
    pid: int = 0
    keeps_results: bool = False


def claim_call(call_id: str, pid: int | None = None, *, keeps_results: bool = False) -> bool:
    """Claim a call id for a process, or for us; whether we run its hooks, also where nobody can write a claim."""
    call_claim = CallClaim(done=False, pid=pid or os.getpid(), keeps_results=keeps_results)
    try:
        return create_exclusive(runtime_path("calls", call_id), dump(call_claim))
    except (OSError, NoRuntimeDirError):
        return not has_claim(call_id)


def has_claim(call_id: str) -> bool:
    """Whether somebody runs the hooks of a call id, or has run them."""
    try:
        return runtime_file("calls", call_id).exists()
    except (OSError, NoRuntimeDirError):
        return False


def save_answer(call_id: str, reply: Reply, payload: bytes) -> None:
    """Save the answer in the claim before it leaves, for whoever has the same payload."""
    write_atomic(runtime_path("calls", call_id), seal(_claim_key(call_id, payload), dump(reply)))


def _claim_key(call_id: str, payload: bytes) -> str:
    return f"{call_id} {sha256(payload).hexdigest()}"


def await_answer(call_id: str, payload: bytes, deadline: float) -> Generator[float, None, CallClaim]:
    """Wait for the answer of whoever holds the claim, until the deadline; without one if that process is dead."""
    while time() < deadline:
        pid = _load_claim(call_id, payload).pid  # asked first: one that dies now may have answered just before
        # A claim that cannot be read says nothing of its process.
        is_dead = pid != NO_PID and not is_process_alive(pid)
        call_claim = _load_claim(call_id, payload)
        if call_claim.done or is_dead:
            return call_claim
        yield _DEDUP_POLL_INTERVAL_S
    return CallClaim(done=True)


def _load_claim(call_id: str, payload: bytes) -> CallClaim:
    try:
        data = runtime_file("calls", call_id).read_bytes()
        if not is_sealed(data):
            return convert(load(data.decode()), type=CallClaim)
        data = unseal(_claim_key(call_id, payload), data)
        return CallClaim(done=True, reply=convert(load(data.decode()), type=Reply))
    except (OSError, ValueError, ValidationError):
        return CallClaim(done=True)


def remove_claim(call_id: str) -> None:
    """Remove the claim of a call whose answer was read."""
    with suppress(OSError):
        runtime_file("calls", call_id).unlink()
