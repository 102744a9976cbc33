"""Kernel of this user's modules: the settings grant capabilities, and events are logged and recorded, redacted."""

from collections.abc import Mapping
from pathlib import Path

from hookonce.base import paths, settings
from hookonce.errors import HookonceError
from hookonce.model import Object
from hookonce.modules.kernel.kernel import Kernel
from hookonce.modules.protocol.capabilities import CapabilityPolicy, policy_from_grants
from hookonce.modules.protocol.descriptor import Descriptor, load_descriptor
from hookonce.modules.protocol.messages import DEFAULT_TIMEOUT_S, Request
from hookonce.sessions.stored_records import record_kernel_event


def descriptor_folder() -> Path:
    """The folder with the descriptors of the user's modules."""
    return paths.config_dir() / "modules"


class DryLink:
    """Link to a module that is not asked."""

    def ask(self, request: Request, timeout: float) -> Object:  # noqa: ARG002  nobody is asked
        """No answer of anybody, and no failure, whatever is asked."""
        return {"ok": True, "result": {"name": "dry run", "status": "ok"}}

    def close(self) -> None:
        """Nothing is open."""


def build_kernel(
    policies: Mapping[str, CapabilityPolicy] | None = None, timeout: float = DEFAULT_TIMEOUT_S, *, is_dry: bool = False
) -> Kernel:
    """Build a kernel; policies beside the settings may be added. A dry one asks no module and keeps nothing."""
    all_policies = {"settings": policy_from_grants(settings.load().grants), **(policies or {})}
    if is_dry:
        return Kernel(all_policies, timeout=timeout, connect_link=lambda _: DryLink())
    return Kernel(all_policies, log=record_kernel_event, timeout=timeout)


def find_module(name: str) -> Descriptor:
    """Find the module that a file describes, or that has this name in the user's folder."""
    if "/" in name or name.endswith(".json"):
        return load_descriptor(Path(name))
    modules = {file: module for file, module in list_modules().items() if isinstance(module, Descriptor)}
    matches = {file: module for file, module in modules.items() if module.name == name}
    if not matches:
        names = ", ".join(sorted({module.name for module in modules.values()}))
        folder, others = descriptor_folder(), f"; there are {names}" if names else ""
        raise HookonceError(f"no module {name} is described in {folder}{others}; a path to a descriptor does as well")
    if len(matches) > 1:
        raise HookonceError(f"more than one module is called {name}: choose one of {', '.join(map(str, matches))}")
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
