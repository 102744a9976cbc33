"""Validation of documents (`hookonce check`): every problem with its JSON path, and the conformance level."""

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from hookonce import agents, formats
from hookonce.agents import decode
from hookonce.base.json_stream import TOO_DEEP, StreamLine, duplicate_paths, parse_json
from hookonce.base.jsontext import dump
from hookonce.base.settings import AGENT_HOOKS_RULES_FILE
from hookonce.diagnose.checks.agent_hooks_rules import find_rule_problems, find_scope_problems, looks_like_rules
from hookonce.dispatch.hook_faults.manifest_hooks import hook_faults, manifest_place
from hookonce.dispatch.hook_faults.manifest_words import (
    closed_problems,
    event_problems,
    isolation_problems,
    order_problems,
    privacy_problems,
    unknown_words,
)
from hookonce.dispatch.hook_faults.scripts import inline_code_problems
from hookonce.dispatch.hook_faults.table import FAULT_KINDS, describe_fault
from hookonce.dispatch.identification import identify, payload_event
from hookonce.errors import HookonceError, PayloadError
from hookonce.formats.schema import FormatCheck, validate_document
from hookonce.manifest.discover import OPENHOOK_FILE, PROJECT_FOLDER
from hookonce.manifest.load import duplicate_key_paths, find_problems, parse_document, parse_hook
from hookonce.manifest.policy import POLICY_FIELDS, POLICY_FILE, find_policy_problems, find_policy_warnings
from hookonce.model import Object, Problem
from hookonce.modules.protocol.descriptor import find_problems as descriptor_problems
from hookonce.store.integrity import signature

_LIFECYCLE = frozenset({"session.start", "prompt.submit", "tool.start", "tool.end", "session.end"})
# What a file without a problem is called, by format; OpenHook has levels.
CONFORMANCE_TITLES = {
    "agent-hooks": "Agent Hooks 0.1.0",
    "amplifier": "Amplifier Event v1",
    "cloudevents": "CloudEvents 1.0",
    "otel": "OTLP/JSON",
    "ocsf": "OCSF",
    "agent-trace": "Agent Trace 0.1.0",
    "canonical": "hookonce record",
}
_MAX_PROBLEMS = 1000
_ID_CACHE_KIBIBYTES = 2048
DocumentTrait = tuple[str, bool]  # what of a document counts for a level: its type, and whether it names the transcript


class DocumentResult(NamedTuple):
    """Result of one document: its kind, what is wrong with it, itself, and whose valid signature it has."""

    kind: str
    problems: list[Problem]
    warnings: list[Problem]
    document: Object | None = None
    signer: str | None = None


def conformance_level(kind: str | None, traits: set[DocumentTrait], *, whole: bool) -> str | None:
    """The conformance that documents with these traits reach, or None; `whole` when none of them had a problem."""
    if not traits or not whole:
        return None
    if kind == "openhook":
        return _openhook_level(traits)
    return f"{CONFORMANCE_TITLES[kind]}, valid" if kind in CONFORMANCE_TITLES else None


def _openhook_level(traits: set[DocumentTrait]) -> str | None:
    """Level 1 needs a session's end, level 2 the whole lifecycle and the transcript; file writes are told apart."""
    kinds = {kind for kind, _ in traits}
    if "session.end" not in kinds:
        return None
    has_transcript = ("session.end", False) not in traits
    level = "OpenHook level 2" if kinds >= _LIFECYCLE and has_transcript else "OpenHook level 1"
    return f"{level} with artifact events" if "file.write" in kinds else level


