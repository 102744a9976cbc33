"""Privacy: what leaves the process is decided here, before any format or file sees it.

`full` keeps everything. `minimal` keeps names, paths and commands and leaves out every text. `standard`
keeps tool input besides, but for prompts and file contents. A text that is left out becomes its hash,
length and number of lines.
"""

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from re import compile as pattern
from typing import Any, Literal

from msgspec.structs import asdict, replace

from hookonce.canon.arguments import ARGUMENTS, DATA
from hookonce.model import Actor, Decision, Digest, Event, Gap, Object, Record, Result, Stored, Tool
from hookonce.texts import dump

Level = Literal["minimal", "standard", "full"]
LEVELS: tuple[Level, ...] = ("minimal", "standard", "full")

_DIGEST = frozenset(Digest.__struct_fields__)
_MARK = pattern(r"(?:[a-z0-9-]{2,16}:[0-9a-f]{1,128})?")
_WORD = pattern(r"\S{0,200}")  # a name, a number or a word of a list; what has blanks in it is somebody's sentence
_FILE = frozenset({"path", "operation", "moved_to", "offset", "limit", "start_line", "end_line"})
_NO_ARGUMENTS: dict[str, str] = {}


def redact(record: Record, level: Level, *, native: bool = True) -> Stored:
    """The record as it may be kept; `native` says whether the raw payload's outline is wanted at all."""
    if level == "full":
        return _stored(record, record.event, level, record.gaps)
    if level not in LEVELS:
        raise ValueError(f"no privacy level is called {level!r}; there are {', '.join(LEVELS)}")
    gaps = list(record.gaps)
    event = _event(record.event, level, gaps, native=native)
    if record.decision is not None:
        record = replace(record, decision=_decision(record.decision, event.tool, gaps, minimal=level == "minimal"))
    return _stored(record, event, level, gaps)


def _stored(record: Record, event: Event, level: Level, gaps: list[Gap]) -> Stored:
    return Stored(event=event, decision=record.decision, risk=record.risk, runs=record.runs, gaps=gaps, level=level)


def _event(event: Event, level: Level, gaps: list[Gap], *, native: bool) -> Event:
    minimal = level == "minimal"
    prompt = event.prompt
    if type(prompt) is str:
        prompt = digest(prompt)
        gaps.append(_hashed("$.event.prompt"))
    if event.user is not None:
        gaps.append(Gap(where="$.event.user", strategy="removed"))
    if event.native is not None:
        gaps.append(Gap(where="$.event.native", strategy="hashed" if native else "removed"))
    return replace(
        event,
        prompt=prompt,
        data=_object(event.data, DATA, "$.event.data.", gaps) if event.data else event.data,
        tool=None if event.tool is None else _tool(event.tool, gaps, minimal=minimal),
        native=_hide(event.native) if native else None,
        user=None,
        actor=_actor(event.actor),
    )


def _actor(actor: Actor | None) -> Actor | None:
    """A human's name is theirs; an agent's is not."""
    return Actor(type="user") if actor is not None and actor.type == "user" else actor


def _tool(tool: Tool, gaps: list[Gap], *, minimal: bool) -> Tool:
    given = tool.input
    if given:
        classes = ARGUMENTS.get(tool.name, _NO_ARGUMENTS)
        given = _input(given, classes, "$.event.tool.input.", gaps, minimal=minimal)
    return Tool(
        name=tool.name,
        native=tool.native,
        input=given,
        result=None if tool.result is None else _result(tool.result, gaps),
        call_id=tool.call_id,
        mcp_server=tool.mcp_server,
    )


def _decision(decision: Decision, tool: Tool | None, gaps: list[Gap], *, minimal: bool) -> Decision:
    """What was decided and why; the texts that it adds or puts in place of others are left out as those would be."""
    given, output = decision.updated_input, decision.updated_output
    if given:
        classes = _NO_ARGUMENTS if tool is None else ARGUMENTS.get(tool.name, _NO_ARGUMENTS)
        given = _input(given, classes, "$.decision.updated_input.", gaps, minimal=minimal)
    if output is not None:
        gaps.append(_hashed("$.decision.updated_output"))
    added = [name for name in ("context", "system_message") if getattr(decision, name) is not None]
    gaps += [Gap(where=f"$.decision.{name}", strategy="removed") for name in added]
    return replace(decision, updated_input=given, updated_output=_hide(output), context=None, system_message=None)


def _result(result: Result, gaps: list[Gap]) -> Result:
    output, error = result.output, result.error
    if output is None and error is None:
        return result
    if output is not None and not _is_digest(output):
        gaps.append(_hashed("$.event.tool.result.output"))
        output = asdict(digest(output if type(output) is str else dump(output).decode()))
    if type(error) is str:
        gaps.append(_hashed("$.event.tool.result.error"))
        error = digest(error)
    return Result(ok=result.ok, exit_code=result.exit_code, error=error, duration_ms=result.duration_ms, output=output)


def _input(given: Object, classes: Mapping[str, str], where: str, gaps: list[Gap], *, minimal: bool) -> Object:
    """Tool input: at the standard level only long contents are left out."""
    if minimal:
        return _object(given, classes, where, gaps)
    long = {key: value for key, value in given.items() if classes.get(key) == "content"}
    return given | _object(long, classes, where, gaps) if long else given


def _object(given: Object, classes: Mapping[str, str], where: str, gaps: list[Gap]) -> Object:
    """The same object with every text left out that is not of a harmless class."""
    kept: Object = {}
    for key, value in given.items():
        kind = classes.get(key, "text")
        if value is True or value is False or ((kind == "path" or kind == "command") and type(value) is str):  # noqa: PLR1714  the common cases, and a comparison is cheaper than a set
            kept[key] = value
            continue
        kept[key] = left = _left(value, kind)
        if left is not value and left != value:
            gaps.append(_hashed(where + key))
    return kept


def _left(value: Any, kind: str) -> Any:
    """What is left of a value of a class; what does not look like its class is a text."""
    if kind in {"text", "content"} or (type(value) is str and kind == "keep" and _WORD.fullmatch(value) is None):
        return _hide(value)
    if kind == "command" or type(value) not in (list, dict):
        return value
    if type(value) is list:
        return [_left(item, kind) for item in value]
    return {key: _left(item, kind if kind == "keep" or key in _FILE else "text") for key, item in value.items()}


def _hide(value: Any) -> Any:
    """The same tree, its strings left out; numbers, truth values and null are no texts."""
    kind = type(value)
    if kind is str:
        mark, length, lines = _measured(value)
        return {"hash": mark, "length": length, "lines": lines}
    if kind is dict:
        return value if _is_digest(value) else {key: _hide(item) for key, item in value.items()}
    if kind is list:
        return [_hide(item) for item in value]
    return value


def _is_digest(value: Any) -> bool:
    """Whether a text was left out here before; what merely has the keys of a digest may be a text like any other."""
    if type(value) is not dict or value.keys() != _DIGEST:
        return False
    mark, counts = value["hash"], (value["length"], value["lines"])
    return type(mark) is str and _MARK.fullmatch(mark) is not None and all(type(count) is int for count in counts)


def digest(text: str) -> Digest:
    """What remains of a text that is left out."""
    mark, length, lines = _measured(text)
    return Digest(hash=mark, length=length, lines=lines)


def _measured(text: str) -> tuple[str, int, int]:
    raw = text.encode("utf-8", "surrogatepass")
    return "sha256:" + sha256(raw).hexdigest(), len(text), len(text.splitlines())


@lru_cache(maxsize=512)
def _hashed(where: str) -> Gap:
    return Gap(where=where, strategy="hashed")
