"""Argument validation for the kernel's calls: an invalid argument is a bad_request before anything is done."""

from math import isnan
from typing import Any

from hookonce.model import Json
from hookonce.modules.protocol.descriptor import (
    Descriptor,
    DescriptorError,
    descriptor_document,
    mount_problems,
    parse_descriptor,
)
from hookonce.modules.protocol.messages import Fault, decode_line, encode_line, problems_fault

JSON_ENCODE_ERRORS = (TypeError, ValueError, OverflowError, RecursionError)  # of the encoder, for what is no JSON


def require_text(value: Any, label: str) -> str:
    """A non-empty string, or bad_request."""
    if type(value) is not str or not value:
        raise Fault("bad_request", f"{label} is a text that is not empty")
    return value


def require_int(value: Any, label: str) -> int:
    """An int, or bad_request."""
    if type(value) is not int:
        raise Fault("bad_request", f"{label} is a whole number")
    return value


def require_timeout(value: Any) -> float:
    """A timeout in seconds, or bad_request; infinity is one."""
    if type(value) not in (int, float) or isnan(value) or value < 0:
        raise Fault("bad_request", "a timeout is a number of seconds")
    return float(value)


def copy_json(value: Any, label: str) -> Json:
    """A deep copy of a JSON document; bad_request where it cannot be encoded."""
    try:
        return decode_line(encode_line(value))
    except JSON_ENCODE_ERRORS as problem:
        raise Fault("bad_request", f"{label} cannot be written as JSON: {problem}") from None


def resolve_descriptor(module: Any) -> Descriptor:
    """The descriptor that is given, or parsed from the document that is given; every problem is named."""
    try:
        if isinstance(module, Descriptor):
            parse_descriptor(descriptor_document(module))
            return module
        return parse_descriptor(module)
    except DescriptorError as problem:
        raise Fault("bad_request", str(problem), {"problems": [*map(list, problem.problems)]}) from None


def require_reachable(descriptor: Descriptor, verb: str) -> None:
    """Refuse a module that cannot be reached, as its descriptor is; `verb` says what is not done with it."""
    if problems := mount_problems(descriptor):
        raise problems_fault(f"{descriptor.name} cannot be {verb}", problems)
