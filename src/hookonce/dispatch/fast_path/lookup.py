"""Fast-path lookup: answers calls for which there is no hook, without importing the dispatcher.

A table (built by `table.py`) lies beside the client and lists the agents and events that have no hook, with the
stamps of the files that it was built from. While those stamps hold, such a call is answered with the agent's
silence; everything else takes the long way. The call is recorded in two steps (ADR 0016): before the answer one
spool line that it happened; after it, in a process of its own, what it was. Nothing is imported here that costs
time.
"""

import marshal
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

TABLE_FILE = "silent.bin"
FAIL_MODE_FILE = "failmode.bin"  # what the client answers without us
_PROJECT_HOOK_FILES = (".hookonce", ".openhook.json")
_EVENT_NAME_KEYS = ("hook_event_name", "hookEventName", "agent_action_name", "hookName", "hook")
_ENTRY_ARGC = 4  # arguments of an installed entry: agent, event, --via, scope; a wrapper has more
_PARENT_VARIABLE = b"HOOKONCE_PARENT="  # of an agent below a hook, whose depth has to be found before it is gone
_NS_PER_SECOND = 1_000_000_000


def load_current_table(folder: str, build: bytes) -> "dict[str, Any] | None":
    """The table in a client's folder; None if it is of another build, or a file that it was made from has changed.

    One of those is the fail-mode file beside it: while the table is current, so is what the client says without us.
    """
    try:
        with open(f"{folder}/{TABLE_FILE}", "rb") as file:  # noqa: PTH123  nothing is imported here that costs time
            table: dict[str, Any] = marshal.loads(file.read())  # noqa: S302  our own file, in our own folder
        is_current = build == table["build"] and stamp_files(table["files"]) == table["stamps"]
        return table if is_current and stamp_file(f"{folder}/{FAIL_MODE_FILE}") == table["fail_mode"] else None
    except Exception:  # noqa: BLE001  whatever is wrong here is told on the long way
        return None


def answer_silently(table: "dict[str, Any]", fields: "list[bytes]") -> "bytes | None":
    """The agent's silent answer for a call without hooks, once its spool line is written; None for all other calls."""
    try:
        row = find_row(table, fields, _parse_json)
        if row is None:
            return None
        call_id = fields[2].decode("ascii")
        if table["record"]:
            _append_to_spool(table["data"], call_id, build_spool_line(table, row, call_id), durable=table["settles"])
    except Exception:  # noqa: BLE001  whatever is wrong here is told on the long way
        return None
    silence: bytes = row["silence"]
    return silence


def find_row(
    table: "dict[str, Any]",
    fields: "list[bytes]",
    load_json: "Callable[[str], Any]",
    free_folders: "set[str] | None" = None,
) -> "dict[str, Any] | None":
    """The table's row for a call, if no hook concerns it and no project around its folders has hooks; else None.

    `free_folders` are those of which that was found for another call since this one came; others are added.
    """
    argv = os.fsdecode(fields[3]).split("\0")[:-1]
    if len(argv) != _ENTRY_ARGC or argv[2] != "--via" or _PARENT_VARIABLE in fields[4]:
        return None
    row: dict[str, Any] | None = table["agents"].get(argv[0], {}).get(argv[1])
    if row is None:
        return None
    payload = load_json(fields[7].decode())
    if type(payload) is not dict or "hookonce" in payload:
        return None  # nobody's payload, or our own trial
    event_names = [payload[name] for name in _EVENT_NAME_KEYS if name in payload]
    if event_names != [argv[1]] and not (table["nobody"] and not event_names):
        return None  # the payload is about something else than its words say
    if any(map(payload.keys().__ge__, row["strangers"])):
        return None
    payload_cwd, folder = payload.get("cwd"), os.fsdecode(fields[5])
    folders = {folder, os.path.join(folder, payload_cwd) if type(payload_cwd) is str else folder}  # noqa: PTH118
    has_hooks = _have_hooks(folders, set() if free_folders is None else free_folders)
    return None if has_hooks or (table["guards"] and _are_guarded(folders, table["guards"])) else row


def _are_guarded(folders: "set[str]", guard_places: "frozenset[Any]") -> bool:
    """Whether one of the folders, as it was named or as it is, may lie in a project whose hooks must be asked.

    The one without a name may be anywhere.
    """
    places = {*folders, *map(os.path.realpath, folders)} if guard_places else ()
    return any(not place or _may_be_guarded(place, guard_places) for place in places)


def _may_be_guarded(folder: str, guard_places: "frozenset[Any]") -> bool:
    """Whether a folder may lie in a project whose hooks must be asked, found or not; a worktree may be one of its."""
    folder, below = os.path.abspath(folder), ""  # noqa: PTH100
    while folder != below:
        try:
            status = os.stat(folder)  # noqa: PTH116
        except OSError:
            return True  # on the long way it is told why
        if folder in guard_places or (status.st_dev, status.st_ino) in guard_places:
            return True
        git = f"{folder}/.git"
        if os.access(git, os.F_OK) and os.path.isfile(git):  # noqa: PTH113
            return True
        folder, below = os.path.dirname(folder), folder  # noqa: PTH120
    return False


