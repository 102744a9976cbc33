"""Hook functions: the `@hook` decorator, loading of their file, selection and call."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import CoroutineType, ModuleType
from typing import Any, TypeVar, overload

from msgspec import Struct

from hookonce.errors import HookonceError, UsageError
from hookonce.manifest.match import MatchSubject, find_matcher_problems, matches
from hookonce.model import Decision, Event
from hookonce.sdk.answers import parse_answer
from hookonce.sdk.event import HookEvent
from hookonce.vocabulary.decision_merge import merge_decisions
from hookonce.vocabulary.events import BROADER_EVENTS, EVENTS

HookFunction = Callable[[HookEvent], Any]
F = TypeVar("F", bound=HookFunction)
_FILTER_ATTRIBUTE = "__hookonce__"


class HookFilter(Struct, frozen=True):
    """Filter of a hook function: an event or all; tools as in a manifest, or all."""

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
    if event is not None and event not in EVENTS and not event.startswith("vendor."):
        from hookonce.dispatch.hook_faults.manifest_words import suggest_event  # all agents' names, for this alone

        raise UsageError(f"no event is called {event!r}{suggest_event(event)}")
    matcher = list(tool) if isinstance(tool, (tuple, set, frozenset)) else tool
    if matcher is not None and (fault := next(find_matcher_problems(matcher, "tool"), None)) is not None:
        raise UsageError(f"{fault[0]}: {fault[1]}")
    hook_filter = HookFilter(event, matcher)

    def mark_function(function: F) -> F:
        setattr(function, _FILTER_ATTRIBUTE, hook_filter)
        if (file := _main_file(function)) is not None:
            from hookonce.sdk.script import main

            sys.exit(main(file, sys.argv[1:]))
        return function

    return mark_function


def _main_file(function: HookFunction) -> str | None:
    """File of a function in the script that is being run; None where it was only imported."""
    code = getattr(function, "__code__", None)
    if function.__module__ != "__main__" or code is None or sys.flags.interactive:
        return None
    file: str | None = getattr(sys.modules["__main__"], "__file__", None)
    return file if file is not None and code.co_filename == file and Path(file).is_file() else None


def load_module(file: str, source: bytes) -> ModuleType:
    """Load a file as a module; it can import what lies beside it."""
    path = Path(file).absolute()
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    exec(compile(source, str(path), "exec", dont_inherit=True), module.__dict__)  # noqa: S102  the user's own hook
    return module


def select_functions(module: ModuleType, name: str | None, event: Event) -> list[HookFunction]:
    """Select the functions of a file for an event: the one of that name, or all that match; else an error."""
    if name is not None:
        function = getattr(module, name, None)
        if not callable(function):
            raise HookonceError(f"{module.__file__} has no function {name}")
        if not _matches_event(filter_of(function), event):
            subject = f"{name} is a hook for {filter_of(function).event}"
            raise HookonceError(f"{subject}, and was asked about {event.type}")
        return [function]
    candidates = {
        id(candidate): candidate
        for candidate in vars(module).values()
        if isinstance(getattr(candidate, _FILTER_ATTRIBUTE, None), HookFilter)
    }
    if not candidates:
        raise HookonceError(f"{module.__file__} has no function with @hook")
    return [candidate for candidate in candidates.values() if _matches_event(filter_of(candidate), event)]


def filter_of(function: HookFunction) -> HookFilter:
    """Filter of a function; without a decorator, everything."""
    hook_filter = getattr(function, _FILTER_ATTRIBUTE, None)
    return hook_filter if isinstance(hook_filter, HookFilter) else HookFilter()


def _matches_event(hook_filter: HookFilter, event: Event) -> bool:
    return hook_filter.event in {None, event.type, BROADER_EVENTS.get(event.type)}


def run_functions(functions: Iterable[HookFunction], event: Event) -> Decision:
    """Call all functions in order and merge their answers; those that do not match the tool are skipped."""
    matching = [function for function in functions if _matches_tool(filter_of(function), event)]
    return merge_decisions([_call_function(function, event) for function in matching])


def _matches_tool(hook_filter: HookFilter, event: Event) -> bool:
    tool = event.tool
    if not _matches_event(hook_filter, event) or hook_filter.tool is None or tool is None:
        return _matches_event(hook_filter, event) and hook_filter.tool is None
    mcp_tool = tool.name.partition("/")[2] if tool.name.startswith("mcp:") else None
    return matches(hook_filter.tool, MatchSubject(tool.name, tool.native, tool.mcp_server, mcp_tool))


def _call_function(function: HookFunction, event: Event) -> Decision:
    value = function(HookEvent(event))
    if isinstance(value, CoroutineType):
        from asyncio import run  # most hooks do without

        value = run(value)
    return parse_answer(value, getattr(function, "__name__", "the hook"))
