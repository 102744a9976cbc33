"""Conversion of hooks between agents: parse, degrade to what the target can do, render, parse again, compare."""

from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hookonce.agents import (
    AGENTS,
    canonicalize_matcher,
    carry_subject_matcher,
    load,
    placement_of,
    point_of,
    subject_gaps,
)
from hookonce.base import invocation
from hookonce.base.invocation import CANONICAL_DIALECT, Invocation
from hookonce.convert import losses
from hookonce.convert.rewrites import declare_rewrites, rewrite_events, word_guards
from hookonce.convert.spec_version import to_spec
from hookonce.dispatch.fail_mode import build_reply
from hookonce.errors import HookonceError, PayloadError
from hookonce.manifest.degrade import DegradedManifest, degrade, without_degradation
from hookonce.manifest.http_script import to_http_handler
from hookonce.manifest.load import MANIFEST_SPEC, build_manifest, dump_manifest, find_problems
from hookonce.manifest.match import MatchSubject, matches
from hookonce.manifest.sidecar import build_sidecar, restore_manifest
from hookonce.model import Agent, Gap, Handler, Hook, Json, Manifest, Object
from hookonce.vocabulary.names import hook_label


def verify_round_trip(target: Agent, document: Object, hooks: list[tuple[int, Hook]], gaps: list[Gap]) -> list[Hook]:
    """Compare the hooks with what the target will parse, and return that; what a gap names may differ."""
    lost_paths = {gap.where for gap in gaps if gap.effect == "lost"}
    matcher_gap_paths = {gap.where.removesuffix(".matcher") for gap in gaps if gap.capability == "matcher"}
    expected = [(f"$.hooks[{index}]", hook) for index, hook in hooks if f"$.hooks[{index}]" not in lost_paths]
    parsed_hooks, parse_gaps = target.config.parse(target, document)
    meanings = {_hook_meaning(target, hook) for hook in parsed_hooks}
    if (
        any(gap.effect == "lost" for gap in parse_gaps)
        or Counter(_hook_shape(hook) for _, hook in expected) != Counter(map(_hook_shape, parsed_hooks))
        or any(_hook_meaning(target, hook) not in meanings for path, hook in expected if path not in matcher_gap_paths)
    ):
        message = f"the configuration for {target.title} would not be read as intended; this is a bug of hookonce"
        raise HookonceError(message)
    return parsed_hooks


def verify_manifest(document: Object, hooks: list[Hook]) -> bool:
    """Compare the hooks with what a reader of the manifest will find; one without hooks is no manifest."""
    is_valid = not find_problems(document)[0]
    if hooks and not (is_valid and build_manifest(document).hooks == hooks):
        raise HookonceError("the manifest would not be read as intended; this is a bug of hookonce")
    return is_valid


def _hook_shape(hook: Hook) -> tuple[str, str, str]:
    return hook.event, hook.handler.type, hook.handler.target or hook.handler.prompt or ""


def _hook_meaning(target: Agent, hook: Hook) -> tuple[str, str, str, frozenset[str]]:
    return *_hook_shape(hook), _matcher_meaning(target, hook.matcher)


def _matcher_meaning(target: Agent, matcher: Json) -> frozenset[str]:
    """The tools of the target that a matcher is about, in canonical words, and the MCP tools that it names."""
    parts = matcher if type(matcher) is list else [matcher]
    servers = [part["mcp"] for part in parts if type(part) is dict and type(part.get("mcp")) is dict]
    names = {f"mcp:{server.get('server')}/{server.get('tool', 'any')}" for server in servers}
    # An MCP tool that some pattern is about anyway adds nothing, and None is about all of them.
    mcp_tools = frozenset(name for name in names if not _matches_tool(parts, name, name))
    return mcp_tools | {name for native, name in target.tools.items() if _matches_tool(parts, name, native)}


def _matches_tool(parts: list[Json], name: str, native: str) -> bool:
    """A pattern that is none of ours, such as one with a look-ahead, is only ever carried as it is."""
    try:
        return native in parts or matches(parts if parts != [None] else None, MatchSubject(name, name))
    except ValueError:
        return False


_NATIVE_MATCHER_KEY = "written"  # our key for a matcher that a manifest has in canonical words, as its agent had it


class WrapperOptions(Struct, frozen=True):
    """How scripts written for another agent are wrapped: our client, and the scope that they run in."""

    client: str
    scope: Literal["user", "project"] = "project"


