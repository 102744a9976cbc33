"""A record as it may be kept: marked with what makes calls alike, then redacted, both with keys of this machine."""

from collections.abc import Mapping

from msgspec.structs import replace

from hookonce.config import capture, settings
from hookonce.guard.likeness import marked
from hookonce.model import Record, Stored
from hookonce.store import keys
from hookonce.store.redact import redact


def stored(record: Record) -> Stored:
    """What is written of a record, wherever it goes."""
    key = keys.hiding()
    return redact(replace(record, event=marked(record.event, key)), settings.privacy(), key)


def logged(record: Stored, environment: Mapping[str, str]) -> None:
    """Add a record to the logs of Agent Hooks that want it; nothing is loaded for that where there is none."""
    if capture.is_wanted(environment):
        from hookonce.store.agent_hooks_log import write

        write(record, environment)
