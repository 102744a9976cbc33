"""The links of a kernel: one to each module, made when it is first called and kept while it is wanted."""

from collections.abc import Callable
from contextlib import suppress
from threading import Lock

from msgspec.json import encode

from hookonce.modules.client import Link, connect
from hookonce.modules.descriptor import Descriptor, document_of
from hookonce.modules.protocol import Fault

Connect = Callable[[Descriptor], Link]


class Links:
    """Modules that somebody has called."""

    def __init__(self, connecting: Connect = connect) -> None:
        """None yet."""
        self._connect, self._links, self._lock = connecting, dict[bytes, Link](), Lock()
        self._is_closed = False

    def to(self, descriptor: Descriptor) -> Link:
        """The link to a module; the same one for everybody."""
        key = _key(descriptor)
        with self._lock:
            if self._is_closed:
                raise Fault("unreachable", "the kernel is closed")
            link = self._links.get(key)
            if link is None:
                link = self._links[key] = self._connect(descriptor)
            return link

    def close(self, descriptor: Descriptor | None = None) -> None:
        """End the link to a module, or all of them for good."""
        with self._lock:
            self._is_closed |= descriptor is None
            keys = list(self._links) if descriptor is None else [_key(descriptor)]
            closed = [self._links.pop(key) for key in keys if key in self._links]
        for link in closed:
            with suppress(OSError):  # it is gone either way
                link.close()


def _key(descriptor: Descriptor) -> bytes:
    return encode([document_of(descriptor), descriptor.folder])
