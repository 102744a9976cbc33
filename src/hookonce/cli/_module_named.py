"""The module that a command is about, and what it is given."""

from hookonce.errors import UsageError
from hookonce.journeys.kernel import named
from hookonce.model import Object
from hookonce.modules.descriptor import Descriptor
from hookonce.texts import load


def descriptor(name: str | None) -> Descriptor:
    """The descriptor that was named."""
    if name is None:
        raise UsageError("which module? Name one that is described here, or the file of a descriptor")
    return named(name)


def argument(text: str | None) -> Object:
    """The arguments of an operation."""
    try:
        found = {} if text is None else load(text)
    except (ValueError, RecursionError):
        raise UsageError('the arguments are no JSON; an object is wanted: \'{"name": "you"}\'') from None
    if type(found) is not dict:
        raise UsageError('the arguments are no object: \'{"name": "you"}\'')
    return found
