"""on: one call of an agent, from its words and bytes to its answer, whatever goes wrong on the way."""

from collections.abc import Mapping
from contextlib import suppress
from os.path import join
from pathlib import Path
from time import monotonic, time

from hookonce import agents, ids, invocation
from hookonce.agents import kind_of, natives, point_of
from hookonce.config import settings
from hookonce.errors import HookonceError, PayloadError
from hookonce.handlers.errand import waited
from hookonce.handlers.walk import Doer, Walk, drive
from hookonce.journeys import failmode, ground, pause, silent
from hookonce.journeys.budget import budget
from hookonce.journeys.ground import Ground
from hookonce.journeys.hook_error import errors_of
from hookonce.journeys.identify import identify
from hookonce.journeys.respond import Answered, Asked, Call, Claimed, respond, understand
from hookonce.journeys.stored import logged, stored
from hookonce.manifest.discover import project_of
from hookonce.model import Agent, Gap, Record, Reply
from hookonce.runtime import calls, stops
from hookonce.store import log, spool
from hookonce.texts import load

TRIAL = b'{"hookonce":"trial"}'  # nobody's payload: whoever sends it only wants to know that we are there
_MARGIN = 0.25  # seconds beyond the hooks' own time, in which an answer still reaches the agent
_HURRY = 4.0  # seconds for a call of which not even the agent is known
_END = "session_end"


def answer(
    words: list[str],
    raw: bytes,
    environment: Mapping[str, str],
    call_id: str | None = None,
    began: float | None = None,
    doer: Doer = waited,
) -> Reply:
    """The agent's native answer, or the fail mode of the call, whatever goes wrong.

    An exception is raised only if not even that can be told; what the client then says was made beforehand.
    """
    return drive(walk(words, raw, ground.cold(environment), call_id or ids.fresh(), began), doer)


def note(words: list[str], raw: bytes, environment: Mapping[str, str], call_id: str) -> None:
    """Keep a call that was answered already, because it concerns nobody: no hook is asked."""
    drive(walk(words, raw, ground.cold(environment, asks=False), call_id))


def walk(words: list[str], raw: bytes, where: Ground, call_id: str, began: float | None = None) -> Walk[Reply]:
    """The same for whoever has more to do than to wait for one answer."""
    try:
        call = _call(words, call_id, began)
        if raw == TRIAL or pause.is_paused():
            return failmode.open_reply(agents.load(call.agent))
        if not where.lives_on:
            refresh()
        return (yield from _answer(call, raw, where))
    except GeneratorExit:
        raise  # nobody waits for this answer any more
    except BaseException as problem:  # noqa: BLE001  our own failure is never a decision by accident
        return failed(words, raw, where, problem)


def patience(words: list[str]) -> float:
    """Seconds after which a call has failed, whatever holds it up."""
    try:
        call = _call(words)
        return _budget(call, agents.load(call.agent), call.event or "") + _MARGIN
    except Exception:  # noqa: BLE001  words that say nothing are told so where they are answered
        return _HURRY


def _budget(call: Call, agent: Agent, native: str) -> float:
    return budget(agent, native, call.timeout, wraps=call.run is not None)


def _call(words: list[str], call_id: str = "", began: float | None = None) -> Call:
    parsed = invocation.parse([invocation.CLIENT, *words])
    if parsed is None:
        raise HookonceError(f"these are no words of ours: {words}")
    return Call(
        agent=parsed.agent,
        event=parsed.event,
        via=parsed.via,
        dialect=parsed.dialect,
        run=parsed.run,
        scope=parsed.scope,
        timeout=parsed.timeout,
        id=call_id,
        began=began,
    )


def refresh() -> None:
    """What the client says without us follows the manifests; a disk that refuses it refuses nobody an answer."""
    try:
        failmode.refresh()
        silent.refresh()
    except Exception as problem:  # noqa: BLE001  the call itself goes on
        _tell("failmode", problem)


def _answer(call: Call, raw: bytes, where: Ground) -> Walk[Reply]:
    asked = understand(call, raw, where.environment, where.pid)
    if not raw.strip() and "prevent" in point_of(asked.agent, asked.native).can:
        raise PayloadError("nothing was said of what has to be judged")
    if asked.event.type == _END:
        keep(Record(event=asked.event), where)  # an agent that ends does not always let us end
    try:
        answered = yield from respond(call, asked, where)
    except Claimed:
        return (yield from _of_others(call, asked, where))
    except GeneratorExit:
        raise
    except BaseException as problem:  # noqa: BLE001  recorded, and answered by the fail mode of the call
        answered = _failed(asked, problem, where)
    with suppress(BaseException):  # a decision that was made is told, whatever becomes of its record
        _remember(call, answered, where)
    return answered.reply


