"""Daemon lifecycle: the lock that allows one daemon per home, start, signals and shutdown."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock, lockf
from pathlib import Path
from subprocess import DEVNULL, Popen
from time import sleep

from hookonce.base import build_id, paths, runtime_dir
from hookonce.base.event_loop import READ, EventLoop
from hookonce.base.runtime_location import DAEMON_FILE
from hookonce.base.spawn import fork_child, spawn
from hookonce.client import daemon_endpoints
from hookonce.errors import HookonceError

LOCK_FD = 3  # the descriptor of the lock that whoever starts us hands over
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_SOCKET_PATH_BYTES = 100  # bytes of an address that every system takes; clients look at no longer one
_lock_fds: list[int] = []
_SETTLE_DELAY_S = 0.2  # seconds after which the call that has started us was answered
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_SUCCESSOR_TRIES, _SUCCESSOR_INTERVAL_S = 60, 0.25  # looks for a package that is being installed, and for its daemon


def lock_path() -> Path:
    """Path of the lock file that one daemon at a time holds."""
    return runtime_dir.find_runtime_dir() / "daemon.lock"


def failure_marker_path() -> Path:
    """Path of the marker of a start that failed, so that clients do not try again at once."""
    return runtime_dir.find_runtime_dir() / "daemon.failed"


def acquire_lock() -> bool:
    """Acquire the daemon lock, inherited as descriptor 3 or free; whether that succeeded."""
    fd = LOCK_FD if _is_lock_fd(LOCK_FD) else os.open(lock_path(), _LOCK_FLAGS, 0o600)
    try:
        flock(fd, LOCK_EX | LOCK_NB)
    except OSError:
        os.close(fd)
        return False
    os.set_inheritable(fd, False)  # noqa: FBT003  the system's own order of words
    _lock_fds.append(fd)
    return True


def lock_client() -> None:
    """Lock a file beside the client that names our mounts: whoever can write there could replace the client itself.

    A lock of a process ends with it, and with the first descriptor of that file that it closes: nobody else opens it.
    """
    with suppress(OSError):  # without it the client asks the system who we are, as of a daemon of another version
        fd = os.open(paths.client_path().with_name(DAEMON_FILE), _LOCK_FLAGS, 0o600)
        _lock_fds.append(fd)
        lockf(fd, LOCK_EX | LOCK_NB)
        os.ftruncate(fd, 0)
        mounts = os.readlink("/proc/self/ns/mnt")  # noqa: PTH115
        os.write(fd, f"{os.getpid()}\n{mounts}\n{_root_mount_number()}\n".encode())


def _root_mount_number() -> str:
    """Number of the mount that is our root: none is in two namespaces, and clients ask for it faster than for those."""
    fd = os.open("/", os.O_PATH | os.O_CLOEXEC)
    try:
        text = Path(f"/proc/self/fdinfo/{fd}").read_text(encoding="ascii")
    finally:
        os.close(fd)
    return text.partition("mnt_id:")[2].partition("\n")[0].strip()


def release_lock() -> None:
    """Release the locks, so that another daemon may start."""
    while _lock_fds:
        os.close(_lock_fds.pop())


def _is_lock_fd(fd: int) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), lock_path().lstat())
    except OSError:
        return False


def serve() -> int:
    """Run the daemon unless one is running; the exit code."""
    from hookonce.secrets import log

    if (reason := _find_obstacle()) is not None:
        failure_marker_path().touch(mode=0o600)
        log.write(f"daemon: {reason}")
        return 0
    if not acquire_lock():
        return 0
    try:
        _run_daemon()
    except BaseException as problem:  # noqa: BLE001  nobody sees it but our log
        log.write(f"daemon: {log.format_trace(problem)}")
        with suppress(OSError):
            failure_marker_path().touch(mode=0o600)
        return 70
    return 0


def spawn_daemon(environment: Mapping[str, str]) -> "Popen[bytes]":
    """Start the process of a daemon, as the client would; HookonceError if nothing is installed."""
    folder = paths.client_path().parent
    try:
        python, _, package_dir, *_ = (folder / "interpreter").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        raise HookonceError("no agent calls hookonce here yet; hookonce install puts everything in place") from None
    failure_marker_path().unlink(missing_ok=True)
    command = [python, "-I", "-S", f"{package_dir}/hookonce/daemon/__main__.py", str(folder)]
    return spawn(command, (DEVNULL, DEVNULL, DEVNULL), cwd="/", env=environment)


def start_successor() -> None:
    """Have the daemon of the package started that is installed now, by a copy of this process; nobody waits for it."""
    fork_child(_start_successor, ())


def _start_successor() -> None:
    """Start a daemon until one answers: a package that is being installed is not whole yet."""
    signal.set_wakeup_fd(-1)
    for number in _STOP_SIGNALS:
        signal.signal(number, signal.SIG_DFL)  # who ends daemons ends whoever starts one
    build, process = "", None
    for _ in range(_SUCCESSOR_TRIES):
        with suppress(OSError, HookonceError):
            previous_build, build = build, build_id.installed_build_id()
            if daemon_endpoints.query_status() is not None:
                return
            if build == previous_build and (process is None or process.poll() is not None):
                process = spawn_daemon(os.environ)
        sleep(_SUCCESSOR_INTERVAL_S)


def _find_obstacle() -> str | None:
    from hookonce.handlers.supervise import limits

    if limits.has_low_limits():
        return "the calling process has limits that the daemon must not inherit; another call may start it"
    socket_path = daemon_endpoints.socket_path()
    if sys.platform != "linux" and len(bytes(socket_path)) > _MAX_SOCKET_PATH_BYTES:
        return f"{socket_path} is too long for a socket; agents are answered without a daemon, more slowly"
    return None


def _run_daemon() -> None:
    from hookonce.daemon.server import Daemon
    from hookonce.dispatch import dispatcher
    from hookonce.dispatch.fast_path import lookup
    from hookonce.handlers.supervise import limits

    gc.disable()  # the daemon does it when nobody waits
    build = build_id.running_build_id().encode()
    if lookup.load_current_table(str(paths.client_path().parent), build) is None:
        dispatcher.refresh_client_files()  # what the client says without us, before a new hook can be lost
    limits.raise_fd_limit()
    lock_client()
    daemon = Daemon(daemon_endpoints.socket_path())
    failure_marker_path().unlink(missing_ok=True)
    _install_signal_handlers(daemon.stop, daemon.loop)
    daemon.loop.call_later(_SETTLE_DELAY_S, _settle)
    daemon.run()


def _settle() -> None:
    """Do what the call that has started us need not wait for."""
    from hookonce.client import installation, module_cache

    if paths.client_path().exists():  # else it was uninstalled meanwhile, and stays so
        installation.refresh_client()
    module_cache.save_cache()
    gc.collect()
    gc.freeze()  # what is there now stays; nobody looks through it again, and processes that we copy share it


def _install_signal_handlers(stop: Callable[[], object], loop: EventLoop) -> None:
    read_fd, write_fd = os.pipe()
    os.set_blocking(write_fd, False)
    signal.set_wakeup_fd(write_fd)
    for number in _STOP_SIGNALS:
        signal.signal(number, lambda *_: None)

    def handle_wakeup(_: int) -> None:
        os.read(read_fd, 64)
        stop()

    loop.watch_fd(read_fd, READ, handle_wakeup)
