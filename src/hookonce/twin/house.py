"""The house: the directory of one home and its data, in which the daemon, its socket and its locks live.

Said again here, as in the native client, because what Python has for it (`runtime`, `config`) takes too long to import.
"""

import os
import stat

_OFFSET, _PRIME = 0xCBF29CE484222325, 0x100000001B3  # of FNV-1a, 64 bits
_OTHERS = 0o077


def home(named: bytes) -> bytes:
    """What HOME names, if it is a directory of ours and no repository's; else what the system knows."""
    if _is_ours(named) and not _is_in_repository(_tidy(named)):
        return _tidy(named)
    return _tidy(_registered())


def find(owner: bytes) -> str:
    """The first place that is ours alone, nothing if there is none; it is not made here, but by who goes cold."""
    user = os.getuid()
    last = os.fsdecode(_data(owner)) + "/run"  # somebody else can be faster to take the second
    for place in (f"/run/user/{user}/hookonce", f"/tmp/hookonce-{user}", last):  # noqa: S108  it must be ours alone
        if _is_ours_alone(place) and _is_ours_alone(found := f"{place}/{_number(owner):016x}"):
            return found
    return ""


def _is_ours(named: bytes) -> bool:
    try:
        found = os.stat(named)  # noqa: PTH116
    except OSError:
        return False
    return named.startswith(b"/") and stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _is_in_repository(folder: bytes) -> bool:
    while not os.path.lexists(folder + b"/.git"):
        if not folder:
            return False
        folder = folder[: folder.rindex(b"/")]
    return True


def _registered() -> bytes:
    from pwd import getpwuid

    try:
        found = os.fsencode(getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a container may run us as somebody who is not in the list
        return b"/"
    return found if found.startswith(b"/") else b"/"


def _tidy(path: bytes) -> bytes:
    """As `pathlib` spells it, which keeps two slashes at the beginning, but not three, and resolves nothing."""
    root = b"//" if path.startswith(b"//") and not path.startswith(b"///") else b"/"
    return root + b"/".join(part for part in path.split(b"/") if part not in (b"", b"."))


def _data(owner: bytes) -> bytes:
    return owner + (b"" if owner.endswith(b"/") else b"/") + b".local/share/hookonce"


def _number(owner: bytes) -> int:
    found = _OFFSET
    for byte in owner + b"\0" + _data(owner):
        found = (found ^ byte) * _PRIME % (1 << 64)
    return found


def _is_ours_alone(folder: str) -> bool:
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & _OTHERS
