"""Functions as hooks: marked by a decorator, found in their file, asked about an event."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import CoroutineType, ModuleType
from typing import Any, TypeVar, overload

from msgspec import Struct

from hookonce.canon.events import EVENTS
from hookonce.canon.merge import merged
from hookonce.canon.spelling import near
from hookonce.errors import HookonceError, UsageError
from hookonce.manifest.matcher import Subject, matcher_problems, matches
from hookonce.model import Decision, Event
from hookonce.sdk.answers import said
from hookonce.sdk.event import HookEvent

Function = Callable[[HookEvent], Any]
F = TypeVar("F", bound=Function)
_MARK = "__hookonce__"
_ALSO = {"tool_use_failure": "after_tool_execute"}  # who hears of finished tools also hears of failed ones


class Wanted(Struct, frozen=True):
    """What a function wants to be asked about: an event, or all; tools as in a manifest, or all."""

    event: str | None = None
    tool: Any = None


@overload
def hook(event: F, /) -> F: ...
@overload
def hook(event: str | None = None, /, *, tool: Any = None) -> Callable[[F], F]: ...


def hook(event: Any = None, /, *, tool: Any = None) -> Any:
    """Make a function a hook: for one event and some tools, or for all.

    The file that it stands in can be named in a manifest (`{"type": "function", "file": …}`), and is itself a
    program that answers whoever calls it: `python guard.py`.
    """
    if callable(event):
        return hook()(event)
    wanted = _wanted(event, tool)

    def marked(function: F) -> F:
        setattr(function, _MARK, wanted)
        if (file := _program(function)) is not None:
            from hookonce.sdk.script import main

            sys.exit(main(file, sys.argv[1:]))
        return function

    return marked


def _wanted(event: str | None, tool: Any) -> Wanted:
    if event is not None and event not in EVENTS and not event.startswith("vendor."):
        raise UsageError(f"no event is called {event!r}{near(event, EVENTS)}")
    matcher = list(tool) if isinstance(tool, (tuple, set, frozenset)) else tool
    if matcher is not None and (wrong := next(matcher_problems(matcher, "tool"), None)) is not None:
        raise UsageError(f"{wrong[0]}: {wrong[1]}")
    return Wanted(event, matcher)


def _program(function: Function) -> str | None:
    """The file of a function that stands in the program which is being run; None where it was only imported."""
    code = getattr(function, "__code__", None)
    if function.__module__ != "__main__" or code is None or sys.flags.interactive:
        return None
    file: str | None = getattr(sys.modules["__main__"], "__file__", None)
    return file if file is not None and code.co_filename == file and Path(file).is_file() else None


def load(file: str, source: bytes) -> ModuleType:
    """The file as a module of its own; it finds beside it what it could import as a program."""
    place = Path(file).absolute()
    module = ModuleType(place.stem)
    module.__file__ = str(place)
    sys.modules[place.stem] = module
    sys.path.insert(0, str(place.parent))
    exec(compile(source, str(place), "exec", dont_inherit=True), module.__dict__)  # noqa: S102  the user's own hook
    return module


def picked(module: ModuleType, name: str | None, event: Event) -> list[Function]:
    """The functions of a file that are asked: the one of that name, or all that want to be; an error if none can be."""
    if name is not None:
        function = getattr(module, name, None)
        if not callable(function):
            raise HookonceError(f"{module.__file__} has no function {name}")
        if not _is_about(wanted_of(function), event):
            told = f"{name} is a hook for {wanted_of(function).event}"
            raise HookonceError(f"{told}, and was asked about {event.type}")
        return [function]
    found = {id(one): one for one in vars(module).values() if isinstance(getattr(one, _MARK, None), Wanted)}
    if not found:
        raise HookonceError(f"{module.__file__} has no function that is marked with @hook")
    return [one for one in found.values() if _is_about(wanted_of(one), event)]


def wanted_of(function: Function) -> Wanted:
    """What a function wants to be asked about; without a mark, everything."""
    found = getattr(function, _MARK, None)
    return found if isinstance(found, Wanted) else Wanted()


def _is_about(wanted: Wanted, event: Event) -> bool:
    return wanted.event in {None, event.type, _ALSO.get(event.type)}


def answer(functions: Iterable[Function], event: Event) -> Decision:
    """What all of them say to an event, in order, those that do not want its tool left out."""
    return merged([_asked(one, event) for one in functions if _fits(wanted_of(one), event)])


def _fits(wanted: Wanted, event: Event) -> bool:
    if wanted.tool is None or not _is_about(wanted, event):
        return _is_about(wanted, event)
    if event.tool is None:
        return False
    tool = event.tool
    named = tool.name.partition("/")[2] if tool.name.startswith("mcp:") else None
    return matches(wanted.tool, Subject(tool.name, tool.native, tool.mcp_server, named))


def _asked(function: Function, event: Event) -> Decision:
    value = function(HookEvent(event))
    if isinstance(value, CoroutineType):
        from asyncio import run  # most hooks do without

        value = run(value)
    return said(value, getattr(function, "__name__", "the hook"))