class Conversion(Struct, frozen=True, kw_only=True):
    """The target's configuration, what it lost, whether it needs our client, and what has no place in it."""

    document: Object
    gaps: list[Gap]
    is_verified: bool
    hooks: int = 0
    needs_client: bool = False
    side: Object | None = None


def read_manifest(
    document: Json, source: Agent | None, *, adapt: bool, beside: Json = None
) -> tuple[Manifest, list[Gap]]:
    """Read the manifest of a document: itself where there is no agent, else the agent's configuration."""
    if type(document) is not dict:
        raise PayloadError("expected a JSON object")
    if source is None:
        if problems := find_problems(document)[0]:
            raise HookonceError("; ".join(f"{path}: {message}" for path, message in problems))
        return build_manifest(document), []
    parsed_hooks, source_gaps = source.config.parse(source, document)
    gaps = [replace(gap, where=gap.where.replace("$", "$source", 1)) for gap in source_gaps]  # no place in the manifest
    foreign_hooks = [hook for hook in parsed_hooks if not is_hookonce_entry(hook)]
    hooks = [replace(hook, handler=to_http_handler(hook.handler)) for hook in foreign_hooks]
    if len(hooks) < len(parsed_hooks):
        count = len(parsed_hooks) - len(hooks)
        note = f"{count} of hookonce's own entries are left out; hookonce install writes the target's"
        gaps.append(Gap(where="$source.hooks", capability="install", strategy="exclude", effect="lost", note=note))
    if off_gaps := losses.switched_off_gaps(source, document, hooks):
        return Manifest(spec=MANIFEST_SPEC, hooks=[]), [gap for gap in gaps if gap.capability != "switch"] + off_gaps
    manifest = restore_manifest(Manifest(spec=MANIFEST_SPEC, hooks=hooks), beside)
    if adapt:
        hooks = [replace(hook, dialect=hook.dialect or source.name) for hook in manifest.hooks]
        manifest = replace(manifest, hooks=hooks)
    return manifest, gaps


def is_hookonce_entry(hook: Hook) -> bool:
    """Whether a hook is our own entry: it calls us for whatever the manifests say."""
    call = invocation.parse_command(hook.handler.target or "")
    return call is not None and call.run is None


def convert(  # noqa: PLR0913  one name for each thing that a caller may choose
    document: Json,
    source: Agent | None,
    target: Agent | None,
    *,
    adapt: WrapperOptions | None = None,
    on_block: Literal["guard", "error"] = "guard",
    beside: Json = None,
    spec: str = MANIFEST_SPEC,
    folders: Iterable[Path] = (),
) -> Conversion:
    """Convert hooks for another agent, or (None) into a manifest of that `spec`; `folders` have the hooks' scripts."""
    manifest, gaps = read_manifest(document, source, adapt=adapt is not None, beside=beside)
    if source is not None and source is not target:
        gaps += [
            gap for index, hook in enumerate(manifest.hooks) for gap in losses.source_only_gaps(source, index, hook)
        ]
        manifest = replace(manifest, hooks=[_canonical_hook(source, hook, target) for hook in manifest.hooks])
    if target is None:
        return _to_manifest(manifest, gaps, spec, source or manifest.spec)
    if source is None:
        manifest = replace(manifest, hooks=[_native_hook(target, hook) for hook in manifest.hooks])
    config = target.config
    is_same = source is target
    if is_same:
        degradation = without_degradation(manifest, config.handlers)
    else:
        manifest, gaps = _carry_matchers(source, target, manifest, gaps)
        degradation, wrapper_gaps = _degrade_for(target, manifest, folders, wraps=adapt is not None)
        gaps += wrapper_gaps
    if on_block == "error" and (guards := [gap for gap in degradation.gaps if gap.strategy == "block"]):
        raise HookonceError(f"{guards[0].note}, and --on-block error allows no guard in its place")
    obstacles = {} if is_same else _find_obstacles(manifest, degradation.hooks)
    bare_hooks = [(index, hook) for index, hook in degradation.hooks if not _runs_in_wrapper(target, adapt, hook)]
    obstacles |= _find_disclosures(target, bare_hooks, obstacles)
    hooks = [(index, hook) for index, hook in degradation.hooks if index not in obstacles]
    rendered_document, render_gaps, wrapped_indices = _render_hooks(target, adapt, hooks)
    gaps += [*degradation.gaps, *obstacles.values(), *render_gaps]
    parsed_back = verify_round_trip(target, rendered_document, hooks, gaps)
    gaps += losses.fail_open_gaps(target, hooks, gaps, wrapped_indices)
    gaps += losses.own_key_gaps(target, hooks, parsed_back) if source is None else []
    gaps += [] if is_same else losses.unread_field_gaps(target, hooks, parsed_back, gaps, wrapped_indices)
    return Conversion(
        document=rendered_document,
        gaps=losses.unify_effects(gaps),
        is_verified=True,
        hooks=len(parsed_back),
        needs_client=bool(wrapped_indices),
        side=build_sidecar(manifest, hooks, parsed_back),
    )


