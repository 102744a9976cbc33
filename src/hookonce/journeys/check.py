"""check: every problem of a document at once, each with its JSON path, and what a stream conforms to."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from hookonce import agents, formats
from hookonce.agents import decode
from hookonce.errors import HookonceError, PayloadError
from hookonce.formats._schema import Check, judged
from hookonce.journeys.doubts import doubts_of
from hookonce.journeys.futile import futile
from hookonce.journeys.identify import event_of, identify
from hookonce.journeys.levels import Trait, level_of, trait
from hookonce.journeys.lines import TOO_DEEP, Line, duplicate_keys, parse
from hookonce.journeys.startable import scripts_missing
from hookonce.journeys.unheard import events_unheard
from hookonce.manifest.problems import problems_of
from hookonce.model import Object, Problem
from hookonce.modules.descriptor_rules import problems_of as descriptor_problems
from hookonce.store import signature

_MOST = 1000
Judgement = tuple[str, list[Problem], list[Problem], Object | None]  # kind, problems, warnings, document


class Trouble(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One problem or warning; `line` where the file holds several documents."""

    path: str
    message: str
    line: int | None = None


class Verdict(Struct, frozen=True, kw_only=True):
    """What was found in one file or folder; of a folder, `trust` says of each file of hooks whether it would run."""

    file: str
    ok: bool
    kind: str | None
    level: str | None
    documents: int
    problems: list[Trouble]
    warnings: list[Trouble]
    trust: dict[str, Literal["trusted", "not trusted"]] | UnsetType = UNSET


def check(name: str, lines: Iterable[Line], *, strict: bool, source: str | None = None) -> Verdict:
    """The verdict on one file of documents, all of one kind; `source` names the kind where it is known."""
    problems: list[Trouble] = []
    warnings: list[Trouble] = []
    kinds: dict[str, None] = {}  # in the order met; documents themselves are not kept, a file may be long
    traits: set[Trait] = set()
    count = 0
    for line in lines:
        count += 1
        kind, wrong, doubts, document = _document(name, line, source, strict=strict)
        kinds[kind] = None
        _add(problems, wrong, line.number)
        _add(warnings, doubts, line.number)
        if not wrong and document is not None:
            traits.add(trait(document))
    if not count:
        problems.append(Trouble(path="$", message="the file holds no document"))
    kind_found = _one_kind(kinds, problems)
    level = level_of(kind_found, traits, whole=not problems)
    return Verdict(
        file=name,
        ok=not problems,
        kind=kind_found,
        level=level,
        documents=count,
        problems=problems,
        warnings=warnings,
    )


def _add(troubles: list[Trouble], found: list[Problem], line: int) -> None:
    """Keep what a reader can still read; a file may be endless."""
    room = _MOST - len(troubles)
    troubles += [Trouble(path=path, message=message, line=line) for path, message in found[: max(room, 0)]]
    if 0 < room <= len(found):
        troubles.append(Trouble(path="$", message=f"further ones are not listed after {_MOST}", line=line))


def _one_kind(kinds: dict[str, None], problems: list[Trouble]) -> str | None:
    known = [kind for kind in kinds if kind != "unknown"]
    if len(known) > 1:
        problems.append(Trouble(path="$", message=f"the file mixes {' and '.join(known)}"))
        return "mixed"
    return known[0] if known else ("unknown" if kinds else None)


def _document(name: str, line: Line, source: str | None, *, strict: bool) -> Judgement:
    if line.fault is not None:
        return "unknown", [("$", line.fault)], [], None
    try:
        return _judged(name, line.raw, source, strict=strict)
    except HookonceError as problem:
        return "unknown", [("$", str(problem))], [], None
    except RecursionError:
        return "unknown", [("$", TOO_DEEP)], [], None


