"""Every problem of a manifest at once, each with its path, and what is only worth a warning."""

from collections.abc import Iterator, Mapping
from re import compile as pattern
from typing import Any

from hookonce.canon.arguments import ARGUMENTS
from hookonce.canon.events import EVENTS
from hookonce.manifest.fields import HANDLER, HOOK, LONGEST, NEEDS, SPEC, Field, Kind
from hookonce.manifest.http_script import fault_of_url
from hookonce.manifest.matcher import matcher_problems
from hookonce.model import Object, Problem

SUPPORTED = ("hooks/1.0", "hooks/0.1")
_ANY_SPEC = pattern(r"hooks/[0-9]+\.[0-9]+")
_OUR_SPEC = pattern(SPEC)

_TYPES: dict[Kind, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}
_WORDS: dict[Kind, str] = {
    "string": "a string",
    "boolean": "true or false",
    "number": "a number",
    "array": "a list",
    "object": "an object",
}
EMPTIED = ("$.hooks", "expected at least one hook")  # a problem for who reads it, but plain to who runs it


def problems_of(document: Any) -> tuple[list[Problem], list[Problem]]:
    """What makes a manifest unusable, and what a reader should know."""
    if type(document) is not dict:
        return [("$", "expected an object with spec and hooks")], []
    problems = [*_spec_problems(document)]
    warnings = [*_spec_warnings(document)]
    hooks = document.get("hooks")
    if type(hooks) is not list:
        problems.append(("$.hooks", "is required" if hooks is None else "expected a list"))
        return problems, warnings
    if not hooks:
        problems.append(EMPTIED)
    for index, hook in enumerate(hooks):
        problems += _hook_problems(hook, f"$.hooks[{index}]")
        warnings += _hook_warnings(hook, f"$.hooks[{index}]")
    return problems, warnings


def _spec_problems(document: Object) -> Iterator[Problem]:
    spec = document.get("spec")
    if spec is None:
        yield "$.spec", "is required"
    elif type(spec) is not str or _ANY_SPEC.fullmatch(spec) is None:
        yield "$.spec", "expected hooks/1.0 or hooks/0.1"
    elif _OUR_SPEC.fullmatch(spec) is None:
        yield "$.spec", f"{spec} is newer than what can be read: hooks/0.x and hooks/1.x"


def _spec_warnings(document: Object) -> Iterator[Problem]:
    spec = document.get("spec")
    if type(spec) is str and _OUR_SPEC.fullmatch(spec) and spec not in SUPPORTED:
        yield "$.spec", f"{spec} is not known; read as the nearest version"


def _hook_problems(hook: Any, path: str) -> Iterator[Problem]:
    if type(hook) is not dict:
        yield path, "expected an object"
        return
    event = hook.get("event")
    if type(event) is not str or not event:
        yield f"{path}.event", "is required" if event is None else "expected the name of an event"
    yield from _field_problems(hook, HOOK, path)
    if hook.get("matcher") is not None:
        yield from matcher_problems(hook["matcher"], f"{path}.matcher")
    if hook.get("on_failure") == "closed" and hook.get("blocking") is not True:
        yield f"{path}.on_failure", "closed is only for a hook with blocking: true"
    yield from _handler_problems(hook.get("handler"), f"{path}.handler")
    kind = _kind(hook.get("handler"))
    if kind in _GIVEN and hook.get("dialect") not in {None, "canonical"}:
        yield f"{path}.dialect", f"a {kind} is given {_GIVEN[kind]}, and no other dialect"


_GIVEN = {"function": "canonical events", "module": "Amplifier events"}


def _kind(handler: Any) -> str:
    kind = handler.get("type") if type(handler) is dict else None
    return kind if type(kind) is str else ""


def _handler_problems(handler: Any, path: str) -> Iterator[Problem]:
    if type(handler) is not dict:
        yield path, "is required" if handler is None else "expected an object"
        return
    kind = handler.get("type")
    if type(kind) is not str or kind not in NEEDS:
        yield f"{path}.type", "is required" if kind is None else f"expected one of {', '.join(NEEDS)}"
    elif not handler.get(NEEDS[kind]):
        yield f"{path}.{NEEDS[kind]}", f"is required for a handler of type {kind}"
    yield from _field_problems(handler, HANDLER, path)
    timeout: Any = handler.get("timeout")
    if type(timeout) in (int, float) and not 0 <= timeout <= LONGEST:
        yield f"{path}.timeout", f"expected seconds, 0 to {LONGEST}"


def _field_problems(given: Object, fields: Mapping[str, Field], path: str) -> Iterator[Problem]:
    for name, field in fields.items():
        value, where = given.get(name), f"{path}.{name}"
        if value is None:
            continue
        if type(value) not in _TYPES[field.kind]:
            yield where, f"expected {_WORDS[field.kind]}"
        elif field.entries is None:
            yield from _choice(value, field.choices, where)
        else:
            yield from _entries(value, field, where)


def _entries(value: Any, field: Field, path: str) -> Iterator[Problem]:
    """What is wrong inside a list or an object of which all entries are alike."""
    named = value.items() if type(value) is dict else enumerate(value)
    for name, entry in named:
        where = f"{path}.{name}" if type(value) is dict else f"{path}[{name}]"
        if field.keys:
            yield from _choice(name, field.keys, where)
        if type(entry) not in _TYPES[field.entries or "string"]:
            yield where, f"expected {_WORDS[field.entries or 'string']}"
        else:
            yield from _choice(entry, field.choices, where)


def _choice(value: Any, choices: tuple[str, ...], path: str) -> Iterator[Problem]:
    if choices and value not in choices:
        yield path, f"expected one of {', '.join(choices)}"


def _hook_warnings(hook: Any, path: str) -> Iterator[Problem]:
    if type(hook) is not dict:
        return
    event = hook.get("event")
    if type(event) is str and event and event not in EVENTS and not event.startswith("vendor."):
        yield f"{path}.event", f"{event} is no canonical event; it is kept as it is"
    matcher = hook.get("matcher")
    for name in matcher if type(matcher) is list else [matcher]:
        if type(name) is str and name not in ARGUMENTS:
            yield f"{path}.matcher", f"{name} is no canonical tool; it is taken literally"
    handler = hook.get("handler")
    if type(handler) is not dict:
        return
    if hook.get("blocking") is True and _is_inline(handler.get("command")):
        yield f"{path}.handler.command", "a blocking hook should be a script, which can be hashed and read"
    url = handler.get("url")
    if handler.get("type") == "http" and type(url) is str and (fault := fault_of_url(url)) is not None:
        yield f"{path}.handler.url", f"will not be called: {fault}"


def _is_inline(command: Any) -> bool:
    """A command is a script reference if its first word has a path in it."""
    return type(command) is str and "/" not in command.split(" ", 1)[0] and "\\" not in command.split(" ", 1)[0]
