"""The table of an agent that somebody makes: it speaks the canon, and can do everything that a decision may ask for."""

from hookonce.agents.configs.point import point
from hookonce.canon.events import EVENTS
from hookonce.model import Agent, Config, Gap, Hook, Object, Point, Wording

_CAPABILITIES = {
    "before_tool_execute": point("prevent rewrite context", ask="native"),
    "permission_request": point("prevent", ask="native"),
    "before_prompt": point("prevent rewrite context"),
    "after_tool_execute": point("context"),
    "tool_use_failure": point("context"),
    "session_start": point("context"),
    "agent_stop": point("retry"),
    "subagent_stop": point("retry"),
}


def build_agent(name: str) -> Agent:
    """Build the table of an agent that speaks canonical names and honours every capability."""
    points: dict[str, Point] = {kind: _CAPABILITIES.get(kind, Point()) for kind in EVENTS}
    config = Config(files={}, render=_render_config, parse=_parse_config, points=points)
    kinds = {kind: kind for kind in EVENTS}
    return Agent(
        name=name,
        title=name,
        source="its maker",
        checked="",
        proof="documented",
        vendor=name,
        events=kinds,
        tools={},
        config=config,
    )


def _render_config(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    return {}, []


def _parse_config(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    return [], []
