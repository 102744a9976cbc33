"""check of a folder: its files of hooks, whether they are trusted, and what OpenHook calls discoverable."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from hookonce.errors import HookonceError
from hookonce.journeys.check import Trouble, Verdict, check, kind_of
from hookonce.journeys.chosen import manifest_of
from hookonce.journeys.lines import Line, documents, parse
from hookonce.journeys.trusting import is_trusted
from hookonce.manifest.contents import contents
from hookonce.manifest.discover import FOLDER, OPENHOOK, Source, sources
from hookonce.manifest.load import parse as parse_manifest
from hookonce.manifest.policy import NAME, problems_of, warnings_of
from hookonce.texts import dump, load

_EVENTS = "events"
_STREAMS = (".json", ".jsonl", ".ndjson")
_MOST = 1 << 20  # bytes of a policy


def check_folder(folder: Path, *, strict: bool) -> Verdict:
    """The verdict on a project: every problem is told with the file that has it."""
    found = [source for source in sources(folder) if source.scope == "project"]
    verdicts = {_name(folder, source): _hooks(source, strict=strict) for source in found}
    verdicts |= {f"{FOLDER}/{NAME}": policy for policy in _policy(folder / FOLDER / NAME)}
    events = _events(folder, strict=strict)
    if events is not None:
        verdicts[_EVENTS] = events
    problems = [_placed(name, one) for name, verdict in verdicts.items() for one in verdict.problems]
    warnings = [_placed(name, one) for name, verdict in verdicts.items() for one in verdict.warnings]
    if not verdicts:
        problems.append(Trouble(path="$", message="the folder holds neither hooks nor OpenHook events"))
    trust = {_name(folder, source): _trust(folder, source) for source in found}
    told = "nobody has agreed to it, and none of its hooks runs; hookonce trust shows them"
    warnings += [Trouble(path=name, message=told) for name, state in trust.items() if state != "trusted"]
    return Verdict(
        file=str(folder),
        ok=not problems,
        kind="folder",
        level=_level(verdicts.get(OPENHOOK), events),
        documents=sum(verdict.documents for verdict in verdicts.values()),
        problems=problems,
        warnings=warnings,
        trust=trust,
    )


def _name(folder: Path, source: Source) -> str:
    return str(source.path.relative_to(folder))


def _placed(name: str, trouble: Trouble) -> Trouble:
    line = trouble.line if name == _EVENTS else None  # a file of hooks is one document
    return Trouble(path=f"{name}: {trouble.path}", message=trouble.message, line=line)


def _hooks(source: Source, *, strict: bool) -> Verdict:
    kind = "openhook-discovery" if source.is_openhook else "manifest"
    return check(str(source.path), [_line(source)], strict=strict, source=kind)


def _line(source: Source) -> Line:
    """The one document of a file of hooks; YAML as if it had been written in JSON."""
    if source.problem is not None:
        return Line(1, b"", source.problem)
    try:
        return Line(1, source.data if source.is_openhook else dump(parse_manifest(source.data)))
    except HookonceError as problem:
        return Line(1, b"", str(problem))


def _policy(file: Path) -> Iterator[Verdict]:
    """A project's policy is worth a word in any case: it is not the project's to say what others may do."""
    try:
        document = load(contents(file, _MOST).decode())
        wrong = problems_of(document)
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError, RecursionError) as problem:
        document, wrong = None, [("$", str(problem))]
    doubts = [*warnings_of(document), ("$", "it can forbid hooks of this project only")]
    problems, warnings = ([Trouble(path=path, message=text) for path, text in found] for found in (wrong, doubts))
    yield Verdict(
        file=file.name, ok=not wrong, kind="policy", level=None, documents=1, problems=problems, warnings=warnings
    )


def _events(folder: Path, *, strict: bool) -> Verdict | None:
    """The OpenHook events that lie in the folder, as one stream."""
    files = sorted(path for path in folder.iterdir() if path.suffix in _STREAMS and not path.name.startswith("."))
    lines = [line for path in files if path.is_file() for line in _openhook(path)]
    return check(_EVENTS, lines, strict=strict, source="openhook") if lines else None


def _openhook(path: Path) -> Iterator[Line]:
    """The lines of a file that begins with an OpenHook event."""
    with path.open("rb") as stream:
        lines = documents(stream)
        first = next(lines, None)
        if first is None or not _is_openhook(path.name, first):
            return
        yield first
        yield from lines


def _is_openhook(name: str, line: Line) -> bool:
    try:
        return line.fault is None and kind_of(name, parse(line.raw)) == "openhook"
    except (HookonceError, RecursionError):
        return False


def _level(discovery: Verdict | None, events: Verdict | None) -> str | None:
    """Level 3 is level 2 and a discovery file that can be used."""
    reached = events.level if events is not None else None
    if reached is None or discovery is None or not discovery.ok:
        return reached
    return reached.replace("level 2", "level 3")


def _trust(folder: Path, source: Source) -> Literal["trusted", "not trusted"]:
    try:
        return "trusted" if is_trusted(folder, source, manifest_of(source)) else "not trusted"
    except HookonceError:
        return "not trusted"
