"""Kernel of this user's modules: the settings grant capabilities, and events are logged and recorded, redacted."""

from collections.abc import Mapping
from pathlib import Path

from msgspec.json import encode

from hookonce.base import paths, settings
from hookonce.errors import HookonceError
from hookonce.formats._shared.rest import EXTENSION_KEY
from hookonce.formats.amplifier import envelope
from hookonce.model import Object
from hookonce.modules.kernel.kernel import Kernel
from hookonce.modules.protocol.capabilities import CapabilityPolicy, policy_from_grants
from hookonce.modules.protocol.descriptor import Descriptor, load_descriptor
from hookonce.modules.protocol.messages import DEFAULT_TIMEOUT_S
from hookonce.sessions.stored_records import redact_record
from hookonce.store import kernel_log
from hookonce.store.spool import files

_RECORD_ONLY_KEYS = frozenset({EXTENSION_KEY, "likeness", "component"})


def descriptor_folder() -> Path:
    """The folder with the descriptors of the user's modules."""
    return paths.config_dir() / "modules"


def build_kernel(policies: Mapping[str, CapabilityPolicy] | None = None, timeout: float = DEFAULT_TIMEOUT_S) -> Kernel:
    """Build a kernel; policies beside the settings may be added."""
    return Kernel(
        {"settings": policy_from_grants(settings.grants())} | dict(policies or {}), log=record_event, timeout=timeout
    )


def record_event(event: Object) -> None:
    """Write a kernel event into its log and into the store; nothing raw reaches either."""
    if not settings.records():
        return
    record = redact_record(envelope.read(event))
    files.append(record)
    line = b"".join(encode(_public_event(document), order="sorted") + b"\n" for document in envelope.write(record))
    kernel_log.append(line)


def _public_event(document: Object) -> Object:
    """An event as the kernel has sent it, without what only our own record needs."""
    data = {name: value for name, value in (document.get("data") or {}).items() if name not in _RECORD_ONLY_KEYS}
    return document | {"data": data} if data else {name: value for name, value in document.items() if name != "data"}


def find_module(name: str) -> Descriptor:
    """Find the module that a file describes, or that has this name in the user's folder."""
    if "/" in name or name.endswith(".json"):
        return load_descriptor(Path(name))
    descriptors = {
        file: descriptor for file, descriptor in list_modules().items() if isinstance(descriptor, Descriptor)
    }
    matches = {file: descriptor for file, descriptor in descriptors.items() if descriptor.name == name}
    if not matches:
        others = (
            f"; there are {', '.join(sorted({descriptor.name for descriptor in descriptors.values()}))}"
            if descriptors
            else ""
        )
        raise HookonceError(
            f"no module {name} is described in {descriptor_folder()}{others}; a path to a descriptor does as well"
        )
    if len(matches) > 1:
        raise HookonceError(f"more than one module is called {name}: say which of {', '.join(map(str, matches))}")
    return next(iter(matches.values()))


def list_modules() -> dict[Path, Descriptor | HookonceError]:
    """Every descriptor file of the user's folder: its module, or why it describes none."""
    modules: dict[Path, Descriptor | HookonceError] = {}
    for file in sorted(descriptor_folder().glob("*.json")):
        try:
            modules[file] = load_descriptor(file)
        except HookonceError as problem:
            modules[file] = problem
    return modules
