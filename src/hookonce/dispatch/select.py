"""Hook selection: which hooks run for an event, by scope, trust, policy and matcher.

Nothing that a project says counts before a person has trusted it: such a file is not even parsed as what it claims
to be, and whatever is wrong with it keeps nobody else's hooks from running.
"""

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hookonce import formats
from hookonce.base import settings
from hookonce.dispatch.fast_path import manifest_stamps
from hookonce.errors import HookonceError
from hookonce.manifest import discover
from hookonce.manifest.discover import ManifestSource, Scope, find_project_sources, find_sources, load_source
from hookonce.manifest.load import (
    EVERY_EVENT,
    NATIVE_NAMES_SPEC,
    OPENHOOK_DIALECT,
    openhook_types_of,
)
from hookonce.manifest.match import MatchSubject, matches
from hookonce.manifest.policy import Policy, find_refusal, load_policies
from hookonce.model import Decision, Event, Gap, Handler, Hook, Manifest, Record
from hookonce.trust.pin_store import (
    ClosedHook,
    Guard,
    Pin,
    PinMismatch,
    PinsUnreadable,
    absence_digest,
    content_digest,
    find_guards,
    load_pins,
    verify_by_pins,
)
from hookonce.vocabulary.events import BROADER_EVENTS
from hookonce.vocabulary.file_writes import build_file_events
from hookonce.vocabulary.names import hook_name

_MATCHER_EVENTS = frozenset({"before_tool_execute", "after_tool_execute", "tool_use_failure", "permission_request"})
_ALLOWING_SCOPES = frozenset({"user", "organisation", "system"})


class SelectedHook(Struct, frozen=True, kw_only=True):
    """A hook that will run; `event` is the event that it gets, where that is not the one that happened."""

    hook: Hook
    scope: Scope
    folder: str
    may_allow: bool = False
    event: Event | None = None


class CandidateHook(Struct, frozen=True, kw_only=True):
    """A hook, and its obstacle if it may not run: trust, policy, or a manifest that cannot be used.

    Without a hook it stands for a whole file, of which nothing can be used. `guard`: it was trusted once, must be
    asked, and cannot be; `folder` is its project's, where that is not the call's own.
    """

    source: ManifestSource
    spec: str = ""
    hook: Hook | None = None
    obstacle: Literal["trust", "policy", "manifest", "guard"] | None = None
    reason: str = ""
    folder: Path | None = None


class Selection(Struct, frozen=True, kw_only=True):
    """The selected hooks in the order in which they run, and gaps for those that do not run.

    `decisions` are made without running a hook; `has_broken_source` is whether hooks of the user or above may be
    missing because their manifest or a policy cannot be used.
    """

    hooks: list[SelectedHook]
    gaps: list[Gap]
    decisions: list[Decision]
    has_broken_source: bool


def select_hooks(event: Event, project: Path | None, candidates: list[CandidateHook] | None = None) -> Selection:
    """Select the hooks for an event, of the candidates for it."""
    if candidates is None:
        candidates = find_candidates(project, event.type)
    hooks: list[SelectedHook] = []
    for candidate in candidates:
        if candidate.obstacle is None:
            hooks += _expand_candidate(candidate, event, project)
    obstacles = {candidate.obstacle for candidate in candidates}
    if obstacles <= {None}:
        return Selection(hooks=hooks, gaps=[], decisions=[], has_broken_source=False)
    gaps = [
        _exclusion_gap(candidate.obstacle, candidate.reason)
        for candidate in candidates
        if candidate.obstacle is not None
    ]
    is_refused = event.type in ACTION_EVENTS and "trust" in obstacles and _denies_untrusted(gaps)
    denials = (
        [
            Decision(outcome="deny", reason=candidate.reason, by="hookonce")
            for candidate in candidates
            if candidate.obstacle == "guard" and _concerns(candidate, event)
        ]
        if "guard" in obstacles
        else []
    )
    return Selection(
        hooks=hooks,
        gaps=gaps,
        decisions=[*denials[:1], *([_UNTRUSTED_DENIAL] if is_refused else [])],
        has_broken_source="manifest" in obstacles,
    )


