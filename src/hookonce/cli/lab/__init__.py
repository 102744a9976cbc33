"""hookonce lab: verbs fetch, capture and diff."""

from argparse import ArgumentParser

from hookonce.cli._ui import verbs

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
    verbs.add_verbs(parser, "lab", VERBS)


run = verbs.run_verb
