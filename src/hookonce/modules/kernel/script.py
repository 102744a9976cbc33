"""Scripts of the kernel: one request to a line, in the form of the module protocol, each a call of the kernel."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from hookonce.base.json_stream import JsonSyntaxError, StreamLine, parse_json
from hookonce.errors import HookonceError
from hookonce.model import Json, Object
from hookonce.modules.kernel.kernel import Kernel
from hookonce.modules.kernel.mounts import MOUNT_PATHS
from hookonce.modules.kernel.user_kernel import find_module
from hookonce.modules.protocol.descriptor import Descriptor, load_descriptor
from hookonce.modules.protocol.messages import Fault, check_plan
from hookonce.modules.protocol.validation import resolve_descriptor
from hookonce.vocabulary.names import suggest_name

_COMMENT = b"#"
_REFERENCE = "$"  # a text that begins with it stands for the result of an earlier line; `$$` for one dollar sign
_LINE_FIELDS = ("op", "args", "session_id", "as", "expect", "id")
_TYPE_NAMES: dict[type, str] = {str: "a text", int: "a whole number", dict: "an object", float: "a number of seconds"}
_ANY = object
_ROOT = "$"


class ScriptError(HookonceError):
    """A line of a script that is no step; the message says why."""


class ScriptStep(Struct, frozen=True, kw_only=True):
    """One step: a call of the kernel, the name of its result, and what its answer is expected to be."""

    line: int
    op: str
    args: Object
    session_id: str | None = None
    name: str | None = None
    expect: Json | UnsetType = UNSET
    id: Json | UnsetType = UNSET

    def list_references(self) -> set[str]:
        """The names of the results that it uses."""
        values = [self.args, self.session_id, None if self.expect is UNSET else self.expect]
        return {text[1:].partition(".")[0] for text in _iter_texts(values) if _is_reference(text)}


class StepAnswer(Struct, frozen=True, kw_only=True):
    """The answer to a step, and why it is not the expected one; None if it is."""

    step: ScriptStep
    document: Object
    problem: str | None = None

    def to_document(self) -> Object:
        """The answer as a line of output."""
        own: Object = {"line": self.step.line, "op": self.step.op}
        own |= {} if self.step.id is UNSET else {"id": self.step.id}
        return own | self.document | ({} if self.problem is None else {"problem": self.problem})


class _ScriptOp(Struct, frozen=True, kw_only=True):
    """A call that a script can make: its arguments and options with their types, and the function that makes it."""

    call: Callable[[Kernel, Object, Any], Json]
    arguments: Mapping[str, type] = {}
    options: Mapping[str, type] = {}
    session: bool | None = False  # needed, taken if there is one (None), or not taken
    other_names: tuple[str, ...] = ()  # what somebody may write instead, and is told the right one


def _invoke(kernel: Kernel, args: Object, session_id: str | None) -> Json:
    timeout = args.get("timeout")
    return kernel.invoke_module(args["module"], args["op"], args.get("args"), session_id=session_id, timeout=timeout)


def _register_hook(kernel: Kernel, args: Object, _: None) -> None:
    kernel.register_hook(args["event"], args["endpoint"], args.get("priority", 0))


# The words are those of the events that the calls are told by.
_OPS: dict[str, _ScriptOp] = {
    "session:start": _ScriptOp(
        call=lambda kernel, args, _: kernel.session_create(args["plan"]),
        arguments={"plan": dict},
        other_names=("session_create",),
    ),
    "session:fork": _ScriptOp(
        call=lambda kernel, args, _: kernel.session_fork(args["parent"]),
        arguments={"parent": str},
        other_names=("session_fork",),
    ),
    "session:end": _ScriptOp(
        call=lambda kernel, _, session: kernel.session_end(session), session=True, other_names=("session_end",)
    ),
    "mount:add": _ScriptOp(
        call=lambda kernel, args, _: kernel.mount(args["path"], args["descriptor"]),
        arguments={"path": str, "descriptor": _ANY},
        other_names=("mount",),
    ),
    "mount:remove": _ScriptOp(
        call=lambda kernel, args, _: kernel.unmount(args["path"], args.get("name")),
        arguments={"path": str},
        options={"name": str},
        other_names=("unmount",),
    ),
    "hook:register": _ScriptOp(
        call=_register_hook,
        arguments={"event": str, "endpoint": str},
        options={"priority": int},
        other_names=("register_hook",),
    ),
    "context:get": _ScriptOp(
        call=lambda kernel, _, session: kernel.context_get(session), session=True, other_names=("context_get",)
    ),
    "context:set": _ScriptOp(
        call=lambda kernel, args, session: kernel.context_set_fragment(args["key"], args["value"], session_id=session),
        arguments={"key": str, "value": _ANY},
        session=True,
        other_names=("context_set_fragment",),
    ),
    "context:compact": _ScriptOp(
        call=lambda kernel, args, session: kernel.context_compact(args["limit"], session_id=session),
        arguments={"limit": int},
        session=True,
        other_names=("context_compact",),
    ),
    "module:invoke": _ScriptOp(
        call=_invoke,
        arguments={"module": _ANY, "op": str},
        options={"args": dict, "timeout": float},
        session=None,
        other_names=("invoke", "invoke_module"),
    ),
    "emit": _ScriptOp(
        call=lambda kernel, args, session: kernel.emit(args["event"], args.get("data"), session_id=session),
        arguments={"event": str},
        options={"data": dict},
        session=None,
    ),
}
SCRIPT_OPS = tuple(_OPS)
_OP_BY_OTHER_NAME = {word: name for name, op in _OPS.items() for word in (*op.other_names, name.replace(":", "."))}


ScriptLine = ScriptStep | tuple[int, str]  # a step, or the number of a line that is none and what is wrong with it


def parse_script(lines: Iterator[StreamLine], folder: Path) -> Iterator[ScriptLine]:
    """The steps of a script, each checked when it is read; a line that is none is its number and what is wrong.

    Blank lines and those that begin with `#` are left out. Descriptors are looked up from `folder`.
    """
    names: set[str] = set()
    for line in lines:
        if line.fault is None and (not line.raw.strip() or line.raw.lstrip().startswith(_COMMENT)):
            continue
        try:
            if line.fault is not None:
                raise ScriptError(line.fault)
            step = _parse_step(line, folder)
            if unknown_names := sorted(step.list_references() - names):
                hint = 'name it there with "as", or write $$ for a text that begins with a dollar sign'
                raise ScriptError(f"no line before is called {unknown_names[0]}: {hint}")
        except HookonceError as problem:
            yield line.number, str(problem)
            continue
        names |= set() if step.name is None else {step.name}
        yield step


def _parse_step(line: StreamLine, folder: Path) -> ScriptStep:
    try:
        document = parse_json(line.raw)
    except JsonSyntaxError as problem:
        raise ScriptError(str(problem)) from None
    if type(document) is not dict:
        raise ScriptError("a step is an object with op and args")
    if unknown := [name for name in document if name not in _LINE_FIELDS]:
        hint = suggest_name(unknown[0], _LINE_FIELDS) or f"; there are {', '.join(_LINE_FIELDS)}"
        raise ScriptError(f"a step has no field {unknown[0]}{hint}")
    word, args = document.get("op"), document.get("args", {})
    if type(word) is not str or word not in _OPS:
        right_word = _OP_BY_OTHER_NAME.get(str(word), str(word))
        hint = suggest_name(right_word, SCRIPT_OPS) or "."
        sentence = "op is required." if word is None else f"there is no operation {word}{hint}"
        raise ScriptError(f"{sentence} Operations: {', '.join(SCRIPT_OPS)}")
    if type(args) is not dict:
        raise ScriptError("args is an object")
    _check_arguments(word, args)
    session_id = _check_session(word, document.get("session_id"))
    name = document.get("as")
    if name is not None and (type(name) is not str or not name.isidentifier()):
        raise ScriptError("as is a name for the result: letters, digits and _")
    return ScriptStep(
        line=line.number,
        op=word,
        args=_load_descriptors(word, args, folder),
        session_id=session_id,
        name=name,
        expect=document.get("expect", UNSET),
        id=document.get("id", UNSET),
    )


def _check_arguments(op_name: str, args: Object) -> None:
    op = _OPS[op_name]
    types = {**op.arguments, **op.options}
    if missing := [name for name in op.arguments if name not in args]:
        raise ScriptError(f"{op_name} needs {missing[0]} in args")
    if unknown := [name for name in args if name not in types]:
        hint = suggest_name(unknown[0], list(types)) or f"; there are {', '.join(types) or 'none'}"
        raise ScriptError(f"{op_name} has no argument {unknown[0]}{hint}")
    for name, value in args.items():
        is_number = types[name] is float and type(value) in (int, float)
        if not (types[name] is _ANY or type(value) is types[name] or is_number or _is_reference(value)):
            raise ScriptError(f"{name} is {_TYPE_NAMES[types[name]]}")
    if op_name == "session:start" and type(args["plan"]) is dict:
        check_plan(args["plan"])
    if "path" in types and not _is_reference(args["path"]) and args["path"] not in MOUNT_PATHS:
        raise ScriptError(f"{args['path']} is no mount path; there are {', '.join(MOUNT_PATHS)}")


def _check_session(op_name: str, session_id: Json) -> str | None:
    needs_session = _OPS[op_name].session
    if session_id is None and needs_session:
        raise ScriptError(f'{op_name} needs a session_id: "$NAME", where session:start is "as": "NAME"')
    if session_id is not None and needs_session is False:
        raise ScriptError(f"{op_name} takes no session_id")
    if session_id is not None and type(session_id) is not str:
        raise ScriptError("session_id is a text")
    return session_id


def _load_descriptors(op_name: str, args: Object, folder: Path) -> Object:
    """The arguments with the descriptor of a file, or of a name in the user's folder, in the place of its name."""
    key = {"mount:add": "descriptor", "module:invoke": "module"}.get(op_name, "")
    value = args.get(key)
    if type(value) is dict:
        return args | {key: resolve_descriptor(value)}
    if type(value) is not str or _is_reference(value) or (key == "module" and not value.endswith(".json")):
        if type(value) is str or not key:
            return args
        raise ScriptError(f"{key} is an object, the file of a descriptor, or a name")
    if not value.endswith(".json"):
        return args | {key: find_module(value)}
    return args | {key: load_descriptor(folder / value)}


