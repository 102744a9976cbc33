"""A described module, offered over HTTP by us, whatever way leads to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from msgspec.structs import replace

from hookonce.modules.bridge import Bridge
from hookonce.modules.client import connect
from hookonce.modules.descriptor import Descriptor, Transport
from hookonce.modules.serve_http import ModuleHttpServer


@contextmanager
def serve_over_http(
    descriptor: Descriptor, port: int = 0, *, host: str = "127.0.0.1", token: str | None = None
) -> Iterator[ModuleHttpServer]:
    """HTTP server for a described module, and its process as long as that lasts."""
    link = connect(descriptor)
    try:
        with ModuleHttpServer(Bridge(link), port, host=host, token=token) as server:
            yield server
    finally:
        link.close()


@contextmanager
def expose_over_http(descriptor: Descriptor) -> Iterator[Descriptor]:
    """The descriptor of the same module over HTTP on loopback, for a while."""
    with serve_over_http(descriptor) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield replace(descriptor, transport=Transport(type="http", url=server.url))
        finally:
            server.shutdown()
