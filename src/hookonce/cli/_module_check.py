"""hookonce module check."""

import os
import sys
from argparse import ArgumentParser, Namespace
from contextlib import AbstractContextManager, nullcontext
from itertools import groupby
from pathlib import Path

from hookonce.cli._progress import tell
from hookonce.cli._table import show, table
from hookonce.cli._when import span
from hookonce.cli._words import counted
from hookonce.errors import UsageError
from hookonce.modules.descriptor import Descriptor
from hookonce.texts import dump

_EXAMPLES = """A module on stdio is started for it, and ended; one over HTTP has to listen already.

exit codes: 0 every case passed (or was skipped, with a reason), 1 a case failed, 64 wrong usage

examples:
  hookonce module check greeter.json
  hookonce module check --descriptor greeter.json --case minimal --timeout 30s
  hookonce module check greeter.json --transport http
  hookonce module check greeter.json --json --transcripts said
  hookonce module check greeter.json --op greet --args '{"name": "you"}' --json"""


def configure(parser: ArgumentParser) -> None:
    """The options of `module check`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("module", nargs="?", metavar="MODULE", help="the name of a module, or a descriptor's file")
    parser.add_argument("--descriptor", metavar="FILE", help="the same, as other conformance commands have it")
    told = "the way in which it is reached; http offers a program on stdio over HTTP for it"
    parser.add_argument("--transport", choices=("stdio", "http"), help=told)
    parser.add_argument(
        "--case", action="append", metavar="CASE", help="minimal, all (the default), or one by its name"
    )
    parser.add_argument("--timeout", type=span, default=30.0, metavar="TIME", help="for an invocation; default: 30s")
    parser.add_argument("--op", metavar="OP", help="an operation that has to succeed")
    parser.add_argument("--args", metavar="JSON", help="what it is given")
    told = "keep what was said in each case there, a file for each; the report names it"
    parser.add_argument("--transcripts", type=Path, metavar="FOLDER", help=told)
    parser.add_argument("--json", action="store_true", help="the whole report, with what was said in each case")


def run(options: Namespace) -> int:
    """Try it."""
    from hookonce.cli._module_named import argument, descriptor
    from hookonce.journeys.orphans import adopted
    from hookonce.modules.conformance import Wanted, check, kept, leaving

    found = descriptor(options.module or options.descriptor)
    token = found.transport.token_env
    wanted = Wanted(
        cases=_cases(options.case or ["all"]),
        timeout=options.timeout,
        op=options.op,
        args=argument(options.args),
        token=None if token is None else os.environ.get(token),
    )
    with adopted() as left, _reached(found, options.transport) as one:
        report = check(one, wanted, lambda case: tell(f"{case.case}: {case.state}") if sys.stderr.isatty() else None)
    report = leaving(report, left)
    if options.transcripts is not None:
        report = kept(report, options.transcripts)
    if sys.stderr.isatty():
        tell("")
    if options.json:
        sys.stdout.buffer.write(dump(report) + b"\n")
    else:
        _show(report)
    return 0 if report.passed else 1


def _reached(found: Descriptor, transport: str | None) -> AbstractContextManager[Descriptor]:
    """The module over the transport that is wanted; a program can be offered over HTTP, but not the other way round."""
    if transport in {None, found.transport.type}:
        return nullcontext(found)
    if transport == "stdio":
        raise UsageError(f"{found.name} listens over HTTP, as its descriptor says; it is no program on stdio")
    from hookonce.modules.offered import over_http

    return over_http(found)


def _cases(names: list[str]) -> tuple[str, ...]:
    from hookonce.modules.conformance import SETS

    known = SETS["all"]
    if wrong := [name for name in names if name not in SETS and name not in known]:
        raise UsageError(f"there is no case {wrong[0]}; there are {', '.join([*SETS, *known])}")
    return tuple(dict.fromkeys(one for name in names for one in SETS.get(name, (name,))))


def _show(report: "object") -> None:
    from hookonce.modules.conformance import Report

    assert isinstance(report, Report)  # noqa: S101  for type checkers
    made = table("case", "state", "ms", "why")
    for (state, reason), alike in groupby(report.cases, lambda one: (one.state, one.reason)):
        found = list(alike)
        if reason is not None and found[1:]:  # all for the same reason, which is read once
            made.add_row(f"{len(found)} others", state, "", reason)
            continue
        for one in found:
            made.add_row(one.case, state, str(one.ms), reason or "")
    show(made)
    states = [one.state for one in report.cases]
    said = "keeps to the protocol" if report.passed else "does not keep to the protocol"
    as_far = " as far as it was tried" if report.passed and "skipped" in states else ""
    of = f"{states.count('passed')} of {counted(len(states), 'case')} passed"
    print(f"\n{report.module} ({report.transport}) {said}{as_far}: {of}")
    if "skipped" in states:
        print(f"not tried: {', '.join(one.case for one in report.cases if one.state == 'skipped')}")