class ScriptRunner:
    """Runs steps on a kernel. In a dry run modules are not asked: what depends on their answers is not tried."""

    def __init__(self, kernel: Kernel, *, is_dry: bool = False) -> None:
        self._kernel, self._is_dry = kernel, is_dry
        self._results: dict[str, Json] = {}
        self._has_hooks = False

    def run(self, step: ScriptStep) -> StepAnswer:
        """Make the call of a step, and remember its result under its name."""
        if self._is_dry and any(self._results[name] is UNSET for name in step.list_references()):
            self._remember(step, UNSET)
            return StepAnswer(step=step, document={"ok": True, "note": "not tried: it depends on a module's answer"})
        expect = step.expect
        try:
            args, session_id = _resolve(step.args, self._results), _resolve(step.session_id, self._results)
            result = _OPS[step.op].call(self._kernel, args, session_id)
            document: Object = result if step.op == "module:invoke" else {"ok": True, "result": result}
            expect = expect if expect is UNSET else _resolve(expect, self._results)
        except Fault as fault:
            document = fault.document
        if self._is_dry:
            return self._dry_answer(step, document)
        self._remember(step, document.get("result"))
        return StepAnswer(step=step, document=document, problem=_find_problem(document, expect))

    def _dry_answer(self, step: ScriptStep, document: Object) -> StepAnswer:
        """The answer as far as it is known: a module's is not, nor what a hook will say to a capability."""
        self._has_hooks |= step.op == "hook:register"
        is_unknown = step.op == "module:invoke" and (document["ok"] or self._has_hooks)
        self._remember(step, UNSET if is_unknown else document.get("result"))
        if is_unknown:
            return StepAnswer(step=step, document={"ok": True, "note": "not tried: a dry run asks no module"})
        problem = _find_problem(document, UNSET if document["ok"] else step.expect)
        return StepAnswer(step=step, document=document, problem=problem)

    def _remember(self, step: ScriptStep, result: Json) -> None:
        if step.name is not None:
            self._results[step.name] = result


