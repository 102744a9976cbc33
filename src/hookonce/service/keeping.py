"""Keeping at once, because somebody looks: what was answered so far is in the store before the look is answered."""

from collections.abc import Callable
from time import monotonic
from typing import Protocol

from hookonce.runtime.loop import EventLoop
from hookonce.service.keeper import BackgroundStoreWriter
from hookonce.service.quiet import DeferredCalls

_FLUSH_TIMEOUT_S = 0.25  # seconds; who looks does not wait for much longer


class FlushServices(Protocol):
    """The services that a flush needs."""

    loop: EventLoop
    deferred_calls: DeferredCalls
    store_writer: BackgroundStoreWriter


def flush_then(services: FlushServices, on_flush: Callable[[], object]) -> None:
    """Flush deferred calls and pending entries, then call a function; agents that call meanwhile come first."""
    deadline = monotonic() + _FLUSH_TIMEOUT_S

    def flush_step() -> None:
        if monotonic() > deadline or (services.deferred_calls.is_flushed and services.store_writer.is_flushed):
            on_flush()
            return
        if services.deferred_calls.is_flushed:
            services.store_writer.flush_batch()
        else:
            services.deferred_calls.flush()
        services.loop.call_idle(flush_step)

    flush_step()