def _judged(name: str, raw: bytes, source: str | None, *, strict: bool) -> Judgement:
    document = parse(raw)
    repeated = [(f"$..{key}", f"duplicate key {key!r}") for key in duplicate_keys(raw)]
    kind = source or kind_of(name, document)
    wrong, doubts = KINDS[kind](document, strict) if kind in KINDS else _payload(kind, document)
    if kind == "manifest" and not wrong and Path(name).is_file():
        doubts = [*doubts, *scripts_missing(Path(name), document), *futile(Path(name), document)]
    if type(document) is dict:
        forged, unsure = _signature(kind, document)
        wrong, doubts = [*wrong, *forged], [*doubts, *unsure]
    wrong, doubts = (wrong + repeated, doubts) if strict else (wrong, doubts + repeated)
    return kind, wrong, doubts, document if type(document) is dict else None


def _signature(kind: str, document: Object) -> tuple[list[Problem], list[Problem]]:
    """A signature has to fit what is signed; whose it is, is known of this machine's keys only."""
    found = signature.found(kind, document)
    if found is None or found[0] == "ours":
        return [], []
    place = ".".join(filter(None, ("$", *signature.PLACES[kind])))
    if found[0] == "wrong":
        return [(place, "the signature does not fit the document: one of them was changed")], []
    return [], [(place, f"signed with the key {found[1]}, which is not one of this machine")]


def kind_of(name: str, document: Any) -> str:
    """The kind of a document: a format, an agent's payload, a discovery file, or unknown."""
    if Path(name).name == ".openhook.json" or _looks_like_discovery(document):
        return "openhook-discovery"
    if _looks_like_manifest(document):
        return "manifest"
    if _looks_like_descriptor(document):
        return "module-descriptor"
    found = identify(document)
    return found.name or "unknown"


def _looks_like_discovery(document: Any) -> bool:
    return type(document) is dict and "openhook" in document and "hooks" in document and "type" not in document


def _looks_like_manifest(document: Any) -> bool:
    """A specification of hooks, or hooks with handlers: enough to say what is missing."""
    if type(document) is not dict or "event" in document:
        return False
    spec, hooks = document.get("spec"), document.get("hooks")
    listed = type(hooks) is list and any(type(hook) is dict and "handler" in hook for hook in hooks)
    return listed or (type(spec) is str and spec.startswith("hooks/"))


def _looks_like_descriptor(document: Any) -> bool:
    """How a module is reached is said nowhere else; one of the other words may have been forgotten."""
    if type(document) is not dict or "transport" not in document:
        return False
    return len(document.keys() & {"name", "kind", "capabilities"}) >= 2  # noqa: PLR2004  of three


def _payload(kind: str, document: Any) -> tuple[list[Problem], list[Problem]]:
    """An agent's payload is right if it can be decoded; what nobody knows is not."""
    if type(document) is not dict:
        return [("$", identify(document).evidence[0])], []
    if kind == "unknown":
        whose = identify(document).candidates
        if whose:
            return [("$", f"a payload of {' or '.join(whose)}; say which with --from")], []
        return [("$", "this is no document of a known format or agent")], []
    try:
        agent = agents.load(kind)
        event = decode(agent, document, event_of(agent, document))
    except PayloadError as problem:
        return [(problem.path, problem.message)], []
    if event.type.startswith("vendor."):
        return [], [("$", f"{event.type} is an event that hookonce does not know")]
    return [], []


def _format_check(name: str) -> Check:
    def run(document: Any, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001
        return judged(name, formats.load(name).check, document, strict=strict)

    return run


def _discovery(document: Any, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001
    return judged("openhook-discovery", None, document, strict=strict)


def _manifest(document: Any, _: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001
    problems, warnings = problems_of(document)
    unheard = events_unheard(document)
    told = {path for path, _ in unheard}  # says more than that the name is not canonical
    return problems, [*(one for one in warnings if one[0] not in told), *unheard, *doubts_of(document)]


def _descriptor(document: Any, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001
    return descriptor_problems(document, strict=strict)


KINDS: dict[str, Check] = {name: _format_check(name) for name in formats.FORMATS} | {
    "openhook-discovery": _discovery,
    "manifest": _manifest,
    "module-descriptor": _descriptor,
}
