"""Privacy: what leaves the process is decided here, before any format or file sees it.

`full` keeps everything. `minimal` keeps names, paths and commands and leaves out every text. `standard`
keeps tool input besides, but for prompts and file contents. A text that is left out becomes its hash,
length and number of lines; with a key the hash is an HMAC, and the gap that names its place says so. Secrets
are kept at no level (`unsecret`).
"""

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from re import compile as pattern
from typing import Any, Literal, NamedTuple

from msgspec.structs import asdict, replace

from hookonce.canon.arguments import ARGUMENTS, DATA
from hookonce.canon.failures import ours
from hookonce.canon.fields import is_name
from hookonce.guard.secrets import is_mask
from hookonce.model import Actor, Decision, Digest, Event, Gap, Object, Record, Result, Stored, Tool
from hookonce.store.unsecret import unsecret
from hookonce.texts import dump

Level = Literal["minimal", "standard", "full"]
LEVELS: tuple[Level, ...] = ("minimal", "standard", "full")

_DIGEST = frozenset(Digest.__struct_fields__)
_MARK = pattern(r"(?:[a-z0-9-]{2,16}:[0-9a-f]{1,128})?")
_WORD = pattern(r"\S{0,200}")  # a name, a number or a word of a list; what has blanks in it is somebody's sentence
_FILE = frozenset({"path", "operation", "moved_to", "offset", "limit", "start_line", "end_line"})
_HIDDEN = frozenset({"text", "content", "identity"})
_NEVER_SHOWN = frozenset({"content", "identity"})  # tool input that is left out at the standard level too
_NO_ARGUMENTS: dict[str, str] = {}


class _How(NamedTuple):
    """How one record is redacted, and what was left out of it so far."""

    minimal: bool
    key: bytes | None
    gaps: list[Gap]

    def hashed(self, where: str) -> None:
        self.gaps.append(_hashed(where, self.key is not None))


def redact(record: Record, level: Level, key: bytes | None = None, *, native: bool = True) -> Stored:
    """The record as it may be kept; `native` says whether the raw payload's outline is wanted at all.

    With a key, hashes tell nothing to whoever does not have it: a short text cannot be guessed and compared.
    """
    if level == "full":
        return unsecret(_stored(record, record.event, level, record.gaps))
    if level not in LEVELS:
        raise ValueError(f"no privacy level is called {level!r}; there are {', '.join(LEVELS)}")
    how = _How(level == "minimal", key, list(record.gaps))
    event = _event(record.event, how, native=native)
    if record.decision is not None:
        record = replace(record, decision=_decision(record.decision, event.tool, how))
    return unsecret(_stored(record, event, level, how.gaps))


def _stored(record: Record, event: Event, level: Level, gaps: list[Gap]) -> Stored:
    return Stored(event=event, decision=record.decision, risk=record.risk, runs=record.runs, gaps=gaps, level=level)


def _event(event: Event, how: _How, *, native: bool) -> Event:
    prompt = event.prompt
    if type(prompt) is str:
        prompt = digest(prompt, how.key)
        how.hashed("$.event.prompt")
    if event.user is not None:
        how.gaps.append(Gap(where="$.event.user", strategy="removed"))
    if event.native is not None and native:
        how.hashed("$.event.native")
    elif event.native is not None:
        how.gaps.append(Gap(where="$.event.native", strategy="removed"))
    return replace(
        event,
        prompt=prompt,
        data=_object(event.data, DATA, "$.event.data.", how) if event.data else event.data,
        tool=None if event.tool is None else _tool(event.tool, how),
        native=_hide(event.native, how.key) if native else None,
        user=None,
        actor=_actor(event.actor),
    )


def _actor(actor: Actor | None) -> Actor | None:
    """A human's name is theirs; an agent's is not."""
    return Actor(type="user") if actor is not None and actor.type == "user" else actor


def _tool(tool: Tool, how: _How) -> Tool:
    given = tool.input
    if given:
        classes = ARGUMENTS.get(tool.name, _NO_ARGUMENTS)
        given = _input(given, classes, "$.event.tool.input.", how)
    return Tool(
        name=tool.name,
        native=tool.native,
        input=given,
        result=None if tool.result is None else _result(tool.result, how),
        call_id=tool.call_id,
        mcp_server=tool.mcp_server,
    )


def _decision(decision: Decision, tool: Tool | None, how: _How) -> Decision:
    """What was decided and why; the texts that it adds or puts in place of others are left out as those would be."""
    given, output = decision.updated_input, decision.updated_output
    if given:
        classes = _NO_ARGUMENTS if tool is None else ARGUMENTS.get(tool.name, _NO_ARGUMENTS)
        given = _input(given, classes, "$.decision.updated_input.", how)
    if output is not None:
        how.hashed("$.decision.updated_output")
    added = [name for name in ("context", "system_message") if getattr(decision, name) is not None]
    how.gaps.extend(Gap(where=f"$.decision.{name}", strategy="removed") for name in added)
    output = _hide(output, how.key)
    return replace(decision, updated_input=given, updated_output=output, context=None, system_message=None)


