"""OpenHook events for programs of your own: parse the one on stdin, create one, emit it.

Reading is lenient, as the specification asks of consumers: what is merely unusual (a newer version, a type or a
field that OpenHook 0.1 does not know, a time without a zone) is kept and goes to the log `hookonce.sdk.openhook`.
`strict=True` refuses it, and `create` always does: nobody should have to be lenient with us.
"""

import json
import sys
from logging import NullHandler, getLogger
from math import isfinite
from pathlib import Path
from typing import Self, TextIO
from uuid import uuid4

from msgspec import Struct

from hookonce import formats
from hookonce.base import times
from hookonce.base.file_uris import from_uri, resolve_path, to_uri
from hookonce.errors import DocumentError
from hookonce.formats.schema import validate_document
from hookonce.model import Json, Object, Problem

VERSION = "0.1"
_REQUIRED_FIELDS = ("openhook", "id", "source", "type", "time", "session_id")
_OPTIONAL_FIELDS = ("data", "context", "extensions")
_FIELDS = frozenset({*_REQUIRED_FIELDS, *_OPTIONAL_FIELDS})
_METRICS = frozenset({"prompt.submit", "tool.start", "tool.end", "session.end"})
_LOG = getLogger(__name__)
_LOG.addHandler(NullHandler())  # an agent may read stderr: nothing goes there unless the program says so


class ValidationError(DocumentError):
    """What was given is no OpenHook event; `problems` has all that is wrong, `path` the place of the first."""

    def __init__(self, problems: list[Problem]) -> None:
        (path, first), *others = problems
        super().__init__("; ".join([first, *(f"{place}: {message}" for place, message in others)]), path)
        self.problems = problems


class OpenHookEvent(Struct, frozen=True):
    """One event; `extra` holds what a newer or foreign writer put beside the fields of OpenHook 0.1."""

    openhook: str
    id: str
    source: str
    type: str
    time: str
    session_id: str
    data: Object = {}
    context: str | None = None
    extensions: Object = {}
    extra: Object = {}

    @classmethod
    def create(  # noqa: PLR0913  one name for each field that a caller may choose
        cls,
        *,
        source: str,
        type: str,  # noqa: A002  the envelope's own word
        session_id: str,
        data: Object | None = None,
        context: str | None = None,
        extensions: Object | None = None,
        event_id: str | None = None,
        time: str | None = None,
    ) -> Self:
        """A new event: with a random id and the present moment unless they are given."""
        document: Object = {"openhook": VERSION, "id": str(uuid4()), "source": source, "type": type}
        document |= {"time": times.now(), "session_id": session_id}
        choices = {"id": event_id, "time": time, "data": data, "context": context, "extensions": extensions}
        return cls.from_dict(
            document | {name: value for name, value in choices.items() if value is not None}, strict=True
        )

    @classmethod
    def from_dict(cls, document: Object, *, strict: bool = False) -> Self:
        """The event that a dict holds; later changes to the dict do not reach it."""
        return cls.from_json(_dump_json(document), strict=strict)

    @classmethod
    def from_json(cls, raw: str | bytes, *, strict: bool = False) -> Self:
        """The event that a JSON document holds."""
        document = _parse_json(raw)
        problems, doubts = validate_document("openhook", formats.load("openhook").check, document, strict=strict)
        if problems:
            raise ValidationError(problems)
        for path, message in doubts:
            _LOG.warning("%s: %s", path, message)
        place = document.get("context") or None
        cwd = document.pop("cwd", None)
        if cwd is not None and place is None:
            document["context"] = place = to_uri(cwd)  # the specification's first text said it so
        extra = {key: value for key, value in document.items() if key not in _FIELDS}
        if cwd is not None and place is not None and from_uri(place) != cwd:
            extra["cwd"] = cwd
        envelope = {key: value for key, value in document.items() if key in _FIELDS}
        return cls(**envelope | {"context": place}, extra=extra)

    def to_dict(self) -> Object:
        """The envelope, without those optional fields that are empty."""
        fields = {name: getattr(self, name) for name in (*_REQUIRED_FIELDS, *_OPTIONAL_FIELDS)}
        return {name: value for name, value in fields.items() if value or name in _REQUIRED_FIELDS} | self.extra

    def to_json(self) -> str:
        """The envelope on one line; all of it ASCII, so that no terminal or pipe can spoil it."""
        return _dump_json(self.to_dict())

    def emit(self, file: TextIO | None = None) -> None:
        """Write the event as one line and see it off; to stdout unless a file is given."""
        out = sys.stdout if file is None else file
        out.write(self.to_json() + "\n")
        out.flush()

    @property
    def cwd(self) -> str | None:
        """The working directory, or whatever other place `context` names."""
        extra_cwd: str | None = self.extra.get("cwd")
        return extra_cwd if extra_cwd is not None or self.context is None else from_uri(self.context)

    @property
    def transcript_path(self) -> Path | None:
        """Where the session's transcript lies; a relative path begins at the working directory, where that is known."""
        path = self.data.get("transcript_path")
        return Path(resolve_path(path, self.cwd)) if isinstance(path, str) and path else None

    @property
    def is_trace(self) -> bool:
        """Whether there is a transcript to make a trace of."""
        return self.transcript_path is not None

    @property
    def is_metric(self) -> bool:
        """Whether the event is one of those that are counted."""
        return self.type in _METRICS


def parse_stdin(*, strict: bool = False) -> OpenHookEvent:
    """The event that an agent wrote to this process."""
    raw = getattr(sys.stdin, "buffer", sys.stdin).read()  # bytes where possible: the locale has no say in JSON
    if not raw.strip():
        raise ValidationError([("$", "stdin is empty; expected an OpenHook event")])
    return OpenHookEvent.from_json(raw, strict=strict)


def _parse_json(raw: str | bytes) -> Json:
    try:
        return json.loads(raw, parse_constant=_parse_finite, parse_float=_parse_finite)
    except (ValueError, RecursionError) as fault:
        raise ValidationError([("$", f"expected JSON: {fault}")]) from None


def _parse_finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:20]} is not a number that JSON can hold")
    return number


def _dump_json(document: Object) -> str:
    try:
        return json.dumps(document, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as fault:
        raise ValidationError([("$", f"no JSON can hold this: {fault}")]) from None