def _concerns(candidate: CandidateHook, event: Event) -> bool:
    if candidate.hook is None:
        return event.type in ACTION_EVENTS
    return _matches_tool(candidate.hook, event, native_names_only=candidate.spec == NATIVE_NAMES_SPEC)


ACTION_EVENTS = frozenset({"before_tool_execute", "before_prompt", "permission_request"})
_UNTRUSTED_DENIAL = Decision(
    outcome="deny",
    reason="this project has hooks that are not trusted; a person has to review them first: hookonce trust",
    by="hookonce",
)


def _denies_untrusted(gaps: list[Gap]) -> bool:
    """Whether settings deny actions in projects with untrusted hooks."""
    try:
        return settings.load().require().untrusted == "deny"
    except HookonceError as problem:
        gaps.append(_exclusion_gap("manifest", str(problem)))
        return False


def find_policy_gap(script_hook: SelectedHook, event: Event, project: Path | None) -> Gap | None:
    """The gap if policy forbids a wrapper's script; its trust is the agent's matter, policy is not."""
    bare_hook = replace(
        script_hook.hook, handler=replace(script_hook.hook.handler, cwd=None)
    )  # where it runs is our doing
    denial = find_refusal(bare_hook, script_hook.scope, event.type, load_policies(project))
    return None if denial is None else _exclusion_gap("policy", f"the script did not run: {denial.why}")


def _exclusion_gap(obstacle: str, reason: str) -> Gap:
    return Gap(where="$.decision", capability=obstacle, strategy="exclude", effect="observes", note=reason)


def find_candidates(
    project: Path | None,
    event_type: str | None = None,
    shared_stamps: manifest_stamps.Stamps | None = None,
    cwds: tuple[str, ...] = (),
) -> list[CandidateHook]:
    """Every hook of every scope, in order (for one event type), with its obstacle if it has one.

    Fail-closed hooks that were trusted once, in a project around `cwds` or the project, are among them however little
    is left of them. A project's are checked anew each time, because their scripts count too; the others are cached
    while files stay.
    """
    if shared_stamps is None:
        shared_stamps = manifest_stamps.manifest_stamps(None)
    pins_stamp = shared_stamps[-1]
    if project is not None and pins_stamp is not None:
        try:
            guards = find_guards(cwds or (str(project),), project, pins_stamp)
        except PinsUnreadable as problem:
            source = ManifestSource(scope="project", path=project)
            unknown = CandidateHook(source=source, obstacle="guard", reason=f"{_MUST_BE_ASKED}: {problem}")
            return [unknown, *find_candidates(None, event_type, shared_stamps)]
        if guards:
            project_hooks = _find_guarded_candidates(project, guards, event_type)
            return [*project_hooks, *find_candidates(None, event_type, shared_stamps)]
    stamps = manifest_stamps.manifest_stamps(project, shared_stamps)
    cache_entry = _candidate_cache.get((project, event_type))
    if cache_entry is not None and cache_entry[0] == stamps:
        return cache_entry[1]
    candidates = list(_iter_candidates(project, event_type, find_sources(project)))
    if manifest_stamps.is_settled(stamps) and not any(candidate.source.scope == "project" for candidate in candidates):
        if len(_candidate_cache) > _MAX_CACHE_ENTRIES:
            _candidate_cache.clear()
        _candidate_cache[project, event_type] = (stamps, candidates)
    return candidates


_candidate_cache: dict[tuple[Path | None, str | None], tuple[manifest_stamps.Stamps, list[CandidateHook]]] = {}
_MAX_CACHE_ENTRIES = 1024  # projects and kinds of events


