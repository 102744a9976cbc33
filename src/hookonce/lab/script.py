"""The script: which turn comes next, told from nothing but the request. So any number of agents may ask at once."""

import re

from hookonce import agents
from hookonce.lab import drivers
from hookonce.lab.mark import marks, prompt
from hookonce.lab.scenarios import SCENARIOS, Scenario, Step
from hookonce.lab.talk import Call, Talk, Turn
from hookonce.lab.wording import call_of
from hookonce.model import Json

_INNER = re.compile(r"\{mark:([\w-]+)\}")
_SIDE = '{"reasoning": "scripted", "next_speaker": "user", "model_choice": "flash", "title": "scripted"}'


class Scene(tuple[str, str, str, int]):
    """What a conversation is about: scenario, agent, folder, and how many turns the model has had."""

    __slots__ = ()


def scene_of(talk: Talk) -> Scene | None:
    """The last scenario that a user has asked for, if any."""
    found, turns, before = None, 0, ""
    for said in talk.said:
        if said.role == "user" and (known := marks(said.text)):
            found, turns = known[-1], 0
        elif said.role == "assistant" and before != "assistant":
            turns += 1
        before = said.role
    return None if found is None else Scene((*found, turns))


def turn_of(talk: Talk, url: str) -> Turn:
    """What the model says next. A request without tools is a side question, and gets a short answer."""
    scene = scene_of(talk)
    if scene is None or not talk.tools:
        return Turn(text=_SIDE if talk.wants_json else "ok")
    name, agent, folder, number = scene
    known = SCENARIOS.get(name, Scenario(ending=f"There is no scenario called {name}."))
    if number >= len(known.turns):
        return Turn(text=known.ending, number=number, scenario=name)
    calls = [_call(one, agent, folder, url, talk) for one in known.turns[number]]
    return Turn(text=f"Step {number + 1}.", calls=calls, number=number, scenario=name)


def error_of(talk: Talk) -> int | None:
    """The status with which a scenario answers that is about a failing API."""
    scene = scene_of(talk)
    return SCENARIOS[scene[0]].error if scene is not None and scene[0] in SCENARIOS else None


def _call(one: Step, name: str, folder: str, url: str, talk: Talk) -> Call:
    given = {key: _filled(value, name, folder, url) for key, value in one.input.items()}
    return call_of(agents.load(name), drivers.load(name), Step(one.tool, given), talk)


def _filled(value: Json, agent: str, folder: str, url: str) -> Json:
    if type(value) is not str:
        return value
    text = _INNER.sub(lambda match: prompt(match[1], agent, folder), value)
    return text.replace("{dir}", folder).replace("{url}", url)
