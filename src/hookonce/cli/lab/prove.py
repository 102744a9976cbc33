"""hookonce prove: run real agents offline and certify claims about their hooks."""

import signal
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from msgspec.structs import astuple, replace

from hookonce.base.jsontext import dump
from hookonce.cli._ui.arguments import add_flag, number_parser
from hookonce.cli._ui.messages import pluralize, print_json, print_result, show_progress, warn
from hookonce.cli._ui.tables import print_table
from hookonce.errors import HookonceError, UsageError
from hookonce.inspect.query_args import find_agent
from hookonce.lab import drivers
from hookonce.lab.experiments import EXPERIMENTS, here
from hookonce.lab.fetch.programs import AgentProgram, find_program
from hookonce.lab.prove.certificate import Certificate, count_states
from hookonce.lab.prove.prover import claim_names_of, prove_agent
from hookonce.vocabulary.names import suggest_name

_MAX_TRIES = 20
_END_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_EXAMPLES = """examples:
  hookonce prove
  hookonce prove claude-code --only denied
  hookonce prove qwen-code --version 0.15.10 --json
  hookonce prove --pinned --tries 3 --out certificates"""
_NO_AGENT_MESSAGE = "no agent was found on this machine or among the downloaded ones; hookonce lab fetch downloads them"


def configure(parser: ArgumentParser) -> None:
    """The options of `prove`."""
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add(
        "names",
        nargs="*",
        metavar="AGENT",
        help=f"default: all that are found among {', '.join(drivers.DRIVER_MODULES)}",
    )
    add_flag(parser, "--pinned", "only downloaded agents, in the pinned versions")
    add("--version", metavar="V", help="a downloaded version (hookonce lab fetch --version V)")
    tries_help = "how often each claim is tested; default: 1"
    add("--tries", type=number_parser(_MAX_TRIES), default=1, metavar="N", help=tries_help)
    add("--only", action="append", default=[], metavar="CLAIM", help="test only this claim or experiment")
    add("--out", type=Path, metavar="DIR", help="write a certificate for each agent into this folder")
    add_flag(parser, "--dry-run", "show what would be tested, without testing anything")
    add_flag(parser, "--json", "print one JSON object for each agent")


def run(options: Namespace) -> int:
    """Run real agents offline against a scripted model, and show which of our claims about their hooks hold."""
    programs, missing = _find_programs(options)
    for text in missing:
        warn(f"{text}")
    if not programs and not missing:
        raise HookonceError(_NO_AGENT_MESSAGE)
    _check_claim_names(options, programs)
    if options.dry_run:
        _print_plan(options, programs)
        return int(bool(missing))
    for signal_number in _END_SIGNALS:
        signal.signal(signal_number, _handle_end_signal)
    proofs = []
    for number, program in enumerate(programs, 1):
        prefix = f"agent {number} of {len(programs)}, " if len(programs) > 1 else ""
        proofs.append(_prove_program(options, program, prefix))
    if not options.json and len(proofs) > 1:
        _print_overview(proofs)
    return int(bool(missing) or any(count_states(certificate)["contradicted"] for certificate in proofs))


def _handle_end_signal(number: int, _frame: object) -> None:
    for other_signal in _END_SIGNALS:  # a second one would interrupt the cleaning up
        signal.signal(other_signal, signal.SIG_IGN)
    raise KeyboardInterrupt(number)


def _find_programs(options: Namespace) -> tuple[list[AgentProgram], list[str]]:
    names = list(dict.fromkeys(find_agent(name).name for name in options.names))
    if options.version and len(names) != 1:
        raise UsageError("--version needs exactly one agent: hookonce prove AGENT --version V")
    programs, missing = list[AgentProgram](), list[str]()
    for name in names or drivers.DRIVER_MODULES:
        try:
            program = find_program(name, options.version, use_pinned=options.pinned)
        except HookonceError as problem:
            missing.append(str(problem))
            continue
        if program is not None:
            programs.append(program)
        elif names:
            label, option = (f" {options.version}", f" --version {options.version}") if options.version else ("", "")
            hint = f"hookonce lab fetch {name}{option} downloads it"
            missing.append(f"{name}{label} is neither on this machine nor downloaded; {hint}")
        elif options.pinned:
            warn(f"{name} is not downloaded, and is left out; hookonce lab fetch {name}")
    return programs, missing


