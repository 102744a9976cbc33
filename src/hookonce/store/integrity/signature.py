"""Signature of one exported event, in its format's field for extensions: Ed25519 over canonical JSON.

Signed are the canonical bytes of the document without the signature: sorted keys, no blanks, everything beyond
ASCII escaped. The signature holds the public key, so that anybody can check it; whose key that is, only the
machine knows that has it.
"""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from json import dumps
from typing import Literal

from hookonce.errors import HookonceError
from hookonce.model import Object
from hookonce.store.integrity import keys

EXTENSION_NAME = "dev.hookonce.signature"
# Where a format lets others put something: the member that holds it, and its name there.
SIGNATURE_FIELDS: dict[str, tuple[str | None, str]] = {
    "agent-hooks": ("metadata", EXTENSION_NAME),
    "agent-trace": ("metadata", EXTENSION_NAME),
    "amplifier": ("data", EXTENSION_NAME),
    "cloudevents": (None, "hookoncesignature"),  # an attribute's name has small letters and digits only
    "ocsf": ("unmapped", EXTENSION_NAME),
    "openhook": ("extensions", EXTENSION_NAME),
}
_ALGORITHM = "ed25519"

SignatureStatus = Literal["ours", "unknown", "wrong"]


def canonical_bytes(document: Object) -> bytes:
    """Canonical JSON bytes of a document."""
    return dumps(document, sort_keys=True, separators=(",", ":")).encode()


def sign_document(format_name: str, document: Object) -> Object:
    """The document with this machine's signature; an old one is replaced."""
    if format_name not in SIGNATURE_FIELDS:
        raise HookonceError(f"{format_name} has no place for a signature; {', '.join(SIGNATURE_FIELDS)} have one")
    plain, _ = _split_signature(format_name, document)
    _, key = keys.load_signing_key()
    parts = (key.public_key().public_bytes_raw(), key.sign(canonical_bytes(plain)))
    text = ":".join((_ALGORITHM, *(b64encode(part).decode() for part in parts)))
    holder, name = SIGNATURE_FIELDS[format_name]
    return plain | ({name: text} if holder is None else {holder: plain.get(holder, {}) | {name: text}})


def verify_document(format_name: str, document: Object) -> tuple[SignatureStatus, str] | None:
    """Whether the signature of a document is valid, and the name of its key; None if there is none."""
    if format_name not in SIGNATURE_FIELDS:
        return None
    plain, text = _split_signature(format_name, document)
    return None if text is None else _verify_signature(plain, text)


def _split_signature(format_name: str, document: Object) -> tuple[Object, object]:
    holder, name = SIGNATURE_FIELDS[format_name]
    if holder is None:
        return {key: value for key, value in document.items() if key != name}, document.get(name)
    part = document.get(holder)
    if type(part) is not dict or name not in part:
        return document, None
    rest = {key: value for key, value in part.items() if key != name}
    others = {key: value for key, value in document.items() if key != holder}
    return others | ({holder: rest} if rest else {}), part[name]


def _verify_signature(plain: Object, text: object) -> tuple[SignatureStatus, str]:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    algorithm, public_key_text, signature = (*str(text).split(":"), "", "")[:3]
    try:
        key = Ed25519PublicKey.from_public_bytes(b64decode(public_key_text, validate=True))
        name = keys.key_name(key)
        key.verify(b64decode(signature, validate=True), canonical_bytes(plain))
    except (NotBase64, ValueError, InvalidSignature):
        return "wrong", ""
    if algorithm != _ALGORITHM:
        return "wrong", name
    return ("ours" if name in keys.load_public_keys() else "unknown"), name
