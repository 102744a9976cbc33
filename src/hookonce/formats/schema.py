"""JSON Schema validation of documents: every problem in our words, each with its JSON path."""

from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from msgspec.json import decode

from hookonce.base.ids import is_uuid
from hookonce.base.times import has_zone
from hookonce.model import Json, Object, Problem

Problems = tuple[list[Problem], list[Problem]]  # problems and doubts
FormatCheck = Callable[[Object, bool], Problems]
_MAX_MESSAGE_CHARS = 200  # a message of the validator that is longer quotes the document
_FORMAT_MESSAGES = {"uuid": "expected a UUID", "date-time": "expected an RFC 3339 time with a zone"}


def load_schema(name: str) -> Object:
    """Load a published schema: from the package of a wheel, else from the root of the source tree."""
    wheel_folder = files("hookonce") / "schemas"
    folder = wheel_folder if wheel_folder.is_dir() else Path(__file__).resolve().parents[3] / "schemas"
    document: Object = decode((folder / f"{name}.json").read_bytes())
    return document


def validate_document(name: str, extra_check: FormatCheck | None, document: Json, *, strict: bool) -> Problems:
    """Problems and doubts of a document: those of its schema, then those of `extra_check` at other paths."""
    errors = _validator(name).iter_errors(document)
    problems = sorted({problem for error in errors for problem in _schema_problems(error)})
    if extra_check is None or type(document) is not dict:
        return problems, []
    extra_problems, doubts = extra_check(document, strict)
    paths = {path for path, _ in problems}
    return problems + [problem for problem in extra_problems if problem[0] not in paths], doubts


def _schema_problems(error: Any) -> Iterator[Problem]:
    """A schema error in our words; a missing field is named by its own path."""
    path = "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    if error.validator == "required":
        yield from ((f"{path}.{name}", "is required") for name in error.validator_value if name not in error.instance)
    elif error.validator == "type":
        expectation = error.validator_value
        yield path, f"expected {expectation if isinstance(expectation, str) else ' or '.join(expectation)}"
    elif error.validator == "pattern" and "description" in error.schema:
        yield path, f"expected {error.schema['description']}"
    elif error.validator == "enum":
        yield path, f"expected one of {', '.join(map(str, error.validator_value))}"
    elif error.validator == "format":
        yield path, _FORMAT_MESSAGES[error.validator_value]
    else:
        yield path, error.message if len(error.message) < _MAX_MESSAGE_CHARS else f"does not fit {error.validator}"


@cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator, FormatChecker

    checker = FormatChecker(formats=())
    checker.checks("uuid")(lambda value: type(value) is not str or is_uuid(value))
    checker.checks("date-time")(lambda value: type(value) is not str or has_zone(value))
    return Draft202012Validator(load_schema(name), format_checker=checker)
