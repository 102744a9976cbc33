"""hookonce convert."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from msgspec.json import format as pretty

from hookonce import agents
from hookonce.cli._input import opened
from hookonce.cli._words import counted
from hookonce.config.paths import client
from hookonce.edit.jsonc import value_at
from hookonce.errors import HookonceError, UsageError
from hookonce.journeys.convert import Adapt, Conversion, convert
from hookonce.manifest.load import parse
from hookonce.model import Agent
from hookonce.texts import dump

GAPS = 3
MANIFEST = "hif"
_EXAMPLES = """examples:
  hookonce convert --from claude-code --to gemini-cli ~/.claude/settings.json
  hookonce convert --from hif --to codex --report gaps.json hooks.yaml
  hookonce convert --from qwen-code --to hif .qwen/settings.json"""


def configure(parser: ArgumentParser) -> None:
    """The options of `convert`."""
    known = ", ".join([MANIFEST, *(name for name in agents.AGENTS if agents.load(name).config is not None)])
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="the configuration; default: standard input"
    )
    parser.add_argument("--from", dest="source", required=True, metavar="NAME", help=f"{known} (hif: a manifest)")
    parser.add_argument("--to", dest="target", required=True, metavar="NAME", help="one of the same")
    parser.add_argument("--report", metavar="FILE", help="write what was lost as JSON")
    parser.add_argument("--strict", action="store_true", help="exit 3 when anything was lost")
    parser.add_argument(
        "--no-adapt",
        action="store_true",
        help="write commands as they are, without a wrapper",
    )
    parser.add_argument(
        "--scope",
        choices=("user", "project"),
        default="project",
        help="whose hooks these are",
    )
    parser.add_argument(
        "--on-block",
        choices=("guard", "error"),
        default="guard",
        help="what becomes of a hook that must block and cannot do its work there",
    )


def run(options: Namespace) -> int:
    """Convert one configuration; commands are carried over as they are."""
    source, target = _agent(options.source), _agent(options.target)
    with opened(options.file) as stream:
        raw = stream.read()
    # Agents tolerate comments in their files; a manifest may be YAML.
    document = parse(raw) if source is None else value_at(raw, ())
    adapt = None if options.no_adapt else Adapt(str(client()), options.scope)
    made = convert(document, source, target, adapt=adapt, on_block=options.on_block)
    sys.stdout.buffer.write(pretty(dump(made.document), indent=2) + b"\n")
    for gap in made.gaps:
        print(f"hookonce: {gap.effect or gap.strategy}: {gap.note or gap.where}", file=sys.stderr)
    if made.gaps:
        print(f"hookonce: {counted(len(made.gaps), 'gap')}; --report FILE lists them as JSON", file=sys.stderr)
    if options.report:
        _report(made, options.report)
    return GAPS if options.strict and made.gaps else 0


def _agent(name: str) -> Agent | None:
    if name == MANIFEST:
        return None
    agent = agents.load(name)
    if agent.config is None:
        raise UsageError(f"hooks of {agent.title} cannot be converted yet; hookonce convert --help lists who can")
    return agent


def _report(made: Conversion, path: str) -> None:
    """The gaps in the shape that others may rely on."""
    gaps = [
        {
            "hook": _hook(gap.where),
            "where": gap.where,
            "capability": gap.capability,
            "strategy": gap.strategy,
            "effect": gap.effect,
            "note": gap.note,
        }
        for gap in made.gaps
    ]
    try:
        Path(path).write_bytes(dump({"verified": made.verified, "gaps": gaps}) + b"\n")
    except OSError as problem:
        raise HookonceError(f"cannot write {path}: {problem.strerror}") from None


def _hook(where: str) -> int | None:
    """The index of the hook that a gap is about."""
    number = where.removeprefix("$.hooks[").partition("]")[0]
    return int(number) if number.isdecimal() else None