class DocumentProblem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One problem or warning; `line` where the file holds several documents."""

    path: str
    message: str
    line: int | None = None


class CheckReport(Struct, frozen=True, kw_only=True):
    """What was found in one file or folder; of a folder, `trust` says of each file of hooks whether it would run."""

    file: str
    ok: bool
    kind: str | None
    level: str | None
    documents: int
    problems: list[DocumentProblem]
    warnings: list[DocumentProblem]
    trust: dict[str, Literal["trusted", "not trusted"]] | UnsetType = UNSET
    signed_by: dict[str, int] | UnsetType = UNSET  # how many documents have a valid signature, by its known owner


def check_documents(
    name: str, lines: Iterable[StreamLine], *, strict: bool, source: str | None = None, is_manifest: bool = False
) -> CheckReport:
    """Check one file of documents, all of one kind; `source` names the kind where it is known.

    `is_manifest`: the one line is a whole manifest, in JSON or YAML.
    """
    problems: list[DocumentProblem] = []
    warnings: list[DocumentProblem] = []
    kinds: dict[str, None] = {}  # in the order met; documents themselves are not kept, a file may be long
    traits: set[DocumentTrait] = set()
    signers: Counter[str] = Counter()
    count, ids = 0, StreamIdIndex()
    for line in lines:
        count += 1
        result = _check_line(name, line, source, strict=strict, is_manifest=is_manifest)
        kinds[result.kind] = None
        _add_problems(problems, [*result.problems, *_id_problems(ids, result, line.number)], line.number)
        _add_problems(warnings, result.warnings, line.number)
        if result.signer is not None:
            signers[result.signer] += 1
        document = result.document
        if not result.problems and document is not None:
            event_type, data = document.get("type"), document.get("data")
            has_transcript = type(data) is dict and bool(data.get("transcript_path"))
            traits.add((event_type if type(event_type) is str else "", has_transcript))
    ids.close()
    if not count:
        problems.append(DocumentProblem(path="$", message="the file holds no document"))
    known_kinds = [kind for kind in kinds if kind != "unknown"]
    file_kind = next(iter(known_kinds or kinds), None)
    if len(known_kinds) > 1:
        problems.append(DocumentProblem(path="$", message=f"the file mixes {' and '.join(known_kinds)}"))
        file_kind = "mixed"
    level, ok = conformance_level(file_kind, traits, whole=not problems), not problems
    return CheckReport(
        file=name,
        ok=ok,
        kind=file_kind,
        level=level,
        documents=count,
        problems=problems,
        warnings=warnings,
        signed_by=dict(signers) or UNSET,
    )


class StreamIdIndex:
    """The ids that a stream has had, with the line of each; in a temporary database, so that memory stays flat."""

    def __init__(self) -> None:
        """Begin a stream; the database is made for its first event."""
        self._database: sqlite3.Connection | None = None

    def find_earlier(self, kind: str, document: Object, line: int) -> int | None:
        """The line of an earlier event with the same id; None for a new id, and for a document that has none."""
        event_id = formats.document_id(formats.load(kind), document) if kind in formats.FORMATS else None
        if not event_id:
            return None
        scope = document.get("source") if kind == "cloudevents" else None  # of CloudEvents each source has its own
        digest = blake2b(dump([kind, scope, event_id]), digest_size=16).digest()
        database = self._open()
        row = database.execute("SELECT line FROM ids WHERE digest = ?", (digest,)).fetchone()
        if row is not None:
            return int(row[0])
        database.execute("INSERT INTO ids VALUES (?, ?)", (digest, line))
        return None

    def close(self) -> None:
        """Forget all of them."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            self._database = sqlite3.connect("", isolation_level=None)  # a file that nobody else sees
            self._database.execute(f"PRAGMA cache_size = -{_ID_CACHE_KIBIBYTES}")
            self._database.execute("PRAGMA journal_mode = OFF")
            self._database.execute("CREATE TABLE ids (digest BLOB PRIMARY KEY, line INTEGER) WITHOUT ROWID")
            self._database.execute("BEGIN")
        return self._database


def _id_problems(ids: StreamIdIndex, result: DocumentResult, line: int) -> list[Problem]:
    first_line = None if result.document is None else ids.find_earlier(result.kind, result.document, line)
    if first_line is None:
        return []
    path = ".".join(("$", *formats.load(result.kind).id_path))
    return [(path, f"line {first_line} has the same id; ids must be unique")]


def _add_problems(listing: list[DocumentProblem], new_problems: list[Problem], line: int) -> None:
    """List what a reader can still read; a file may be endless."""
    free_slots = max(_MAX_PROBLEMS - len(listing), 0)
    pairs = new_problems[:free_slots]
    if 0 < free_slots <= len(new_problems):
        pairs = [*pairs, ("$", f"further ones are not listed after {_MAX_PROBLEMS}")]
    listing += [DocumentProblem(path=path, message=message, line=line) for path, message in pairs]


