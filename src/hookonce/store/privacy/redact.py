"""Redaction by privacy level: what may leave the process, decided before any format or file sees it (ADR 0008).

`full` keeps everything. `minimal` keeps names, paths and commands and leaves out every text. `standard` keeps
tool input besides, but for prompts and file contents. A text that is left out becomes its hash, length and number
of lines; with a key the hash is an HMAC, and the gap that names its place says so. Secrets are kept at no level
(`mask_record`), e-mail addresses at `full` and in the store of this machine (ADR 0047).
"""

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base.jsontext import dump
from hookonce.base.regex import lazy_pattern
from hookonce.model import Actor, Decision, Digest, Event, Gap, Object, Record, Result, Stored, Tool, User
from hookonce.secrets.detect import is_mask
from hookonce.secrets.mask import mask_record
from hookonce.store.privacy.addresses import mask_hinted_addresses
from hookonce.vocabulary.failure_texts import extract_own_text
from hookonce.vocabulary.tools import ARGUMENTS, DATA_FIELDS, is_field_name

Level = Literal["minimal", "standard", "full"]
LEVELS: tuple[Level, ...] = ("minimal", "standard", "full")

_DIGEST_FIELDS = frozenset(Digest.__struct_fields__)
_HASH_PATTERN = lazy_pattern(r"(?:[a-z0-9-]{2,16}:[0-9a-f]{1,128})?")
# a name, a number or a word of a list; what has blanks in it is somebody's sentence
_WORD = lazy_pattern(r"\S{0,200}")
_FILE_FIELDS = frozenset({"path", "operation", "moved_to", "offset", "limit", "start_line", "end_line"})
_HIDDEN_CLASSES = frozenset({"text", "content", "identity"})
_STANDARD_HIDDEN_CLASSES = frozenset({"content", "identity"})  # tool input that is left out at the standard level too
_NO_ARGUMENTS: dict[str, str] = {}
_NATIVE_GAP = Gap(where="$.event.native", strategy="removed")
_USER = Actor(type="user")


class _Redaction(Struct, gc=False):
    """Redaction of one record: level, key, and the gaps so far."""

    minimal: bool
    key: bytes | None
    gaps: list[Gap]

    def add_hash_gap(self, where: str) -> None:
        self.gaps.append(_hash_gap(where, self.key is not None))


def redact(
    record: Record,
    level: Level,
    key: bytes | None = None,
    *,
    native: bool = True,
    user: User | None = None,
    keeps_addresses: bool = False,
) -> Stored:
    """Redact a record; `native` says whether the outline of the raw payload is kept at all.

    With a key, hashes tell nothing to whoever does not have it: a short text cannot be guessed and compared. `user` is
    named at every level, in the place of whoever the record names. `keeps_addresses` is for the store alone, which has
    to find the folders and files of a session again.
    """
    if level not in LEVELS:
        raise ValueError(f"no privacy level is called {level!r}; there are {', '.join(LEVELS)}")
    event, decision, gaps = record.event, record.decision, list(record.gaps)
    if level != "full":
        redaction = _Redaction(level == "minimal", key, gaps)
        event = _redact_event(event, redaction, user, native=native)
        if decision is not None:
            decision = _redact_decision(decision, event.tool, redaction)
    elif user is not None:
        event = replace(event, user=user)
    output = Stored(event=event, decision=decision, risk=record.risk, runs=record.runs, gaps=gaps, level=level)
    has_event_only = not (record.gaps or decision or record.risk or record.runs)
    raw = dump(event if has_event_only else output)  # gaps of a redaction only repeat the event's keys
    output = mask_record(output, raw)
    return output if level == "full" or keeps_addresses else mask_hinted_addresses(output, raw)


