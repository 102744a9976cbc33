"""Keys of the settings' files that nobody reads."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

from hookonce.canon.spelling import near
from hookonce.config import paths, settings

KNOWN = frozenset({"untrusted", "scanners", "strict_nonblocking", "context_limit", "privileges", "http", "consent"}) | {
    "models",
    "record",
    "grants",
    "privacy",
    "durability",
    "keep_days",
    "keep_megabytes",
    "agent_hooks_log",
}


def strange_settings() -> Iterator[tuple[Path, str]]:
    """Each such key, with its file; a file that cannot be read is told elsewhere."""
    for folder in (paths.configuration(), settings.SYSTEM):
        file = folder / "config.toml"
        try:
            found = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        for key in found:
            if key not in KNOWN:
                yield file, f"{file}: there is no setting {key}, it does nothing{near(key, KNOWN)}"
