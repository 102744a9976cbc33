"""hookonce lab: verbs fetch, capture and diff."""

from argparse import ArgumentParser

from hookonce.cli import _verbs

VERBS: dict[str, str] = {
    "fetch": "fetch pinned agents from npm",
    "capture": "record what an agent tells its hooks, scrubbed, as files",
    "diff": "show what changed between two versions of an agent",
}

_EXAMPLES = """examples:
  hookonce lab fetch --dry-run
  hookonce lab capture codex
  hookonce lab diff claude-code 2.1.197 2.1.325
  hookonce lab diff --help"""


def configure(parser: ArgumentParser) -> None:
    """The verbs of `lab`, what can be done beside `prove`."""
    parser.epilog = _EXAMPLES
    _verbs.add_verbs(parser, "lab", VERBS)


run = _verbs.run_verb
