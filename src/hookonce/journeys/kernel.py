"""A kernel for this user: what the settings grant is granted, and what happens is logged, redacted."""

from collections.abc import Mapping
from pathlib import Path

from msgspec.json import encode

from hookonce.config import paths, settings
from hookonce.errors import HookonceError
from hookonce.formats import amplifier
from hookonce.formats._rest import KEY
from hookonce.journeys.stored import stored
from hookonce.model import Object
from hookonce.modules.descriptor import Descriptor, load
from hookonce.modules.gate import Policy, listed
from hookonce.modules.kernel import Kernel
from hookonce.modules.protocol import TIMEOUT
from hookonce.store import kernel_log, spool

_OURS = frozenset({KEY, "likeness", "component"})


def folder() -> Path:
    """Where the descriptors of the user's modules lie."""
    return paths.configuration() / "modules"


def kernel(more: Mapping[str, Policy] | None = None, timeout: float = TIMEOUT) -> Kernel:
    """A kernel; policies beside the settings may be added."""
    return Kernel({"settings": listed(settings.grants())} | dict(more or {}), log=keep, timeout=timeout)


def keep(event: Object) -> None:
    """Write an event of the kernel into its log and into the record; nothing raw reaches either."""
    if not settings.records():
        return
    record = stored(amplifier.read(event))
    spool.append(record)
    line = b"".join(encode(_bare(document), order="sorted") + b"\n" for document in amplifier.write(record))
    kernel_log.append(line)


def _bare(document: Object) -> Object:
    """An event as the kernel has told it: what only our own record needs stands there."""
    data = {name: value for name, value in (document.get("data") or {}).items() if name not in _OURS}
    return document | {"data": data} if data else {name: value for name, value in document.items() if name != "data"}


def named(name: str) -> Descriptor:
    """The module that a file describes, or that is called so in the user's folder."""
    if "/" in name or name.endswith(".json"):
        return load(Path(name))
    known = {file: one for file, one in installed().items() if isinstance(one, Descriptor)}
    found = {file: one for file, one in known.items() if one.name == name}
    if not found:
        others = f"; there are {', '.join(sorted({one.name for one in known.values()}))}" if known else ""
        raise HookonceError(f"no module {name} is described in {folder()}{others}; a path to a descriptor does as well")
    if len(found) > 1:
        raise HookonceError(f"more than one module is called {name}: say which of {', '.join(map(str, found))}")
    return next(iter(found.values()))


def installed() -> dict[Path, Descriptor | HookonceError]:
    """Every file of the user's folder: the module that it describes, or why it describes none."""
    found: dict[Path, Descriptor | HookonceError] = {}
    for file in sorted(folder().glob("*.json")):
        try:
            found[file] = load(file)
        except HookonceError as problem:
            found[file] = problem
    return found