def stamp_files(folders: "list[tuple[str, list[str]]]") -> "list[tuple[int, ...] | None]":
    """Stamps of folders and of the files in them; None for a missing one, and nothing for the files below it."""
    file_stamps = []
    for folder, files in folders:
        folder_stamp = stamp_file(folder)
        file_stamps.append(
            folder_stamp and folder_stamp[4:]
        )  # who may write there; what is put there is seen by itself
        if folder_stamp is not None:
            file_stamps += [stamp_file(file) for file in files]
    return file_stamps


def stamp_file(path: str, *, is_expected: bool = False) -> "tuple[int, ...] | None":
    """Stamp of a file: times, size, inode, owner and mode; None if it is missing."""
    if not is_expected and not os.access(path, os.F_OK, follow_symlinks=False):
        return None  # most are not there, and an exception costs more
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError as error:
        return stamp_file(path) if is_expected else (error.errno or 0,)
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_uid, status.st_mode


def _parse_json(text: str) -> "Any":
    from _json import make_scanner  # what `json` is made of, without the rest of it

    value, end_index = make_scanner(_JsonScannerContext)(text.strip(), 0)  # type: ignore[arg-type]
    if end_index != len(text.strip()):
        raise ValueError("more than one")
    return value


class _JsonScannerContext:
    """The attributes that the C scanner of `json` asks its context for."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int
    memo: "dict[str, str]" = {}  # noqa: RUF012  the scanner's own

    @staticmethod
    def parse_constant(name: str) -> float:
        """Refuse NaN and Infinity, which are no JSON."""
        raise ValueError(name)


def _have_hooks(folders: "set[str]", free_folders: "set[str]") -> bool:
    """Whether a project around one of the folders may have hooks."""
    for folder in folders - free_folders:
        for path in _project_hook_paths(folder):
            if os.access(path, os.F_OK):  # without a generator, which would cost more
                return True
        free_folders.add(folder)
    return False


def _project_hook_paths(folder: str) -> "tuple[str, ...]":
    """Paths where a folder's project might have hooks; cached, because the next call comes from there too."""
    paths = _path_cache.get(folder)
    if paths is None:
        paths = tuple(_iter_hook_paths(folder))
        if len(_path_cache) > _MAX_CACHED_FOLDERS:
            _path_cache.clear()
        _path_cache[folder] = paths
    return paths


_path_cache: "dict[str, tuple[str, ...]]" = {}
_MAX_CACHED_FOLDERS = 256  # folders


def _iter_hook_paths(folder: str) -> "Iterator[str]":
    while folder:
        for name in _PROJECT_HOOK_FILES:
            yield f"{folder.rstrip('/')}/{name}"
        parent = os.path.dirname(folder)  # noqa: PTH120
        folder = parent if parent != folder else ""


def build_spool_line(table: "dict[str, Any]", row: "dict[str, Any]", call_id: str) -> bytes:
    """The first spool line of a call: a record from the table's template, with id and time filled in."""
    now = time.time_ns()
    id_prefix, time_prefix, received_prefix, suffix = _split_template(table["record"], row["type"], row["agent"])
    timestamp = f"{_format_second(now // _NS_PER_SECOND)}.{now // 1_000_000 % 1000:03d}Z"
    return f"{id_prefix}{call_id}{time_prefix}{timestamp}{received_prefix}{timestamp}{suffix}".encode()


def _split_template(record: str, event_type: str, agent: str) -> "list[str]":
    parts = _template_cache.get((record, event_type, agent))
    if parts is None:
        id_prefix, remainder = record.replace("(type)", event_type).replace("(agent)", agent).split("(id)")
        parts = _template_cache[record, event_type, agent] = [id_prefix, *remainder.split("(time)")]
    return parts


_template_cache: "dict[tuple[str, str, str], list[str]]" = {}  # there are no more of these than agents have events


def _format_second(second: int) -> str:
    """A second as text, cached: many calls come within one."""
    if _second_cache[0] != second:
        _second_cache[:] = [second, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))]
    text: str = _second_cache[1]
    return text


_second_cache: "list[Any]" = [0, ""]


def _append_to_spool(data: str, call_id: str, body: bytes, *, durable: bool = False) -> None:
    """Write the first line of a spool file, with fsync where records have to survive a loss of power."""
    try:  # the same without the rest of `hashlib`; its name has changed with Python 3.12
        from _sha2 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from _sha256 import sha256  # type: ignore[import-not-found]

    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(f"{data}/spool/{call_id}.jsonl", flags, 0o600)
    try:
        spool_line = b"1 %s %s\n" % (sha256(body).hexdigest().encode(), body)
        if os.write(handle, spool_line) != len(spool_line):
            raise OSError("the disk is full")
        if durable:
            os.fsync(handle)
            _fsync_folder(f"{data}/spool")
    finally:
        os.close(handle)


def _fsync_folder(folder: str) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
