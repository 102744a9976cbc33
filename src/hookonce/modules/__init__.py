"""The module protocol: programs in any language that hookonce calls, and hookonce as one of them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookonce.modules.protocol.messages import Fault, Request
    from hookonce.modules.server.authoring import Module, module

__all__ = ["Fault", "Module", "Request", "module"]

_HOMES = {"Fault": "protocol.messages", "Request": "protocol.messages"}


def __getattr__(name: str) -> Any:
    """Import a public name on first use: handlers need the protocol, and not what serving a module needs."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'server.authoring')}"), name)
