"""hookonce check."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import BinaryIO

from hookonce.cli import _named
from hookonce.cli._input import add_max_line, opened
from hookonce.cli._words import counted
from hookonce.errors import HookonceError
from hookonce.journeys.check import KINDS, Trouble, Verdict, check
from hookonce.journeys.folder import check_folder
from hookonce.journeys.lines import Line, documents
from hookonce.manifest.load import parse
from hookonce.texts import dump

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
    parser.add_argument("--strict", action="store_true", help="closed lists of types and fields; no duplicate keys")
    parser.add_argument("--json", action="store_true", help="one JSON object per file")
    add_max_line(parser)


def run(options: Namespace) -> int:
    """Check every file; any problem gives exit 1."""
    ok = True
    source = None if options.source is None else known(options.source)
    for name in options.files or ["-"]:
        try:
            verdict = _verdict(name, options, source)
        except HookonceError as problem:
            print(f"hookonce: {problem}", file=sys.stderr)
            verdict = _unread(name, problem)
            if not options.json:
                ok = False
                continue
        ok = ok and verdict.ok
        if options.json:
            sys.stdout.buffer.write(dump(verdict) + b"\n")
        else:
            _show(verdict)
    return 0 if ok else 1


def _verdict(name: str, options: Namespace, source: str | None) -> Verdict:
    if Path(name).is_dir():
        return check_folder(Path(name), strict=options.strict)
    with opened(name) as stream:
        lines = _manifest(stream) if name.endswith(_YAML) else documents(stream, options.max_line)
        return check(name, lines, strict=options.strict, source=source)


def _manifest(stream: BinaryIO) -> list[Line]:
    """The one document of a YAML file, as if it had been written in JSON."""
    return [Line(1, dump(parse(stream.read())))]


def known(name: str) -> str:
    """The proper name of a kind of document."""
    return name if name in KINDS else _named.agent(name, others=KINDS).name


def _unread(name: str, problem: HookonceError) -> Verdict:
    """The verdict on a file that cannot be read; the next one is still checked."""
    trouble = [Trouble(path="$", message=str(problem))]
    return Verdict(file=name, ok=False, kind=None, level=None, documents=0, problems=trouble, warnings=[])


def _show(verdict: Verdict) -> None:
    name = "standard input" if verdict.file == "-" else verdict.file
    state = verdict.level or "ok" if verdict.ok else counted(len(verdict.problems), "problem")
    print(f"{name}: {verdict.kind or 'nothing'}, {counted(verdict.documents, 'document')}: {state}")
    for mark, troubles in (("problem", verdict.problems), ("warning", verdict.warnings)):
        for trouble in troubles:
            print(f"  {mark}: {_place(trouble, verdict.documents)}{trouble.message}")
    for file, state in (verdict.trust or {}).items():
        print(f"  {file} is {state}")


def _place(trouble: Trouble, documents: int) -> str:
    line = f"line {trouble.line}: " if documents > 1 and trouble.line else ""
    return f"{line}{trouble.path}: "
