"""Whether what is said to a kernel makes sense; what does not is a bad_request before anything is done."""

from math import isnan
from typing import Any

from hookonce.model import Json
from hookonce.modules.descriptor import Descriptor, DescriptorError, descriptor_of, document_of
from hookonce.modules.lines import document_of as parsed
from hookonce.modules.lines import line_of
from hookonce.modules.protocol import Fault

UNWRITABLE = (TypeError, ValueError, OverflowError, RecursionError)  # what is raised for something that is no JSON


def text(given: Any, what: str) -> str:
    """A text that says something."""
    if type(given) is not str or not given:
        raise Fault("bad_request", f"{what} is a text that is not empty")
    return given


def number(given: Any, what: str) -> int:
    """A whole number."""
    if type(given) is not int:
        raise Fault("bad_request", f"{what} is a whole number")
    return given


def seconds(given: Any) -> float:
    """A time that can be waited for; for ever is one."""
    if type(given) not in (int, float) or isnan(given) or given < 0:
        raise Fault("bad_request", "a timeout is a number of seconds")
    return float(given)


def plain(given: Any, what: str) -> Json:
    """A copy of a JSON document, which nobody else holds."""
    try:
        return parsed(line_of(given))
    except UNWRITABLE as problem:
        raise Fault("bad_request", f"{what} cannot be written as JSON: {problem}") from None


def described(given: Any) -> Descriptor:
    """The module that is meant, as a descriptor or as the document of one; every problem is named."""
    try:
        if isinstance(given, Descriptor):
            descriptor_of(document_of(given))
            return given
        return descriptor_of(given)
    except DescriptorError as problem:
        raise Fault("bad_request", str(problem), {"problems": [*map(list, problem.problems)]}) from None
