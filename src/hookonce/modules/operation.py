"""A Python function as an operation of a module: its parameters say what it takes, and nothing else reaches it."""

from collections.abc import Callable
from inspect import Parameter, Signature, iscoroutinefunction, signature
from typing import Any

from msgspec import ValidationError, convert, defstruct, to_builtins
from msgspec.json import schema_components

from hookonce.canon.spelling import near
from hookonce.errors import UsageError
from hookonce.model import Json, Object
from hookonce.modules.protocol import Fault, Request

_WHOLE = "args"  # a parameter of this name takes all arguments as they came
_HEARS = "on_event"  # events may come with more than a module knows of yet
_PLAIN = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


class Operation:
    """What is called, and what it takes: named and typed arguments, all of them, the request itself."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name, self._function, self.said = name, function, (function.__doc__ or "").strip()
        told = signature(function, eval_str=True)
        if wrong := [one.name for one in told.parameters.values() if one.kind not in _PLAIN]:
            raise UsageError(f"the operation {name} cannot have the parameter {wrong[0]}: name each argument")
        self._whole = _WHOLE in told.parameters
        self._requests = [one.name for one in told.parameters.values() if one.annotation is Request]
        named = [one for one in told.parameters.values() if one.name != _WHOLE and one.name not in self._requests]
        self._names = [one.name for one in named]
        self._strict = bool(named) and not self._whole and not self._requests and name != _HEARS
        fields = [_field(one) for one in named]
        self._shape = defstruct("args", fields, kw_only=True, forbid_unknown_fields=self._strict)
        self._result = told.return_annotation
        self._waits = iscoroutinefunction(function)

    def taken(self, request: Request) -> Object:
        """What the function is called with; bad_request where the arguments do not fit."""
        given: Object = {}
        if self._strict and (strange := next((one for one in request.args if one not in self._names), None)):
            there = near(strange, self._names) or f"; there are {', '.join(self._names)}"
            raise Fault("bad_request", f"{self.name} has no argument {strange}{there}", {"args": self._names})
        if self._names:
            try:
                taken = convert(request.args, self._shape)
            except ValidationError as problem:
                raise Fault("bad_request", f"the arguments of {self.name} do not fit: {problem}") from None
            given = {name: getattr(taken, name) for name in self._names}
        for name in self._requests:
            given[name] = request
        if self._whole:
            given[_WHOLE] = request.args
        return given

    def __call__(self, request: Request) -> Json:
        """Do it; what comes out is plain JSON."""
        made = self._function(**self.taken(request))
        return to_builtins(_awaited(made) if self._waits else made, str_keys=True)

    def schemas(self) -> tuple[Object, Object]:
        """The JSON Schemas of what it takes and of what it gives, as far as its annotations tell."""
        return _schema(self._shape), _schema(self._result if self._result is not Signature.empty else Any)


def _awaited(made: Any) -> Any:
    import asyncio

    return asyncio.run(made)


def _field(parameter: Parameter) -> Any:
    kind = Any if parameter.annotation is Parameter.empty else parameter.annotation
    if parameter.default is Parameter.empty:
        return parameter.name, kind
    return parameter.name, kind, parameter.default


def _schema(shape: Any) -> Object:
    """A schema that stands by itself; what has none may be anything."""
    try:
        (made,), parts = schema_components([shape], ref_template="#/$defs/{name}")
    except TypeError:
        return {}
    name = made.get("$ref", "").rpartition("/")[2]
    found: Object = parts.pop(name, made)
    return found | ({"$defs": parts} if parts else {})
