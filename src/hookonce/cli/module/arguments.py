"""Module arguments: descriptor by name or file, operation arguments as JSON."""

from hookonce.base.jsontext import load
from hookonce.errors import UsageError
from hookonce.model import Object
from hookonce.modules.kernel.user_kernel import find_module
from hookonce.modules.protocol.descriptor import Descriptor


def load_descriptor(name: str | None) -> Descriptor:
    """Load the descriptor of a module name or file."""
    if name is None:
        raise UsageError("which module? Name one that is described here, or the file of a descriptor")
    return find_module(name)


def parse_arguments(text: str | None) -> Object:
    """Parse the arguments of an operation, a JSON object."""
    try:
        arguments = {} if text is None else load(text)
    except (ValueError, RecursionError):
        raise UsageError('the arguments are no JSON; an object is wanted: \'{"name": "you"}\'') from None
    if type(arguments) is not dict:
        raise UsageError('the arguments are no object: \'{"name": "you"}\'')
    return arguments
