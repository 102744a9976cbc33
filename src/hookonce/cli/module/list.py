"""hookonce module list: descriptors of this machine."""

import sys
from argparse import ArgumentParser, Namespace
from concurrent.futures import ThreadPoolExecutor

from hookonce.base.jsontext import dump
from hookonce.cli._ui.tables import new_table, print_table
from hookonce.errors import HookonceError
from hookonce.model import Object

_EXAMPLES = "examples:\n  hookonce module list\n  hookonce module list --health --json"


def configure(parser: ArgumentParser) -> None:
    """The options of `module list`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("--health", action="store_true", help="ask each of them how it is")
    parser.add_argument("--json", action="store_true", help="one JSON object per module")


def run(options: Namespace) -> int:
    """List them, and the files that describe none."""
    from hookonce.modules.kernel.user_kernel import descriptor_folder, list_modules

    descriptors = list_modules()
    with ThreadPoolExecutor() as pool:
        rows = list(
            pool.map(lambda pair: _module_row(str(pair[0]), pair[1], ask_health=options.health), descriptors.items())
        )
    if options.json:
        for row in rows:
            sys.stdout.buffer.write(dump(row) + b"\n")
        return 0
    if not rows:
        print(
            f"no module is described in {descriptor_folder()}; put a descriptor there: {descriptor_folder() / 'greeter.json'}"
        )
        return 0
    output = new_table("module", "kind", "version", "transport", "wants", "state")
    for row in rows:
        cells = [str(row.get(key, "-")) for key in ("module", "kind", "version", "transport")]
        output.add_row(*cells, ", ".join(row.get("wants", [])) or "-", row["state"])
    print_table(output)
    return 0


def _module_row(file: str, module_descriptor: "object", *, ask_health: bool) -> Object:
    from hookonce.modules.host.client import connect, health
    from hookonce.modules.protocol.descriptor import Descriptor, mount_problems

    if not isinstance(module_descriptor, Descriptor):
        return {
            "file": file,
            "state": str(module_descriptor) if isinstance(module_descriptor, HookonceError) else "unreadable",
        }
    row: Object = {
        "file": file,
        "module": module_descriptor.name,
        "kind": module_descriptor.kind,
        "version": module_descriptor.version,
    }
    row |= {
        "transport": module_descriptor.transport.type,
        "wants": _capability_labels(module_descriptor.name, module_descriptor.capabilities),
        "state": "described",
    }
    if problems := mount_problems(module_descriptor):
        row["state"] = "; ".join(f"{path} {message}" for path, message in problems)
    elif ask_health:
        link = connect(module_descriptor)
        try:
            health_result = health(link)
        finally:
            link.close()
        row["state"] = (
            "well" if health_result.error is None else f"{health_result.error.code}: {health_result.error.message}"
        )
    return row


def _capability_labels(name: str, capabilities: list[str]) -> list[str]:
    from hookonce.base import settings

    grants = {*settings.grants().get(name, ()), *settings.grants().get("*", ())}
    return [capability if capability in grants else f"{capability} (not granted)" for capability in capabilities]
