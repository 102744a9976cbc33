"""hookonce module list."""

import sys
from argparse import ArgumentParser, Namespace
from concurrent.futures import ThreadPoolExecutor

from hookonce.cli._table import show, table
from hookonce.errors import HookonceError
from hookonce.model import Object
from hookonce.texts import dump

_EXAMPLES = "examples:\n  hookonce module list\n  hookonce module list --health --json"


def configure(parser: ArgumentParser) -> None:
    """The options of `module list`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("--health", action="store_true", help="ask each of them how it is")
    parser.add_argument("--json", action="store_true", help="one JSON object per module")


def run(options: Namespace) -> int:
    """List them, and the files that describe none."""
    from hookonce.journeys.kernel import folder, installed

    found = installed()
    with ThreadPoolExecutor() as pool:
        rows = list(pool.map(lambda pair: _row(str(pair[0]), pair[1], asks=options.health), found.items()))
    if options.json:
        for row in rows:
            sys.stdout.buffer.write(dump(row) + b"\n")
        return 0
    if not rows:
        print(f"no module is described in {folder()}; put a descriptor there: {folder() / 'greeter.json'}")
        return 0
    made = table("module", "kind", "version", "transport", "wants", "state")
    for row in rows:
        cells = [str(row.get(key, "-")) for key in ("module", "kind", "version", "transport")]
        made.add_row(*cells, ", ".join(row.get("wants", [])) or "-", row["state"])
    show(made)
    return 0


def _row(file: str, found: "object", *, asks: bool) -> Object:
    from hookonce.modules.client import connect, health
    from hookonce.modules.descriptor import Descriptor, unmountable

    if not isinstance(found, Descriptor):
        return {"file": file, "state": str(found) if isinstance(found, HookonceError) else "unreadable"}
    row: Object = {"file": file, "module": found.name, "kind": found.kind, "version": found.version}
    row |= {"transport": found.transport.type, "wants": _wants(found.name, found.capabilities), "state": "described"}
    if problems := unmountable(found):
        row["state"] = "; ".join(f"{path} {message}" for path, message in problems)
    elif asks:
        link = connect(found)
        try:
            said = health(link)
        finally:
            link.close()
        row["state"] = "well" if said.error is None else f"{said.error.code}: {said.error.message}"
    return row


def _wants(name: str, capabilities: list[str]) -> list[str]:
    """What it wants, and which of that it would not get."""
    from hookonce.config import settings

    granted = {*settings.grants().get(name, ()), *settings.grants().get("*", ())}
    return [one if one in granted else f"{one} (not granted)" for one in capabilities]
