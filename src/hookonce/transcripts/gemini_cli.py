"""Gemini CLI: `tmp/PROJECT/chats/session-TIME-ID.jsonl`, sub-agents in `chats/SESSION/ID.jsonl`.

A message is written again whenever something is added to it: its tokens, then the results of its tools. Older
versions keep one document, `session-TIME-ID.json`, which is written anew each time. Compactions are not told, nor
answers that it has cut off as a loop. Seen with 0.61.0.
"""

from collections.abc import Sequence
from pathlib import Path

from hookonce.model import Object, Subagent, Usage
from hookonce.transcripts.reader import Reader
from hookonce.transcripts.reading import ModelCall, Spawn, ToolCall
from hookonce.transcripts.telling import Telling
from hookonce.transcripts.values import added, count, moment, obj, objects, word

_RESULTS = {"success": True, "error": False, "cancelled": False}


def _line(telling: Telling, document: Object) -> None:
    if (session := word(document.get("sessionId"))) is not None:
        telling.memory.session = session
        telling.memory.subagent = Subagent(id=session) if document.get("kind") == "subagent" else None
    listed = document.get("messages") or obj(document.get("$set")).get("messages")
    for message in objects(listed) or [document]:
        _message(telling, message)


def _message(telling: Telling, message: Object) -> None:
    known = word(message.get("id"))
    if known is None:
        return
    at = moment(message.get("timestamp"))
    if message.get("type") == "user":
        telling.given(at)
        if not any("functionResponse" in one for one in objects(message.get("content"))):
            telling.memory.turn = known
    elif message.get("type") == "gemini":
        tokens = obj(message.get("tokens"))
        if (usage := _usage(tokens)) is not None:
            telling.call(ModelCall(id=known, time=at, model=word(message.get("model")), usage=usage, **telling.base()))
        for one in objects(message.get("toolCalls")):
            _tool(telling, one, known)


def _usage(told: Object) -> Usage | None:
    """What tools have added to the prompt, and thoughts, are told apart from input and output."""
    given, made = count(told.get("input")), count(told.get("output"))
    if given is None or made is None:
        return None
    thoughts = count(told.get("thoughts"))
    return Usage(
        input_tokens=added(given, count(told.get("tool"))),
        output_tokens=added(made, thoughts),
        cache_read_tokens=count(told.get("cached")),
        reasoning_tokens=thoughts,
        total_tokens=count(told.get("total")),
    )


def _tool(telling: Telling, told: Object, message: str) -> None:
    """A tool call, which is told when it is over."""
    known, name = word(told.get("id")), word(told.get("name"))
    result = _RESULTS.get(str(told.get("status")))
    if known is None or name is None or result is None:
        return
    if (agent := word(told.get("agentId"))) is not None:
        kind = word(obj(told.get("args")).get("agent_name"))
        telling.spawn(Spawn(id=agent, type=kind, call=known, **telling.base()))
    telling.begin(ToolCall(id=known, name=name, model_call=message, **telling.base()))
    telling.end(known, moment(told.get("timestamp")), ok=result)


def _nested(path: Path, spawns: Sequence[Spawn]) -> list[Path]:
    """The files of sub-agents lie in a folder that bears the session's id, which is in the spawns."""
    folders = {one.session: path.parent / one.session for one in spawns if one.session and "/" not in one.session}
    return sorted(found for folder in folders.values() for found in folder.glob("*.jsonl"))


READER = Reader(agent="gemini-cli", line=_line, nested=_nested)