def _find_obstacles(manifest: Manifest, hooks: list[tuple[int, Hook]]) -> dict[int, Gap]:
    """Why hooks can stand in no other agent's file; a server is judged before a command takes its place."""
    candidates = [
        (index, losses.unusable_gap(index, hook) or losses.insecure_url_gap(index, manifest.hooks[index]))
        for index, hook in hooks
    ]
    return {index: gap for index, gap in candidates if gap is not None}


def _find_disclosures(target: Agent, hooks: list[tuple[int, Hook]], obstacles: dict[int, Gap]) -> dict[int, Gap]:
    """Which further hooks without a wrapper would be told more than they may know."""
    candidates = [
        (index, losses.disclosure_gap(target, index, hook)) for index, hook in hooks if index not in obstacles
    ]
    return {index: gap for index, gap in candidates if gap is not None}


def _carry_matchers(
    source: Agent | None, target: Agent, manifest: Manifest, gaps: list[Gap]
) -> tuple[Manifest, list[Gap]]:
    """Matchers at events that are about no tool, for a target that honours them; a manifest has them as an agent's."""
    hooks = list(manifest.hooks)
    for index, hook in enumerate(hooks):
        sources = [load(name) for name in hook.provider_data if name in AGENTS] if source is None else [source]
        if "matcher" in placement_of(target, hook):
            continue
        for agent in sources:
            if (new_hook := carry_subject_matcher(agent, target, hook)) is not None:
                hooks[index] = new_hook
                gaps = [gap for gap in gaps if gap.where != f"$.hooks[{index}].matcher"]
                gaps += subject_gaps(agent, target, index, new_hook)
                break
    return replace(manifest, hooks=hooks), gaps


def _render_hooks(
    target: Agent, adapt: WrapperOptions | None, hooks: list[tuple[int, Hook]]
) -> tuple[Object, list[Gap], set[int]]:
    """The target's document of these hooks, its gaps, and which of them run in our wrapper."""
    wire_hooks = [(index, _wire_hook(target, adapt, hook)) for index, hook in hooks]
    document, gaps = target.config.render(target, wire_hooks, partial(_word_command, target, adapt))
    return document, gaps, {index for index, hook in wire_hooks if adapt is not None and _needs_wrapper(target, hook)}


def _degrade_for(
    target: Agent, manifest: Manifest, folders: Iterable[Path], *, wraps: bool
) -> tuple[DegradedManifest, list[Gap]]:
    """The manifest as the target can hold it, and gaps of rewrites that our wrapper refuses."""
    hooks, gaps = declare_rewrites(manifest.hooks, target, folders, wraps=wraps)
    gaps += losses.dialect_gaps(target, hooks, wraps=wraps)
    capabilities = target.config.capabilities
    if wraps:
        capabilities |= {"http_handler", "llm_evaluated"}
        gaps += losses.own_handler_gaps(target, hooks)
        hooks = [_without_command(hook) if losses.is_own_handler(target, hook) else hook for hook in hooks]
    return word_guards(target, degrade(replace(manifest, hooks=hooks), capabilities, rewrite_events(target))), gaps


def _canonical_hook(source: Agent, hook: Hook, target: Agent | None) -> Hook:
    """A hook with its matcher in canonical words; in a manifest it remembers a pattern that was there before."""
    matcher = canonicalize_matcher(source, hook.matcher)
    if target is not None or matcher == hook.matcher or losses.is_unreadable(hook.matcher):
        return replace(hook, matcher=matcher)
    position = placement_of(source, hook) | {_NATIVE_MATCHER_KEY: hook.matcher}
    return _with_place(source, replace(hook, matcher=matcher), position)


