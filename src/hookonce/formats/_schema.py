"""A document held against a published schema: every problem in our words, each with its JSON path."""

from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from msgspec.json import decode

from hookonce.ids import is_uuid
from hookonce.model import Json, Object, Problem
from hookonce.times import has_zone

Check = Callable[[Object, bool], tuple[list[Problem], list[Problem]]]
_LONGEST = 200  # a message of the validator that is longer quotes the document
_FORMS = {"uuid": "expected a UUID", "date-time": "expected an RFC 3339 time with a zone"}


def schema(name: str) -> Object:
    """A published schema."""
    found: Object = decode((files("hookonce") / "schemas" / f"{name}.json").read_bytes())
    return found


def judged(name: str, more: Check | None, document: Json, *, strict: bool) -> tuple[list[Problem], list[Problem]]:
    """What the schema refuses, then what `more` adds to it at other places; and what is doubtful."""
    wrong = sorted({problem for error in _validator(name).iter_errors(document) for problem in _told(error)})
    if more is None or type(document) is not dict:
        return wrong, []
    further, doubts = more(document, strict)
    told = {path for path, _ in wrong}
    return wrong + [problem for problem in further if problem[0] not in told], doubts


def _told(error: Any) -> Iterator[Problem]:
    """A schema error in our words; a missing field is named by its own path."""
    path = "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    if error.validator == "required":
        yield from ((f"{path}.{name}", "is required") for name in error.validator_value if name not in error.instance)
    elif error.validator == "type":
        wanted = error.validator_value
        yield path, f"expected {wanted if isinstance(wanted, str) else ' or '.join(wanted)}"
    elif error.validator == "pattern" and "description" in error.schema:
        yield path, f"expected {error.schema['description']}"
    elif error.validator == "enum":
        yield path, f"expected one of {', '.join(map(str, error.validator_value))}"
    elif error.validator == "format":
        yield path, _FORMS[error.validator_value]
    else:
        yield path, error.message if len(error.message) < _LONGEST else f"does not fit {error.validator}"


@cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator, FormatChecker

    known = FormatChecker(formats=())
    known.checks("uuid")(lambda value: type(value) is not str or is_uuid(value))
    known.checks("date-time")(lambda value: type(value) is not str or has_zone(value))
    return Draft202012Validator(schema(name), format_checker=known)
