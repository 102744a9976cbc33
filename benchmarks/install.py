"""Installation into a large settings file: seconds, and as a multiple of json.loads and json.dumps of the same file.

Four files of 4 MB, each with its bulk elsewhere: in a list, in a table, in many members, in hooks of others. An
installation plans the change of ~/.claude/settings.json, which parses, edits and reads back the whole file.
"""

import json
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from hookonce import agents
from hookonce.configure.install import plan_install
from hookonce.configure.locations import ConfigRoots

FILE_BYTES = 4_000_000
CLIENT = "/home/somebody/.local/share/hookonce/bin/hookonce-on"


def foreign_hook(number: int) -> dict[str, Any]:
    """A group with one hook of somebody else."""
    handler = {"type": "command", "command": f"/opt/checks/{number}.sh", "timeout": 9}
    return {"matcher": f"Tool{number}", "hooks": [handler]}


SHAPES: dict[str, Callable[[int], dict[str, Any]]] = {
    "a list": lambda size: {"permissions": {"allow": [f"Bash(npm run task-{n}:*)" for n in range(size // 36)]}},
    "a table": lambda size: {"env": {f"KEY_{n}": "value " * 10 for n in range(size // 82)}},
    "many members": lambda size: {f"key{n}": {"a": [1, 2, 3], "b": "text"} for n in range(size // 82)},
    "hooks of others": lambda size: {"hooks": {"PreToolUse": [foreign_hook(n) for n in range(size // 225)]}},
}


def seconds(run: Callable[[], object]) -> float:
    """Seconds of this process, so that what else runs on the machine does not count."""
    begin = process_time()
    run()
    return process_time() - begin


def measure(text: str, home: Path, repeats: int) -> tuple[float, float]:
    """The medians of an installation, and of json with the same file."""
    file = home / ".claude" / "settings.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    agent, roots = agents.load("claude-code"), ConfigRoots(home, home / "project")
    installation = median(seconds(lambda: plan_install(agent, "user", roots, CLIENT)) for _ in range(repeats))
    return installation, median(seconds(lambda: json.dumps(json.loads(text))) for _ in range(repeats))


def main() -> None:
    """Print one line for each shape."""
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bytes", type=int, default=FILE_BYTES, help="size of the file")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"installation into a settings file of {options.bytes / 1e6:g} MB")
    for name, shape in SHAPES.items():
        with TemporaryDirectory() as home:
            installation, json_alone = measure(json.dumps(shape(options.bytes), indent=2), Path(home), options.repeats)
        print(f"  bulk in {name:16} {installation:6.2f} s, {installation / json_alone:5.1f} × json")


if __name__ == "__main__":
    main()
