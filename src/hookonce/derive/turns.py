"""Turns: that a session has begun, whether it is in the middle of a turn, and what its agent said last.

What an agent leaves unsaid is said for it: that a session begins with its first work, begins again after its end,
and that a turn has ended with the agent's last words when the next one begins. Where agents tell the beginning, it is
given time to come in: the first call of a day starts the daemon, and is known last.
"""

from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from hookonce import agents
from hookonce.agents import kind_of, natives, point_of
from hookonce.canon.tellers import from_transcript
from hookonce.derive.calls import OVER
from hookonce.derive.further import further, is_further
from hookonce.errors import HookonceError
from hookonce.guard.loops import elapsed
from hookonce.model import Event, Record

WORK = frozenset(
    {
        "before_prompt",
        "before_tool_execute",
        "after_tool_execute",
        "tool_use_failure",
        "before_model",
        "after_model",
        "agent_response",
        "agent_stop",
        "subagent_start",
    }
)
BEGINNINGS = frozenset({"before_prompt", "before_tool_execute", "before_model"})  # other work may come in late
SPEAKS = frozenset({"after_model", "agent_response"})
_LATE = 10_000  # milliseconds in which a beginning may come in after what it began


class Turns(Struct, frozen=True, kw_only=True):
    """Where a session stands; `spoken` is the event with the agent's last words, if nothing came after them.

    `unsaid` is the first event of a session whose beginning may still come in; `implied` says that we have told it.
    """

    first: str | None = None
    last: Event | None = None
    begun: bool = False
    unsaid: Event | None = None
    implied: bool = False
    ended: bool = False
    working: bool = False
    prompts: int = 0
    actions: int = 0
    spoken: Event | None = None


def step(turns: Turns, record: Record) -> tuple[Turns, list[Record]]:
    """The session after a record, and what its agent has left unsaid.

    What was read in a transcript comes in late: it says nothing about where the session stands now. What is of no
    session begins none.
    """
    event = record.event
    if from_transcript(event) or event.session is None:
        return turns, []
    turns, begun = _begin(turns, event)
    said = begun + _response(turns, event)
    turns = replace(turns, first=turns.first or event.time, last=_outline(event))
    if event.type in OVER:
        return replace(turns, ended=True, working=False, spoken=None), said
    if event.type == "session_start":
        return replace(turns, begun=True, ended=False, implied=False), said
    if event.type in WORK:
        turns = replace(turns, begun=True, ended=turns.ended and event.type not in BEGINNINGS)
    return _turn(turns, record), said


def _turn(turns: Turns, record: Record) -> Turns:
    event = record.event
    turns = replace(turns, actions=turns.actions + (event.type == "before_tool_execute"))
    if event.subagent is not None:
        return turns
    if event.type == "before_prompt":
        return replace(turns, working=True, prompts=turns.prompts + 1, spoken=None)
    if event.type == "agent_stop":  # a denial there keeps it going
        goes_on = record.decision is not None and record.decision.outcome == "deny"
        return replace(turns, working=goes_on, spoken=None)
    if event.type == "interrupt":
        return replace(turns, working=False, spoken=None)
    if event.type in SPEAKS:
        spoken = _outline(event) if event.data.get("response") is not None else turns.spoken
        return replace(turns, working=True, spoken=spoken)
    return replace(turns, working=True, spoken=None) if event.type in WORK else turns


def _begin(turns: Turns, event: Event) -> tuple[Turns, list[Record]]:
    if turns.unsaid is not None:
        return _awaited(turns, turns.unsaid, event)
    if event.type not in (BEGINNINGS if turns.ended else WORK) or (turns.begun and not turns.ended):
        return turns, []
    if not turns.ended and _tells(event.agent):
        return replace(turns, unsaid=_outline(event)), []
    source = {"source": "resume"} if turns.ended else {}
    return replace(turns, implied=True), [further(event, "session_start", source, subagent=None)]


def _awaited(turns: Turns, first: Event, event: Event) -> tuple[Turns, list[Record]]:
    """The beginning comes, or it never will."""
    if event.type == "session_start":
        return replace(turns, unsaid=None), []
    if event.type not in OVER and (elapsed(first.time, event.time) or 0) < _LATE:
        return turns, []
    return replace(turns, unsaid=None, implied=True), [further(first, "session_start", {}, subagent=None)]


@cache
def _tells(name: str) -> bool:
    """Whether an agent tells the beginning of a session, as far as we ask for it by default."""
    try:
        agent = agents.load(name)
    except HookonceError:
        return False
    starts = [native for native in natives(agent) if kind_of(agent, native) == "session_start"]
    return any(point_of(agent, native).install == "default" for native in starts)


def _response(turns: Turns, event: Event) -> list[Record]:
    """The last words of a turn that nobody has ended."""
    closes = event.type in OVER or (event.type == "before_prompt" and event.subagent is None)
    if not closes or turns.spoken is None:
        return []
    return [further(turns.spoken, "agent_stop", {"response": turns.spoken.data["response"]})]


def _outline(event: Event) -> Event:
    """What a further record would take over; the rest is in the store."""
    said = event.data.get("response")
    return replace(event, native=None, tool=None, prompt=None, data={} if said is None else {"response": said})


def is_known(event: Event) -> bool:
    """Whether a record of ours changes where a session stands: only its end, which no other record tells."""
    return is_further(event) and event.type in OVER
