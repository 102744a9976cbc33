"""A stand-in for npm: it lays out what the lock in its folder names, rightly or with one thing wrong."""

import json
import os
import signal
import sys
from pathlib import Path

WRONG = os.environ.get("NPM_DOUBLE", "right")
ONLY = os.environ.get("NPM_DOUBLE_ONLY", "")  # what goes wrong does so in this package alone
COMPLAINTS = {
    "fails": "npm error code E404\nnpm error 404 Not Found - GET somewhere\nnpm error A complete log is elsewhere\n",
    "offline": "npm error code ENOTFOUND\nnpm error syscall getaddrinfo\n",
    "silent": "",
}


def main() -> int:
    """Do what npm would, or not."""
    with Path(os.environ["NPM_DOUBLE_LOG"]).open("a", encoding="utf-8") as log:
        log.write(json.dumps(sys.argv[1:]) + "\n")
    rows = json.loads(Path("package-lock.json").read_text(encoding="utf-8"))["packages"]
    wanted = rows.pop("")["dependencies"]
    assert wanted == json.loads(Path("package.json").read_text(encoding="utf-8"))["dependencies"]
    is_meant = any(ONLY in name for name in rows)
    if WRONG in COMPLAINTS and is_meant:
        sys.stderr.write(COMPLAINTS[WRONG])
        return 1
    for name, row in rows.items():
        lay(Path(name), row, wrong=WRONG if ONLY in name else "right")
    Path("node_modules/.package-lock.json").write_text(json.dumps({"packages": rows}), encoding="utf-8")
    return 0


def lay(folder: Path, row: dict[str, str], *, wrong: str) -> None:
    """One package, as it is named or not."""
    if wrong == "integrity":
        row["integrity"] = "sha512-AAAA"
    if wrong == "older":
        row["version"] = "0.0.1"
    if wrong == "killed":
        os.kill(os.getppid(), signal.SIGKILL)
        sys.exit(1)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"version": row["version"]}), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
