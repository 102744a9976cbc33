"""Events of the module kernel: redacted, then appended to the spool and to the kernel's own log."""

from msgspec.json import encode

from hookonce.base import settings
from hookonce.formats.amplifier import envelope
from hookonce.model import Object
from hookonce.sessions.stored_records import redact_record
from hookonce.store import kernel_log
from hookonce.store.privacy.addresses import mask_addresses
from hookonce.store.spool import files


def record_kernel_event(event: Object) -> None:
    """Write a kernel event into its log and into the store; nothing raw reaches either."""
    if not settings.load().record:
        return
    record = redact_record(envelope.read(event))
    files.append(record)
    documents = map(envelope.kernel_document, envelope.write(mask_addresses(record)))
    kernel_log.append(b"".join(encode(document, order="sorted") + b"\n" for document in documents))
