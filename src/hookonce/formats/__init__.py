"""The open event formats, one file each. This map is the only list of them."""

from functools import cache
from importlib import import_module

from hookonce.errors import UnknownName
from hookonce.model import Format

FORMATS: dict[str, str] = {
    "agent-hooks": "agent_hooks",
    "agent-trace": "agent_trace",
    "amplifier": "amplifier",
    "canonical": "canonical",
    "cloudevents": "cloudevents",
    "ocsf": "ocsf",
    "openhook": "openhook",
    "otel": "otel",
}


@cache
def load(name: str) -> Format:
    """The format of that name; its file is read on the first call."""
    module = FORMATS.get(name)
    if module is None:
        raise UnknownName(f"no format is called {name!r}; known are {', '.join(FORMATS)}")
    found: Format = import_module(f"hookonce.formats.{module}").FORMAT
    return found