def _redact_event(event: Event, redaction: _Redaction, user: User | None, *, native: bool) -> Event:
    prompt, actor = event.prompt, event.actor
    if type(prompt) is str:
        prompt = digest(prompt, redaction.key)
        redaction.add_hash_gap("$.event.prompt")
    if event.user is not None and event.user != user:
        redaction.gaps.append(Gap(where="$.event.user", strategy="removed"))
    if event.native is not None and native:
        redaction.add_hash_gap("$.event.native")
    elif event.native is not None:
        redaction.gaps.append(_NATIVE_GAP)
    return replace(
        event,
        prompt=prompt,
        data=_redact_object(event.data, DATA_FIELDS, "$.event.data.", redaction) if event.data else event.data,
        tool=None if event.tool is None else _redact_tool(event.tool, redaction),
        native=_hash_strings(event.native, redaction.key) if native else None,
        user=user,
        actor=_USER if actor is not None and actor.type == "user" else actor,  # a human's name is theirs
    )


def _redact_tool(tool: Tool, redaction: _Redaction) -> Tool:
    tool_input = tool.input
    if tool_input:
        classes = ARGUMENTS.get(tool.name, _NO_ARGUMENTS)
        tool_input = _redact_input(tool_input, classes, "$.event.tool.input.", redaction)
    return Tool(
        name=tool.name,
        native=tool.native,
        input=tool_input,
        result=None if tool.result is None else _redact_result(tool.result, redaction),
        call_id=tool.call_id,
        mcp_server=tool.mcp_server,
    )


def _redact_decision(decision: Decision, tool: Tool | None, redaction: _Redaction) -> Decision:
    """Texts that a decision adds or replaces are left out as those of the event would be."""
    updated_input, output = decision.updated_input, decision.updated_output
    if updated_input:
        classes = _NO_ARGUMENTS if tool is None else ARGUMENTS.get(tool.name, _NO_ARGUMENTS)
        updated_input = _redact_input(updated_input, classes, "$.decision.updated_input.", redaction)
    if output is not None:
        redaction.add_hash_gap("$.decision.updated_output")
    removed_fields = [name for name in ("context", "system_message") if getattr(decision, name) is not None]
    redaction.gaps.extend(Gap(where=f"$.decision.{name}", strategy="removed") for name in removed_fields)
    output = _hash_strings(output, redaction.key)
    return replace(decision, updated_input=updated_input, updated_output=output, context=None, system_message=None)


def _redact_result(result: Result, redaction: _Redaction) -> Result:
    output, error = result.output, result.error
    if output is None and error is None:
        return result
    if output is not None and not _is_digest(output):
        redaction.add_hash_gap("$.event.tool.result.output")
        text = output if type(output) is str else dump(output).decode()
        output = {"hash": _hash_text(text, redaction.key), "length": len(text), "lines": len(text.splitlines())}
    if type(error) is str:
        redaction.add_hash_gap("$.event.tool.result.error")
        error = digest(error, redaction.key)
    return Result(ok=result.ok, exit_code=result.exit_code, error=error, duration_ms=result.duration_ms, output=output)


def _redact_input(tool_input: Object, classes: Mapping[str, str], where: str, redaction: _Redaction) -> Object:
    """At the standard level only long contents are left out."""
    if redaction.minimal:
        return _redact_object(tool_input, classes, where, redaction)
    contents = {key: value for key, value in tool_input.items() if classes.get(key) in _STANDARD_HIDDEN_CLASSES}
    return tool_input | _redact_object(contents, classes, where, redaction) if contents else tool_input


def _redact_object(source: Object, classes: Mapping[str, str], where: str, redaction: _Redaction) -> Object:
    """Leave out every text that is not of a harmless class."""
    result: Object = {}
    hmac_key, class_of = redaction.key, classes.get
    for name, value in source.items():
        kind, key = class_of(name), name
        if kind is None:  # no field that we know: its name may be somebody's text
            kind, key = "text", _redact_key(name, hmac_key)
        if type(value) is str:
            is_kept = kind == "path" or kind == "command" or (kind == "keep" and _WORD.fullmatch(value))  # noqa: PLR1714  cheaper than a set
        else:
            is_kept = type(value) is not dict and type(value) is not list
        if is_kept:
            result[key] = value
            continue
        is_hidden = kind in _HIDDEN_CLASSES
        result[key] = new_value = _hash_strings(value, hmac_key) if is_hidden else _redact_value(value, kind, hmac_key)
        if new_value is not value and new_value != value:
            redaction.gaps.append(_hash_gap(where + key, hmac_key is not None))
    return result


