"""Identification of a payload: which agent or format it is from, by evidence; without any, the candidates."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

from hookonce import agents, formats
from hookonce.agents import canonical_event_of, config_event_of, config_events, normalize, point_of
from hookonce.agents.signatures import SIGNATURES, AgentSignature
from hookonce.dispatch import live_formats
from hookonce.model import Agent, Format, Object

_TRANSCRIPT_KEYS = ("transcript_path", "transcriptPath", "agent_transcript_path")
_SHAPE_EVIDENCE = "the payload has its shape"
_EVENT_KEYS = ("hook_event_name", "hookEventName", "agent_action_name", "hookName", "hook")
_EVIDENCE_KEYS = (*_TRANSCRIPT_KEYS, "permission_mode", "type", *_EVENT_KEYS)  # whose values count


class Identification(Struct, frozen=True, kw_only=True):
    """Result of an identification. `event` is the native name, `type` the canonical one."""

    kind: Literal["agent", "format", "unknown"]
    name: str | None = None
    event: str | None = None
    type: str | None = None
    candidates: list[str] = []
    evidence: list[str] = []


def identify(
    payload: Any, environment: Mapping[str, str] | None = None, *, lists_candidates: bool = True
) -> Identification:
    """Identify one JSON document; `environment` only decides between agents that fit equally.

    Candidates where there is no evidence cost the loading of every agent, so that nobody should list them in vain.
    """
    if type(payload) is not dict:
        return Identification(kind="unknown", evidence=[f"expected a JSON object, got {_describe_json(payload)}"])
    for name in formats.recognise(payload):
        return Identification(kind="format", name=name, evidence=[f"has the keys of {formats.load(name).title}"])
    transcript_home = _find_transcript_home(payload)
    evidence_by_agent = {
        name: evidence
        for name, signature in SIGNATURES.items()
        if (transcript_home is None or not signature.home or signature.home == transcript_home[1])
        and (evidence := _find_evidence(name, signature, payload, transcript_home))
    }
    if not evidence_by_agent and not lists_candidates:
        return Identification(kind="unknown", evidence=_missing_evidence(payload))
    return _decide_identity(payload, evidence_by_agent, {} if environment is None else environment)


def evidence_key(payload: Object) -> tuple[Any, ...]:
    """All of a payload by which its agent and event are known, where `is_known_by_key` says so."""
    return (*map(payload.get, _EVIDENCE_KEYS), *payload)


def is_known_by_key(payload: Object, *payload_agents: Agent) -> bool:
    """Whether no function looks at more of a payload than its key, for these agents or to find another one."""
    transcript_home = _find_transcript_home(payload)
    shapes = [
        keys
        for signature in SIGNATURES.values()
        if transcript_home is None or signature.home in {None, transcript_home[1]}
        for keys in signature.recognise_keys
    ]
    event_keys = {key for agent in payload_agents for key, slot in agent.keys.items() if slot == "event"}
    has_functions = any(agent.recognise is not None or agent.unwrap is not None for agent in payload_agents)
    has_shape = "event" in payload or any(keys <= payload.keys() for keys in shapes)  # a canonical document has it
    return not has_functions and not has_shape and event_keys <= {*_EVIDENCE_KEYS}


def outweighs_claim(identification: Identification, claimed_agent: Agent, event_name: str | None, payload: Any) -> bool:
    """Whether an identification is stronger than the agent and event that an entry's arguments claim.

    It is not where only the claimed agent has such an event. Nor is a mere likeness to an agent that does not read
    the configuration of the claimed one.
    """
    if identification.kind != "agent" or identification.name in {None, claimed_agent.name}:
        return False
    other_agent = agents.load(str(identification.name))
    if not _has_event(claimed_agent, payload_event(claimed_agent, payload) or event_name):
        return True
    if not _has_event(other_agent, identification.event or event_name):
        return False
    return _SHAPE_EVIDENCE not in identification.evidence or claimed_agent.name in other_agent.config.borrows


def find_document_format(
    identification: Identification | None, claimed_agent: Agent, event_name: str | None
) -> Format | None:
    """The open format of a payload: the one that it has, else the one that is claimed; None for an agent's payload.

    At an entry of an agent that can refuse, the entry says what the event is, whatever the payload looks like.
    """
    is_claimed = live_formats.is_live(claimed_agent.name)
    kind, name = (None, None) if identification is None else (identification.kind, identification.name)
    if kind == "format" and live_formats.is_live(name):
        is_gate = not is_claimed and event_name is not None and live_formats.can_decide(claimed_agent, event_name)
        return None if is_gate else live_formats.find_format(name)
    return live_formats.find_format(claimed_agent.name) if is_claimed and kind != "agent" else None


def overruling_entry(agent: Agent, payload: Object, entry_agent: Agent, entry_event: str) -> tuple[Agent, str] | None:
    """Agent and event of an entry that can refuse, where the payload names another event; None if the payload counts.

    Else a name that nobody knows, or that is about something else, would keep hooks from being asked. A stop that
    names another event that is known may be that, and a tool that has ended may have failed.
    """
    names = [*_payload_events(agent, payload)] or [entry_event]
    if agent is entry_agent and all(name == entry_event for name in names):
        return None
    entry_native = configured_name(entry_agent, entry_event)
    entry_type = canonical_event_of(entry_agent, entry_native)
    capabilities = point_of(entry_agent, entry_native).capabilities
    other_types = {canonical_event_of(agent, name) for name in names} - {entry_type}
    if entry_type == "after_tool_execute":
        other_types.discard("tool_use_failure")
    if "prevent" not in capabilities:
        other_types = {name for name in other_types if name.startswith("vendor.") and "retry" in capabilities}
    if not other_types:
        return None
    native = config_event_of(agent, entry_type)
    return (entry_agent, entry_native) if agent is entry_agent or native is None else (agent, native)


def configured_name(agent: Agent, name: str) -> str:
    """The name of an event in the agent's configuration, canonical or however an entry spells it."""
    if name in agent.config.points or name in config_events(agent):
        return name
    return config_event_of(agent, name) or config_event_of(agent, canonical_event_of(agent, name)) or name


