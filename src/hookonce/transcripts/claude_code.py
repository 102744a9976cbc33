"""Claude Code: `projects/FOLDER/SESSION.jsonl`, sub-agents in `SESSION/subagents/agent-ID.jsonl`.

An answer of the model stands in several lines, one for each block, all with its id and usage. A session that is
continued goes on in its file; one that is forked begins with a copy of the old lines. Calls that make a summary are
not listed, and only in the running totals. Seen with 2.1.325.
"""

from collections.abc import Sequence
from pathlib import Path

from hookonce.model import Object, Subagent, Usage
from hookonce.texts import load
from hookonce.transcripts.reader import Reader
from hookonce.transcripts.reading import Compaction, ModelCall, Spawn, ToolCall, Total
from hookonce.transcripts.telling import Telling
from hookonce.transcripts.values import added, count, moment, obj, objects, word

_MADE_UP = "<synthetic>"  # the model of lines that no model wrote
_DURATIONS = ("durationMs", "totalDurationMs")
# fresh input, read from a cache, written to it, output, reasoning: of an answer, and of the running totals
_COUNTERS = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
    "thinking_tokens",
)
_TOTALS = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens", "thinkingTokens")


def _line(telling: Telling, document: Object) -> None:
    telling.memory.session = word(document.get("sessionId")) or telling.memory.session
    kind = document.get("type")
    if kind == "assistant":
        _answer(telling, document)
    elif kind == "user":
        _results(telling, document)
    elif kind == "system":
        _noted(telling, document)
    elif kind == "cost-state":
        _counted(telling, document)


def _noted(telling: Telling, document: Object) -> None:
    if document.get("subtype") == "compact_boundary":
        _compacted(telling, document)
    elif document.get("subtype") == "api_error":
        telling.tried(count(document.get("retryAttempt")))


def _answer(telling: Telling, document: Object) -> None:
    message, whose = obj(document.get("message")), _whose(document)
    known, at = word(message.get("id")), moment(document.get("timestamp"))
    if known is None:
        return
    base = telling.base(subagent=whose)
    if document.get("isApiErrorMessage") is True:
        telling.call(ModelCall(id=known, time=at, failed=True, **base))
    elif message.get("model") != _MADE_UP:
        usage = obj(message.get("usage"))
        call = ModelCall(
            id=known,
            time=at,
            model=word(message.get("model")),
            usage=_usage(usage),
            hour_write_tokens=count(obj(usage.get("cache_creation")).get("ephemeral_1h_input_tokens")) or 0,
            stop_reason=word(message.get("stop_reason")),
            parent_call=telling.memory.parent_call if whose else None,
            **base,
        )
        telling.call(call, whole=call.stop_reason is not None)
    for block in objects(message.get("content")):
        tool, name = word(block.get("id")), word(block.get("name"))
        if block.get("type") == "tool_use" and tool and name:
            telling.begin(ToolCall(id=tool, name=name, model_call=known, started=at, **base))


def _whose(document: Object) -> Subagent | None:
    """The sub-agent of a line; older versions have them in the session's own file, and name none."""
    if document.get("isSidechain") is not True:
        return None
    return Subagent(id=word(document.get("agentId")), type=word(document.get("attributionAgent")))


def _usage(told: Object) -> Usage | None:
    flat = told | {"thinking_tokens": obj(told.get("output_tokens_details")).get("thinking_tokens")}
    return _together([count(flat.get(name)) for name in _COUNTERS])


def _together(counts: list[int | None]) -> Usage | None:
    """All input together: the fresh, the read from a cache and the written to it are told apart."""
    fresh, read, written, made, thoughts = counts
    given = added(fresh, read, written)
    if given is None and made is None:
        return None
    return Usage(
        input_tokens=given,
        output_tokens=made,
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=thoughts,
        total_tokens=added(given, made),
    )


def _results(telling: Telling, document: Object) -> None:
    """A prompt, or what tools have answered."""
    if document.get("isSidechain") is not True:
        telling.memory.turn = word(document.get("promptId")) or telling.memory.turn
    result, at = obj(document.get("toolUseResult")), moment(document.get("timestamp"))
    telling.given(at)
    took = next((n for key in _DURATIONS if (n := count(result.get(key))) is not None), None)
    for block in objects(obj(document.get("message")).get("content")):
        call = word(block.get("tool_use_id"))
        if block.get("type") != "tool_result" or call is None:
            continue
        if (agent := word(result.get("agentId"))) is not None:
            kind = word(result.get("agentType"))
            telling.spawn(Spawn(id=agent, session=telling.memory.session, type=kind, call=call))
        telling.end(call, at, ok=block.get("is_error") is not True, duration_ms=took)


def _compacted(telling: Telling, document: Object) -> None:
    told, known = obj(document.get("compactMetadata")), word(document.get("uuid"))
    if known is not None:
        one = Compaction(
            id=known,
            time=moment(document.get("timestamp")),
            trigger=word(told.get("trigger")),
            tokens_before=count(told.get("preTokens")),
            tokens_after=count(told.get("postTokens")),
            **telling.base(subagent=_whose(document)),
        )
        telling.compaction(one)


def _counted(telling: Telling, document: Object) -> None:
    """The running totals by model; a fork goes on with those of its origin."""
    session = telling.memory.session
    for name, told in obj(document.get("modelUsage")).items():
        model, usage = word(name), _together([count(obj(told).get(key)) for key in _TOTALS])
        if session is not None and model is not None and usage is not None:
            telling.total(Total(id=f"{session}/{model}", session=session, model=model, usage=usage))


def _nested(path: Path, _spawns: Sequence[Spawn]) -> list[Path]:
    return sorted(path.with_suffix("").joinpath("subagents").glob("**/agent-*.jsonl"))


def _origin(path: Path) -> Spawn | None:
    """A sub-agent's file has another one beside it that says which call it comes from."""
    known = word(path.stem.removeprefix("agent-"))
    if known is None or not path.name.startswith("agent-"):
        return None
    try:
        told = obj(load(path.with_suffix(".meta.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return None
    return Spawn(id=known, type=word(told.get("agentType")), call=word(told.get("toolUseId")))


READER = Reader(agent="claude-code", line=_line, nested=_nested, origin=_origin)
