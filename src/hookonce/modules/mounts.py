"""Mounts: which modules are there, by path. Several may share a path; a name is there once on it."""

from threading import Lock

from msgspec import Struct

from hookonce.model import Object
from hookonce.modules.descriptor import Descriptor, unmountable
from hookonce.modules.protocol import Fault
from hookonce.modules.sense import described

PATHS = tuple(f"/mnt/{name}" for name in ("providers", "tools", "agents", "hooks", "orchestrators", "context"))
# What is expected where; a module of another kind is no mistake, but perhaps not what was meant.
KINDS = dict(zip(PATHS, ("provider", "tool", "agent", "hook", "orchestrator", "context"), strict=True))


class Mount(Struct, frozen=True):
    """A module at a path."""

    path: str
    descriptor: Descriptor


class Mounts:
    """Everything that is mounted, in the order in which it was."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._mounts: list[Mount] = []
        self._lock = Lock()

    def add(self, path: str, descriptor: Descriptor | Object) -> Mount:
        """Mount a module; one that makes no sense, or cannot be reached, is refused here."""
        _check(path)
        descriptor = described(descriptor)
        if problems := unmountable(descriptor):
            told = "; ".join(f"{where} {what}" for where, what in problems)
            raise Fault(
                "bad_request", f"{descriptor.name} cannot be mounted: {told}", {"problems": [*map(list, problems)]}
            )
        mount = Mount(path, descriptor)
        with self._lock:
            if any(one.path == path and one.descriptor.name == descriptor.name for one in self._mounts):
                raise Fault("bad_request", f"there is a {descriptor.name} at {path} already; unmount it first")
            self._mounts.append(mount)
        return mount

    def remove(self, path: str, name: str | None = None) -> list[Mount]:
        """Unmount a module, or everything at a path; what is gone now."""
        _check(path)
        with self._lock:
            gone = [one for one in self._mounts if one.path == path and name in {None, one.descriptor.name}]
            if not gone:
                raise Fault("bad_request", f"nothing is mounted at {path}" + (f" as {name}" if name else ""))
            self._mounts = [one for one in self._mounts if one not in gone]
        return gone

    def at(self, path: str | None = None) -> list[Mount]:
        """What is mounted at a path, or anywhere."""
        with self._lock:
            return [one for one in self._mounts if path is None or one.path == path]

    def named(self, reference: str) -> Descriptor:
        """The module that a name, or a path with a name, refers to."""
        path, _, name = reference.rpartition("/")
        found = [one for one in self.at(path or None) if one.descriptor.name == name]
        if not found:
            raise Fault("bad_request", f"no module {reference} is mounted")
        if any(one.descriptor != found[0].descriptor for one in found):
            places = ", ".join(f"{one.path}/{name}" for one in found)
            raise Fault("bad_request", f"{name} is not one module but {len(found)}: say which of {places}")
        return found[0].descriptor

    def holds(self, descriptor: Descriptor) -> bool:
        """Whether a module is still mounted anywhere."""
        return any(one.descriptor == descriptor for one in self.at())


def _check(path: str) -> None:
    if path not in PATHS:
        raise Fault("bad_request", f"{path} is no mount path; there are {', '.join(PATHS)}")
