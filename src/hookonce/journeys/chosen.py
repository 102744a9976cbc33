"""Which hooks are asked about an event: of all scopes, trusted, allowed by policy, fitting the tool."""

from pathlib import Path
from typing import Any

from msgspec import DecodeError, Struct
from msgspec.json import decode

from hookonce.canon.events import FROM_OPENHOOK
from hookonce.manifest.discover import Scope, Source, sources
from hookonce.manifest.load import load
from hookonce.manifest.matcher import Subject, matches
from hookonce.manifest.policy import policies, refusal
from hookonce.manifest.trust import trusted
from hookonce.model import Event, Handler, Hook, Manifest

_MATCHED = frozenset({"before_tool_execute", "after_tool_execute", "tool_use_failure", "permission_request"})
_MAY_ALLOW = frozenset({"user", "organisation", "system"})


class Chosen(Struct, frozen=True, kw_only=True):
    """A hook that will run."""

    hook: Hook
    scope: Scope
    folder: str
    may_allow: bool = False


class Choice(Struct, frozen=True, kw_only=True):
    """The hooks of an event in the order in which they run, those left out and why, and whether any is closed."""

    hooks: list[Chosen]
    skipped: list[str]
    untrusted: int
    closed: bool


def choose(event: Event, project: Path | None) -> Choice:
    """The hooks that are asked about an event."""
    hooks: list[Chosen] = []
    skipped: list[str] = []
    untrusted, closed = 0, False
    rules = policies(project)
    for source in sources(project):
        for hook in manifest_of(source).hooks:
            if not _about(hook, event):
                continue
            safe = hook if source.scope != "project" else trusted(project or Path(), source.data, hook)
            if safe is None:
                untrusted += 1
                continue
            if (why := refusal(hook, source.scope, rules)) is not None:
                skipped.append(f"{hook.name or hook.event}: {why}")
                continue
            closed = closed or (hook.on_failure == "closed" and hook.blocking)
            if _fits(hook, event, source):
                hooks.append(_chosen(safe, source, project))
    return Choice(hooks=hooks, skipped=skipped, untrusted=untrusted, closed=closed)


def _chosen(hook: Hook, source: Source, project: Path | None) -> Chosen:
    allows = hook.may_allow and source.scope in _MAY_ALLOW
    folder = project if source.scope == "project" and project is not None else source.path.parent
    return Chosen(hook=hook, scope=source.scope, folder=str(folder), may_allow=allows)


def manifest_of(source: Source) -> Manifest:
    """The hooks of a file; an untrusted file that cannot be read has none, any other is an error."""
    if source.is_openhook:
        return Manifest(spec="openhook", hooks=_observers(source.data))
    if source.problem is not None:
        raise ValueError(f"{source.path} {source.problem}")
    return load(source.data)


def _observers(data: bytes) -> list[Hook]:
    """The hooks of an `.openhook.json`: they see events as OpenHook writes them, and decide nothing."""
    try:
        found: Any = decode(data)
        entries = [entry for entry in found["hooks"] if type(entry.get("command")) is str]
    except (DecodeError, KeyError, TypeError, AttributeError):
        return []
    return [hook for entry in entries for hook in _observer(entry)]


def _observer(entry: dict[str, Any]) -> list[Hook]:
    told = entry.get("events", ["*"])
    names = [name for name in told if type(name) is str] if type(told) is list else []
    kinds = ["*"] if "*" in names else [FROM_OPENHOOK[name] for name in names if name in FROM_OPENHOOK]
    handler = Handler(type="command", command=entry["command"], background=entry.get("async") is True)
    return [Hook(event=kind, handler=handler, dialect="openhook") for kind in kinds]


def _about(hook: Hook, event: Event) -> bool:
    """Whether a hook is for events of this kind; one for finished tools also hears of failed ones."""
    if hook.event in {event.type, "*"}:
        return True
    return hook.event == "after_tool_execute" and event.type == "tool_use_failure"


def _fits(hook: Hook, event: Event, source: Source) -> bool:
    if hook.matcher is None or event.tool is None or event.type not in _MATCHED:
        return True
    tool = event.tool
    server = tool.mcp_server
    named = tool.name.partition("/")[2] if tool.name.startswith("mcp:") else None
    natively = b"hooks/0.1" in source.data
    return matches(hook.matcher, Subject(tool.name, tool.native, server, named), natively=natively)