def _has_event(agent: Agent, event: str | None) -> bool:
    return event is not None and not canonical_event_of(agent, event).startswith("vendor.")


def _decide_identity(
    payload: Object, evidence_by_agent: dict[str, list[str]], environment: Mapping[str, str]
) -> Identification:
    candidates = list(evidence_by_agent) or [
        name for name in agents.AGENTS if _names_known_event(agents.load(name), payload)
    ]
    env_markers = {
        name: env_marker
        for name in candidates
        if (env_marker := _find_env_marker(agents.load(name), payload, environment))
    }
    if len(candidates) > 1 and len(env_markers) == 1:
        candidates = list(env_markers)
    if len(candidates) == 1 and (candidates[0] in evidence_by_agent or candidates[0] in env_markers):
        name = candidates[0]
        evidence = evidence_by_agent.get(name, []) + (
            [f"the environment has {env_markers[name]}"] if name in env_markers else []
        )
        return _agent_identification(agents.load(name), payload, evidence)
    return Identification(kind="unknown", candidates=candidates, evidence=_missing_evidence(payload))


def _agent_identification(agent: Agent, payload: Object, evidence: list[str]) -> Identification:
    event = payload_event(agent, payload)
    return Identification(
        kind="agent",
        name=agent.name,
        event=event or None,
        type=normalize(agent, event) if event else None,
        candidates=[] if event else list(agent.events),
        evidence=evidence,
    )


def payload_event(agent: Agent, payload: Object) -> str | None:
    """The native event that the payload itself names."""
    return next(_payload_events(agent, payload), None)


def _payload_events(agent: Agent, payload: Object) -> Iterator[str]:
    if agent.recognise is not None and (event := agent.recognise(payload)):
        yield event
    fields = payload if agent.unwrap is None else agent.unwrap(payload, None)
    event_names = [fields.get(key) for key, slot in agent.keys.items() if slot == "event"]
    yield from (event for event in event_names if type(event) is str and event)


def _find_evidence(
    name: str, signature: AgentSignature, payload: Object, transcript_home: tuple[str, str] | None
) -> list[str]:
    """The strongest evidence that the payload is the agent's; it is loaded only if its own function has to look."""
    if signature.home and transcript_home is not None:
        key, home = transcript_home
        return [f"{key} lies in {home}"]
    for signature_keys in signature.signature_keys:
        if signature_keys <= payload.keys():
            return [f"has {' and '.join(sorted(signature_keys))}"]
    mode = payload.get("permission_mode")
    if type(mode) is str and mode in signature.permission_modes:
        return [f"permission_mode {mode} is its own"]
    if any(keys <= payload.keys() for keys in signature.recognise_keys):
        recognise = agents.load(name).recognise
        return [_SHAPE_EVIDENCE] if recognise is not None and recognise(payload) is not None else []
    return []


def foreign_home(agent: Agent, payload: Any) -> str | None:
    """The directory of another agent in which the payload's transcript lies, if it does."""
    if agent.home is None or type(payload) is not dict:
        return None
    path = payload.get("transcript_path") or payload.get("transcriptPath")
    if type(path) is not str or f"/{agent.home}/" in path:
        return None
    transcript_home = _find_transcript_home(payload)
    return None if transcript_home is None else transcript_home[1]


def _find_transcript_home(payload: Object) -> tuple[str, str] | None:
    """The key that has the transcript's path, and the agent's directory in it; the longest match counts."""
    for key in _TRANSCRIPT_KEYS:
        path = payload.get(key)
        if type(path) is str and path:
            unix_path = path.replace("\\", "/")
            if homes := [one.home for one in SIGNATURES.values() if one.home and f"/{one.home}/" in unix_path]:
                return key, max(homes, key=len)
    return None


def _names_known_event(agent: Agent, payload: Object) -> bool:
    event = payload_event(agent, payload)
    return event is not None and not normalize(agent, event).startswith("vendor.")


def _find_env_marker(agent: Agent, payload: Object, environment: Mapping[str, str]) -> str | None:
    """The agent's marker in the environment.

    Whatever an agent starts inherits its markers, another agent too. So they say nothing of an agent that sends its
    transcript's path, where the payload has none.
    """
    transcript_keys = [key for key in _TRANSCRIPT_KEYS if key in agent.keys or key in agent.details]
    if transcript_keys and not any(payload.get(key) for key in transcript_keys):
        return None
    return next((env_marker for env_marker in agent.env_markers if env_marker in environment), None)


def _missing_evidence(payload: Object) -> list[str]:
    reasons = [f"{key} alone is not enough" for key in _EVENT_KEYS if key in payload]
    return reasons or ["nothing in it tells of an agent or a format"]


def _describe_json(value: Any) -> str:
    if type(value) is list:
        return "an array; write its items one on a line each"
    return "null" if value is None else f"the value {value!r:.40}"
