"""Losses of a conversion: what the target's own file cannot say, each as a gap, with one effect for each hook."""

import re
from typing import get_args

from msgspec.structs import replace

from hookonce.agents import AGENTS, explain_narrowing, lost_gap, placement_of
from hookonce.base.invocation import CANONICAL_DIALECT, HANDLER_TYPES
from hookonce.convert.spec_version import pattern_gaps
from hookonce.formats import FORMATS
from hookonce.manifest.http_script import explain_handler_fault
from hookonce.manifest.load import MANIFEST_SPEC, dump_hook, find_problems
from hookonce.manifest.match import find_matcher_problems
from hookonce.manifest.schema import REQUIRED_FIELDS
from hookonce.manifest.sidecar import build_sidecar
from hookonce.model import Agent, Gap, HandlerType, Hook, Json, Manifest, Object
from hookonce.vocabulary.names import hook_label

FAILURE_CAPABILITIES = frozenset({"on_failure", "timeout_action"})  # of gaps about a hook that has failed
_POWER_CAPABILITIES = frozenset({"blocking", "event"})
_EFFECTS_BY_POWER = ("observes", "later", "prevents")
_HOOK_INDEX = re.compile(r"\$\.hooks\[(\d+)\]")


def is_lost(index: int, gaps: list[Gap]) -> bool:
    """Whether a hook is lost as a whole."""
    return any(gap.effect == "lost" and gap.where == f"$.hooks[{index}]" for gap in gaps)


def unify_effects(gaps: list[Gap]) -> list[Gap]:
    """Give all gaps of a hook one effect: lost, else what is left of its power, else the least of them."""
    return [_unify_effect(gap, gaps) for gap in gaps]


def _hook_index(gap: Gap) -> int | None:
    """The hook that a gap is about; there are gaps about none."""
    match = _HOOK_INDEX.match(gap.where)
    return None if match is None else int(match[1])


def _unify_effect(gap: Gap, gaps: list[Gap]) -> Gap:
    if (index := _hook_index(gap)) is None:
        return gap
    if is_lost(index, gaps):  # as a whole: no part of it is anywhere
        return replace(gap, where=f"$.hooks[{index}]", effect="lost")
    if gap.capability in FAILURE_CAPABILITIES:
        return replace(gap, effect="observes")
    hook_gaps = [other for other in gaps if _hook_index(other) == index]
    hook_gaps = [other for other in hook_gaps if other.capability not in FAILURE_CAPABILITIES]
    power_gaps = [other for other in hook_gaps if other.capability in _POWER_CAPABILITIES]
    effects = [other.effect for other in power_gaps or hook_gaps]
    return replace(gap, effect=next((effect for effect in _EFFECTS_BY_POWER if effect in effects), "observes"))


_MATCH_ALL = frozenset({"", "*", ".*"})


def has_manifest_handler(hook: Hook) -> bool:
    """Whether a handler is of a kind that manifests have, and not some agent's own."""
    return hook.handler.type in get_args(HandlerType)


def unusable_gap(index: int, hook: Hook) -> Gap | None:
    """Why a hook can stand in no other agent's file: it has nothing to run, or fits no tool at all."""
    required_field = REQUIRED_FIELDS.get(hook.handler.type)
    if required_field is not None and not getattr(hook.handler, required_field) and not hook.handler.platform:
        return lost_gap(index, hook, "handler", f"it has no {required_field} to run")
    if hook.matcher == []:  # an empty text means everything to most agents
        return lost_gap(index, hook, "matcher", "its matcher is an empty list, which matches no tool")
    return None


def is_own_handler(target: Agent, hook: Hook) -> bool:
    """Whether our wrapper runs a handler: of a kind that the target lacks, or a server of another dialect."""
    is_foreign_server = hook.handler.type == "http" and hook.dialect != target.name
    return is_foreign_server or _lacks_handler(target, hook)


def _lacks_handler(target: Agent, hook: Hook) -> bool:
    return hook.handler.type in HANDLER_TYPES and hook.handler.type not in target.config.handlers


def own_handler_gaps(target: Agent, hooks: list[Hook]) -> list[Gap]:
    """Hooks that our wrapper posts, or asks the model of our settings about, in the target's place."""
    gaps = []
    for index, hook in enumerate(hooks):
        if _lacks_handler(target, hook):
            how = "posts it" if hook.handler.type == "http" else "asks the model of its own settings"
            reason = f"{target.title} has no handlers of type {hook.handler.type}; hookonce {how} in its place"
            capability = "http_handler" if hook.handler.type == "http" else "llm_evaluated"
            gaps.append(_warning_gap(index, hook, capability, reason))
    return gaps


