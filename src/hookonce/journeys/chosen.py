"""Which hooks are asked about an event: of all scopes, trusted, allowed by policy, fitting the tool.

Nothing that a project says counts before a person has agreed to it: such a file is not even read as what it claims to
be, and whatever is wrong with it keeps nobody else's hooks from being asked.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hookonce import formats
from hookonce.config import settings
from hookonce.errors import HookonceError
from hookonce.formats._files import file_events
from hookonce.manifest import good, watched
from hookonce.manifest.discover import Scope, Source, sources
from hookonce.manifest.load import ManifestError, load
from hookonce.manifest.matcher import Subject, matches
from hookonce.manifest.observers import DIALECT, EVERY, observers, types_of
from hookonce.manifest.policy import Policy, policies, refusal
from hookonce.manifest.problems import EMPTIED
from hookonce.manifest.trust import Changed, Pin, pins, safe
from hookonce.model import Decision, Event, Gap, Hook, Manifest, Record

_MATCHED = frozenset({"before_tool_execute", "after_tool_execute", "tool_use_failure", "permission_request"})
_MAY_ALLOW = frozenset({"user", "organisation", "system"})
_NATIVELY = "hooks/0.1"  # the specification in which patterns are about native names alone


class Chosen(Struct, frozen=True, kw_only=True):
    """A hook that will run; `about` is the event that it is told, where that is not the one that happened."""

    hook: Hook
    scope: Scope
    folder: str
    may_allow: bool = False
    about: Event | None = None


class Standing(Struct, frozen=True, kw_only=True):
    """A hook as it may run; or what it lacks for that: a person's trust, a policy's leave, or sense.

    Without a hook it is about a whole file, of which nothing can be used.
    """

    source: Source
    spec: str = ""
    hook: Hook | None = None
    lacks: Literal["trust", "leave", "sense"] | None = None
    why: str = ""


class Choice(Struct, frozen=True, kw_only=True):
    """The hooks of an event in the order in which they run, and what is to be said of those that do not.

    `decisions` are made without asking anybody; `broken` is whether hooks of the user or above may be missing because
    their file or a policy cannot be used.
    """

    hooks: list[Chosen]
    gaps: list[Gap]
    decisions: list[Decision]
    broken: bool


def choose(event: Event, project: Path | None) -> Choice:
    """The hooks that are asked about an event."""
    found = list(standing(project, event.type))
    hooks = [chosen for one in found if one.lacks is None for chosen in _chosen(one, event, project)]
    gaps = [_gap(one.lacks, one.why) for one in found if one.lacks is not None]
    lacking = {one.lacks for one in found}
    refused = event.type in _ACTS and "trust" in lacking and _denies(gaps)
    return Choice(hooks=hooks, gaps=gaps, decisions=[_REFUSED] if refused else [], broken="sense" in lacking)


_ACTS = frozenset({"before_tool_execute", "before_prompt", "permission_request"})
_REFUSED = Decision(
    outcome="deny",
    reason="this project has hooks that nobody has agreed to; a person has to look at them first: hookonce trust",
    by="hookonce",
)


def _denies(gaps: list[Gap]) -> bool:
    """Whether somebody wants nothing to happen where hooks are not trusted."""
    try:
        return settings.untrusted() == "deny"
    except HookonceError as problem:
        gaps.append(_gap("sense", str(problem)))
        return False


def forbidden(one: Chosen, event: Event, project: Path | None) -> Gap | None:
    """Why a script that an agent's configuration names may not run: consent is the agent's matter, policy is not."""
    bare = replace(one.hook, handler=replace(one.hook.handler, cwd=None))  # where it runs is our doing
    refused = refusal(bare, one.scope, event.type, policies(project))
    return None if refused is None else _gap("leave", f"the script did not run: {refused.why}")


_WORDS = {"trust": "trust", "leave": "policy", "sense": "manifest"}


def _gap(lacks: str, why: str) -> Gap:
    return Gap(where="$.decision", capability=_WORDS[lacks], strategy="exclude", effect="observes", note=why)


def standing(project: Path | None, kind: str | None = None) -> Iterable[Standing]:
    """Every hook of every scope, in order (for events of that kind), and why those that may not run may not.

    A project's are looked at anew each time, because their scripts count too; the others while their files stay.
    """
    now = watched.stamps(project)
    known = _kept.get((project, kind))
    if known is not None and known[0] == now:
        return known[1]
    found = list(_standing(project, kind))
    if watched.is_settled(now) and not any(one.source.scope == "project" for one in found):
        if len(_kept) > _MOST:
            _kept.clear()
        _kept[project, kind] = (now, found)
    return found


_kept: dict[tuple[Path | None, str | None], tuple[watched.Stamps, list[Standing]]] = {}
_MOST = 1024  # projects and kinds of events


def _standing(project: Path | None, kind: str | None) -> Iterator[Standing]:
    rules = policies(project)
    for source in sources(project):
        try:
            agreed = _agreed(source, project)
            found = manifest_of(source)
        except HookonceError as problem:
            yield Standing(source=source, lacks="trust" if source.scope == "project" else "sense", why=str(problem))
            kept = good.last(source)
            if kept is None:
                continue
            agreed, found = [], kept
        for hook in found.hooks:
            if kind is None or _about(hook, source, kind):
                one = Standing(source=source, spec=found.spec, hook=hook)
                yield _judged(one, hook, project, agreed, rules, kind)


def _agreed(source: Source, project: Path | None) -> list[Pin]:
    """What was agreed to about a file of the project; other files need nobody's word."""
    if source.scope != "project":
        return []
    found = pins(project, source.data) if project is not None and source.problem is None else []
    if not found:
        problem = f" ({source.path} {source.problem})" if source.problem else ""
        raise Changed(f"nobody has agreed to {source.path} as it is{problem}; hookonce trust shows it")
    return found


