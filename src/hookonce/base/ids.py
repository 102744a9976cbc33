"""Event ids: new ones (UUIDv7, UUIDv4), and ones that follow from what they are about (UUIDv5), on every machine."""

from os import urandom
from time import time_ns

# uuid5(NAMESPACE_DNS, "hookonce.dev"): the root of every id that we derive.
_NAMESPACE = bytes.fromhex("4be19f03eae356359504e822f9b267ae")
_VARIANT_DIGITS = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}
_UUID_CHARACTERS, _UUID_SIZES = frozenset("0123456789abcdefABCDEF-"), [8, 4, 4, 4, 12]

# How many different payloads a stream remembers before it begins a new epoch: bounds memory, not uniqueness.
MAX_EPOCH_PAYLOADS = 65_536


def is_uuid(text: str) -> bool:
    """Whether the text is a UUID in lower or upper case."""
    return [*map(len, text.split("-"))] == _UUID_SIZES and _UUID_CHARACTERS.issuperset(text)


def derive_id(*parts: str) -> str:
    """A UUIDv5 of the parts (RFC 9562), without the cost of the `uuid` module."""
    from hashlib import sha1  # most ids are new

    name = "\0".join(parts).encode("utf-8", "surrogatepass")
    return _format_uuid(sha1(_NAMESPACE + name, usedforsecurity=False).hexdigest(), "5")


def id_from_foreign(text: str) -> str:
    """The id of an event whose own id may be anything: a UUID is kept, the rest is mapped."""
    return text if is_uuid(text) else derive_id("foreign", text)


def new_id() -> str:
    """A new UUIDv7: unique, and in the order of time."""
    return _format_uuid((time_ns() // 1_000_000).to_bytes(6, "big").hex() + urandom(10).hex(), "7")


def random_id() -> str:
    """A new UUIDv4: unique, and nothing else."""
    return _format_uuid(urandom(16).hex(), "4")


def time_of(text: str) -> float | None:
    """When an id was made, in seconds since 1970; None for one that does not tell."""
    if not is_uuid(text) or text[14] != "7":
        return None
    return int(text[:8] + text[9:13], 16) / 1000


def _format_uuid(digits: str, version: str) -> str:
    """A UUID of these hexadecimal digits, with its version and the variant of RFC 9562."""
    variant = _VARIANT_DIGITS[digits[16]]
    return f"{digits[:8]}-{digits[8:12]}-{version}{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


class StreamIds:
    """Ids for payloads that carry none: agent, digest of the bytes, how often they were seen before."""

    def __init__(self, epoch: int = MAX_EPOCH_PAYLOADS) -> None:
        self._counts: dict[bytes, int] = {}
        self._max_payloads = epoch
        self._epoch = 0

    def next(self, agent: str, payload: bytes) -> str:
        """The id of the next event of the stream."""
        from hashlib import sha256

        digest = sha256(payload).digest()
        count = self._counts.get(digest, 0)
        if not count and len(self._counts) >= self._max_payloads:
            self._counts.clear()
            self._epoch += 1
        self._counts[digest] = count + 1
        return derive_id(agent, digest.hex(), f"{self._epoch}.{count}" if self._epoch else str(count))
