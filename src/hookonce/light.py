"""Calls that concern nobody, answered without knowing more than that.

Beside the client lies a table of calls for which there is no hook, made from the files of hooks as they were. As long
as those are what they were, such a call is answered with the agent's silence; everything else goes the long way.
It is noted in two steps: before the answer, that it happened; after it, in a process of its own, what it was.
"""

import marshal
import os
import time

from hookonce import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

TABLE = "silent.bin"
_PROJECT = (".hookonce", ".openhook.json")
_NAMES = ("hook_event_name", "hookEventName", "agent_action_name", "hookName", "hook")
_OWN = 4  # words of a door of ours: agent, event, --via and whose; a wrapper says more
_SECOND = 1_000_000_000


def answer(folder: str, frame: bytes) -> "bytes | None":
    """The silence for a call that concerns nobody, once it is noted; None for all other calls."""
    try:
        with open(f"{folder}/{TABLE}", "rb") as file:  # noqa: PTH123  nothing is imported here that costs time
            table = marshal.load(file)  # noqa: S302  our own file, in our own folder
        fields = wire.fields(frame)
        if fields[1] != table["build"] or stamps(table["files"]) != table["stamps"]:
            return None
        row = row_of(table, fields, _object)
        if row is None:
            return None
        name = fields[2].decode("ascii")
        if table["record"]:
            _note_down(table["data"], name, happened(table, row, name), settles=table["settles"])
    except Exception:  # noqa: BLE001  whatever is wrong here is told on the long way
        return None
    silence: bytes = row["silence"]
    return silence


def row_of(table: "dict[str, Any]", fields: "list[bytes]", load: "Callable[[str], Any]") -> "dict[str, Any] | None":
    """What a table that holds says of a call: its row if it concerns nobody, and no project has hooks."""
    words = [os.fsdecode(word) for word in wire.words(fields[3])]
    if len(words) != _OWN or words[2] != "--via" or table["home"] not in b"\0" + fields[4]:
        return None
    row: dict[str, Any] | None = table["agents"].get(words[0], {}).get(words[1])
    if row is None:
        return None
    payload = load(fields[7].decode())
    if type(payload) is not dict or "hookonce" in payload:
        return None  # nobody's payload, or our own trial
    named = [payload[name] for name in _NAMES if name in payload]
    if named != [words[1]] and not (table["nobody"] and not named):
        return None  # the payload is about something else than its words say
    if any(all(key in payload for key in keys) for keys in row["strangers"]):
        return None
    told, place = payload.get("cwd"), os.fsdecode(fields[5])
    places = {place, os.path.join(place, told) if type(told) is str else place}  # noqa: PTH118
    return None if any(os.access(path, os.F_OK) for place in places for path in _hooks_around(place)) else row


def stamps(folders: "list[tuple[str, list[str]]]") -> "list[tuple[int, ...] | None]":
    """How folders and files in them are known again; None for what is not there, and nothing of what is below."""
    found = []
    for folder, files in folders:
        known = stamp(folder)
        found.append(known and known[4:])  # who may write there; what is put there is seen by itself
        if known is not None:
            found += [stamp(file) for file in files]
    return found


def stamp(path: str) -> "tuple[int, ...] | None":
    """How a file is known again."""
    if not os.access(path, os.F_OK):  # most are not there, and an exception costs more than asking twice
        return None
    try:
        known = os.stat(path)  # noqa: PTH116
    except OSError as problem:
        return (problem.errno or 0,)
    return known.st_mtime_ns, known.st_ctime_ns, known.st_size, known.st_ino, known.st_uid, known.st_mode


def _object(text: str) -> "Any":
    """What a text of JSON says."""
    from _json import make_scanner  # what `json` is made of, without the rest of it

    found, end = make_scanner(_Ordinary)(text.strip(), 0)  # type: ignore[arg-type]
    if end != len(text.strip()):
        raise ValueError("more than one")
    return found


class _Ordinary:
    """How JSON is read; the scanner asks for nothing but these names."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int
    memo: "dict[str, str]" = {}  # noqa: RUF012  the scanner's own

    @staticmethod
    def parse_constant(name: str) -> float:
        """No number of JSON is called so."""
        raise ValueError(name)


def _hooks_around(place: str) -> "tuple[str, ...]":
    """Where a folder's project might have hooks; kept, because the next call comes from the same place."""
    found = _around.get(place)
    if found is None:
        found = tuple(_upwards(place))
        if len(_around) > _MOST:
            _around.clear()
        _around[place] = found
    return found


_around: "dict[str, tuple[str, ...]]" = {}
_MOST = 256  # folders


def _upwards(place: str) -> "Iterator[str]":
    while place:
        for name in _PROJECT:
            yield f"{place.rstrip('/')}/{name}"
        above = os.path.dirname(place)  # noqa: PTH120
        place = above if above != place else ""


def happened(table: "dict[str, Any]", row: "dict[str, Any]", name: str) -> bytes:
    """That something happened, as it stands in a spool, before anybody knows more."""
    now = time.time_ns()
    before, between, after, end = _parts(table["record"], row["type"], row["agent"])
    at = f"{_second(now // _SECOND)}.{now // 1_000_000 % 1000:03d}Z"
    return f"{before}{name}{between}{at}{after}{at}{end}".encode()


def _parts(record: str, kind: str, agent: str) -> "list[str]":
    """What stands around the id and the time, which is told twice."""
    found = _known.get((record, kind, agent))
    if found is None:
        before, rest = record.replace("(type)", kind).replace("(agent)", agent).split("(id)")
        found = _known[record, kind, agent] = [before, *rest.split("(time)")]
    return found


_known: "dict[tuple[str, str, str], list[str]]" = {}  # there are no more of these than agents have events


def _second(now: int) -> str:
    """A second as text; many calls come in one."""
    if _clock[0] != now:
        _clock[:] = [now, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))]
    text: str = _clock[1]
    return text


_clock: "list[Any]" = [0, ""]


def _note_down(data: str, name: str, body: bytes, *, settles: bool = False) -> None:
    """Write the first line of a file of the spool; where it has to survive a loss of power, onto the disk."""
    try:  # the same without the rest of `hashlib`; its name has changed with Python 3.12
        from _sha2 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from _sha256 import sha256  # type: ignore[import-not-found]

    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(f"{data}/spool/{name}.jsonl", flags, 0o600)
    try:
        line = b"1 %s %s\n" % (sha256(body).hexdigest().encode(), body)
        if os.write(handle, line) != len(line):
            raise OSError("the disk is full")
        if settles:
            os.fsync(handle)
            _settle(f"{data}/spool")
    finally:
        os.close(handle)


def _settle(folder: str) -> None:
    """Have a folder on the disk as it is."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
