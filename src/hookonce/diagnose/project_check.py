"""Validation of a project folder: its files of hooks, their trust, and what OpenHook calls discoverable."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Literal

from hookonce.base import paths
from hookonce.base.files import read_regular_file
from hookonce.base.json_stream import StreamLine, parse_json, read_documents
from hookonce.base.settings import AGENT_HOOKS_RULES_FILE
from hookonce.diagnose.document_check import CheckReport, DocumentProblem, check_documents, document_kind
from hookonce.errors import HookonceError
from hookonce.manifest.discover import OPENHOOK_FILE, PROJECT_FOLDER, ManifestSource, find_sources, load_source
from hookonce.manifest.policy import POLICY_FILE
from hookonce.trust.consent import is_trusted

_EVENTS_NAME = "events"
_STREAM_SUFFIXES = (".json", ".jsonl", ".ndjson")
_MAX_FILE_BYTES = 1 << 20


def check_folder(folder: Path, *, strict: bool) -> CheckReport:
    """Check a project, also by its folder of hooks, or your own hooks' folder; a problem is told with its file."""
    is_own = folder.resolve() == paths.config_dir().resolve()
    folder = paths.config_dir() if is_own else folder  # however it was spelled
    if folder.absolute().name == PROJECT_FOLDER and not is_own:
        folder = folder.absolute().parent
    sources = [source for source in find_sources(folder) if source.scope == ("user" if is_own else "project")]
    reports = {_relative_name(folder, source): _check_hooks(source, strict=strict) for source in sources}
    for name in (f"{PROJECT_FOLDER}/{POLICY_FILE}", f"{PROJECT_FOLDER}/{AGENT_HOOKS_RULES_FILE}"):
        if (report := _check_own_file(folder / name, strict=strict)) is not None:
            reports[name] = report
    events = None if is_own else _check_events(folder, strict=strict)
    reports |= {} if events is None else {_EVENTS_NAME: events}
    problems = [_with_file(name, problem) for name, report in reports.items() for problem in report.problems]
    warnings = [_with_file(name, problem) for name, report in reports.items() for problem in report.warnings]
    if not reports:
        problems.append(DocumentProblem(path="$", message="the folder holds neither hooks nor OpenHook events"))
    trust = {_relative_name(folder, source): _trust_state(folder, source) for source in sources if not is_own}
    message = "it is not trusted, so none of its hooks runs; hookonce trust shows them"
    warnings += [DocumentProblem(path=name, message=message) for name, state in trust.items() if state != "trusted"]
    return CheckReport(
        file=str(folder),
        ok=not problems,
        kind="folder",
        level=_folder_level(reports.get(OPENHOOK_FILE), events),
        documents=sum(report.documents for report in reports.values()),
        problems=problems,
        warnings=warnings,
        trust=trust,
    )


def _relative_name(folder: Path, source: ManifestSource) -> str:
    return str(source.path.relative_to(folder))


def _with_file(name: str, problem: DocumentProblem) -> DocumentProblem:
    line = problem.line if name == _EVENTS_NAME else None  # a file of hooks is one document
    return DocumentProblem(path=f"{name}: {problem.path}", message=problem.message, line=line)


def _check_hooks(source: ManifestSource, *, strict: bool) -> CheckReport:
    kind = "openhook-discovery" if source.is_openhook else "manifest"
    line = StreamLine(1, source.data, source.problem)
    is_manifest = not source.is_openhook
    return check_documents(str(source.path), [line], strict=strict, source=kind, is_manifest=is_manifest)


def _check_own_file(file: Path, *, strict: bool) -> CheckReport | None:
    """One of the files beside a project's hooks, if it is there."""
    try:
        line = StreamLine(1, read_regular_file(file, _MAX_FILE_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        line = StreamLine(1, b"", str(problem))
    return check_documents(str(file), [line], strict=strict)


def _check_events(folder: Path, *, strict: bool) -> CheckReport | None:
    visible = (path for path in folder.iterdir() if not path.name.startswith("."))
    files = sorted(path for path in visible if path.suffix in _STREAM_SUFFIXES and path.is_file())
    lines = [line for path in files for line in _openhook_lines(path)]
    return check_documents(_EVENTS_NAME, lines, strict=strict, source="openhook") if lines else None


def _openhook_lines(path: Path) -> Iterator[StreamLine]:
    with path.open("rb") as stream:
        lines = read_documents(stream)
        first, kind = next(lines, None), "unknown"
        with suppress(HookonceError, RecursionError):
            if first is not None and first.fault is None:
                kind = document_kind(path.name, parse_json(first.raw))
        if first is not None and kind == "openhook":
            yield from chain([first], lines)


def _folder_level(discovery: CheckReport | None, events: CheckReport | None) -> str | None:
    """Level 3 is level 2 and a discovery file that can be used."""
    level = events.level if events is not None else None
    is_discoverable = discovery is not None and discovery.ok
    return level.replace("level 2", "level 3") if level is not None and is_discoverable else level


def _trust_state(folder: Path, source: ManifestSource) -> Literal["trusted", "not trusted"]:
    try:
        return "trusted" if is_trusted(folder, source, load_source(source)) else "not trusted"
    except HookonceError:
        return "not trusted"
