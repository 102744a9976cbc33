"""Rows for measuring the record: recorded sessions of several agents, told again at other times and places.

Redaction is not what is measured here: each step of a recording is redacted once, and what differs from session to
session is put in afterwards. The same number gives the same session, so that whoever was stopped can go on.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random

from msgspec.structs import replace

from hookonce.base import ids, times
from hookonce.demo.replay import list_recordings, read_session
from hookonce.model import Decision, Event, HookRun, Stored, Tool, Usage
from hookonce.store.entry import StoreEntry, build_entry
from hookonce.store.privacy.redact import redact
from hookonce.vocabulary.call_fingerprint import add_fingerprint

DAYS, PROJECTS, FILES = 365, 10_000, 40
MODELS = {"codex": ("gpt-5", "gpt-5.6-sol"), "gemini-cli": ("gemini-2.5-pro", "gemini-2.5-flash")}
DEFAULT_MODELS = ("claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-5")
WORK_REPEATS = 4  # times that the work of a recording is done again in one session
DENIED_SHARE = 0.01  # of all calls
_YEAR_START = datetime(2026, 1, 1, tzinfo=UTC)
_EVENT_INTERVAL = timedelta(seconds=7)


@cache
def session_templates() -> list[tuple[Stored, ...]]:
    """The recordings, each step redacted; the work between beginning and end comes several times."""
    found = []
    for name in list_recordings():
        steps = [redact(replace(one, event=add_fingerprint(one.event)), "minimal") for one in read_session(name)]
        work = [one for one in steps if one.event.tool is not None or one.event.type == "agent_stop"]
        rest = [one for one in steps if one not in work]
        found.append((*rest[:2], *work * WORK_REPEATS, *rest[2:]))
    return found


def mean_session_entries() -> float:
    """Entries of a session, on average."""
    return sum(map(len, session_templates())) / len(session_templates())


def session_name(number: int) -> str:
    """The name of a session."""
    return ids.derive_id("bench", str(number))


def build_session(number: int, when: float) -> Iterator[StoreEntry]:
    """A session at some time of the year, from 0 to 1; its entries and their ids follow from its number."""
    random = Random(number)  # noqa: S311  the same rows in every run
    template = session_templates()[number % len(session_templates())]
    first = _YEAR_START + timedelta(seconds=int(when * DAYS * 86_400))
    known = {"session": session_name(number), "cwd": f"/home/dev/project-{random.randrange(PROJECTS)}"}
    known["model"] = random.choice(MODELS.get(template[0].event.agent, DEFAULT_MODELS))
    for place, one in enumerate(template):
        time = times.format_time(first + _EVENT_INTERVAL * place)
        name = f"{number:08x}-0000-7{place:03x}-8000-000000000000"  # in the order of arrival, as ours are
        event = replace(one.event, id=name, time=time, received=time, time_source="agent", **known)
        yield build_entry(_record(one, event, random))


def _record(one: Stored, event: Event, random: Random) -> Stored:
    """The record with another file, hooks that took as long as hooks take, and tokens at the end of a turn."""
    if event.tool is not None:
        runs = [HookRun(hook=random.choice(("guard", "lint", "notes")), duration_ms=random.lognormvariate(1, 1))]
        refused = event.type == "before_tool_execute" and random.random() < DENIED_SHARE
        event = replace(event, tool=_tool(event.tool, event.cwd or "", random))
        return replace(one, event=event, runs=runs, decision=Decision(outcome="deny") if refused else None)
    if event.type in {"agent_stop", "after_model"}:
        usage = Usage(input_tokens=int(random.lognormvariate(10, 1)), output_tokens=random.randrange(50, 2000))
        return replace(one, event=replace(event, usage=usage))
    return replace(one, event=event)


def _tool(tool: Tool, place: str, random: Random) -> Tool:
    if "path" not in tool.input:
        return tool
    return replace(tool, input=tool.input | {"path": f"{place}/src/part_{random.randrange(FILES)}.py"})
