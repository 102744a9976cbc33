"""Mount table of the kernel: modules by path. Several may share a path; a name is there once on it."""

from threading import Lock

from msgspec import Struct

from hookonce.model import Object
from hookonce.modules.protocol.descriptor import Descriptor
from hookonce.modules.protocol.messages import Fault
from hookonce.modules.protocol.validation import require_reachable, resolve_descriptor

MOUNT_PATHS = tuple(f"/mnt/{name}" for name in ("providers", "tools", "agents", "hooks", "orchestrators", "context"))


class Mount(Struct, frozen=True):
    """A module at a path."""

    path: str
    descriptor: Descriptor


class MountTable:
    """Everything that is mounted, in the order in which it was."""

    def __init__(self) -> None:
        self._mounts: list[Mount] = []
        self._lock = Lock()

    def add(self, path: str, descriptor: Descriptor | Object) -> None:
        """Mount a module; an invalid descriptor, or one that cannot be reached, is refused here."""
        _check_path(path)
        descriptor = resolve_descriptor(descriptor)
        require_reachable(descriptor, "mounted")
        with self._lock:
            if any(other.path == path and other.descriptor.name == descriptor.name for other in self._mounts):
                raise Fault("bad_request", f"there is a {descriptor.name} at {path} already; unmount it first")
            self._mounts.append(Mount(path, descriptor))

    def remove(self, path: str, name: str | None = None) -> list[Mount]:
        """Unmount a module, or everything at a path; what was unmounted."""
        _check_path(path)
        with self._lock:
            matches = [mount for mount in self._mounts if mount.path == path and name in {None, mount.descriptor.name}]
            if not matches:
                raise Fault("bad_request", f"nothing is mounted at {path}" + (f" as {name}" if name else ""))
            self._mounts = [mount for mount in self._mounts if mount not in matches]
        return matches

    def list_mounts(self, path: str | None = None) -> list[Mount]:
        """The mounts at a path, or all."""
        with self._lock:
            return [mount for mount in self._mounts if path is None or mount.path == path]

    def find_descriptor(self, reference: str) -> Descriptor:
        """The module that a name, or a path with a name, refers to."""
        path, _, name = reference.rpartition("/")
        mounts = [mount for mount in self.list_mounts(path or None) if mount.descriptor.name == name]
        if not mounts:
            raise Fault("bad_request", f"no module {reference} is mounted")
        if any(mount.descriptor != mounts[0].descriptor for mount in mounts):
            places = ", ".join(f"{mount.path}/{name}" for mount in mounts)
            raise Fault("bad_request", f"{name} is not one module but {len(mounts)}: choose one of {places}")
        return mounts[0].descriptor


def _check_path(path: str) -> None:
    if path not in MOUNT_PATHS:
        raise Fault("bad_request", f"{path} is no mount path; there are {', '.join(MOUNT_PATHS)}")
