"""Isolation of the test run from the machine: no agent on the path, and its own view of /etc/hookonce, which is empty.

What is installed, and in which form, depends on the agents that are found and on their versions.

Settings, hooks and policies of the system count for every process of hookonce, and no variable may redirect them. So
where this machine has some, the tests run in a mount namespace in which an empty folder lies over them; the processes
that tests start inherit it.
"""

import atexit
import ctypes
import os
import shutil
import sys
from pathlib import Path
from tempfile import mkdtemp

from hookonce import agents

SYSTEM = Path("/etc/hookonce")
_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000


def hide_system_settings() -> str | None:
    """Cover the system's settings with an empty folder; why not, if that cannot be done here."""
    if sys.platform != "linux" or not (SYSTEM.is_dir() and any(SYSTEM.iterdir())):
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_CLONE_NEWNS) != 0:  # not root: as ourselves in a user namespace, where we may mount
        if libc.unshare(_CLONE_NEWNS | _CLONE_NEWUSER) != 0:
            return f"{SYSTEM} counts in this run, and some tests will fail: {os.strerror(ctypes.get_errno())}"
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    private = libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None)
    if private != 0 or libc.mount(b"tmpfs", os.fsencode(SYSTEM), b"tmpfs", 0, b"mode=755") != 0:
        return f"{SYSTEM} counts in this run, and some tests will fail: {os.strerror(ctypes.get_errno())}"
    return None


def hide_agents(path: str) -> str:
    """The path without agents: a folder that has some is replaced by links to everything else in it."""
    names = {program for agent in agents.load_all() for program in agent.config.programs}
    return os.pathsep.join(_without_programs(folder, names) for folder in path.split(os.pathsep))


def _without_programs(folder: str, names: set[str]) -> str:
    if not any(Path(folder, name).exists() for name in names):
        return folder
    links = mkdtemp(prefix="hookonce-path-")
    atexit.register(shutil.rmtree, links, ignore_errors=True)
    for file in Path(folder).iterdir():
        if file.name not in names:
            Path(links, file.name).symlink_to(file)
    return links