def _result(result: Result, how: _How) -> Result:
    output, error = result.output, result.error
    if output is None and error is None:
        return result
    if output is not None and not _is_digest(output):
        how.hashed("$.event.tool.result.output")
        output = asdict(digest(output if type(output) is str else dump(output).decode(), how.key))
    if type(error) is str:
        how.hashed("$.event.tool.result.error")
        error = digest(error, how.key)
    return Result(ok=result.ok, exit_code=result.exit_code, error=error, duration_ms=result.duration_ms, output=output)


def _input(given: Object, classes: Mapping[str, str], where: str, how: _How) -> Object:
    """Tool input: at the standard level only long contents are left out."""
    if how.minimal:
        return _object(given, classes, where, how)
    long = {key: value for key, value in given.items() if classes.get(key) in _NEVER_SHOWN}
    return given | _object(long, classes, where, how) if long else given


def _object(given: Object, classes: Mapping[str, str], where: str, how: _How) -> Object:
    """The same object with every text left out that is not of a harmless class."""
    kept: Object = {}
    for name, value in given.items():
        kind = classes.get(name, "text")
        key = _key(name, how.key)
        if value is True or value is False or ((kind == "path" or kind == "command") and type(value) is str):  # noqa: PLR1714  the common cases, and a comparison is cheaper than a set
            kept[key] = value
            continue
        kept[key] = left = _left(value, kind, how.key)
        if left is not value and left != value:
            how.hashed(where + key)
    return kept


def _left(value: Any, kind: str, secret: bytes | None) -> Any:
    """What is left of a value of a class; what does not look like its class is a text."""
    if kind in _HIDDEN or (type(value) is str and kind == "keep" and _WORD.fullmatch(value) is None):
        return _hide(value, secret)
    if kind == "failure":
        return (ours(value) if type(value) is str else None) or _hide(value, secret)
    if kind == "command" or type(value) not in (list, dict):
        return value
    if type(value) is list:
        return [_left(item, kind, secret) for item in value]
    inner = {key: kind if kind == "keep" or key in _FILE else "text" for key in value}
    return {_key(key, secret): _left(item, inner[key], secret) for key, item in value.items()}


def _hide(value: Any, secret: bytes | None) -> Any:
    """The same tree, its strings left out; numbers, truth values and null are no texts."""
    kind = type(value)
    if kind is str:
        if value[:1] == "[" and is_mask(value):
            return value
        mark, length, lines = _measured(value, secret)
        return {"hash": mark, "length": length, "lines": lines}
    if kind is dict:
        return value if _is_digest(value) else {_key(key, secret): _hide(item, secret) for key, item in value.items()}
    if kind is list:
        return [_hide(item, secret) for item in value]
    return value


def _key(key: str, secret: bytes | None) -> str:
    """The name of a field, or the hash of a key that is none."""
    return key if is_name(key) else _measured(key, secret)[0]


def _is_digest(value: Any) -> bool:
    """Whether a text was left out here before; what merely has the keys of a digest may be a text like any other."""
    if type(value) is not dict or value.keys() != _DIGEST:
        return False
    mark, counts = value["hash"], (value["length"], value["lines"])
    return type(mark) is str and _MARK.fullmatch(mark) is not None and all(type(count) is int for count in counts)


def digest(text: str, key: bytes | None = None) -> Digest:
    """What remains of a text that is left out; with a key, only those who have it can compare."""
    mark, length, lines = _measured(text, key)
    return Digest(hash=mark, length=length, lines=lines)


def _measured(text: str, key: bytes | None) -> tuple[str, int, int]:
    raw = text.encode("utf-8", "surrogatepass")
    if key is None:
        return "sha256:" + sha256(raw).hexdigest(), len(text), len(text.splitlines())
    inner, outer = (half.copy() for half in _halves(key))
    inner.update(raw)
    outer.update(inner.digest())
    return "sha256:" + outer.hexdigest(), len(text), len(text.splitlines())


@lru_cache(maxsize=4)
def _halves(key: bytes) -> tuple[Any, Any]:
    """What HMAC-SHA256 begins with for this key: a copy of it costs a third of beginning anew for every text."""
    block = (sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
    return sha256(bytes(byte ^ 0x36 for byte in block)), sha256(bytes(byte ^ 0x5C for byte in block))


_BLOCK = 64


@lru_cache(maxsize=512)
def _hashed(where: str, is_keyed: bool) -> Gap:  # noqa: FBT001  a cache has positions only
    return Gap(where=where, strategy="hashed", note="keyed" if is_keyed else None)
