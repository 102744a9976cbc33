"""hookonce module check: conformance test of a module."""

import os
import sys
from argparse import ArgumentParser, Namespace
from contextlib import AbstractContextManager, nullcontext
from itertools import groupby
from pathlib import Path

from hookonce.base.jsontext import dump
from hookonce.cli._ui.arguments import parse_duration
from hookonce.cli._ui.messages import pluralize, show_progress
from hookonce.cli._ui.tables import new_table, print_table
from hookonce.errors import UsageError
from hookonce.modules.protocol.descriptor import Descriptor

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
    option_help = "the way in which it is reached; http offers a program on stdio over HTTP for it"
    parser.add_argument("--transport", choices=("stdio", "http"), help=option_help)
    parser.add_argument(
        "--case", action="append", metavar="CASE", help="minimal, all (the default), or one by its name"
    )
    parser.add_argument(
        "--timeout", type=parse_duration, default=30.0, metavar="TIME", help="for an invocation; default: 30s"
    )
    parser.add_argument("--op", metavar="OP", help="an operation that has to succeed")
    parser.add_argument("--args", metavar="JSON", help="what it is given")
    option_help = "keep what was said in each case there, a file for each; the report names it"
    parser.add_argument("--transcripts", type=Path, metavar="FOLDER", help=option_help)
    parser.add_argument("--json", action="store_true", help="the whole report, with what was said in each case")


def run(options: Namespace) -> int:
    """Try it."""
    from hookonce.cli.module.arguments import load_descriptor, parse_arguments
    from hookonce.modules.conformance.orphans import adopt_orphan_processes
    from hookonce.modules.conformance.suite import (
        ConformanceOptions,
        add_leftover_processes,
        check_module,
        save_transcripts,
    )

    module_descriptor = load_descriptor(options.module or options.descriptor)
    token = module_descriptor.transport.token_env
    conformance_plan = ConformanceOptions(
        cases=_select_cases(options.case or ["all"]),
        timeout=options.timeout,
        op=options.op,
        args=parse_arguments(options.args),
        token=None if token is None else os.environ.get(token),
    )
    with (
        adopt_orphan_processes() as orphans,
        _over_transport(module_descriptor, options.transport) as descriptor_in_use,
    ):
        report = check_module(
            descriptor_in_use,
            conformance_plan,
            lambda case: show_progress(f"{case.case}: {case.state}") if sys.stderr.isatty() else None,
        )
    report = add_leftover_processes(report, orphans)
    if options.transcripts is not None:
        report = save_transcripts(report, options.transcripts)
    if sys.stderr.isatty():
        show_progress("")
    if options.json:
        sys.stdout.buffer.write(dump(report) + b"\n")
    else:
        _print_report(report)
    return 0 if report.passed else 1


def _over_transport(module_descriptor: Descriptor, transport: str | None) -> AbstractContextManager[Descriptor]:
    """The module over the transport that is wanted; a program can be offered over HTTP, but not the other way round."""
    if transport in {None, module_descriptor.transport.type}:
        return nullcontext(module_descriptor)
    if transport == "stdio":
        raise UsageError(
            f"{module_descriptor.name} listens over HTTP, as its descriptor says; it is no program on stdio"
        )
    from hookonce.modules.server.http_server import expose_over_http

    return expose_over_http(module_descriptor)


def _select_cases(names: list[str]) -> tuple[str, ...]:
    from hookonce.modules.conformance.suite import CASE_SETS

    known_cases = CASE_SETS["all"]
    if unknown_names := [name for name in names if name not in CASE_SETS and name not in known_cases]:
        raise UsageError(f"there is no case {unknown_names[0]}; there are {', '.join([*CASE_SETS, *known_cases])}")
    return tuple(dict.fromkeys(case_name for name in names for case_name in CASE_SETS.get(name, (name,))))


def _print_report(report: "object") -> None:
    from hookonce.modules.conformance.suite import ConformanceReport

    assert isinstance(report, ConformanceReport)  # noqa: S101  for type checkers
    output = new_table("case", "state", "ms", "why")
    for (state, reason), same_result in groupby(report.cases, lambda case: (case.state, case.reason)):
        cases = list(same_result)
        if reason is not None and cases[1:]:  # all for the same reason, which is read once
            output.add_row(f"{len(cases)} others", state, "", reason)
            continue
        for case in cases:
            output.add_row(case.case, state, str(case.ms), reason or "")
    print_table(output)
    states = [case.state for case in report.cases]
    verdict = "keeps to the protocol" if report.passed else "does not keep to the protocol"
    skip_note = " as far as it was tried" if report.passed and "skipped" in states else ""
    count_text = f"{states.count('passed')} of {pluralize(len(states), 'case')} passed"
    print(f"\n{report.module} ({report.transport}) {verdict}{skip_note}: {count_text}")
    if "skipped" in states:
        print(f"not tried: {', '.join(case.case for case in report.cases if case.state == 'skipped')}")
