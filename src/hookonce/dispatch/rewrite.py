"""Effect of rewritten input: the decision as the agent will have it, and the event as the next hook sees it."""

from msgspec.structs import replace

from hookonce import agents
from hookonce.errors import HookonceError
from hookonce.model import Decision, Event, Gap, Object
from hookonce.vocabulary.events import is_document

_REWRITE_PROBLEM = "cannot be written in its own form"


def apply_rewrite(decision: Decision, event: Event) -> tuple[Decision, Event, list[Gap]]:
    """The decision with its new input as the agent will have it, the event as the next hook sees it, and gaps.

    Input that cannot be put into the agent's own form is refused: it must not go on unchanged.
    """
    new_input = decision.updated_input
    if new_input is None and decision.updated_output is None:
        return decision, event, []
    if new_input is None or decision.outcome == "deny":
        return replace(decision, updated_input=None), _apply_new_output(decision, event), []
    new_event = _rewrite_event(event, new_input)
    if new_event is None:
        name = event.tool.native if event.tool else event.type
        note = f"a hook has changed the input of {name}, which {_REWRITE_PROBLEM}"
        gap = Gap(where="$.decision", capability="input_rewrite", strategy="weaken", effect="prevents", note=note)
        return replace(decision, outcome="deny", reason=note, updated_input=None), event, [gap]
    if new_event.tool is not None:
        decision = replace(decision, updated_input=new_event.tool.input)
    return decision, _apply_new_output(decision, new_event), []


def _rewrite_event(event: Event, new_input: Object) -> Event | None:
    if event.tool is not None:
        if not _is_payload(event):  # whoever makes an agent of their own speaks the canon
            return replace(event, tool=replace(event.tool, input=new_input, native_input=new_input))
        tool = agents.rewrite_input(agents.load(event.agent), event.tool, new_input)
        return None if tool is None else _update_payload(replace(event, tool=tool), event)
    if type(event.prompt) is not str:
        return event
    prompt = new_input.get("prompt")
    return _update_payload(replace(event, prompt=prompt), event) if type(prompt) is str else None


def _is_payload(event: Event) -> bool:
    """Whether the native form of an event is a payload of an agent that we know."""
    return event.agent in agents.AGENTS and not is_document(event)


def _update_payload(event: Event, old_event: Event) -> Event:
    """Put the new input into the native payload, or drop the payload: nobody shall judge what will not happen."""
    if event == old_event or type(old_event.native) is not dict:
        return event
    if not _is_payload(event):
        return replace(event, native=None)
    agent = agents.load(event.agent)
    try:
        payload = old_event.native | agents.encode(agent, event)
        decoded_event = agents.decode(agent, payload, agents.config_event_of(agent, event.type), id=event.id)
    except HookonceError:
        return replace(event, native=None)
    is_same = (decoded_event.tool and decoded_event.tool.input, decoded_event.prompt) == (
        event.tool and event.tool.input,
        event.prompt,
    )
    return replace(event, native=payload if is_same else None)


def _apply_new_output(decision: Decision, event: Event) -> Event:
    tool, new_output = event.tool, decision.updated_output
    if new_output is None or tool is None or tool.result is None:
        return event
    return replace(event, tool=replace(tool, result=replace(tool.result, output=new_output)))