def dialect_gaps(target: Agent, hooks: list[Hook], *, wraps: bool) -> list[Gap]:
    """Handlers that the target runs itself, and that were written for the words of another agent."""
    return [
        _warning_gap(
            index, hook, "dialect", f"it was written for {hook.dialect}, and {target.title} tells its own words"
        )
        for index, hook in enumerate(hooks)
        if hook.handler.type in HANDLER_TYPES and hook.dialect in AGENTS and hook.dialect != target.name
        if not _lacks_handler(target, hook) and not (wraps and is_own_handler(target, hook))
    ]


def disclosure_gap(target: Agent, index: int, hook: Hook) -> Gap | None:
    """Why a hook in an open format cannot stand in an agent's file: the agent would post its own payload, whole."""
    if hook.handler.type != "http" or hook.dialect == CANONICAL_DIALECT or hook.dialect not in FORMATS:
        return None
    reason = f"{target.title} would send its whole payload, but this hook expects events as {hook.dialect}"
    return lost_gap(index, hook, "privacy", reason)


def insecure_url_gap(index: int, hook: Hook) -> Gap | None:
    """Why a server is not called: an agent might post to a URL that we would not."""
    fault = explain_handler_fault(hook.handler) if hook.handler.type == "http" else None
    return None if fault is None else lost_gap(index, hook, "http_handler", f"its server is not called: {fault}")


def own_key_gaps(target: Agent, hooks: list[tuple[int, Hook]], parsed_hooks: list[Hook]) -> list[Gap]:
    """Keys of the target that a manifest carries into its file, and that decide whether the hook runs, and how."""
    written_keys = {key for hook in parsed_hooks for key in hook.provider_data.get(target.name, {})}
    gaps = []
    for index, hook in hooks:
        keys = hook.provider_data.get(target.name, {}).keys() & written_keys & (_GATE_KEYS | _WORLD_KEYS)
        if keys:
            reason = f"{', '.join(sorted(keys))} is passed to {target.title} unchanged"
            if gate_keys := sorted(keys & _GATE_KEYS):
                reason += f", and {' and '.join(gate_keys)} may keep the hook from running or from refusing"
            gap = _warning_gap(index, hook, "provider_data", reason)
            gaps.append(replace(gap, effect="observes") if gate_keys else gap)
    return gaps


def manifest_gap(index: int, hook: Hook) -> Gap | None:
    """Why a hook can stand in no manifest."""
    if not has_manifest_handler(hook):
        return lost_gap(index, hook, "handler", f"a manifest has no handlers of type {hook.handler.type}")
    if is_unreadable(hook.matcher):
        return lost_gap(index, hook, "matcher", f"a manifest cannot hold the matcher {hook.matcher}")
    return unusable_gap(index, hook) or _schema_gap(index, hook)


def _schema_gap(index: int, hook: Hook) -> Gap | None:
    faults, _ = find_problems({"spec": MANIFEST_SPEC, "hooks": [dump_hook(hook)]})
    if not faults:
        return None
    field = faults[0][0].removeprefix("$.hooks[0].")
    return lost_gap(index, hook, field.partition(".")[0], f"a manifest cannot hold it: {field}: {faults[0][1]}")


def adoption_gaps(spec: str, source: Agent, index: int, hook: Hook) -> list[Gap]:
    """What a manifest of that version could not say of an agent's hook to hookonce itself."""
    gap = manifest_gap(index, hook)
    gaps = pattern_gaps(index, hook, spec, source) if gap is None else [gap]
    return [*gaps, *source_only_gaps(source, index, hook)]


def is_unreadable(matcher: Json) -> bool:
    """Whether a manifest with this matcher would be refused."""
    return matcher is not None and any(find_matcher_problems(matcher, "$"))


def source_only_gaps(source: Agent, index: int, hook: Hook) -> list[Gap]:
    """What only the source understood: a matcher on something else than tools, and keys of its own."""
    gaps, effect = list[Gap](), "prevents" if hook.blocking else "observes"
    position, data = placement_of(source, hook), hook.provider_data.get(source.name, {})

    def add(field: str, capability: str, effect: str, reason: str) -> None:
        where, note = f"$.hooks[{index}].{field}", f"{hook_label(hook)}: {reason}"
        gaps.append(Gap(where=where, capability=capability, strategy="warn", effect=effect, note=note))

    text = position.get("matcher")
    # A text that tells more than the tools, as one about a command does, bears a mark.
    narrows_more = hook.matcher is None or position.get("narrows") is True
    if type(text) is str and text not in _MATCH_ALL and narrows_more:
        reason: str | None = f"{source.title} runs it only for {text!r}; here it runs for all"
    else:
        reason = explain_narrowing(source, hook.matcher)
    if reason is not None:
        add("matcher", "matcher", effect, reason)
    system = "powershell" if data.get("shell") == "powershell" else position.get("system")
    if type(system) is str:
        reason = f"its command is for {system} alone, and fails in any other shell"
        add("handler", "platform_commands", "observes", reason)
    group = position.get("group")
    own_keys = data.keys() - {"hookonce"} | (set(group) if type(group) is dict else set())
    if own_keys and has_manifest_handler(hook):
        reason = f"{', '.join(sorted(own_keys))} means something to {source.title} alone"
        add("provider_data", "provider_data", effect, reason)
    return gaps