def _redact_value(value: Any, kind: str, hmac_key: bytes | None) -> Any:
    """A value that does not look like its class is a text."""
    if kind in _HIDDEN_CLASSES or (type(value) is str and kind == "keep" and not _WORD.fullmatch(value)):
        return _hash_strings(value, hmac_key)
    if kind == "failure":
        return (extract_own_text(value) if type(value) is str else None) or _hash_strings(value, hmac_key)
    if kind == "command" or type(value) not in (list, dict):
        return value
    if type(value) is list:
        return [_redact_value(item, kind, hmac_key) for item in value]
    inner = {key: kind if kind == "keep" or key in _FILE_FIELDS else "text" for key in value}
    return {_redact_key(key, hmac_key): _redact_value(item, inner[key], hmac_key) for key, item in value.items()}


def _hash_strings(value: Any, hmac_key: bytes | None) -> Any:
    """Numbers, truth values and null are no texts."""
    kind = type(value)
    if kind is str:
        if value[:1] == "[" and is_mask(value):
            return value
        return {"hash": _hash_text(value, hmac_key), "length": len(value), "lines": len(value.splitlines())}
    if kind is dict:
        if len(value) == len(_DIGEST_FIELDS) and _is_digest(value):
            return value
        return {
            key if is_field_name(key) else _hash_text(key, hmac_key): _hash_strings(item, hmac_key)
            for key, item in value.items()
        }
    if kind is list:
        return [_hash_strings(item, hmac_key) for item in value]
    return value


def _redact_key(key: str, hmac_key: bytes | None) -> str:
    """The name of a field, or the hash of a key that is no name."""
    return key if is_field_name(key) else _hash_text(key, hmac_key)


def _is_digest(value: Any) -> bool:
    """Whether this is a digest of ours; what merely has its keys may be a text like any other."""
    if type(value) is not dict or value.keys() != _DIGEST_FIELDS:
        return False
    text_hash, counts = value["hash"], (value["length"], value["lines"])
    is_hash = type(text_hash) is str and _HASH_PATTERN.fullmatch(text_hash) is not None
    return is_hash and all(type(count) is int for count in counts)


def digest(text: str, key: bytes | None = None) -> Digest:
    """Hash, length and line count of a text; an HMAC with a key."""
    return Digest(hash=_hash_text(text, key), length=len(text), lines=len(text.splitlines()))


def _hash_text(text: str, key: bytes | None) -> str:
    raw = text.encode("utf-8", "surrogatepass")
    if key is None:
        return "sha256:" + sha256(raw).hexdigest()
    inner, outer = (half.copy() for half in _hmac_states(key))
    inner.update(raw)
    outer.update(inner.digest())
    return f"sha256:{outer.hexdigest()}"


@lru_cache(maxsize=4)
def _hmac_states(key: bytes) -> tuple[Any, Any]:
    """HMAC-SHA256 states of a key: a copy of them costs a third of a new HMAC for every text."""
    block = (sha256(key).digest() if len(key) > _HMAC_BLOCK_BYTES else key).ljust(_HMAC_BLOCK_BYTES, b"\0")
    return sha256(bytes(byte ^ 0x36 for byte in block)), sha256(bytes(byte ^ 0x5C for byte in block))


_HMAC_BLOCK_BYTES = 64


@lru_cache(maxsize=512)
def _hash_gap(where: str, is_keyed: bool) -> Gap:  # noqa: FBT001  a cache has positions only
    return Gap(where=where, strategy="hashed", note="keyed" if is_keyed else None)
