"""Registry of the open event formats, one module or package each; this map is the only list of them."""

from collections.abc import Callable
from functools import cache
from importlib import import_module

from hookonce.errors import UnknownName
from hookonce.model import Format, Json, Object

FORMATS: dict[str, str] = {
    "agent-hooks": "agent_hooks.envelope",
    "agent-trace": "agent_trace",
    "amplifier": "amplifier.envelope",
    "canonical": "canonical",
    "cloudevents": "cloudevents",
    "ocsf": "ocsf",
    "openhook": "openhook.envelope",
    "otel": "otel.log_records",
}

# Which format a document has, by its keys, so that none has to be loaded for that. OpenHook first: its key decides,
# whatever else is there. An event of Agent Hooks may lack one of its keys, one of Amplifier too.
_RECOGNISERS: dict[str, Callable[[Object], bool]] = {
    "openhook": lambda document: "openhook" in document,
    "agent-hooks": lambda document: len(document.keys() & {"spec_version", "event_id", "event_type"}) > 1,
    "agent-trace": lambda document: "files" in document and "timestamp" in document,
    "amplifier": lambda document: len(document.keys() & {"id", "ts", "event", "component"}) > 2,  # noqa: PLR2004
    "canonical": lambda document: type(document.get("event")) is dict and "schema" in document["event"],
    "cloudevents": lambda document: "specversion" in document,
    "ocsf": lambda document: "class_uid" in document,
    "otel": lambda document: "resourceLogs" in document or "resourceSpans" in document,
}


def recognise(document: Object) -> list[str]:
    """The formats that a document may have, by its keys; the first counts."""
    return [name for name, is_mine in _RECOGNISERS.items() if is_mine(document)]


@cache
def load(name: str) -> Format:
    """Load the format of that name; its module is imported on the first call."""
    module = FORMATS.get(name)
    if module is None:
        raise UnknownName(f"no format is called {name!r}; known are {', '.join(FORMATS)}")
    fmt: Format = import_module(f"hookonce.formats.{module}").FORMAT
    return fmt


def document_id(form: Format, document: Object) -> str | None:
    """The id that a document has in its format; None where it has none."""
    value: Json = document if form.id_path else None
    for key in form.id_path:
        value = value.get(key) if type(value) is dict else None
    return value if type(value) is str else None
