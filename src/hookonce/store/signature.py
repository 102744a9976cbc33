"""A signature of one event, in its format's own place for extensions: it leaves the machine and can still be checked.

What is signed are the canonical bytes of the document without the signature: keys in order, no blanks, everything
beyond ASCII escaped. The signature tells the public key, so that anybody can see whether it fits; whose key that is,
only the machine knows that has it.
"""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from json import dumps
from typing import Literal

from hookonce.errors import HookonceError
from hookonce.model import Object
from hookonce.store import keys

NAME = "dev.hookonce.signature"
# Where a format lets others put something: the member that holds it, and its name there.
PLACES: dict[str, tuple[str | None, str]] = {
    "agent-hooks": ("metadata", NAME),
    "agent-trace": ("metadata", NAME),
    "amplifier": ("data", NAME),
    "cloudevents": (None, "hookoncesignature"),  # an attribute's name has small letters and digits only
    "ocsf": ("unmapped", NAME),
    "openhook": ("extensions", NAME),
}
_KIND = "ed25519"

Found = Literal["ours", "unknown", "wrong"]


def canonical_bytes(document: Object) -> bytes:
    """The same bytes for the same document, however it was written."""
    return dumps(document, sort_keys=True, separators=(",", ":")).encode()


def signed(kind: str, document: Object) -> Object:
    """The document with this machine's signature; one that was there is replaced."""
    if kind not in PLACES:
        raise HookonceError(f"{kind} has no place for a signature; {', '.join(PLACES)} have one")
    plain, _ = _apart(kind, document)
    _, key = keys.signing()
    parts = (key.public_key().public_bytes_raw(), key.sign(canonical_bytes(plain)))
    text = ":".join((_KIND, *(b64encode(part).decode() for part in parts)))
    holder, name = PLACES[kind]
    return plain | ({name: text} if holder is None else {holder: plain.get(holder, {}) | {name: text}})


def found(kind: str, document: Object) -> tuple[Found, str] | None:
    """Whether the signature of a document fits, and the name of its key; None if there is none."""
    if kind not in PLACES:
        return None
    plain, text = _apart(kind, document)
    return None if text is None else _judged(plain, text)


def _apart(kind: str, document: Object) -> tuple[Object, object]:
    """The document without a signature, and the signature."""
    holder, name = PLACES[kind]
    if holder is None:
        return {key: value for key, value in document.items() if key != name}, document.get(name)
    part = document.get(holder)
    if type(part) is not dict or name not in part:
        return document, None
    rest = {key: value for key, value in part.items() if key != name}
    others = {key: value for key, value in document.items() if key != holder}
    return others | ({holder: rest} if rest else {}), part[name]


def _judged(plain: Object, text: object) -> tuple[Found, str]:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    kind, public, signature = (*str(text).split(":"), "", "")[:3]
    try:
        key = Ed25519PublicKey.from_public_bytes(b64decode(public, validate=True))
        name = keys.name_of(key)
        key.verify(b64decode(signature, validate=True), canonical_bytes(plain))
    except (NotBase64, ValueError, InvalidSignature):
        return "wrong", ""
    if kind != _KIND:
        return "wrong", name
    return ("ours" if name in keys.public() else "unknown"), name
