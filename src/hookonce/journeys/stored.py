"""A record as it may be kept: marked with what makes calls alike, then redacted, both with keys of this machine."""

from msgspec.structs import replace

from hookonce.guard.likeness import marked
from hookonce.model import Record, Stored
from hookonce.store import keys
from hookonce.store.redact import redact


def stored(record: Record) -> Stored:
    """What is written of a record, wherever it goes."""
    key = keys.hiding()
    return redact(replace(record, event=marked(record.event, key)), "minimal", key)