def switched_off_gaps(source: Agent, document: Object, hooks: list[Hook]) -> list[Gap]:
    """The hooks of a file that turns them all off: they do not run at home, and shall not begin to elsewhere."""
    keys = next((keys for _, keys, value in source.config.switches if _is_set(document, keys, value)), None)
    if keys is None:
        return []
    reason = f"{'.'.join(keys)} turns it off in {source.title}"
    return [lost_gap(index, hook, "switch", reason) for index, hook in enumerate(hooks)]


def _is_set(node: Json, keys: tuple[str, ...], value: Json) -> bool:
    for key in keys:
        node = node.get(key) if type(node) is dict else None
    return type(node) is type(value) and bool(node == value)


def fail_open_gaps(
    target: Agent, hooks: list[tuple[int, Hook]], gaps: list[Gap], wrapped_indices: set[int]
) -> list[Gap]:
    """Fail-closed hooks on an agent that goes on when a hook fails, or where our wrapper around one is killed."""
    config = target.config
    has_switch = config.fail_closed_key is not None or config.language == "code"
    fails_closed = has_switch or (config.crash, config.on_timeout) == ("closed", "closed")
    reason, gap_paths = f"{target.title} {_AGENT_FAILS_OPEN}", {gap.where for gap in gaps}
    wrapper_reason = f"our wrapper refuses when the hook fails, but {target.title} {_WRAPPER_FAILS_OPEN}"
    return [
        _warning_gap(index, hook, "on_failure", wrapper_reason if index in wrapped_indices else reason)
        for index, hook in hooks
        if hook.on_failure == "closed" and not fails_closed and _field_path(index, "on_failure") not in gap_paths
    ]


_GATE_KEYS = {"if", "once", "asyncRewake", "disabled", "enabled"}  # by which a guard may not be asked, or not in time
_WORLD_KEYS = {"shell", "allowedEnvVars"}
_WRAPPER_FAILS_OPEN = "lets the action go on when the wrapper itself is killed or cannot be started"
_AGENT_FAILS_OPEN = "lets the action go on when a hook fails, is killed or cannot be started"
# fields that hardly any agent's file has a place for, and that are missed there; what is only shown is not
_FIELD_LOSSES = {
    "may_allow": "has no setting for whether its allow counts",
    "order": "chooses the order of hooks itself",
    "on_deny": "has no setting to skip later hooks",
    "environment": "has no setting for where PATH comes from",
    "privacy": "has no setting for its privacy level; it gets the least",
    "files": "has no setting for the files that belong to it",
    "timeout_action": "lets the action go on when it times out",
}


def _field_path(index: int, capability: str) -> str:
    return f"$.hooks[{index}].{capability}"


def _warning_gap(index: int, hook: Hook, capability: str, reason: str) -> Gap:
    effect = "prevents" if hook.blocking and capability not in FAILURE_CAPABILITIES else "observes"
    note = f"{hook_label(hook)}: {reason}"
    return Gap(where=_field_path(index, capability), capability=capability, strategy="warn", effect=effect, note=note)


def unread_field_gaps(
    target: Agent,
    hooks: list[tuple[int, Hook]],
    parsed_hooks: list[Hook],
    earlier_gaps: list[Gap],
    wrapped_indices: set[int],
) -> list[Gap]:
    """Fields that matter and that the target does not parse again; what a wrapper carries is not missed."""
    gap_paths = {gap.where for gap in earlier_gaps}
    expected = [(index, hook) for index, hook in hooks if not is_lost(index, earlier_gaps)]
    plain = [hook for _, hook in expected]
    entries = build_sidecar(Manifest(spec="", hooks=plain), [*enumerate(plain)], parsed_hooks)["hooks"]
    gaps: list[Gap] = []
    for (index, hook), entry in zip(expected, entries, strict=False):  # behind them stands what only the target has
        fields = entry.get("fields", {})
        lost_fields = {*fields.get("hook", ()), *fields.get("handler", ())}
        is_wrapped = index in wrapped_indices
        wrapper_fields = {"may_allow"} if is_wrapped else set()
        wrapper_fields |= set() if (hook.environment == "caller") == is_wrapped else {"environment"}
        blocks_late = hook.handler.timeout_action == "block" and not (is_wrapped and hook.must_answer)
        wrapper_fields |= set() if blocks_late else {"timeout_action"}
        gaps += [
            _warning_gap(index, hook, name, f"{target.title} {reason}")
            for name, reason in _FIELD_LOSSES.items()
            if name in lost_fields - wrapper_fields and _field_path(index, name) not in gap_paths
        ]
    return gaps
