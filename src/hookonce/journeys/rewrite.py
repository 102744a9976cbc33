"""New input: what the next hook sees of it, and what the agent can be told of it."""

from msgspec.structs import replace

from hookonce import agents
from hookonce.errors import HookonceError
from hookonce.model import Decision, Event, Gap, Object

_WHY = "cannot be said in its own form"


def settled(decision: Decision, event: Event) -> tuple[Decision, Event, list[Gap]]:
    """The decision with its new input as the agent will have it, and the event as the next hook sees it.

    Input that cannot be put into the agent's own form is refused: it must not go on unchanged.
    """
    new = decision.updated_input
    if new is None or decision.outcome == "deny":
        return replace(decision, updated_input=None), _answered(decision, event), []
    seen = _rewritten(event, new)
    if seen is None:
        note = f"a hook has changed the input of {event.tool.native if event.tool else event.type}, which {_WHY}"
        gap = Gap(where="$.decision", capability="input_rewrite", strategy="weaken", effect="prevents", note=note)
        return replace(decision, outcome="deny", reason=note, updated_input=None), event, [gap]
    if seen.tool is not None:
        decision = replace(decision, updated_input=seen.tool.input)
    return decision, _answered(decision, seen), []


def _rewritten(event: Event, new: Object) -> Event | None:
    if event.tool is not None:
        if event.agent not in agents.AGENTS:  # whoever makes an agent of their own speaks the canon
            return replace(event, tool=replace(event.tool, input=new, native_input=new))
        tool = agents.rewritten(agents.load(event.agent), event.tool, new)
        return None if tool is None else _retold(replace(event, tool=tool), event)
    if type(event.prompt) is not str:
        return event
    prompt = new.get("prompt")
    return _retold(replace(event, prompt=prompt), event) if type(prompt) is str else None


def _retold(event: Event, old: Event) -> Event:
    """The payload says what is new as well, or there is none: nobody shall judge what will not happen."""
    if event == old or type(old.native) is not dict:
        return event
    agent = agents.load(event.agent)
    try:
        payload = old.native | agents.encode(agent, event)
        again = agents.decode(agent, payload, agents.native_of(agent, event.type), id=event.id)
    except HookonceError:
        return replace(event, native=None)
    is_same = (again.tool and again.tool.input, again.prompt) == (event.tool and event.tool.input, event.prompt)
    return replace(event, native=payload if is_same else None)


def _answered(decision: Decision, event: Event) -> Event:
    """A tool's result as a hook has changed it."""
    tool, new = event.tool, decision.updated_output
    if new is None or tool is None or tool.result is None:
        return event
    return replace(event, tool=replace(tool, result=replace(tool.result, output=new)))
