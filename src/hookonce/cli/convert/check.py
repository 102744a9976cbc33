"""hookonce check: validate event documents, manifests and projects."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import BinaryIO

from hookonce.base.json_stream import StreamLine, read_documents
from hookonce.base.jsontext import dump
from hookonce.cli._ui.arguments import add_flag, add_max_line_option, open_input
from hookonce.cli._ui.messages import pluralize, print_json, warn
from hookonce.diagnose.document_check import DOCUMENT_CHECKS, CheckReport, DocumentProblem, check_documents
from hookonce.diagnose.project_check import check_folder
from hookonce.errors import HookonceError
from hookonce.inspect.query_args import find_agent
from hookonce.manifest.load import parse_document

_EXAMPLES = """examples:
  hookonce check events.jsonl
  hookonce check --strict --json .openhook.json
  hookonce check .            # a project: its hooks, and whether they are trusted"""

_YAML = (".yaml", ".yml")


def configure(parser: ArgumentParser) -> None:
    """The options of `check`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("files", nargs="*", metavar="FILE", help="documents or folders to check; - or nothing: stdin")
    parser.add_argument("--from", dest="source", metavar="NAME", help="the agent or format; default: identify it")
    add_flag(parser, "--strict", "closed lists of types and fields; no duplicate keys")
    add_flag(parser, "--json", "one JSON object per file")
    add_max_line_option(parser)


def run(options: Namespace) -> int:
    """Check every file; any problem gives exit 1."""
    ok = True
    source = None if options.source is None else resolve_kind(options.source)
    for name in options.files or ["-"]:
        try:
            verdict = _check_file(name, options, source)
        except HookonceError as problem:
            warn(f"{problem}")
            verdict = _unreadable_verdict(name, problem)
            if not options.json:
                ok = False
                continue
        ok = ok and verdict.ok
        if options.json:
            print_json(verdict)
        else:
            _print_verdict(verdict)
    return 0 if ok else 1


def _check_file(name: str, options: Namespace, source: str | None) -> CheckReport:
    if Path(name).is_dir():
        return check_folder(Path(name), strict=options.strict)
    with open_input(name) as stream:
        lines = _read_yaml(stream) if name.endswith(_YAML) else read_documents(stream, options.max_line)
        return check_documents(name, lines, strict=options.strict, source=source)


def _read_yaml(stream: BinaryIO) -> list[StreamLine]:
    return [StreamLine(1, dump(parse_document(stream.read())))]


def resolve_kind(name: str) -> str:
    """The proper name of a kind of document."""
    return name if name in DOCUMENT_CHECKS else find_agent(name, others=DOCUMENT_CHECKS).name


def _unreadable_verdict(name: str, problem: HookonceError) -> CheckReport:
    """The verdict on a file that cannot be read; the next one is still checked."""
    trouble = [DocumentProblem(path="$", message=str(problem))]
    return CheckReport(file=name, ok=False, kind=None, level=None, documents=0, problems=trouble, warnings=[])


def _print_verdict(verdict: CheckReport) -> None:
    name = "standard input" if verdict.file == "-" else verdict.file
    state = verdict.level or "ok" if verdict.ok else pluralize(len(verdict.problems), "problem")
    print(f"{name}: {verdict.kind or 'nothing'}, {pluralize(verdict.documents, 'document')}: {state}")
    for severity, troubles in (("problem", verdict.problems), ("warning", verdict.warnings)):
        for trouble in troubles:
            print(f"  {severity}: {_trouble_location(trouble, verdict.documents)}{trouble.message}")
    for file, state in (verdict.trust or {}).items():
        print(f"  {file} is {state}")


def _trouble_location(trouble: DocumentProblem, documents: int) -> str:
    line = f"line {trouble.line}: " if documents > 1 and trouble.line else ""
    return f"{line}{trouble.path}: "
