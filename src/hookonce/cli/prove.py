"""hookonce prove."""

import signal
import sys
from argparse import ArgumentParser, Namespace
from argparse import ArgumentTypeError as Wrong
from pathlib import Path

from msgspec.structs import replace

from hookonce.canon.spelling import near
from hookonce.cli import _named
from hookonce.cli._progress import tell
from hookonce.cli._table import show, table
from hookonce.cli._words import counted
from hookonce.errors import HookonceError, UsageError
from hookonce.lab import drivers
from hookonce.lab.certificate import Certificate, counts
from hookonce.lab.experiment import EXPERIMENTS
from hookonce.lab.experiments import here
from hookonce.lab.found import Found, find
from hookonce.lab.prove import names_of, prove
from hookonce.texts import dump

_MOST = 20
_ENDINGS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_EXAMPLES = """examples:
  hookonce prove
  hookonce prove claude-code --only denied
  hookonce prove qwen-code --version 0.15.10 --json
  hookonce prove --pinned --tries 3 --out certificates"""
_LACKING = "no agent was found on this machine or among those that were fetched; hookonce lab fetch gets them"


def configure(parser: ArgumentParser) -> None:
    """The options of `prove`."""
    parser.epilog = _EXAMPLES
    known = ", ".join(drivers.DRIVERS)
    parser.add_argument("names", nargs="*", metavar="AGENT", help=f"default: all that are found of {known}")
    parser.add_argument(
        "--pinned", action="store_true", help="only what was fetched, in the versions that we know best"
    )
    parser.add_argument("--version", metavar="V", help="a version that was fetched (hookonce lab fetch --version V)")
    parser.add_argument(
        "--tries", type=_tries, default=1, metavar="N", help="how often each claim is tried; default: 1"
    )
    parser.add_argument("--only", action="append", default=[], metavar="CLAIM", help="only this claim or experiment")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write a certificate for each agent into a folder")
    parser.add_argument("--dry-run", action="store_true", help="tell what would be tried, and try nothing")
    parser.add_argument("--json", action="store_true", help="one JSON object for each agent")


def _tries(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _MOST:
        raise Wrong(f"a number from 1 to {_MOST} is needed, not {text}")
    return int(text)


def run(options: Namespace) -> int:
    """Run real agents offline against a scripted model, and show which of our claims about their hooks hold."""
    found, missing = _found(options)
    for text in missing:
        print(f"hookonce: {text}", file=sys.stderr)
    if not found and not missing:
        raise HookonceError(_LACKING)
    _check(options, found)
    if options.dry_run:
        _plan(options, found)
        return int(bool(missing))
    for number in _ENDINGS:
        signal.signal(number, _interrupted)
    proofs = [_prove(options, one) for one in found]
    if not options.json and len(proofs) > 1:
        _show_all(proofs)
    return int(bool(missing) or any(counts(one)["contradicted"] for one in proofs))


def _interrupted(number: int, _frame: object) -> None:
    """Whoever ends us wants what we have started to be ended too."""
    for one in _ENDINGS:  # a second one would interrupt the cleaning up
        signal.signal(one, signal.SIG_IGN)
    raise KeyboardInterrupt(number)


def _found(options: Namespace) -> tuple[list[Found], list[str]]:
    """The agents that can be run, and what is to be said of those that were named and cannot."""
    named = list(dict.fromkeys(_named.agent(name).name for name in options.names))
    if options.version and len(named) != 1:
        raise UsageError("a version belongs to one agent: hookonce prove AGENT --version V")
    found, missing = [], []
    for name in named or drivers.DRIVERS:
        try:
            one = find(name, options.version, pinned=options.pinned)
        except HookonceError as problem:
            missing.append(str(problem))
            continue
        if one is not None:
            found.append(one)
        elif named:
            version = f" --version {options.version}" if options.version else ""
            told = f"{name} {options.version or ''}".strip()
            missing.append(f"{told} is neither on this machine nor fetched; hookonce lab fetch {name}{version} gets it")
        elif options.pinned:
            print(f"hookonce: {name} was not fetched, and is left out; hookonce lab fetch {name}", file=sys.stderr)
    return found, missing


def _check(options: Namespace, found: list[Found]) -> None:
    """Names that nobody knows would be held by nobody; a part of a certificate is none."""
    known = {name for one in found for name in [*names_of(one), *(two.name for two in EXPERIMENTS)]} | set(here.NAMES)
    for name in options.only if found else []:
        if name not in known:
            raise UsageError(
                f"no claim or experiment is called {name!r}" + (near(name, known) or "; see --dry-run --json")
            )
    for one in found:
        if options.only and not names_of(one, frozenset(options.only)):
            told = f"there is nothing to try: hookonce is not installed for {one.agent}"
            raise HookonceError(f"{told}; hookonce install {one.agent}")
    if options.out is not None and options.only:
        raise UsageError("--out keeps whole certificates, so it does not go with --only")


def _plan(options: Namespace, found: list[Found]) -> None:
    only = frozenset(options.only)
    if options.json:
        for one in found:
            told = {"agent": one.agent, "version": one.version, "origin": one.origin, "claims": names_of(one, only)}
            sys.stdout.buffer.write(dump(told) + b"\n")
        return
    made = table("agent", "version", "from", "claims", "program")
    for one in found:
        made.add_row(one.agent, one.version, one.origin, str(len(names_of(one, only))), str(one.program))
    show(made)
    print(f"experiments (--only takes one of them, or a claim): {', '.join(one.name for one in EXPERIMENTS)}")


def _prove(options: Namespace, found: Found) -> Certificate:
    made = prove(found, options.tries, tell, frozenset(options.only))
    tell("")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        own = [one for one in made.claims if not one.claim.startswith("here:")]  # nobody else's business
        text = dump(replace(made, claims=own)) + b"\n"
        options.out.joinpath(f"{made.agent}-{made.version}.json").write_bytes(text)
    if options.json:
        sys.stdout.buffer.write(dump(made) + b"\n")
        sys.stdout.flush()
    else:
        _show(made)
    return made


def _show(proof: Certificate) -> None:
    made = table("claim", "state", "evidence")
    for one in proof.claims:
        made.add_row(one.claim, one.state, one.evidence)
    show(made)
    print(f"\n{proof.agent} {proof.version}: {_counted(proof)}")
    print(f"{counted(proof.tries, 'try').replace('trys', 'tries')} of each, {proof.seconds:.0f} s; {_extra(proof)}\n")


def _counted(proof: Certificate) -> str:
    return ", ".join(f"{count} {state}" for state, count in counts(proof).items())


def _extra(proof: Certificate) -> str:
    if proof.extra_ms is None:
        return "the time that hookonce takes was not measured"
    if proof.extra_ms < 1:
        return "not measurably more time between two turns of the model than without hookonce"
    return f"{proof.extra_ms:.0f} ms more between two turns of the model (hookonce is called twice there)"


def _show_all(proofs: list[Certificate]) -> None:
    made = table(
        "agent", "version", "held", "contradicted", "unreachable", "untried", "ms more per call", "what is contradicted"
    )
    for one in proofs:
        told = ", ".join(claim.claim for claim in one.claims if claim.state == "contradicted") or "-"
        extra = "-" if one.extra_ms is None else f"{one.extra_ms:.0f}"
        made.add_row(one.agent, one.version, *map(str, counts(one).values()), extra, told)
    show(made)
