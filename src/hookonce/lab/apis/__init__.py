"""The APIs that agents speak with models, one file each. This map is the only list of them.

Each reads a request (`read`), and writes a turn as one document (`whole`) or as the events of a stream (`pieces`).
"""

from importlib import import_module

from hookonce.lab.apis._api import Api

APIS: dict[str, str] = {
    "/messages": "anthropic",
    "/chat/completions": "chat",
    "/responses": "responses",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}


def api_of(path: str) -> Api | None:
    """The API that is spoken at a path."""
    name = next((module for ending, module in APIS.items() if path.endswith(ending)), None)
    found: Api | None = import_module(f"hookonce.lab.apis.{name}").API if name else None
    return found