def _find_problem(document: Object, expect: Json | UnsetType) -> str | None:
    if expect is not UNSET:
        return next(_iter_differences(expect, document, _ROOT), None)
    if document["ok"]:
        return None
    return f"{document['error']['code']}: {document['error']['message']}"


def _iter_differences(expect: Json, value: Json, path: str) -> Iterator[str]:
    """Where a value lacks what is expected; fields of an object that nobody expects may be there."""
    if type(expect) is dict and type(value) is dict:
        for key, item in expect.items():
            if key not in value:
                yield f"{path}.{key} is missing"
            else:
                yield from _iter_differences(item, value[key], f"{path}.{key}")
    elif type(expect) is list and type(value) is list and len(expect) == len(value):
        for index, (item, other) in enumerate(zip(expect, value, strict=True)):
            yield from _iter_differences(item, other, f"{path}[{index}]")
    elif expect != value or type(expect) is not type(value):
        yield f"{path} is {value!r}, expected {expect!r}"


def _is_reference(value: Json) -> bool:
    return type(value) is str and value.startswith(_REFERENCE) and not value.startswith(_REFERENCE * 2)


def _iter_texts(value: Json) -> Iterator[str]:
    if type(value) is str:
        yield value
    elif type(value) is dict or type(value) is list:
        for item in value.values() if type(value) is dict else value:
            yield from _iter_texts(item)


def _resolve(value: Json, results: Mapping[str, Json]) -> Json:
    """A value with the results in it that it refers to."""
    if isinstance(value, Descriptor):
        return value
    if type(value) is dict:
        return {key: _resolve(item, results) for key, item in value.items()}
    if type(value) is list:
        return [_resolve(item, results) for item in value]
    if type(value) is not str or not value.startswith(_REFERENCE):
        return value
    if not _is_reference(value):
        return value[1:]
    name, *keys = value[1:].split(".")
    target = results[name]
    for key in keys:
        if type(target) is dict and key in target:
            target = target[key]
        elif type(target) is list and key.isdecimal() and int(key) < len(target):
            target = target[int(key)]
        else:
            raise Fault("bad_request", f"the result called {name} has no {key}")
    return target
