"""hookonce check: validate event documents, manifests and projects."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookonce.base import paths
from hookonce.base.json_stream import StreamLine, read_documents
from hookonce.cli._ui.arguments import add_flag, add_max_line_option, open_input, read_bounded
from hookonce.cli._ui.messages import pluralize, print_result, warn
from hookonce.diagnose.document_check import DOCUMENT_CHECKS, CheckReport, DocumentProblem, check_documents
from hookonce.diagnose.project_check import check_folder
from hookonce.errors import HookonceError
from hookonce.inspect.query_args import find_agent
from hookonce.manifest.discover import find_project_sources, find_sources

_EXAMPLES = """examples:
  hookonce check              # in a terminal: your own hooks, and those of this folder
  hookonce check events.jsonl
  hookonce check --strict --json .openhook.json
  hookonce check .            # a project: its hooks, and whether they are trusted"""


def configure(parser: ArgumentParser) -> None:
    """The options of `check`."""
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="files or folders to check; -: stdin, also the default of a pipe"
    )
    parser.add_argument(
        "--from", dest="source", metavar="NAME", help="the agent or format of the files; default: detect it"
    )
    add_flag(parser, "--strict", "also report unknown types and fields, duplicate keys, and hooks that cannot run")
    add_flag(parser, "--json", "print one JSON object per file")
    add_max_line_option(parser)


def run(options: Namespace) -> int:
    """Check every file; any problem gives exit 1."""
    ok, warning_count = True, 0
    source = options.source
    if source is not None and source not in DOCUMENT_CHECKS:
        source = find_agent(source, others=DOCUMENT_CHECKS).name
    for name in options.files or _default_files():
        try:
            verdict = _check_file(name, options, source)
        except HookonceError as problem:
            warn(f"{problem}")
            ok = False
            trouble = [DocumentProblem(path="$", message=str(problem))]
            report = CheckReport(file=name, ok=False, kind=None, level=None, documents=0, problems=trouble, warnings=[])
            print_result(options, report, lambda _: None)
            continue
        ok, warning_count = ok and verdict.ok, warning_count + len(verdict.warnings)
        print_result(options, verdict, _print_verdict)
    if warning_count and not options.json:
        hint = "" if options.strict else "; with --strict unknown names, duplicate keys and hooks that cannot run do"
        print(f"{pluralize(warning_count, 'warning')}. Warnings do not count as problems{hint}")
    return 0 if ok else 1


def _default_files() -> list[str]:
    """Standard input, or, where nobody writes to it, the folders whose hooks run here."""
    if not sys.stdin.isatty():
        return ["-"]
    has_own_hooks = any(source.scope == "user" for source in find_sources(None))
    folders = [paths.config_dir()] * has_own_hooks + [Path()] * bool(find_project_sources(Path()))
    if not folders:
        raise HookonceError("there are no hooks of yours or of this folder; hookonce init writes one, - reads stdin")
    return [str(folder) for folder in folders]


def _check_file(name: str, options: Namespace, source: str | None) -> CheckReport:
    if Path(name).is_dir():
        return check_folder(Path(name), strict=options.strict)
    with open_input(name) as stream:
        is_yaml = name.endswith((".yaml", ".yml"))
        lines = [StreamLine(1, read_bounded(stream, name))] if is_yaml else read_documents(stream, options.max_line)
        return check_documents(name, lines, strict=options.strict, source=source, is_manifest=is_yaml)


def _print_verdict(verdict: CheckReport) -> None:
    name = "standard input" if verdict.file == "-" else verdict.file
    state = verdict.level or "ok" if verdict.ok else pluralize(len(verdict.problems), "problem")
    print(f"{name}: {verdict.kind or 'nothing'}, {pluralize(verdict.documents, 'document')}: {state}")
    for severity, troubles in (("problem", verdict.problems), ("warning", verdict.warnings)):
        for trouble in troubles:
            line = f"line {trouble.line}: " if verdict.documents > 1 and trouble.line else ""
            print(f"  {severity}: {line}{trouble.path}: {trouble.message}")
    for signer, count in (verdict.signed_by or {}).items():
        print(f"  {pluralize(count, 'document')} signed by {signer}")
    for file, state in (verdict.trust or {}).items():
        print(f"  {file} is {state}")
