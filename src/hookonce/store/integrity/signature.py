"""Signature of one exported event, in its format's field for extensions: Ed25519 over canonical JSON.

Signed are the canonical bytes of the document without the signature: sorted keys, no blanks, everything beyond
ASCII escaped. The signature holds the public key, so that anybody can check it; whose key that is, this machine
knows of its own keys and of those that somebody has told it to trust.
"""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from typing import Any, Literal

from hookonce.base.jsontext import canonical_bytes
from hookonce.errors import HookonceError
from hookonce.model import Object
from hookonce.store.integrity import keys, trusted_keys

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
_OTLP_FORMAT = "otel"  # in whose documents every attribute is an item of a list
SIGNED_FORMATS = (*SIGNATURE_FIELDS, _OTLP_FORMAT)
_OTLP_ROOTS = ("resourceLogs", "resourceSpans")

SignatureStatus = Literal["ours", "trusted", "unknown", "wrong"]


def sign_document(format_name: str, document: Object) -> Object:
    """The document with this machine's signature; an old one is replaced."""
    if not _has_signature_place(format_name, document):
        raise HookonceError(f"{format_name} has no place for a signature; {', '.join(SIGNED_FORMATS)} have one")
    plain, _ = _split_signature(format_name, document)
    _, key = keys.load_signing_key()
    signature = b64encode(key.sign(canonical_bytes(plain))).decode()
    text = f"{keys.public_key_text(key.public_key())}:{signature}"
    if format_name == _OTLP_FORMAT:
        return _with_otlp_attributes(plain, [*_otlp_attributes(plain), _otlp_attribute(text)])
    holder, name = SIGNATURE_FIELDS[format_name]
    return plain | ({name: text} if holder is None else {holder: plain.get(holder, {}) | {name: text}})


def _has_signature_place(format_name: str, document: Object) -> bool:
    return format_name in SIGNATURE_FIELDS or (format_name == _OTLP_FORMAT and _otlp_resource(document) is not None)


def signature_path(format_name: str) -> str:
    """The JSON path of a format's signature."""
    if format_name == _OTLP_FORMAT:
        return "$.resourceLogs[0].resource.attributes"
    return ".".join(filter(None, ("$", *SIGNATURE_FIELDS[format_name])))


def verify_document(format_name: str, document: Object) -> tuple[SignatureStatus, str] | None:
    """Whether the signature of a document is valid, and the name of its key; None if there is none.

    The name of a trusted key is the one that it was given here, that of any other is made of the key itself.
    """
    if not _has_signature_place(format_name, document):
        return None
    plain, text = _split_signature(format_name, document)
    return None if text is None else _verify_signature(plain, text)


def signer_title(status: SignatureStatus, name: str) -> str:
    """Who has signed, for people: the name of a trusted key, or this machine, or a key that nobody here knows."""
    return {"ours": "this machine", "trusted": name}.get(status, f"the unknown key {name}")


def _split_signature(format_name: str, document: Object) -> tuple[Object, object]:
    if format_name == _OTLP_FORMAT:
        attributes = _otlp_attributes(document)
        own = [item for item in attributes if type(item) is dict and item.get("key") == EXTENSION_NAME]
        value = own[0].get("value") if own else None
        text = value.get("stringValue") if type(value) is dict else value
        is_whole = own == [_otlp_attribute(text)]  # nothing beside it that would not be signed
        plain = [item for item in attributes if item not in own]
        return _with_otlp_attributes(document, plain), text if is_whole or text is None else ""
    holder, name = SIGNATURE_FIELDS[format_name]
    if holder is None:
        return {key: value for key, value in document.items() if key != name}, document.get(name)
    part = document.get(holder)
    if type(part) is not dict or name not in part:
        return document, None
    rest = {key: value for key, value in part.items() if key != name}
    others = {key: value for key, value in document.items() if key != holder}
    return others | ({holder: rest} if rest else {}), part[name]


def _otlp_resource(document: Object) -> tuple[str, Object] | None:
    """The root of a document of OpenTelemetry, and the first resource below it, whose attributes have the signature."""
    for root in _OTLP_ROOTS:
        groups = document.get(root)
        resource = groups[0].get("resource") if type(groups) is list and groups and type(groups[0]) is dict else None
        if type(resource) is dict and type(resource.get("attributes", [])) is list:
            return root, resource
    return None


def _otlp_attribute(text: object) -> Object:
    return {"key": EXTENSION_NAME, "value": {"stringValue": text}}


def _otlp_attributes(document: Object) -> list[Any]:
    place = _otlp_resource(document)
    return [] if place is None else place[1].get("attributes", [])


def _with_otlp_attributes(document: Object, attributes: list[Any]) -> Object:
    place = _otlp_resource(document)
    if place is None:
        return document
    root, resource = place
    first, *rest = document[root]
    return document | {root: [first | {"resource": resource | {"attributes": attributes}}, *rest]}


def _verify_signature(plain: Object, text: object) -> tuple[SignatureStatus, str]:
    from cryptography.exceptions import InvalidSignature

    key_text, _, signature = str(text).rpartition(":")
    try:
        key = keys.parse_public_key(key_text)
        key.verify(b64decode(signature, validate=True), canonical_bytes(plain))
    except (NotBase64, ValueError, InvalidSignature):
        return "wrong", ""
    name = keys.key_name(key)
    if name in keys.load_public_keys():
        return "ours", name
    trusted_name = trusted_keys.find_name(key)
    return ("unknown", name) if trusted_name is None else ("trusted", trusted_name)