def manifest_of(source: Source) -> Manifest:
    """The hooks of a file; an error with its name if it has none to give."""
    if source.problem is not None:
        raise HookonceError(f"{source.path} {source.problem}")
    try:
        return observers(source.data) if source.is_openhook else load(source.data)
    except HookonceError as problem:
        if source.scope != "project" and isinstance(problem, ManifestError) and problem.problems == [EMPTIED]:
            return Manifest(spec="", hooks=[])  # somebody has taken all of them out
        raise HookonceError(f"{source.path}: {problem}") from None


def _judged(
    one: Standing, hook: Hook, project: Path | None, agreed: list[Pin], rules: list[Policy], kind: str | None
) -> Standing:
    name, source = hook.name or hook.event, one.source
    if source.scope == "project" and project is not None:
        try:
            hook = safe(project, hook, agreed)
        except Changed as problem:
            why = f"{name} did not run: {problem}; hookonce trust shows it"
            return replace(one, lacks="trust", why=why)
    refused = refusal(hook, source.scope, kind or hook.event, rules)
    if refused is None:
        return replace(one, hook=hook)
    return replace(one, lacks="sense" if refused.broken else "leave", why=f"{name} did not run: {refused.why}")


def fitting(manifest: Manifest, source: Source, event: Event) -> list[Chosen]:
    """The hooks of one manifest alone that would be asked about an event, in their order."""
    found = [hook for hook in manifest.hooks if _about(hook, source, event.type)]
    one = Standing(source=source, spec=manifest.spec)
    return [chosen for hook in found for chosen in _chosen(replace(one, hook=hook), event, None)]


def _about(hook: Hook, source: Source, kind: str) -> bool:
    """Whether a hook is for events of this kind; one for finished tools also hears of failed ones."""
    if source.is_openhook:
        return bool(types_of(kind) & {hook.event} if hook.event != EVERY else types_of(kind))
    return hook.event == kind or (hook.event, kind) == ("after_tool_execute", "tool_use_failure")


def _chosen(one: Standing, event: Event, project: Path | None) -> Iterator[Chosen]:
    hook, source = one.hook, one.source
    if hook is None or not _fits(hook, event, natively=one.spec == _NATIVELY):
        return
    folder = str(project if source.scope == "project" else source.path.parent)
    if source.is_openhook:
        for about in _told(hook, event):
            yield Chosen(hook=hook, scope=source.scope, folder=folder, about=about)
    else:
        allows = hook.may_allow and source.scope in _MAY_ALLOW
        yield Chosen(hook=hook, scope=source.scope, folder=folder, may_allow=allows)


def _told(hook: Hook, event: Event) -> Iterator[Event | None]:
    """What an observer is told: the event, and each file that it has written, as OpenHook counts them."""
    known = formats.load(DIALECT)
    for about in (None, *file_events(event)):
        documents = known.write(Record(event=about or event))
        if documents and hook.event in {EVERY, documents[0]["type"]}:
            yield about


def _fits(hook: Hook, event: Event, *, natively: bool) -> bool:
    if hook.matcher is None or event.tool is None or event.type not in _MATCHED:
        return True
    tool = event.tool
    named = tool.name.partition("/")[2] if tool.name.startswith("mcp:") else None
    return matches(hook.matcher, Subject(tool.name, tool.native, tool.mcp_server, named), natively=natively)