def _native_hook(target: Agent, hook: Hook) -> Hook:
    """A hook of a manifest with the matcher that the target's own file had, if that still means the same."""
    position = dict(placement_of(target, hook))
    if _NATIVE_MATCHER_KEY not in position:
        return hook
    matcher = position.pop(_NATIVE_MATCHER_KEY)
    canonical = None if losses.is_unreadable(matcher) else canonicalize_matcher(target, matcher)
    return _with_place(target, replace(hook, matcher=matcher if canonical == hook.matcher else hook.matcher), position)


def _with_place(agent: Agent, hook: Hook, position: Object) -> Hook:
    data = hook.provider_data.get(agent.name, {}) | {"hookonce": position}
    return replace(hook, provider_data=hook.provider_data | {agent.name: data})


def _word_command(target: Agent, adapt: WrapperOptions | None, hook: Hook, native: str) -> str | None:
    """A hook's command for the target: bare where it speaks the target's dialect."""
    command = hook.handler.command
    if adapt is None or command is None or not _needs_wrapper(target, hook) or is_hookonce_entry(hook):
        return command
    dialect = hook.dialect or CANONICAL_DIALECT
    capabilities = point_of(target, native).capabilities
    on_failure = "closed" if hook.must_answer and capabilities & {"prevent", "retry"} else None
    call = Invocation(
        adapt.client, target.name, native, None, dialect, command, adapt.scope, hook.handler.timeout, on_failure
    )
    if adapt.scope == "user":
        return invocation.format_command(call)
    # Without a client nobody counts how often an agent was kept from stopping: there the hook does not refuse.
    is_closed = hook.must_answer and "prevent" in capabilities
    own_handler = invocation.parse_handler(command)
    label = hook_label(hook if own_handler is None else replace(hook, handler=own_handler))
    reason = f"{label} is required, and hookonce is not installed here"
    reply = build_reply(target, native, reason if is_closed else None)
    return invocation.format_launcher(call, reply.code, reply.stdout, reply.stderr)


def _needs_wrapper(target: Agent, hook: Hook) -> bool:
    """No two agents agree on input and answer for any event, so a script for one is foreign to all others."""
    is_own_handler = invocation.parse_handler(hook.handler.command or "") is not None
    return hook.handler.type == "command" and (is_own_handler or hook.dialect != target.name)


def _runs_in_wrapper(target: Agent, adapt: WrapperOptions | None, hook: Hook) -> bool:
    """Whether our wrapper posts or asks a model in place of an agent that cannot, or not in those words."""
    return adapt is not None and losses.is_own_handler(target, hook)


def _without_command(hook: Hook) -> Hook:
    """A hook that is no command, without what only a command has and nobody would run."""
    return replace(hook, handler=replace(hook.handler, command=None, platform={}, cwd=None, env={}))


def _wire_hook(target: Agent, adapt: WrapperOptions | None, hook: Hook) -> Hook:
    """The hook as the target's file has it: a handler that our wrapper runs is a command of ours."""
    if not _runs_in_wrapper(target, adapt, hook):
        return hook
    handler, text = hook.handler, invocation.format_handler(hook.handler)
    common_fields = {name: getattr(handler, name) for name in ("timeout", "background", "status_message", "extra")}
    return replace(hook, handler=Handler(type="command", command=text, **common_fields))


def _to_manifest(manifest: Manifest, gaps: list[Gap], spec: str, source: Agent | str) -> Conversion:
    """The manifest itself, without hooks that only one agent can run, or find."""
    candidates = [(index, hook, losses.manifest_gap(index, hook)) for index, hook in enumerate(manifest.hooks)]
    obstacles = [obstacle for _, _, obstacle in candidates if obstacle is not None]
    portable = [
        (index, replace(hook, dialect=None) if hook.dialect == CANONICAL_DIALECT else hook)
        for index, hook, obstacle in candidates
        if obstacle is None
    ]
    hooks, spec_gaps = to_spec(portable, spec, source)
    document = dump_manifest(replace(manifest, spec=spec, hooks=hooks))
    return Conversion(
        document=document,
        gaps=losses.unify_effects([*gaps, *obstacles, *spec_gaps]),
        is_verified=verify_manifest(document, [hook for _, hook in portable]),
        hooks=len(hooks),
    )
