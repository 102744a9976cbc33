"""The lab's hook: it keeps what it was given, and answers as its rules say. The first rule that fits counts.

It runs as `python -I -S witness.py FOLDER NAME`, so it knows nothing but Python. A rule is an object: `hook`, `event`,
`tool` and `holds` (a text in the input) say when it fits; `say` is printed, with the tool's input under `change`
changed if there is one; `do` is crash, late, slow, garbage or death.
"""

import json
import os
import signal
import sys
import time

LATE = 30  # seconds, longer than any hook of the lab is waited for


def fits(rule: "dict[str, object]", name: str, event: "dict[str, object]") -> bool:
    """Whether a rule is about this event."""
    tool: dict[str, object] = event.get("tool") or {}  # type: ignore[assignment]
    known = {"hook": name, "event": event.get("type"), "tool": tool.get("name")}
    if any(key in rule and rule[key] != value for key, value in known.items()):
        return False
    return str(rule.get("holds", "")) in json.dumps(tool.get("input") or event.get("prompt") or "")


def act(rule: "dict[str, object]", folder: str, event: "dict[str, object]") -> int:
    """Do what the rule says, and return the exit code."""
    what = rule.get("do")
    if what == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "late":
        time.sleep(LATE)
    if what == "slow":
        time.sleep(1)
    if what == "death":
        pid = daemon()
        note(folder, "killed", pid)  # before, because who watches over us ends us with it
        if pid:
            os.kill(pid, signal.SIGKILL)
        time.sleep(1)
    if what == "garbage":
        print('{"decision": "de')
    elif "change" in rule:
        print(json.dumps({"updated_input": {**event["tool"]["input"], **rule["change"]}}))  # type: ignore[index,dict-item]
    elif "say" in rule:
        print(json.dumps(rule["say"]))
    return 0


def daemon() -> int:
    """The id of this home's daemon, 0 if there is none."""
    place = os.fsencode(os.environ["HOME"]) + b"/.local/share/hookonce/bin"
    for name in os.listdir("/proc"):  # noqa: PTH208
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:  # noqa: PTH123
                words = file.read().split(b"\0")
        except OSError:
            continue
        if place in words and any(word.endswith(b"/warm.py") for word in words):
            return int(name)
    return 0


def note(folder: str, name: str, value: object) -> None:
    """Keep a line, in one write, so that hooks that run at once do not mix theirs."""
    handle = os.open(f"{folder}/{name}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(handle, json.dumps(value).encode() + b"\n")
    os.close(handle)


def main() -> int:
    """Hear an event."""
    folder, name = sys.argv[1:3]
    event = json.load(sys.stdin)
    note(folder, "heard", {"hook": name, "event": event})
    with open(f"{folder}/rules.json", encoding="utf-8") as file:  # noqa: PTH123
        rules = json.load(file)
    rule: dict[str, object] = next((one for one in rules if fits(one, name, event)), {})
    return act(rule, folder, event)


if __name__ == "__main__":
    sys.exit(main())
