"""on: one call of an agent, from its words and bytes to its answer, whatever goes wrong on the way."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from time import time
from traceback import format_exc

from hookonce import ids, invocation, times
from hookonce.config import paths
from hookonce.errors import HookonceError
from hookonce.journeys import failmode, pause
from hookonce.journeys.budget import budget
from hookonce.journeys.chosen import choose
from hookonce.journeys.respond import Answered, Asked, Call, respond, understand
from hookonce.manifest.discover import project_of
from hookonce.model import Gap, Record, Reply
from hookonce.runtime import calls
from hookonce.store import spool
from hookonce.store.redact import redact


def answer(words: list[str], raw: bytes, environment: Mapping[str, str], call_id: str | None = None) -> Reply:
    """The agent's native answer, or the fail mode of the call; never anything else, and never an exception."""
    agent, native = (words[0] if words else ""), (words[1] if len(words) > 1 else None)
    try:
        call = _call(words, call_id or ids.fresh())
        failmode.refresh()
        if pause.is_paused():
            return failmode.reply(agent, None)
        return _answer(call, raw, environment)
    except BaseException as problem:  # noqa: BLE001  our own failure is never a decision by accident
        _log(words, problem)
        return failmode.reply(agent, native)


def _call(words: list[str], call_id: str) -> Call:
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
    )


def _answer(call: Call, raw: bytes, environment: Mapping[str, str]) -> Reply:
    asked = understand(call, raw, environment)
    if not calls.claim(call.id):
        deadline = time() + budget(asked.agent, asked.native, call.timeout)
        return calls.answer_of(call.id, deadline) or failmode.reply(asked.agent.name, asked.native)
    try:
        answered = respond(call, asked, environment)
    except Exception as problem:  # noqa: BLE001  recorded, and answered by the fail mode of the call
        answered = _failed(asked, problem)
    spool.append(redact(answered.record, "minimal"))
    calls.finish(call.id, answered.reply)
    return answered.reply


def _failed(asked: Asked, problem: Exception) -> Answered:
    """A failure of ours is closed if any hook that had to be asked is."""
    _log([asked.agent.name, asked.native], problem)
    try:
        project = project_of(Path(asked.event.cwd)) if asked.event.cwd else None
        closed = choose(asked.event, project).closed
        reply = failmode.closed_reply(asked.agent, asked.native) if closed else failmode.open_reply(asked.agent)
    except Exception:  # noqa: BLE001  what cannot be read now was read when the answers were made
        reply = failmode.reply(asked.agent.name, asked.native)
    note = f"{type(problem).__name__}: {problem}"
    gap = Gap(where="$", capability="respond", strategy="fail mode", effect="observes", note=note)
    return Answered(reply=reply, record=Record(event=asked.event, gaps=[gap]))


def _log(words: list[str], problem: BaseException) -> None:
    """Messages go to the log: an agent would take a stray word for an answer."""
    with suppress(OSError):
        paths.log().parent.mkdir(parents=True, exist_ok=True)
        with paths.log().open("a", encoding="utf-8") as log:
            trace = "" if isinstance(problem, HookonceError) else f"\n{format_exc()}"
            log.write(f"{times.now()} on {' '.join(words[:2])}: {problem}{trace}\n")
