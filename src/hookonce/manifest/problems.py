"""Every problem of a manifest at once, each with its path, and what is only worth a warning."""

from collections.abc import Iterator
from re import compile as pattern
from typing import Any

from hookonce.canon.arguments import ARGUMENTS
from hookonce.canon.events import EVENTS
from hookonce.manifest.matcher import matcher_problems
from hookonce.model import Object, Problem

SUPPORTED = ("hooks/1.0", "hooks/0.1")
_SPEC = pattern(r"hooks/(\d+)\.(\d+)")
_TYPES = ("command", "http", "prompt", "agent")
_NEEDS = {"command": "command", "http": "url", "prompt": "prompt", "agent": "prompt"}
_STRATEGIES = ("block", "warn", "exclude")
_SYSTEMS = ("windows", "linux", "osx", "darwin", "macos")

_NAMES = {str: "a string", bool: "true or false", dict: "an object", list: "a list", float: "a number"}
_HOOK = {"name": str, "blocking": bool, "degradation": dict, "capabilities": list, "provider_data": dict}
_OURS = {"on_failure": str, "may_allow": bool, "dialect": str, "files": list}
_HANDLER = {"command": str, "platform": dict, "cwd": str, "env": dict, "timeout": float, "async": bool}
_FURTHER = {"timeout_action": str, "status_message": str, "url": str, "method": str, "headers": dict}
_LAST = {"allowed_env": list, "prompt": str, "model": str}
_CHOICES = {
    "on_failure": ("open", "closed"),
    "timeout_action": ("warn", "block"),
}


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
        problems.append(("$.hooks", "expected at least one hook"))
    for index, hook in enumerate(hooks):
        problems += _hook_problems(hook, f"$.hooks[{index}]")
        warnings += _hook_warnings(hook, f"$.hooks[{index}]")
    return problems, warnings


def _spec_problems(document: Object) -> Iterator[Problem]:
    spec = document.get("spec")
    if spec is None:
        yield "$.spec", "is required"
    elif type(spec) is not str or not (found := _SPEC.fullmatch(spec)):
        yield "$.spec", "expected hooks/1.0 or hooks/0.1"
    elif int(found.group(1)[:6]) > 1:
        yield "$.spec", f"{spec} is newer than what can be read: hooks/0.x and hooks/1.x"


def _spec_warnings(document: Object) -> Iterator[Problem]:
    spec = document.get("spec")
    if type(spec) is str and _SPEC.fullmatch(spec) and spec not in SUPPORTED:
        yield "$.spec", f"{spec} is not known; read as the nearest version"


def _hook_problems(hook: Any, path: str) -> Iterator[Problem]:
    if type(hook) is not dict:
        yield path, "expected an object"
        return
    event = hook.get("event")
    if type(event) is not str or not event:
        yield f"{path}.event", "is required" if event is None else "expected the name of an event"
    yield from _typed(hook, _HOOK | _OURS, path)
    yield from _entries(hook, "degradation", _STRATEGIES, path)
    yield from _texts(hook, ("capabilities", "files"), path)
    for slug, data in _items(hook, "provider_data"):
        if type(data) is not dict:
            yield f"{path}.provider_data.{slug}", "expected an object"
    if hook.get("matcher") is not None:
        yield from matcher_problems(hook["matcher"], f"{path}.matcher")
    if hook.get("on_failure") == "closed" and hook.get("blocking") is not True:
        yield f"{path}.on_failure", "closed is only for a hook with blocking: true"
    yield from _handler_problems(hook.get("handler"), f"{path}.handler")


def _handler_problems(handler: Any, path: str) -> Iterator[Problem]:
    if type(handler) is not dict:
        yield path, "is required" if handler is None else "expected an object"
        return
    kind = handler.get("type")
    if type(kind) is not str or kind not in _TYPES:
        yield f"{path}.type", "is required" if kind is None else f"expected one of {', '.join(_TYPES)}"
    elif not handler.get(_NEEDS[kind]):
        yield f"{path}.{_NEEDS[kind]}", f"is required for a handler of type {kind}"
    yield from _typed(handler, _HANDLER | _FURTHER | _LAST, path)
    for name, _ in _items(handler, "platform"):
        if name not in _SYSTEMS:
            yield f"{path}.platform.{name}", f"expected one of {', '.join(_SYSTEMS)}"
    for field in ("platform", "env", "headers"):
        yield from (
            (f"{path}.{field}.{name}", "expected a string")
            for name, text in _items(handler, field)
            if type(text) is not str
        )
    yield from _texts(handler, ("allowed_env",), path)
    timeout = handler.get("timeout")
    if isinstance(timeout, int | float) and not isinstance(timeout, bool) and not 0 <= timeout < float("inf"):
        yield f"{path}.timeout", "expected seconds, 0 or more"


def _typed(given: Object, types: dict[str, type], path: str) -> Iterator[Problem]:
    for name, kind in types.items():
        value = given.get(name)
        if value is None:
            continue
        fits = type(value) in (int, float) if kind is float else type(value) is kind
        if not fits:
            yield f"{path}.{name}", f"expected {_NAMES[kind]}"
        elif name in _CHOICES and value not in _CHOICES[name]:
            yield f"{path}.{name}", f"expected {' or '.join(_CHOICES[name])}"


def _entries(given: Object, field: str, allowed: tuple[str, ...], path: str) -> Iterator[Problem]:
    for name, value in _items(given, field):
        if type(value) is not str or value not in allowed:
            yield f"{path}.{field}.{name}", f"expected one of {', '.join(allowed)}"


def _texts(given: Object, names: tuple[str, ...], path: str) -> Iterator[Problem]:
    for name in names:
        values = given.get(name)
        for index, value in enumerate(values if type(values) is list else []):
            if type(value) is not str:
                yield f"{path}.{name}[{index}]", "expected a string"


def _items(given: Object, field: str) -> list[tuple[str, Any]]:
    value = given.get(field)
    return list(value.items()) if type(value) is dict else []


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
    if type(handler) is dict and hook.get("blocking") is True and _is_inline(handler.get("command")):
        yield f"{path}.handler.command", "a blocking hook should be a script, which can be hashed and read"


def _is_inline(command: Any) -> bool:
    """A command is a script reference if its first word has a path in it."""
    return type(command) is str and "/" not in command.split(" ", 1)[0] and "\\" not in command.split(" ", 1)[0]