def _check_line(name: str, line: StreamLine, source: str | None, *, strict: bool, is_manifest: bool) -> DocumentResult:
    fault = line.fault
    try:
        if fault is None:
            return _check_raw(name, line.raw, source, strict=strict, is_manifest=is_manifest)
    except (HookonceError, RecursionError) as problem:
        fault = TOO_DEEP if isinstance(problem, RecursionError) else str(problem)
    return DocumentResult("unknown", [("$", fault)], [])


def _check_raw(name: str, raw: bytes, source: str | None, *, strict: bool, is_manifest: bool) -> DocumentResult:
    document = parse_document(raw) if is_manifest else parse_json(raw)
    repeated_paths = duplicate_key_paths(raw) if is_manifest else duplicate_paths(raw)
    duplicates = [(path, "this key occurs twice; only the last one counts") for path in repeated_paths]
    kind = source or document_kind(name, document)
    check = DOCUMENT_CHECKS.get(kind)
    problems, warnings = check(document, strict) if check is not None else _check_payload(kind, document)
    if (check_place := _PLACE_CHECKS.get(kind)) is not None and Path(name).is_file():
        place_problems, place_warnings = check_place(Path(name), document)
        if strict and kind == "manifest":  # a hook that cannot do what it is there for
            place_problems, place_warnings = [*place_problems, *place_warnings], []
        problems, warnings = [*problems, *place_problems], [*warnings, *place_warnings]
    if kind == "manifest":
        is_project = manifest_place(Path(name)).scope == "project"
        warnings = [*warnings, *privacy_problems(document, is_project=is_project), *order_problems(document)]
        warnings += isolation_problems(document)
    signer = None
    if type(document) is dict:
        signature_problems, signature_warnings, signer = _check_signature(kind, document)
        problems, warnings = [*problems, *signature_problems], [*warnings, *signature_warnings]
    problems, warnings = (problems + duplicates, warnings) if strict else (problems, warnings + duplicates)
    return DocumentResult(kind, problems, warnings, document if type(document) is dict else None, signer)


def _check_signature(kind: str, document: Object) -> tuple[list[Problem], list[Problem], str | None]:
    """A signature has to fit what is signed; whose it is, is known of this machine's keys and of trusted ones."""
    signature_state = signature.verify_document(kind, document)
    if signature_state is None:
        return [], [], None
    status, name = signature_state
    if status in {"ours", "trusted"}:
        return [], [], signature.signer_title(status, name)
    path = signature.signature_path(kind)
    if status == "wrong":
        return [(path, "the signature does not match the document: one of them was changed")], [], None
    hint = "is neither this machine's nor trusted; hookonce keys add trusts it"
    return [], [(path, f"signed with the key {name}, which {hint}")], None


def document_kind(name: str, document: Any) -> str:
    """The kind of a document: a format, an agent's payload, a file of hooks or about them, or unknown."""
    if (kind := _KINDS_BY_NAME.get(Path(name).name)) is not None:
        return kind
    shapes = _KINDS_BY_SHAPE.items() if type(document) is dict else ()
    return (
        next((kind for kind, has_shape in shapes if has_shape(document)), None) or identify(document).name or "unknown"
    )


def _looks_like_descriptor(document: Object) -> bool:
    """Only descriptors have a transport; one of their other keys may have been forgotten."""
    return "transport" in document and len(document.keys() & {"name", "kind", "capabilities"}) >= 2  # noqa: PLR2004  of three


def _looks_like_manifest(document: Object) -> bool:
    """A specification of hooks, or hooks with handlers: enough to say what is missing."""
    if "event" in document:
        return False
    spec, hooks = document.get("spec"), document.get("hooks")
    has_handlers = type(hooks) is list and any(type(hook) is dict and "handler" in hook for hook in hooks)
    return has_handlers or (type(spec) is str and spec.startswith("hooks/"))


