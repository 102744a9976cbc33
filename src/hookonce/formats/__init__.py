"""Registry of the open event formats, one module or package each; this map is the only list of them."""

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