def _of_others(call: Call, asked: Asked, where: Ground) -> Walk[Reply]:
    """What whoever runs the hooks of this call has answered; if that never comes, the fail mode."""
    waited = monotonic() - call.began if call.began is not None else 0
    until = time() + _budget(call, asked.agent, asked.native) - waited
    found = yield from calls.answer_of(call.id, until)
    if found is not None:
        return found
    answered = _failed(asked, HookonceError("whoever ran the hooks of this call is gone"), where)
    keep(answered.record, where)
    return answered.reply


def _remember(call: Call, answered: Answered, where: Ground) -> None:
    if answered.record.event.id != call.id and settings.records():
        where.spool.forget(call.id)  # another door was first: what is kept is one record, under its id
    for record in (answered.record, *errors_of(answered.record)):
        keep(record, where)
    if where.asks and (answered.record.runs or calls.is_claimed(call.id)):
        calls.finish(call.id, answered.reply)
    where.noticed(answered.record)


def keep(record: Record, where: Ground) -> None:
    """A record that cannot be kept is counted, and costs nobody the answer."""
    if not settings.records():
        return
    try:
        kept = stored(record)
        where.spool.append(kept)
        logged(kept, where.environment)
    except Exception as problem:  # noqa: BLE001  as above
        spool.count_loss()
        _tell("record", problem)


def _failed(asked: Asked, problem: BaseException, where: Ground) -> Answered:
    _tell(f"{asked.agent.name} {asked.native}", problem)
    note = f"{type(problem).__name__}: {log.words(problem)}"
    gap = Gap(where="$", capability="respond", strategy="fail mode", effect="observes", note=note)
    return Answered(reply=_fail_mode(asked, where), record=Record(event=asked.event, gaps=[gap]))


def _fail_mode(asked: Asked, where: Ground) -> Reply:
    """Closed if a hook has to be asked; but an agent that is kept from stopping has to be let go in the end."""
    closed = failmode.is_closed(asked.event.type, _project(where.cwd, asked.event.cwd))
    if closed and "retry" in point_of(asked.agent, asked.native).can:
        closed = stops.refuse(asked.event, failmode.REASON)
    return failmode.closed_reply(asked.agent, asked.native) if closed else failmode.open_reply(asked.agent)


def _project(place: str, told: str | None = None) -> Path | None:
    """The project of a call: around where the agent says it is, else around where the caller is."""
    try:
        return project_of(join(place, told or ""))  # noqa: PTH118  as where hooks are chosen
    except (OSError, ValueError):
        return None


def late(words: list[str], raw: bytes, where: Ground) -> Reply:
    """What is said if an answer that is on its way never comes; a stop is let pass, for nobody would count it."""
    named = _named(words)
    with suppress(Exception):
        asked = _recognised(named, raw, where.environment)
        if "retry" not in point_of(asked.agent, asked.native).can:
            return _fail_mode(asked, where)
        return failmode.open_reply(asked.agent)
    with suppress(HookonceError):
        return _by_name(where.cwd, *named or [""])
    return Reply()


def failed(words: list[str], raw: bytes, where: Ground, problem: BaseException) -> Reply:
    """The fail mode of a call that could not be followed to its end, for whoever made it, as far as that is known."""
    _tell(" ".join(words[:2]), problem)
    named = _named(words)
    with suppress(Exception):
        return _fail_mode(_recognised(named, raw, where.environment), where)
    try:
        return _by_name(where.cwd, *named or [""])
    except HookonceError:  # to somebody unknown there is nothing to say
        return Reply()


def _named(words: list[str]) -> list[str]:
    """The agent and the event, as far as they are said."""
    return [word for word in words[:2] if not word.startswith("--")]


def _recognised(named: list[str], raw: bytes, environment: Mapping[str, str]) -> Asked:
    """Who asks, and about what: by the words and the payload, or by the payload alone."""
    agent, event = (*named, None, None)[:2]
    try:
        agents.load(agent or "")
    except HookonceError:
        found = identify(load(raw.decode()), environment)
        agent, event = found.name, found.event or event
    call = Call(agent=agent or "", event=event)
    return understand(call, raw, environment)


def _by_name(place: str, name: str, native: str = "") -> Reply:
    """For a payload that says nothing: by the words alone; a stop is let pass, for nobody could count it."""
    agent = agents.load(name)
    refusable = native in natives(agent) and "retry" not in point_of(agent, native).can
    closed = refusable and failmode.is_closed(kind_of(agent, native), _project(place))
    return failmode.closed_reply(agent, native) if closed else failmode.open_reply(agent)


def _tell(what: str, problem: BaseException) -> None:
    """Messages go to the log: an agent would take a stray word for an answer."""
    with suppress(Exception):
        told = str(problem) if isinstance(problem, HookonceError) else log.trace(problem)
        log.write(f"on {what}: {told}")
