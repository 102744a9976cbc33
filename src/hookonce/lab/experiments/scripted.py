"""A script that somebody wrote for Claude Code stops `rm -rf` here too, unchanged."""

import shlex
import sys
from pathlib import Path

from hookonce.lab import no_removal
from hookonce.lab.claim import Claim, contradicted, held
from hookonce.lab.run import is_whole, summary, talks, was_told
from hookonce.lab.stage import Stage
from hookonce.model import Object

_NAME = "claude-script"
_ASKED = 2  # requests after which the model has asked for the removal


def claims(_stage: Stage) -> list[str]:
    """One claim."""
    return [_NAME]


def run(stage: Stage) -> list[Claim]:
    """A harmless command, and one that removes a folder."""
    seen = stage.play("remove", hooks=lambda _folder: [_hook()])
    kept, harmless = "victim/kept.txt" in seen.files, "before.txt" in seen.files
    if not kept:
        return [contradicted(_NAME, "the folder is gone")]
    if not harmless:
        return [contradicted(_NAME, f"the harmless command did not run either ({summary(seen)})")]
    told, fragile = was_told(seen, no_removal.REASON), stage.driver.fragile
    if len(talks(seen)) < _ASKED or not is_whole(seen, fragile=fragile) or not (told or fragile):
        return [contradicted(_NAME, f"the folder is still there, but not for the script's reason ({summary(seen)})")]
    why = "the model was told why" if told else "the run was over"
    return [held(_NAME, f"the folder is still there, and {why}; the harmless command ran")]


def _hook() -> Object:
    words = [sys.executable, "-I", "-S", str(Path(no_removal.__file__).resolve())]
    handler = {"type": "command", "command": shlex.join(words), "timeout": 10}
    return {"event": "before_tool_execute", "blocking": True, "dialect": "claude-code", "handler": handler}
