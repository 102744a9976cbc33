"""Module handler: calls `on_event` of a module; its answer counts as a hook's answer.

Long-lived processes keep modules running in a pool; a one-shot process starts one for each event.
"""

from time import monotonic

from msgspec import Struct

from hookonce.base.event_loop import EventLoop
from hookonce.base.jsontext import dump
from hookonce.handlers.module_channel import ModuleChannel
from hookonce.handlers.operation import FailedStart, OperationHandle, OperationResult, ResultCallback
from hookonce.model import Object
from hookonce.modules.protocol.descriptor import Descriptor, descriptor_key

ON_EVENT = "on_event"
_IDLE_TIMEOUT_S = 600.0  # seconds without an event
_RETIRE_GRACE_S = 1.0  # seconds for what a module has acknowledged and not yet done
_ACK_MARKER = b'"accepted":true'
_pools: dict[EventLoop, "ModulePool"] = {}


class ModulePool:
    """Pool of the modules that run for an event loop."""

    def __init__(self, loop: EventLoop) -> None:
        """Register an empty pool for the loop."""
        self._loop, self._channels = loop, dict[bytes, ModuleChannel]()
        _pools[loop] = self

    def find_channel(self, descriptor: Descriptor) -> ModuleChannel:
        """Find the channel of a descriptor's module; starts the module if it does not run."""
        key = descriptor_key(descriptor)
        channel = self._channels.get(key)
        if channel is None or channel.is_over:
            channel = self._channels[key] = ModuleChannel(self._loop, descriptor)
        return channel

    def retire_idle(self) -> None:
        """Retire idle modules."""
        oldest = monotonic() - _IDLE_TIMEOUT_S
        for key, channel in list(self._channels.items()):
            if channel.is_over or (channel.is_idle and channel.last_query_at < oldest):
                channel.retire(_RETIRE_GRACE_S)
                del self._channels[key]

    def close(self) -> None:
        """End all modules."""
        for channel in self._channels.values():
            channel.end()
        self._channels.clear()
        _pools.pop(self._loop, None)


class ModuleOperation(Struct, frozen=True, kw_only=True):
    """Operation that calls a module."""

    descriptor: Descriptor
    request: Object
    timeout: float = 0.0

    @property
    def payload(self) -> bytes:
        """The request as JSON."""
        return dump(self.request)

    def begin(self, loop: EventLoop, timeout: float, on_result: ResultCallback) -> OperationHandle:
        """Query it; a module that was started for this alone is ended afterwards."""
        pool, started_at = _pools.get(loop), monotonic()
        try:
            channel = pool.find_channel(self.descriptor) if pool is not None else ModuleChannel(loop, self.descriptor)
        except (OSError, ValueError) as problem:
            return FailedStart(loop, problem, started_at, on_result)

        def handle_result(result: OperationResult) -> None:
            if pool is not None:
                on_result(result)
            elif _ACK_MARKER in result.stdout:  # what it does afterwards would end with it
                channel.retire(min(_RETIRE_GRACE_S, max(0.0, timeout - result.duration)), lambda: on_result(result))
            else:
                channel.end()
                on_result(result)

        return channel.query(self.request, timeout, handle_result)
