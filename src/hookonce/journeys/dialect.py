"""Dialects: whose input a hook reads and in whose words it answers."""

from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce import agents, formats
from hookonce.agents import encode as payload_for
from hookonce.agents import native_event, native_of, point_of, retold
from hookonce.agents._tool import native_tool
from hookonce.errors import HookonceError
from hookonce.handlers.errand import Ran
from hookonce.invocation import CANONICAL
from hookonce.manifest.discover import project_of
from hookonce.model import Agent, Decision, Event, Gap, Hook, Object, Outcome, Record, Reply
from hookonce.texts import dump, load

# Fields that scripts for Claude Code may rely on, and what stands there when the source has none.
_REQUIRED = {"session_id": "unknown", "transcript_path": "/dev/null", "cwd": "/", "permission_mode": "default"}
_OUTCOMES: dict[Any, Outcome] = {"allow": "allow", "deny": "deny", "ask": "ask"}


class Named(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The hook that is asked, as its manifest has it."""

    event: str
    name: str | None = None


class Given(Event, frozen=True, kw_only=True):
    """What a canonical hook gets: the event, and who it is itself."""

    hook: Named


class Wordless(HookonceError):
    """The dialect has no word for an event."""


def is_agents(dialect: str) -> bool:
    """Whether a dialect is an agent's, and not a format's or our own."""
    return dialect != CANONICAL and dialect not in formats.FORMATS


def given(dialect: str, event: Event, hook: Hook) -> tuple[bytes, list[Gap]]:
    """What a hook gets on its stdin, and which fields of it were made up."""
    if dialect == CANONICAL:
        return dump(Given(**_fields(event), hook=Named(event=hook.event, name=hook.name))), []
    if dialect in formats.FORMATS:
        documents = formats.load(dialect).write(Record(event=event))
        if not documents:
            raise Wordless(f"{formats.load(dialect).title} has no word for {event.type}")
        return dump(documents[0]), []
    agent = agents.load(dialect)
    if event.agent == agent.name and type(event.native) is dict:
        return dump(event.native), []  # its own words, and all of them
    payload = payload_for(agent, event)
    made_up = {key: value for key, value in _needed(agent, event).items() if key not in payload}
    gaps = [
        Gap(where=f"$.{key}", capability="dialect", strategy="synthesised", effect="observes", note=str(value))
        for key, value in made_up.items()
    ]
    return dump(payload | made_up), gaps


def variables(dialect: str, event: Event, cwd: str) -> dict[str, str]:
    """What a hook finds in its environment if its own agent asks, for when another one does."""
    agent = agents.load(dialect) if is_agents(dialect) else None
    if agent is None or not agent.variables:
        return {}
    where = event.cwd or cwd
    known = {
        "project": str(project_of(Path(where))),
        "cwd": where,
        "session": event.session,
        "event": native_event(agent, event.type),
        "tool": native_tool(agent, event.tool, own=False)[0] if event.tool is not None else None,
    }
    found = {name: known[slot] for name, slot in agent.variables.items()}
    return {name: text for name, text in found.items() if text and "\0" not in text}


def _fields(event: Event) -> Object:
    return {name: getattr(event, name) for name in event.__struct_fields__}


def _needed(agent: Agent, event: Event) -> Object:
    if agent.name != "claude-code":
        return {}
    return _REQUIRED | ({"tool_use_id": f"toolu_{event.id.replace('-', '')}"} if event.tool is not None else {})


def heard(dialect: str, event: Event, ran: Ran) -> Decision | None:
    """What a hook has answered, in canonical words; None if that is no answer."""
    text = ran.stdout.decode(errors="replace")
    if not is_agents(dialect):  # who reads events in a format only looks on
        return spoken(text) if dialect == CANONICAL else Decision()
    agent = agents.load(dialect)
    if agent.read_reply is None or ran.code is None:
        return None
    native = native_of(agent, event.type) or native_event(agent, event.type)
    said = agent.read_reply(native, Reply(stdout=text, stderr=ran.stderr.decode(errors="replace"), code=ran.code))
    if said is None or said.updated_input is None or event.tool is None:
        return said
    return replace(said, updated_input=_retold(agent, native, event, said.updated_input))


def _retold(agent: Agent, native: str, event: Event, said: Object) -> Object | None:
    """New input in the words of a hook's agent as the canon has it, for the call that the hook was shown."""
    if event.tool is None:
        return said
    shown = event.tool
    if event.agent != agent.name:
        shown = agents.decode(agent, payload_for(agent, event), native, id=event.id).tool or shown
    if point_of(agent, native).rewrite in {"merge", "fields"} and type(shown.native_input) is dict:
        said = shown.native_input | said
    return retold(agent, shown, event.tool, said)


def spoken(text: str) -> Decision | None:
    """The answer of the Hook Interchange Format; a refusal or a question counts whatever else is wrong with it."""
    if not text.strip():
        return Decision()
    try:
        found: Any = load(text)
    except (ValueError, RecursionError):
        return None
    if type(found) is not dict:
        return None
    word = found.get("decision")
    outcome = _OUTCOMES.get(word) if type(word) is str else None
    new, goes_on = found.get("updated_input"), found.get("continue")
    sound = type(new) in (dict, type(None)) and type(goes_on) in (bool, type(None)) and (word is None or outcome)
    if not sound and outcome not in {"deny", "ask"}:
        return None
    return Decision(
        outcome=outcome,
        reason=_text(found, "reason"),
        context=_text(found, "context"),
        updated_input=new if type(new) is dict else None,
        updated_output=found.get("updated_output"),
        proceed=False if goes_on is False else None,
        system_message=_text(found, "system_message"),
        suppress_output=True if found.get("suppress_output") is True else None,
    )


def _text(found: Object, key: str) -> str | None:
    text = found.get(key)
    return text if type(text) is str and text else None
