"""Operations of a module: Python functions with validated arguments, alone or behind a queue, and their run."""

import sys
from collections.abc import Callable
from inspect import Parameter, Signature, iscoroutinefunction, signature
from queue import Full, Queue
from threading import Event, Lock, Thread
from time import monotonic
from traceback import print_exc
from typing import Any

from msgspec import UNSET, ValidationError, convert, defstruct, to_builtins
from msgspec.json import schema_components

from hookonce.errors import UsageError
from hookonce.model import Json, Object
from hookonce.modules.protocol import messages
from hookonce.vocabulary.names import suggest_name

DocumentHandler = Callable[[Json], Object]  # of request documents: a module's `answer`, or a bridge to a link


def with_id(document: Object, request_id: Json) -> Object:
    """A response under the id of its request, if that has one."""
    if request_id is not UNSET:
        document["id"] = request_id
    return document


def run_operation(operation: "OperationLike", request: messages.Request) -> Object:
    """Run an operation; whatever it raises is an error response."""
    try:
        return {"ok": True, "result": operation(request)}
    except messages.Fault as fault:
        return fault.document
    except MemoryError:
        return messages.build_error("oom", messages.ERROR_CODES["oom"])
    except (Exception, SystemExit) as problem:  # noqa: BLE001  the caller is told; the rest stands in the log
        print_exc(file=sys.stderr)
        return messages.build_error("internal", f"{request.op} failed: {type(problem).__name__}: {problem}")


def timeout_response(document: Json, seconds: float) -> Object:
    """The response when the work takes too long; it may still be done, but its result is dropped."""
    response = messages.build_error("timeout", f"the work took longer than {seconds:g} seconds", seconds=seconds)
    return with_id(response, messages.request_id_of(document))


def handle_within(answer: DocumentHandler, document: Json, seconds: float) -> Object:
    """Handle a request document; a timeout response where that takes too long."""
    responses: list[Object] = []
    is_done = Event()

    def run() -> None:
        responses.append(answer(document))
        is_done.set()

    Thread(target=run, daemon=True).start()
    return responses[0] if is_done.wait(seconds) else timeout_response(document, seconds)


_ALL_ARGS = "args"  # a parameter of this name takes all arguments as they came
_EVENT_OP = "on_event"  # events may come with more than a module knows of yet
_NAMED_KINDS = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


class OperationFunction:
    """A Python function as an operation: named and typed arguments, all of them as `args`, or the request itself."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name, self._function, self.description = name, function, (function.__doc__ or "").strip()
        spec = signature(function, eval_str=True)
        every = spec.parameters.values()
        if rejects := [parameter.name for parameter in every if parameter.kind not in _NAMED_KINDS]:
            raise UsageError(f"the operation {name} cannot have the parameter {rejects[0]}: name each argument")
        self._takes_all = _ALL_ARGS in spec.parameters
        self._request_params = [parameter.name for parameter in every if parameter.annotation is messages.Request]
        special = {_ALL_ARGS, *self._request_params}
        parameters = [parameter for parameter in every if parameter.name not in special]
        self._arg_names = [parameter.name for parameter in parameters]
        self._is_strict = bool(parameters) and not self._takes_all and not self._request_params and name != _EVENT_OP
        fields = [_struct_field(parameter) for parameter in parameters]
        self._args_type = defstruct("args", fields, kw_only=True, forbid_unknown_fields=self._is_strict)
        self._result_type = Any if spec.return_annotation is Signature.empty else spec.return_annotation
        self._is_async = iscoroutinefunction(function)

    def bind_arguments(self, request: messages.Request) -> Object:
        """The arguments of the function; bad_request where those of the request do not fit."""
        arguments: Object = {}
        unknown = next((name for name in request.args if name not in self._arg_names), None)
        if self._is_strict and unknown:
            hint = suggest_name(unknown, self._arg_names) or f"; there are {', '.join(self._arg_names)}"
            raise messages.Fault(
                "bad_request", f"{self.name} has no argument {unknown}{hint}", {"args": self._arg_names}
            )
        if self._arg_names:
            try:
                fields = convert(request.args, self._args_type)
            except ValidationError as problem:
                raise messages.Fault("bad_request", f"the arguments of {self.name} do not fit: {problem}") from None
            arguments = {name: getattr(fields, name) for name in self._arg_names}
        for name in self._request_params:
            arguments[name] = request
        if self._takes_all:
            arguments[_ALL_ARGS] = request.args
        return arguments

    def __call__(self, request: messages.Request) -> Json:
        """Run the function; its result is converted to plain JSON."""
        result = self._function(**self.bind_arguments(request))
        if self._is_async:
            import asyncio

            result = asyncio.run(result)
        return to_builtins(result, str_keys=True)

    def schemas(self) -> tuple[Object, Object]:
        """The JSON Schemas of its arguments and of its result, as far as the annotations say."""
        return _json_schema(self._args_type), _json_schema(self._result_type)


def _struct_field(parameter: Parameter) -> Any:
    annotation = Any if parameter.annotation is Parameter.empty else parameter.annotation
    default = () if parameter.default is Parameter.empty else (parameter.default,)
    return parameter.name, annotation, *default


def _json_schema(python_type: Any) -> Object:
    """A self-contained JSON Schema of a type; {} where there is none."""
    try:
        (root,), components = schema_components([python_type], ref_template="#/$defs/{name}")
    except TypeError:
        return {}
    name = root.get("$ref", "").rpartition("/")[2]
    body: Object = components.pop(name, root)
    return body | ({"$defs": components} if components else {})


_MAX_JOBS = 10_000  # requests that wait
_queues: "list[JobQueue]" = []


class JobQueue:
    """Queue before an operation: requests are acknowledged at once and handled afterwards, in order, by one thread."""

    def __init__(self, operation: OperationFunction) -> None:
        self._operation, self._lock, self.description = operation, Lock(), operation.description
        self._queue: Queue[messages.Request] = Queue(_MAX_JOBS)
        self._has_thread = False
        _queues.append(self)

    def __call__(self, request: messages.Request) -> Object:
        """Enqueue a request whose arguments fit, and acknowledge it."""
        self._operation.bind_arguments(request)
        try:
            self._queue.put_nowait(request)
        except Full:
            raise messages.Fault("oom", f"{_MAX_JOBS} events are waiting already", {"retryable": True}) from None
        with self._lock:
            if not self._has_thread:
                self._has_thread = True
                Thread(target=self._run, daemon=True).start()
        return {"accepted": True}

    def schemas(self) -> tuple[Object, Object]:
        """The argument schema of the operation, and that of the acknowledgement."""
        properties: Object = {"accepted": {"const": True}}
        return self._operation.schemas()[0], {"type": "object", "required": ["accepted"], "properties": properties}

    def _run(self) -> None:
        while True:
            request = self._queue.get()
            try:
                self._operation(request)
            except (Exception, SystemExit):  # noqa: BLE001  nobody waits for it; the next one is to be done as well
                print_exc(file=sys.stderr)
            finally:
                self._queue.task_done()

    def drain(self, deadline: float) -> None:
        """Wait until every job is done, or the deadline has passed."""
        all_done = self._queue.all_tasks_done
        with all_done:
            while self._queue.unfinished_tasks and (remaining_s := deadline - monotonic()) > 0:
                all_done.wait(remaining_s)


OperationLike = OperationFunction | JobQueue


def drain_all(seconds: float) -> None:
    """Give all queues some seconds to finish their jobs, before this process ends."""
    deadline = monotonic() + seconds
    for queue in _queues:
        queue.drain(deadline)
