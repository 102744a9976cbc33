"""What the clients have of our tables: the constants of the native one, and the silences in the shell script."""

import re
from collections.abc import Collection
from pathlib import Path

from hookonce import agents
from hookonce.base import runtime_location as rule
from hookonce.base import wire
from hookonce.client.python.launch import DAEMON_VARIABLES
from hookonce.dispatch import live_formats
from hookonce.dispatch.hook_faults.missed_calls import MAX_MISSED_CALLS

FOLDER = "src/hookonce/client/native"
_SILENCE_CASES = re.compile(r"(?<=    case \$1 in )[^\n]*(?= esac\n)")


def pages(root: Path) -> dict[str, str]:
    """The header, and the script with its line."""
    script = (root / FOLDER / "hookonce-on.sh").read_text(encoding="utf-8")
    cases, found = _SILENCE_CASES.subn(lambda _: _silence_cases(), script)
    if found != 1:
        raise ValueError("hookonce-on.sh has no line for silences")
    return {f"{FOLDER}/generated.h": _header(), f"{FOLDER}/hookonce-on.sh": cases}


def _silences() -> dict[str, str]:
    """The agents and formats for whom saying nothing is a mistake, with what they hear instead."""
    callers = [*map(agents.load, agents.AGENTS), *live_formats.load_live_formats()]
    return {caller.name: silence for caller in callers if (silence := caller.config.silence)}


def _silence_cases() -> str:
    by_text: dict[str, list[str]] = {}
    for name, silence in _silences().items():
        by_text.setdefault(silence, []).append(name)
    return " ".join(f"{' | '.join(names)}) out_text='{silence}\\n' ;;" for silence, names in by_text.items())


def _daemon_variables() -> list[tuple[str, str]]:
    return [(name.decode(), value.decode()) for name, value in DAEMON_VARIABLES.items()]


def _header() -> str:
    locations = ", ".join(_quote(location.replace("%d", "%u")) for location in rule.SHARED_LOCATIONS)
    silences = ", ".join(f'{{{_quote(name)}, {_quote(text)[:-1]}\\n"}}' for name, text in _silences().items())
    variables = [_quote(f"{name}={value}") + ' "\\0"' for name, value in _daemon_variables()]
    lines = [
        "// Constants that Python has too: made by `make docs` from base/runtime_location.py, base/wire.py,",
        "// client/python/launch.py and the agents' tables, and never changed by hand.",
        "",
        f"#define DATA_SUBDIR {_quote(rule.DATA_SUBDIR)}",
        f"#define CLIENT_SUBDIR {_quote(rule.CLIENT_SUBDIR)}",
        f"#define DAEMON_FILE {_quote(rule.DAEMON_FILE)}",
        f"#define FALLBACK_SUBDIR {_quote(rule.FALLBACK_SUBDIR)}",
        f"#define FNV_OFFSET UINT64_C({rule.FNV_OFFSET:#X})".replace("0X", "0x"),
        f"#define FNV_PRIME UINT64_C({rule.FNV_PRIME:#X})".replace("0X", "0x"),
        f"#define GROUP_OTHER_MODE 0{rule.GROUP_OTHER_MODE:o}",
        f"#define FRAME_MAGIC {_quote(wire.MAGIC.decode())}",
        f"#define WIRE_VERSION {_quote(wire.VERSION.decode())}",
        f"#define MAX_FRAME_BYTES {wire.MAX_FRAME_BYTES}u // more than this nobody is asked, and Python answers",
        f"#define MAX_UNANSWERED_MARKS {MAX_MISSED_CALLS} // calls without an answer, after which nobody counts on",
        f"#define DAEMON_VARIABLES {' '.join(variables)}",
        f"#define DAEMON_VARIABLES_COUNT {len(variables)}",
        "",
        "// Texts and not their addresses, which would have to be relocated at each start. %u is the user.",
        f"static const char SHARED_LOCATIONS[][{_room(rule.SHARED_LOCATIONS)}] = {{{locations}}};",
        "// For whom saying nothing is a mistake, and what they hear instead.",
        f"static const char SILENCES[][2][{_room([*_silences(), *_silences().values()])}] = {{{silences}}};",
    ]
    return "\n".join(lines) + "\n"


def _room(texts: Collection[str]) -> int:
    """Bytes for any of these texts with a line break and what ends it."""
    return max(map(len, texts)) + 2


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
