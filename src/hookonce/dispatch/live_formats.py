"""Live formats: open event formats that a tool may send us itself, each as a caller with the answers that it defines.

They are no coding agents, and nothing installs them: a table for each says what an answer can do at which of its
event types, so that selection, weakening and fail mode work as they do for an agent. Its format reads a document.
"""

from functools import cache
from typing import Any

from hookonce import agents, formats
from hookonce.agents import point, point_of
from hookonce.base.jsontext import as_dict, drop_none, dump
from hookonce.errors import UnknownName
from hookonce.model import Agent, Config, Decision, Event, Format, Object, Point, Reply
from hookonce.vocabulary.events import EVENTS, FROM_AGENT_HOOKS, FROM_AMPLIFIER, FROM_OPENHOOK

LIVE_FORMATS = ("openhook", "agent-hooks", "amplifier", "cloudevents")
_CHECK_DATE = "2026-11-16"
_GATE = point("prevent allow", ask="native")
_FEEDBACK = point("context message suppress")
_KERNEL_GATE = point("prevent rewrite context message suppress", ask="native")


def is_live(name: str | None) -> bool:
    """Whether a format of that name is taken live."""
    return name in LIVE_FORMATS


def load_caller(name: str) -> Agent:
    """The agent of that name or alias, or the live format as one."""
    return _load_format(name) if name in LIVE_FORMATS else agents.load(name)


def load_live_formats() -> list[Agent]:
    """Every live format as a caller."""
    return [_load_format(name) for name in LIVE_FORMATS]


def find_format(name: str | None) -> Format | None:
    """The format of that name, if it is taken live."""
    return formats.load(name) if name is not None and is_live(name) else None


def native_type(form: Format, document: Object) -> str:
    """The event type that a document names, in its format's words."""
    name = document.get(form.type_key)
    return name if type(name) is str else ""


def can_decide(agent: Agent, native: str) -> bool:
    """Whether an answer at this event of an agent can prevent something."""
    return bool(point_of(agent, native).capabilities & {"prevent", "retry"})


def replace_input(document: Event, event: Event, new_input: Object) -> Object:
    """The `data` of a document with the new input of its call, or its new prompt; the rest as it came."""
    data = as_dict(as_dict(document.native).get("data"))
    return data | ({"tool_input": new_input} if event.tool is not None else new_input)


def _agent_hooks_reply(native: str, decision: Decision, _: Object | None) -> Reply:
    """The event type with the decision where the specification has it, in `data`."""
    if decision.outcome is None:
        return Reply()
    answer = drop_none({"outcome": decision.outcome, "reason": decision.reason})
    return Reply(stdout=dump({"event_type": native, "data": {"decision": answer}}).decode())


_ACTIONS = {"deny": "deny", "ask": "ask_user"}


def _amplifier_reply(_: str, decision: Decision, new_data: Object | None) -> Reply:
    """A HookResult. Its one action is the strictest; a change of data comes before a text for the model."""
    action = _ACTIONS.get(decision.outcome or "")
    if action is None:
        action = "modify" if new_data is not None else "continue" if decision.context is None else "inject_context"
    result = {
        "action": action,
        "data": new_data if action == "modify" else None,
        "reason": decision.reason,
        "context_injection": decision.context,
        "approval_prompt": decision.reason or "a hook wants a person to decide" if action == "ask_user" else None,
        "approval_default": "deny" if action == "ask_user" else None,
        "user_message": decision.system_message,
        "suppress_output": decision.suppress_output,
    }
    return Reply(stdout=dump(drop_none(result)).decode())


def _no_files(*_: object) -> Any:
    raise UnknownName("an open format has no configuration of its own; its tool runs `hookonce on FORMAT`")


def _config(points: dict[str, Point], silence: str = "") -> Config:
    return Config(files={}, render=_no_files, parse=_no_files, points=points, silence=silence)


@cache
def _load_format(name: str) -> Agent:
    form = formats.load(name)
    common: Object = {
        "name": name,
        "title": form.title,
        "checked": _CHECK_DATE,
        "proof": "documented",
        "vendor": "open",
    }
    if name == "agent-hooks":
        config = _config({"Action.Before": _GATE, "Prompt.Submitted": _GATE})
        return Agent(
            source="Agent Hooks 0.1.0", events=FROM_AGENT_HOOKS, config=config, reply=_agent_hooks_reply, **common
        )
    if name == "amplifier":
        points = dict.fromkeys(FROM_AMPLIFIER, _FEEDBACK) | {"tool:pre": _KERNEL_GATE, "prompt:submit": _KERNEL_GATE}
        config = _config(points, silence='{"action":"continue"}')
        return Agent(
            source="Amplifier HookResult", events=FROM_AMPLIFIER, config=config, reply=_amplifier_reply, **common
        )
    own_types = {f"dev.hookonce.{kind}": kind for kind in EVENTS}
    events = FROM_OPENHOOK if name == "openhook" else own_types
    return Agent(source=form.title, events=events, config=_config({}), **common)