def _find_guarded_candidates(
    project: Path, guards: list[tuple[Guard, Path]], event_type: str | None
) -> list[CandidateHook]:
    """The hooks of a project, and those around it that must be asked there, or why they cannot be."""
    own_folder, own_hooks = os.path.realpath(project), None
    guard_hooks: list[CandidateHook] = []
    guards_by_folder: dict[Path, list[Guard]] = {}  # one that became a repository since may have two
    for guard, folder in guards:
        guards_by_folder.setdefault(folder, []).append(guard)
    for folder, folder_guards in guards_by_folder.items():
        sources = find_project_sources(folder)  # read once: between two looks they might change
        hooks = list(_iter_candidates(folder, event_type, sources))
        for guard in folder_guards:
            guard_hooks += _guard_candidates(guard, folder, sources, hooks, event_type)
        if str(folder) == own_folder:
            own_hooks = hooks
        else:
            closed_hooks = (candidate for candidate in hooks if candidate.obstacle is None and _is_closed(candidate))
            guard_hooks += [replace(candidate, folder=folder) for candidate in closed_hooks]
    if own_hooks is None:
        own_hooks = list(_iter_candidates(project, event_type, find_project_sources(project)))
    return [*guard_hooks, *own_hooks]


_MUST_BE_ASKED = "required hooks cannot run"


def _is_closed(candidate: CandidateHook) -> bool:
    return candidate.hook is not None and candidate.hook.must_answer


def _guard_candidates(
    guard: Guard,
    folder: Path,
    sources: list[ManifestSource],
    candidates: list[CandidateHook],
    event_type: str | None,
) -> Iterator[CandidateHook]:
    """The fail-closed hooks of a guarded project that cannot be asked, each with the reason and what to do."""
    obstacles = [candidate for candidate in candidates if candidate.obstacle == "trust" and _is_closed(candidate)]
    absence = ""
    if not obstacles:
        absence = f", or accept that these hooks are missing (hookonce trust --absent {folder})"
        manifests = [source for source in sources if not source.is_openhook]
        file_problems = [
            candidate for candidate in candidates if candidate.hook is None and not candidate.source.is_openhook
        ]
        is_trusted = not file_problems and any(content_digest(source.data) in guard.digests for source in manifests)
        if is_trusted or absence_digest(folder, manifests) in guard.digests:
            return
        source = ManifestSource(scope="project", path=folder / discover.PROJECT_FOLDER / discover.MANIFEST_NAMES[0])
        reason = file_problems[0].reason if file_problems else f"{source.path} does not exist any more"
        obstacles = [
            CandidateHook(source=source, spec=hook.spec, hook=_restore_hook(hook), reason=reason)
            for hook in guard.closed_hooks
        ]
    for candidate in obstacles:
        if event_type is None or (candidate.hook and _handles_event(candidate.hook, candidate.source, event_type)):
            next_step = f"A person can trust the present version (hookonce trust {folder}){absence}; {_RESTORE_HINT}"
            reason = f"{_MUST_BE_ASKED}: {candidate.reason}. {next_step}"
            yield replace(candidate, obstacle="guard", reason=reason, folder=folder)


_RESTORE_HINT = "the version that was trusted before counts again when it is restored"


def _restore_hook(hook: ClosedHook) -> Hook:
    fields = {"event": hook.event, "name": hook.name, "matcher": hook.matcher}
    return Hook(**fields, handler=Handler(type="command"), blocking=True, on_failure="closed")


def _iter_candidates(
    project: Path | None, event_type: str | None, sources: list[ManifestSource]
) -> Iterator[CandidateHook]:
    rules = load_policies(project)
    replaced_folders: set[Path] = set()  # two manifests of a folder have one last good version
    for source in sources:
        try:
            trust_pins = _find_trust_pins(source, project)
            manifest = load_source(source)
        except HookonceError as problem:
            yield CandidateHook(
                source=source, obstacle="trust" if source.scope == "project" else "manifest", reason=str(problem)
            )
            last_good = discover.load_last_good(source) if source.path.parent not in replaced_folders else None
            if last_good is None:
                continue
            replaced_folders.add(source.path.parent)
            trust_pins, manifest = [], last_good
        for hook in manifest.hooks:
            if event_type is None or _handles_event(hook, source, event_type):
                candidate = CandidateHook(source=source, spec=manifest.spec, hook=hook)
                yield _check_candidate(candidate, hook, project, trust_pins, rules, event_type)


def _find_trust_pins(source: ManifestSource, project: Path | None) -> list[Pin]:
    """The trust pins of a project's file; files of other scopes need none."""
    if source.scope != "project":
        return []
    digest = content_digest(source.data)
    project_pins = load_pins(project, digest) if project is not None and source.problem is None else []
    if not project_pins:
        problem = f" ({source.path} {source.problem})" if source.problem else ""
        raise PinMismatch(f"the present version of {source.path} is not trusted{problem}; hookonce trust shows it")
    return project_pins


