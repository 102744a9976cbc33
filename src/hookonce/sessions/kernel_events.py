"""Events of the module kernel: redacted, then appended to the spool and to the kernel's own log."""

from msgspec.json import encode

from hookonce.base import settings
from hookonce.formats._shared.rest import EXTENSION_KEY
from hookonce.formats.amplifier import envelope
from hookonce.model import Object
from hookonce.sessions.stored_records import redact_record
from hookonce.store import kernel_log
from hookonce.store.spool import files

_RECORD_ONLY_KEYS = frozenset({EXTENSION_KEY, "likeness", "component"})


def record_kernel_event(event: Object) -> None:
    """Write a kernel event into its log and into the store; nothing raw reaches either."""
    if not settings.records():
        return
    record = redact_record(envelope.read(event))
    files.append(record)
    line = b"".join(encode(_public_event(document), order="sorted") + b"\n" for document in envelope.write(record))
    kernel_log.append(line)


def _public_event(document: Object) -> Object:
    """An event as the kernel has sent it, without what only our own record needs."""
    data = {name: value for name, value in (document.get("data") or {}).items() if name not in _RECORD_ONLY_KEYS}
    return document | {"data": data} if data else {name: value for name, value in document.items() if name != "data"}
