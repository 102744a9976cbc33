"""hookonce: write a hook once, run it on every AI coding agent, prove that it fires, see everything it saw."""

TYPE_CHECKING = False  # importing `typing` for this one name would cost more than everything else here
if TYPE_CHECKING:
    from hookonce import agents, formats, sdk
    from hookonce.agents import decode, encode
    from hookonce.errors import DocumentError, HookonceError, PayloadError
    from hookonce.journeys.identify import identify
    from hookonce.journeys.translate import translate
    from hookonce.model import Agent, Decision, Event, Format, Gap, Record, Result, Risk, Tool
    from hookonce.store.redact import redact

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "Decision",
    "DocumentError",
    "Event",
    "Format",
    "Gap",
    "HookonceError",
    "PayloadError",
    "Record",
    "Result",
    "Risk",
    "Tool",
    "agents",
    "decode",
    "encode",
    "formats",
    "identify",
    "redact",
    "sdk",
    "translate",
]

_HOMES = {
    "agents": "hookonce.agents",
    "formats": "hookonce.formats",
    "decode": "hookonce.agents",
    "encode": "hookonce.agents",
    "identify": "hookonce.journeys.identify",
    "redact": "hookonce.store.redact",
    "sdk": "hookonce.sdk",
    "translate": "hookonce.journeys.translate",
    "DocumentError": "hookonce.errors",
    "HookonceError": "hookonce.errors",
    "PayloadError": "hookonce.errors",
}


def __getattr__(name: str) -> object:
    """Public names are looked up when they are first used, so that importing hookonce costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'hookonce' has no attribute {name!r}")
    from importlib import import_module

    module = import_module(_HOMES.get(name, "hookonce.model"))
    return module if name in {"agents", "formats", "sdk"} else getattr(module, name)
