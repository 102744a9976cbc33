"""hookonce: write a hook once, run it on every AI coding agent, prove that it fires, see everything it saw."""

TYPE_CHECKING = False  # importing `typing` for this one name would cost more than everything else here
if TYPE_CHECKING:
    from hookonce import agents, formats, sdk
    from hookonce.agents import decode, encode
    from hookonce.dispatch.identification import identify
    from hookonce.errors import HookonceError
    from hookonce.model import Decision, Event, Record, Tool
    from hookonce.sdk.answers import allow, ask, context, deny, rewrite
    from hookonce.sdk.emitter import Emitter
    from hookonce.sdk.functions import hook
    from hookonce.store.privacy.redact import redact
    from hookonce.translation.pipeline import translate

__version__ = "0.1.0"

__all__ = [
    "Decision",
    "Emitter",
    "Event",
    "HookonceError",
    "Record",
    "Tool",
    "agents",
    "allow",
    "ask",
    "context",
    "decode",
    "deny",
    "encode",
    "formats",
    "hook",
    "identify",
    "redact",
    "rewrite",
    "sdk",
    "translate",
]

_HOMES = {
    "agents": "hookonce.agents",
    "formats": "hookonce.formats",
    "sdk": "hookonce.sdk",
    "decode": "hookonce.agents",
    "encode": "hookonce.agents",
    "identify": "hookonce.dispatch.identification",
    "redact": "hookonce.store.privacy.redact",
    "translate": "hookonce.translation.pipeline",
    "HookonceError": "hookonce.errors",
    "Emitter": "hookonce.sdk.emitter",
    "hook": "hookonce.sdk.functions",
    "allow": "hookonce.sdk.answers",
    "ask": "hookonce.sdk.answers",
    "context": "hookonce.sdk.answers",
    "deny": "hookonce.sdk.answers",
    "rewrite": "hookonce.sdk.answers",
}


def __getattr__(name: str) -> object:
    """Public names are looked up when they are first used, so that importing hookonce costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'hookonce' has no attribute {name!r}")
    from importlib import import_module

    home = _HOMES.get(name, "hookonce.model")
    if not home.startswith("hookonce.sdk"):  # hooks and answers load it when they are needed
        import_module("hookonce.client.light_imports").import_msgspec()
    module = import_module(home)
    return module if name in {"agents", "formats", "sdk"} else getattr(module, name)
