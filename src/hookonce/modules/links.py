"""Invocation of modules by the kernel: capability check, pooled link, response, event."""

from collections.abc import Callable
from contextlib import suppress
from threading import Lock

from msgspec.json import encode

from hookonce.modules.client import Link, connect
from hookonce.modules.descriptor import Descriptor, descriptor_document
from hookonce.modules.protocol import Fault

LinkFactory = Callable[[Descriptor], Link]


class LinkPool:
    """Pool of links: one per module, opened at its first call."""

    def __init__(self, connect_link: LinkFactory = connect) -> None:
        """No link is open."""
        self._connect, self._links, self._lock = connect_link, dict[bytes, Link](), Lock()
        self._is_closed = False

    def get(self, descriptor: Descriptor) -> Link:
        """The link to a module; the same one for every caller."""
        key = _link_key(descriptor)
        with self._lock:
            if self._is_closed:
                raise Fault("unreachable", "the kernel is closed")
            link = self._links.get(key)
            if link is None:
                link = self._links[key] = self._connect(descriptor)
            return link

    def close(self, descriptor: Descriptor | None = None) -> None:
        """Close the link to a module, or all of them for good."""
        with self._lock:
            self._is_closed |= descriptor is None
            keys = list(self._links) if descriptor is None else [_link_key(descriptor)]
            links = [self._links.pop(key) for key in keys if key in self._links]
        for link in links:
            with suppress(OSError):  # it is gone either way
                link.close()


def _link_key(descriptor: Descriptor) -> bytes:
    return encode([descriptor_document(descriptor), descriptor.folder])
