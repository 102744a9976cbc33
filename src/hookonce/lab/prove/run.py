"""Run of an agent: result of one call, predicates over it, and evidence without paths of this machine."""

import re
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from hookonce.lab.fakes.conversation import Conversation
from hookonce.lab.fakes.model_server import ModelRequest
from hookonce.lab.fakes.scenarios import SCENARIOS
from hookonce.lab.fakes.script import find_position
from hookonce.lab.prove.certificate import Claim
from hookonce.model import Object

# The folder of a run, however much of its path is there.
_RUN_FOLDER = re.compile(r"[^\s'\"`()=:,]*hookonce-lab-[\w-]+")
# Folders at the beginning of a path, but for those that every machine has; an address is none.
_FOLDERS = re.compile(r"(https?://\S+)|(?<![\w~.…-])(?!/(?:bin|dev|etc|usr)/)(?:/[\w.@+~-]+)+/(?=[\w.@+~-])")


def remove_paths(text: str) -> str:
    """Remove folders of the run, the user and the package from a text."""
    text = _RUN_FOLDER.sub("LAB", text)
    home = str(Path.home())
    if len(home) > 1:
        text = re.sub(rf"(?<![\w.~-]){re.escape(home)}(?![\w.-])", "~", text)
    return _FOLDERS.sub(lambda match: match[1] or "…/", text)


_LAST_WORDS_CHARS, _TAIL_CHARS = 160, 1000  # characters of an agent's last words


class AgentRun(Struct, frozen=True, kw_only=True):
    """Result of one call."""

    scenario: str
    code: int | None  # None: it had to be ended
    out: str
    err: str
    files: dict[str, str]
    requests: list[ModelRequest]
    hook_events: list[Object] = []  # what the lab's hooks were told
    mcp_calls: list[str] = []  # what the MCP server logged
    killed_pids: list[int] = []  # daemons that a hook has ended


def find_conversations(run: AgentRun) -> list[Conversation]:
    """The conversations that the model was sent, side questions left out."""
    return [request.conversation for request in _model_requests(run) if request.conversation is not None]


def _model_requests(run: AgentRun) -> list[ModelRequest]:
    return [request for request in run.requests if request.conversation is not None and request.conversation.tools]


def is_text_sent(run: AgentRun, text: str) -> bool:
    """Whether the model was ever sent a text."""
    conversations = [request.conversation for request in run.requests if request.conversation]
    return any(text in message.text for conversation in conversations for message in conversation.messages)


def events_of_type(run: AgentRun, event_type: str) -> list[Object]:
    """The events of a kind that the lab's hook was given."""
    return [event for event in run.hook_events if event.get("type") == event_type]


def is_hook_asked(run: AgentRun, text: str) -> bool:
    """Whether a hook was asked about a tool call with that text in its input."""
    events = events_of_type(run, "before_tool_execute")
    return any(text in str(event.get("tool", {}).get("input")) for event in events)


def is_complete(run: AgentRun, *, ends_on_refusal: bool = False) -> bool:
    """Whether the agent went on to the end of the scenario, and ended well: what did not happen was not left undone.

    Of an agent whose run is over after a refused call, that it ended well is all that can be said.
    """
    turns = len(SCENARIOS[run.scenario].turns)
    positions = filter(None, map(find_position, find_conversations(run)))
    is_end_reached = any(position[0] == run.scenario and position[3] >= turns for position in positions)
    return run.code == 0 and (ends_on_refusal or is_end_reached)


def request_intervals(run: AgentRun) -> list[float]:
    """The seconds from one question of the agent to the next: what it takes to do what the model said."""
    return [after.at - before.at for before, after in pairwise(_model_requests(run))]


def describe_end(run: AgentRun) -> str:
    """How it ended."""
    return "the agent had to be ended" if run.code is None else f"the agent ended with exit code {run.code}"


def summarize_run(run: AgentRun) -> str:
    """How it ended, and its last words."""
    last_words = remove_paths(" ".join((run.err or run.out)[-_TAIL_CHARS:].split()))[-_LAST_WORDS_CHARS:]
    return f"{describe_end(run)}; its last words: {last_words}" if last_words else describe_end(run)


def never_asked_claim(name: str, run: AgentRun) -> Claim:
    """A claim that is contradicted because no hook was asked."""
    return Claim(name, "contradicted", f"the hook was never asked ({summarize_run(run)})")