def _check_candidate(
    candidate: CandidateHook,
    hook: Hook,
    project: Path | None,
    trust_pins: list[Pin],
    rules: list[Policy],
    event_type: str | None,
) -> CandidateHook:
    name, source = hook_name(hook), candidate.source
    if source.scope == "project" and project is not None:
        try:
            hook = verify_by_pins(project, hook, trust_pins)
        except PinMismatch as problem:
            reason = f"{name} did not run: {problem}; hookonce trust shows it"
            return replace(candidate, obstacle="trust", reason=reason)
    denial = find_refusal(hook, source.scope, event_type or hook.event, rules)
    if denial is None:
        return replace(candidate, hook=hook)
    return replace(
        candidate, obstacle="manifest" if denial.is_unreadable else "policy", reason=f"{name} did not run: {denial.why}"
    )


def select_from_manifest(manifest: Manifest, source: ManifestSource, event: Event) -> list[SelectedHook]:
    """The hooks of one manifest alone that would run for an event, in their order."""
    hooks = [hook for hook in manifest.hooks if _handles_event(hook, source, event.type)]
    candidate = CandidateHook(source=source, spec=manifest.spec)
    return [
        selected_hook
        for hook in hooks
        for selected_hook in _expand_candidate(replace(candidate, hook=hook), event, None)
    ]


def _handles_event(hook: Hook, source: ManifestSource, event_type: str) -> bool:
    """Whether a hook is for this event type."""
    if source.is_openhook:
        return bool(
            openhook_types_of(event_type) & {hook.event} if hook.event != EVERY_EVENT else openhook_types_of(event_type)
        )
    return hook.event in {event_type, BROADER_EVENTS.get(event_type)}


def _expand_candidate(candidate: CandidateHook, event: Event, project: Path | None) -> list[SelectedHook]:
    hook, source = candidate.hook, candidate.source
    if hook is None or not _matches_tool(hook, event, native_names_only=candidate.spec == NATIVE_NAMES_SPEC):
        return []
    source_folder, is_openhook = _split_path(source.path)
    folder = str(candidate.folder or project) if source.scope == "project" else source_folder
    if is_openhook:
        events = _observer_events(hook, event)
        return [SelectedHook(hook=hook, scope=source.scope, folder=folder, event=observer) for observer in events]
    may_allow = hook.may_allow and source.scope in _ALLOWING_SCOPES
    return [SelectedHook(hook=hook, scope=source.scope, folder=folder, may_allow=may_allow)]


@lru_cache(maxsize=256)
def _split_path(path: Path) -> tuple[str, bool]:
    """The folder of a file of hooks, and whether they only look on; a path takes longer to ask."""
    return str(path.parent), path.name == discover.OPENHOOK_FILE


def _observer_events(hook: Hook, event: Event) -> Iterator[Event | None]:
    """Events for an observer: the event itself, and each file that it has written, as OpenHook counts them."""
    openhook = formats.load(OPENHOOK_DIALECT)
    for file_event in (None, *build_file_events(event)):
        documents = openhook.write(Record(event=file_event or event))
        if documents and hook.event in {EVERY_EVENT, documents[0]["type"]}:
            yield file_event


def _matches_tool(hook: Hook, event: Event, *, native_names_only: bool) -> bool:
    if hook.matcher is None or event.tool is None or event.type not in _MATCHER_EVENTS:
        return True
    tool = event.tool
    mcp_tool = tool.name.partition("/")[2] if tool.name.startswith("mcp:") else None
    return matches(
        hook.matcher, MatchSubject(tool.name, tool.native, tool.mcp_server, mcp_tool), natively=native_names_only
    )


def is_strict_nonblocking(selection: SelectedHook) -> bool:
    """Whether non-blocking hooks may only observe; managed hooks are not the user's to weaken."""
    if selection.scope not in {"project", "user"}:
        return False
    try:
        return settings.load().require().strict_nonblocking
    except HookonceError:
        return False
