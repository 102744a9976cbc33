"""The house: the directory of one home and its data, in which the daemon, its socket and its locks live.

Said again here, as in the native client, because what Python has for it (`runtime`, `config`) takes too long to import.
"""

import os
import stat

_FNV_OFFSET, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3  # of FNV-1a, 64 bits
_GROUP_OTHER_MODE = 0o077


def find_home(home_variable: bytes) -> bytes:
    """The home: HOME if it is a directory of ours outside of any repository, else the one in passwd."""
    if _is_own_directory(home_variable) and not _is_in_repository(_normalize_path(home_variable)):
        return _normalize_path(home_variable)
    return _normalize_path(_passwd_home())


def find_runtime_dir(home: bytes) -> str:
    """The runtime directory in the first location that is ours alone, else ""; it is created by Python, not here."""
    uid = os.getuid()
    fallback = os.fsdecode(_data_dir(home)) + "/run"  # somebody else can be faster to take the second
    for location in (f"/run/user/{uid}/hookonce", f"/tmp/hookonce-{uid}", fallback):  # noqa: S108  it must be ours alone
        if _is_private_directory(location) and _is_private_directory(path := f"{location}/{_fnv1a_hash(home):016x}"):
            return path
    return ""


def _is_own_directory(path: bytes) -> bool:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return False
    return path.startswith(b"/") and stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def _is_in_repository(folder: bytes) -> bool:
    while not os.path.lexists(folder + b"/.git"):
        if not folder:
            return False
        folder = folder[: folder.rindex(b"/")]
    return True


def _passwd_home() -> bytes:
    from pwd import getpwuid

    try:
        path = os.fsencode(getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a container may run us as somebody who is not in the list
        return b"/"
    return path if path.startswith(b"/") else b"/"


def _normalize_path(path: bytes) -> bytes:
    """Normalise as `pathlib` does: it keeps two leading slashes, but not three, and resolves nothing."""
    root = b"//" if path.startswith(b"//") and not path.startswith(b"///") else b"/"
    return root + b"/".join(part for part in path.split(b"/") if part not in (b"", b"."))


def _data_dir(home: bytes) -> bytes:
    return home + (b"" if home.endswith(b"/") else b"/") + b".local/share/hookonce"


def _fnv1a_hash(home: bytes) -> int:
    digest = _FNV_OFFSET
    for byte in home + b"\0" + _data_dir(home):
        digest = (digest ^ byte) * _FNV_PRIME % (1 << 64)
    return digest


def _is_private_directory(folder: str) -> bool:
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & _GROUP_OTHER_MODE