def _check_payload(kind: str, document: Any) -> tuple[list[Problem], list[Problem]]:
    """An agent's payload is right if it can be decoded; what nobody knows is not."""
    if type(document) is not dict:
        return [("$", identify(document).evidence[0])], []
    if kind == "unknown":
        names = " or ".join(identify(document).candidates)
        hint = f"this may be a payload of {names}; choose with --from" if names else None
        return [("$", hint or "this is not a document of a known format or agent")], []
    try:
        agent = agents.load(kind)
        event = decode(agent, document, payload_event(agent, document))
    except PayloadError as problem:
        return [(problem.path, problem.message)], []
    if event.type.startswith("vendor."):
        return [], [("$", f"{event.type} is an event that hookonce does not know")]
    return [], []


def _check_format(name: str, document: Any, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001
    return validate_document(name, formats.load(name).check, document, strict=strict)


def _check_manifest(document: Any, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001
    problems, warnings = find_problems(document)
    event_names = dict(event_problems(document))  # they say more than that the name is not canonical
    others = [warning for warning in warnings if warning[0] not in event_names]
    unknown_names = [*event_names.items(), *unknown_words(document)]
    problems, warnings = _sort_unknown([*problems, *closed_problems(document)], unknown_names, strict=strict)
    return problems, [*others, *inline_code_problems(document), *warnings]


def _sort_unknown(
    problems: list[Problem], unknown_names: list[Problem], *, strict: bool
) -> tuple[list[Problem], list[Problem]]:
    """Problems and warnings: unknown names are problems with `--strict`."""
    return ([*problems, *unknown_names], []) if strict else (problems, unknown_names)


def _check_manifest_place(file: Path, document: Any) -> tuple[list[Problem], list[Problem]]:
    """Faults of its hooks, seen from where the file lies; what its words alone tell is not told twice."""
    place = manifest_place(file)
    is_usable = not find_problems(document)[0]
    hooks = [parse_hook(hook) for hook in document["hooks"]] if is_usable else []
    return [], [
        (f"$.hooks[{index}].{FAULT_KINDS[fault.kind].field}", describe_fault(fault))
        for index, hook in enumerate(hooks)
        for fault in hook_faults(hook, place, os.environ)
        if fault.kind not in {"event", "key"}
    ]


def _check_policy_place(file: Path, _: Any) -> tuple[list[Problem], list[Problem]]:
    """A project's policy is worth a word in any case: it is not the project's to say what others may do."""
    is_project = file.absolute().parent.name == PROJECT_FOLDER
    return [], [("$", "it can forbid only hooks of this project")] if is_project else []


# What follows from where a file lies, by its path and its document.
_PLACE_CHECKS: dict[str, Callable[[Path, Any], tuple[list[Problem], list[Problem]]]] = {
    "manifest": _check_manifest_place,
    "policy": _check_policy_place,
    "agent-hooks-rules": find_scope_problems,
}
_KINDS_BY_NAME = {
    OPENHOOK_FILE: "openhook-discovery",
    POLICY_FILE: "policy",
    AGENT_HOOKS_RULES_FILE: "agent-hooks-rules",
}
_KINDS_BY_SHAPE: dict[str, Callable[[Object], bool]] = {
    "openhook-discovery": lambda document: {"openhook", "hooks"} <= document.keys() and "type" not in document,
    "agent-hooks-rules": looks_like_rules,
    "manifest": _looks_like_manifest,
    "policy": lambda document: not document.keys().isdisjoint(POLICY_FIELDS),
    "module-descriptor": _looks_like_descriptor,
}
DOCUMENT_CHECKS: dict[str, FormatCheck] = {name: partial(_check_format, name) for name in formats.FORMATS} | {
    "openhook-discovery": lambda document, strict: validate_document(
        "openhook-discovery", None, document, strict=strict
    ),
    "manifest": _check_manifest,
    "policy": lambda document, strict: _sort_unknown(
        find_policy_problems(document), find_policy_warnings(document), strict=strict
    ),
    "agent-hooks-rules": lambda document, strict: _sort_unknown(*find_rule_problems(document), strict=strict),
    "module-descriptor": lambda document, strict: descriptor_problems(document, strict=strict),
}
