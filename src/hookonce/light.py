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
    from collections.abc import Iterator
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
        words = [os.fsdecode(word) for word in wire.words(fields[3])]
        row = _row(table, words, fields)
        if row is None or not _is_silent(table, row, words[1], fields):
            return None
        name = fields[2].decode("ascii")
        _note_down(table["data"], name, _event(table["record"], row, name))
    except Exception:  # noqa: BLE001  whatever is wrong here is told on the long way
        return None
    silence: bytes = row["silence"]
    return silence


def stamps(folders: "list[tuple[str, list[str]]]") -> "list[tuple[int, ...] | None]":
    """How folders and files in them are known again; None for what is not there, and nothing of what is below."""
    found = []
    for folder, files in folders:
        known = _stamp(folder)
        found.append(known and known[4:])  # who may write there; what is put there is seen by itself
        if known is not None:
            found += [_stamp(file) for file in files]
    return found


def _stamp(path: str) -> "tuple[int, ...] | None":
    try:
        known = os.stat(path)  # noqa: PTH116
    except OSError as problem:
        return None if isinstance(problem, FileNotFoundError) else (problem.errno or 0,)
    return known.st_mtime_ns, known.st_ctime_ns, known.st_size, known.st_ino, known.st_uid, known.st_mode


def _row(table: "dict[str, Any]", words: "list[str]", fields: "list[bytes]") -> "dict[str, Any] | None":
    """What the table says of a call; nothing if it was made for another build, home or kind of call."""
    home = next((entry for entry in wire.words(fields[4]) if entry.startswith(b"HOME=")), b"")
    if len(words) != _OWN or words[2] != "--via" or fields[1] != table["build"] or home != table["home"]:
        return None
    row: dict[str, Any] | None = table["agents"].get(words[0], {}).get(words[1])
    return row


def _is_silent(table: "dict[str, Any]", row: "dict[str, Any]", event: str, fields: "list[bytes]") -> bool:
    """Whether nothing has changed, the payload is what its words say, and no project has hooks."""
    if stamps(table["files"]) != table["stamps"]:
        return False
    payload = _object(fields[7].decode())
    named = [payload[name] for name in _NAMES if name in payload]
    if named != [event] and not (table["nobody"] and not named):
        return False
    if any(all(key in payload for key in keys) for keys in row["strangers"]):
        return False
    told = payload.get("cwd", "")
    places = {os.fsdecode(fields[5]), told if type(told) is str else ""}
    return not any(os.path.lexists(path) for place in places for path in _hooks_around(place))


def _object(text: str) -> "dict[str, Any]":
    """The JSON object that a text is."""
    from _json import make_scanner  # what `json` is made of, without the rest of it

    found, end = make_scanner(_Ordinary)(text.strip(), 0)  # type: ignore[arg-type]
    if type(found) is not dict or end != len(text.strip()):
        raise ValueError("no JSON object")
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


def _hooks_around(place: str) -> "Iterator[str]":
    while place:
        for name in _PROJECT:
            yield f"{place.rstrip('/')}/{name}"
        place = os.path.dirname(place) if place != "/" else ""  # noqa: PTH120


def _event(record: str, row: "dict[str, Any]", name: str) -> bytes:
    """That something happened, as it stands in a spool, before anybody knows more."""
    now = time.time_ns()
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now // _SECOND)) + f".{now // 1_000_000 % 1000:03d}Z"
    known = {"(id)": name, "(time)": at, "(type)": row["type"], "(agent)": row["agent"]}
    for place, text in known.items():
        record = record.replace(place, text)
    return record.encode()


def _note_down(data: str, name: str, body: bytes) -> None:
    """Write the first line of a file of the spool."""
    from _sha256 import sha256  # type: ignore[import-not-found]  # the same without the rest of `hashlib`

    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(f"{data}/spool/{name}.jsonl", flags, 0o600)
    try:
        line = b"1 %s %s\n" % (sha256(body).hexdigest().encode(), body)
        if os.write(handle, line) != len(line):
            raise OSError("the disk is full")
    finally:
        os.close(handle)
