"""Goldens: what agents told their hooks in some runs, scrubbed, each payload once, and where it is from."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from hookonce import __version__, agents
from hookonce.agents import decode, natives, point_of
from hookonce.errors import HookonceError
from hookonce.journeys.identify import event_of
from hookonce.journeys.respond import native_name
from hookonce.lab import drivers
from hookonce.lab.certificate import machine
from hookonce.lab.found import Found
from hookonce.lab.order import label, once, threads
from hookonce.lab.provenance import Capture, Gap, Golden, Provenance, digest
from hookonce.lab.run import Run, talks
from hookonce.lab.scrub import Scrub
from hookonce.lab.shape import shape
from hookonce.model import Agent, Event, Json, Object
from hookonce.texts import dump

TOUR = "tour"
_ALIKE = 3  # payloads of the same event, tool and shape


class Take(Struct, frozen=True):
    """One run, by the name of what was played, and how its payloads are scrubbed."""

    name: str
    run: Run
    scrub: Scrub


class Telling(Struct, frozen=True):
    """One event of a take, with its own name."""

    take: Take
    event: Object
    native: str

    @property
    def tool(self) -> str | None:
        """The canonical tool, if it is about one."""
        return (self.event.get("tool") or {}).get("name")


def gathered(one: Found, takes: Sequence[Take]) -> Capture:
    """The goldens of these takes, and what is to be said about them."""
    agent, driver = agents.load(one.agent), drivers.load(one.agent)
    heard = [each for take in takes for each in _heard(agent, take)]
    payloads: dict[str, Json] = {}
    files: list[Golden] = []
    gaps: list[Gap] = []
    for each, payload in _kept(heard):
        if (why := _objection(agent, each, payload)) is not None:
            gaps.append(Gap(scenario=each.take.name, event=each.native, type=each.event["type"], why=why))
            continue
        golden = _golden(each, payload, payloads)
        payloads[golden.file] = payload
        files.append(golden)
    came = {each.native for each in heard}
    told = Provenance(
        agent=one.agent,
        version=one.version,
        origin=one.origin,
        date=datetime.now(UTC).date().isoformat(),
        hookonce=__version__,
        machine=machine(),
        scenarios=[take.name for take in takes],
        tools=sorted({name for take in takes for talk in talks(take.run)[:1] for name in talk.tools}),
        order=_order(agent, heard, driver.comes_and_goes),
        unsteady=sorted(driver.comes_and_goes),
        silent=[one for one in natives(agent) if one not in came and point_of(agent, one).install != "never"],
        files=files,
        gaps=gaps,
    )
    return Capture(told, payloads)


def _heard(agent: Agent, take: Take) -> Iterator[Telling]:
    for event in once(one.event for one in take.run.heard):
        yield Telling(take, event, _native(agent, event))


def _native(agent: Agent, event: Object) -> str:
    """The agent's own name of an event: what the payload says, else the one that is configured for its type."""
    payload = event.get("native")
    said = event_of(agent, payload) if type(payload) is dict else None
    known = Event(id="", schema="", type=event["type"], agent=agent.name, time="", time_source="none")
    return native_name(agent, known, said) or event["type"]


def _kept(heard: Sequence[Telling]) -> Iterator[tuple[Telling, Json]]:
    """The payloads that are worth a file, scrubbed: none twice, and of the same shape only a few."""
    seen: set[tuple[str, bytes]] = set()
    alike: Counter[tuple[object, ...]] = Counter()
    for each in heard:
        payload = each.event.get("native")
        kind = (each.native, each.tool, frozenset(shape(payload).items()))
        if (each.event["type"], dump(payload)) in seen or alike[kind] == _ALIKE:
            continue
        seen.add((each.event["type"], dump(payload)))
        alike[kind] += 1
        yield each, each.take.scrub.value(payload)


def _objection(agent: Agent, each: Telling, payload: Json) -> str | None:
    """Why a scrubbed payload cannot be kept: it tells too much, or is not understood any more."""
    if (what := each.take.scrub.left(each.event.get("native"))) is not None:
        return f"it still contains {what}"
    try:
        again = decode(agent, payload, each.native)
    except HookonceError as problem:
        return f"it cannot be read after scrubbing: {problem}"
    was, now = label(each.event["type"], each.tool), label(again.type, again.tool.name if again.tool else None)
    return None if was == now else f"it was read as {was}, and is {now} after scrubbing"


def _golden(each: Telling, payload: Json, taken: dict[str, Json]) -> Golden:
    stem = "-".join(re.sub(r"[^\w.]+", "_", part) for part in (each.native, _situation(each)) if part)
    number = next(number for number in range(1, len(taken) + 2) if f"{stem}-{number}.json" not in taken)
    return Golden(
        file=f"{stem}-{number}.json",
        scenario=each.take.name,
        event=each.native,
        type=each.event["type"],
        tool=each.tool,
        sha256=digest(payload),
    )


def _situation(each: Telling) -> str:
    """What of a file's name tells it from others of the same event: the tool."""
    return "mcp" if (each.tool or "").startswith("mcp:") else each.tool or ""


def _order(agent: Agent, heard: Sequence[Telling], unsteady: frozenset[str]) -> list[list[str]]:
    """The events of the tour in their order: what the agent does not wait for comes now earlier, now later."""
    known = {one: point_of(agent, one) for one, kind in natives(agent).items() if kind != "notification"}
    waited = {one for one, point in known.items() if point.can and point.install == "default"} - unsteady
    tour = [each for each in heard if each.take.name == TOUR and each.native in waited]
    return threads((each.event, label(each.native, each.tool)) for each in tour)