def _check_claim_names(options: Namespace, programs: list[AgentProgram]) -> None:
    """Names that nobody knows would be held by nobody; a part of a certificate is none."""
    known_names = {name for program in programs for name in claim_names_of(program)}
    known_names |= {*here.CLAIM_NAMES, *(experiment.name for experiment in EXPERIMENTS)}
    for name in options.only if programs else []:
        if name not in known_names:
            hint = suggest_name(name, known_names) or "; see --dry-run --json"
            raise UsageError(f"no claim or experiment is called {name!r}{hint}")
    for program in programs:
        if options.only and not claim_names_of(program, frozenset(options.only)):
            hint = f"hookonce is not installed for {program.agent}; hookonce install {program.agent}"
            raise HookonceError(f"there is nothing to test: {hint}")
    if options.out is not None and options.only:
        raise UsageError("--out writes whole certificates, so it cannot be used with --only")


def _print_plan(options: Namespace, programs: list[AgentProgram]) -> None:
    only = frozenset(options.only)
    if options.json:
        for program in programs:
            facts = {"agent": program.agent, "version": program.version, "origin": program.origin}
            print_json(facts | {"claims": claim_names_of(program, only)})
        return
    rows = [(one.agent, one.version, one.origin, len(claim_names_of(one, only)), one.program) for one in programs]
    print_table(("agent", "version", "from", "claims", "program"), ([*map(str, row)] for row in rows))
    names = ", ".join(experiment.name for experiment in EXPERIMENTS)
    print(f"experiments (--only takes one of them, or a claim): {names}")


def _prove_program(options: Namespace, program: AgentProgram, prefix: str) -> Certificate:
    only = frozenset(options.only)
    certificate = prove_agent(program, options.tries, lambda text: show_progress(prefix + text), only)
    show_progress("")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        # What is true here only is nobody else's business.
        shared_claims = [claim for claim in certificate.claims if not claim.claim.startswith("here:")]
        text = dump(replace(certificate, claims=shared_claims)) + b"\n"
        options.out.joinpath(f"{certificate.agent}-{certificate.version}.json").write_bytes(text)
    print_result(options, certificate, _print_certificate)
    sys.stdout.flush()
    return certificate


def _print_certificate(certificate: Certificate) -> None:
    print_table(("claim", "state", "evidence"), map(astuple, certificate.claims))
    counts = ", ".join(f"{count} {state}" for state, count in count_states(certificate).items())
    print(f"\n{certificate.agent} {certificate.version}: {counts}")
    tries = pluralize(certificate.tries, "try").replace("trys", "tries")
    print(f"{tries} of each, {certificate.seconds:.0f} s; {_format_extra_time(certificate)}\n")


def _format_extra_time(certificate: Certificate) -> str:
    if certificate.extra_ms is None:
        return "the time that hookonce adds was not measured"
    if certificate.extra_ms < 1:
        return "hookonce adds no measurable time between two model calls"
    return f"hookonce adds {certificate.extra_ms:.0f} ms between two model calls (for two hook calls)"


def _print_overview(certificates: list[Certificate]) -> None:
    states = count_states(certificates[0])
    rows = []
    for certificate in certificates:
        names = ", ".join(claim.claim for claim in certificate.claims if claim.state == "contradicted") or "-"
        extra = "-" if certificate.extra_ms is None else f"{certificate.extra_ms:.0f}"
        counts = map(str, count_states(certificate).values())
        rows.append((certificate.agent, certificate.version, *counts, extra, names))
    print_table(("agent", "version", *states, "ms added between model calls", "claims that do not hold"), rows)
