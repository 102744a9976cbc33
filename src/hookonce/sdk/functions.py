"""Hook functions: the `@hook` decorator, loading of their file, selection and call.

Importing this costs nothing, for programs of others begin with it: what a hook needs is loaded with the first one.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType
    from typing import Any, Literal, TypeVar, overload

    from hookonce.model import Decision, Event
    from hookonce.sdk.event import HookEvent

    HookFunction = Callable[[HookEvent], Any]
    F = TypeVar("F", bound=HookFunction)
    Isolation = Literal["worker", "fork"]

_FILTER_ATTRIBUTE = "__hookonce__"
_ISOLATIONS = ("worker", "fork")


class HookFilter:
    """Filter of a hook function: an event or all; tools as in a manifest, or all."""

    __slots__ = ("event", "isolation", "tool")

    def __init__(self, event: str | None = None, tool: "Any" = None, isolation: "Isolation" = "worker") -> None:
        self.event, self.tool, self.isolation = event, tool, isolation


if TYPE_CHECKING:

    @overload
    def hook(event: F, /) -> F: ...
    @overload
    def hook(event: str | None = None, /, *, tool: Any = None, isolation: Isolation = "worker") -> Callable[[F], F]: ...


def hook(event: "Any" = None, /, *, tool: "Any" = None, isolation: "Any" = "worker") -> "Any":
    """Make a function a hook: for one event and some tools, or for all.

    With `isolation="fork"` each call has a copy of the process that has loaded the file; else what a call leaves in
    the file's variables is there for the next.

    The file that it stands in can be named in a manifest (`{"type": "function", "file": …}`), and is itself a
    program that answers whoever calls it: `python guard.py`.
    """
    if callable(event):
        return hook()(event)
    from hookonce.client.light_imports import import_msgspec

    import_msgspec()
    from hookonce.errors import UsageError
    from hookonce.manifest.match import find_matcher_problems
    from hookonce.vocabulary.events import EVENTS

    if event is not None and event not in EVENTS and not event.startswith("vendor."):
        from hookonce.dispatch.hook_faults.manifest_words import suggest_event  # all agents' names, for this alone

        raise UsageError(f"no event is called {event!r}{suggest_event(event)}")
    matcher = list(tool) if isinstance(tool, (tuple, set, frozenset)) else tool
    if matcher is not None and (fault := next(find_matcher_problems(matcher, "tool"), None)) is not None:
        raise UsageError(f"{fault[0]}: {fault[1]}")
    if isolation not in _ISOLATIONS:
        raise UsageError(f"isolation is {' or '.join(_ISOLATIONS)}, not {isolation!r}")
    hook_filter = HookFilter(event, matcher, isolation)

    def mark_function(function: "F") -> "F":
        setattr(function, _FILTER_ATTRIBUTE, hook_filter)
        if (file := _main_file(function)) is not None:
            from hookonce.sdk.script import main

            sys.exit(main(file, sys.argv[1:]))
        return function

    return mark_function


def _main_file(function: "HookFunction") -> str | None:
    """File of a function in the script that is being run; None where it was only imported."""
    code = getattr(function, "__code__", None)
    if function.__module__ != "__main__" or code is None or sys.flags.interactive:
        return None
    file: str | None = getattr(sys.modules["__main__"], "__file__", None)
    return file if file is not None and code.co_filename == file and os.path.isfile(file) else None  # noqa: PTH113


def load_module(file: str, source: bytes) -> "ModuleType":
    """Load a file as a module; it can import what lies beside it."""
    path = os.path.join(os.getcwd(), file)  # noqa: PTH109, PTH118  as texts, for most programs do without `pathlib`
    folder, file_name = os.path.split(path)
    stem = os.path.splitext(file_name)[0]  # noqa: PTH122
    module = type(sys)(stem)
    module.__file__ = path
    sys.modules[stem] = module
    sys.path.insert(0, folder)
    exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)  # noqa: S102  the user's own hook
    return module


def select_functions(module: "ModuleType", name: str | None, event: "Event") -> "list[HookFunction]":
    """Select the functions of a file for an event: the one of that name, or all that match; else an error."""
    from hookonce.errors import HookonceError

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


def find_isolated(module: "ModuleType") -> list[str]:
    """Names of the functions that want a copy of the process for each call."""
    return [name for name, value in vars(module).items() if filter_of(value).isolation == "fork"]


def filter_of(function: "HookFunction") -> HookFilter:
    """Filter of a function; without a decorator, everything."""
    hook_filter = getattr(function, _FILTER_ATTRIBUTE, None)
    return hook_filter if isinstance(hook_filter, HookFilter) else HookFilter()


def _matches_event(hook_filter: HookFilter, event: "Event") -> bool:
    from hookonce.vocabulary.events import BROADER_EVENTS

    return hook_filter.event in {None, event.type, BROADER_EVENTS.get(event.type)}


def run_functions(functions: "Iterable[HookFunction]", event: "Event") -> "Decision":
    """Call all functions in order and merge their answers; those that do not match the tool are skipped."""
    from hookonce.vocabulary.decision_merge import merge_decisions

    matching = [function for function in functions if _matches_tool(filter_of(function), event)]
    return merge_decisions([_call_function(function, event) for function in matching])


def _matches_tool(hook_filter: HookFilter, event: "Event") -> bool:
    from hookonce.manifest.match import MatchSubject, matches

    tool = event.tool
    if not _matches_event(hook_filter, event) or hook_filter.tool is None or tool is None:
        return _matches_event(hook_filter, event) and hook_filter.tool is None
    mcp_tool = tool.name.partition("/")[2] if tool.name.startswith("mcp:") else None
    return matches(hook_filter.tool, MatchSubject(tool.name, tool.native, tool.mcp_server, mcp_tool))


def _call_function(function: "HookFunction", event: "Event") -> "Decision":
    from types import CoroutineType

    from hookonce.sdk.answers import parse_answer
    from hookonce.sdk.event import HookEvent

    value = function(HookEvent(event))
    if isinstance(value, CoroutineType):
        from asyncio import run  # most hooks do without

        value = run(value)
    return parse_answer(value, getattr(function, "__name__", "the hook"))
