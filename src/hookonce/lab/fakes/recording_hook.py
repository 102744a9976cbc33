"""Recording hook: it logs its input and answers by rules; the first rule that matches counts.

Runs as `python -I -S recording_hook.py FOLDER NAME`, with the standard library only.
A rule is an object: `hook`, `event`, `tool` and `holds` (a text in the input) select; `say` is printed,
with the tool's input under `change` changed if there is one; `do` is crash, late, slow, garbage or death.
"""

import json
import os
import signal
import sys
import time

LATE_S = 30  # seconds, longer than any hook of the lab is waited for


def matches(rule: "dict[str, object]", name: str, event: "dict[str, object]") -> bool:
    """Whether a rule is about this event."""
    tool: dict[str, object] = event.get("tool") or {}  # type: ignore[assignment]
    values = {"hook": name, "event": event.get("type"), "tool": tool.get("name")}
    if any(key in rule and rule[key] != value for key, value in values.items()):
        return False
    return str(rule.get("holds", "")) in json.dumps(tool.get("input") or event.get("prompt") or "")


def apply_rule(rule: "dict[str, object]", folder: str, event: "dict[str, object]") -> int:
    """Do what the rule says, and return the exit code."""
    action = rule.get("do")
    if action == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if action == "late":
        time.sleep(LATE_S)
    if action == "slow":
        time.sleep(1)
    if action == "death":
        pid = find_daemon()
        append_note(folder, "killed", pid)  # before, because who watches over us ends us with it
        if pid:
            os.kill(pid, signal.SIGKILL)
        time.sleep(1)
    if action == "garbage":
        print('{"decision": "de')
    elif "change" in rule:
        print(json.dumps({"updated_input": {**event["tool"]["input"], **rule["change"]}}))  # type: ignore[index,dict-item]
    elif "say" in rule:
        print(json.dumps(rule["say"]))
    return 0


def find_daemon() -> int:
    """Process id of this home's daemon, 0 if there is none."""
    program_folder = os.fsencode(os.environ["HOME"]) + b"/.local/share/hookonce/bin"
    for name in os.listdir("/proc"):  # noqa: PTH208
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:  # noqa: PTH123
                arguments = file.read().split(b"\0")
        except OSError:
            continue
        if program_folder in arguments and any(argument.endswith(b"/daemon/__main__.py") for argument in arguments):
            return int(name)
    return 0


def append_note(folder: str, name: str, value: object) -> None:
    """Append a JSON line in one write, so that concurrent hooks do not mix theirs."""
    handle = os.open(f"{folder}/{name}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(handle, json.dumps(value).encode() + b"\n")
    os.close(handle)


def main() -> int:
    """Hear an event."""
    folder, name = sys.argv[1:3]
    event = json.load(sys.stdin)
    append_note(folder, "heard", {"hook": name, "event": event})
    with open(f"{folder}/rules.json", encoding="utf-8") as file:  # noqa: PTH123
        rules = json.load(file)
    rule: dict[str, object] = next((candidate for candidate in rules if matches(candidate, name, event)), {})
    return apply_rule(rule, folder, event)


if __name__ == "__main__":
    sys.exit(main())
