"""The APIs that agents speak with models, one file each. This map is the only list of them.

Each reads a request (`read`), and writes a turn as one document (`whole`) or as the events of a stream (`pieces`).
"""

from importlib import import_module

from hookonce.lab.apis._api import ModelApi

API_MODULES: dict[str, str] = {
    "/messages": "anthropic",
    "/chat/completions": "chat",
    "/responses": "responses",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}


def find_api(path: str) -> ModelApi | None:
    """Find the API of a request path."""
    name = next((module for path_suffix, module in API_MODULES.items() if path.endswith(path_suffix)), None)
    api: ModelApi | None = import_module(f"hookonce.lab.apis.{name}").API if name else None
    return api
