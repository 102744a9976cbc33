"""hookonce lab: verb fetch."""

from argparse import ArgumentParser

from hookonce.cli._ui import verbs

VERBS: dict[str, str] = {
    "fetch": "fetch pinned agents from npm",
}

_EXAMPLES = """examples:
  hookonce lab fetch --dry-run
  hookonce lab fetch codex"""


def configure(parser: ArgumentParser) -> None:
    """The verbs of `lab`, what can be done beside `prove`."""
    parser.epilog = _EXAMPLES
    verbs.add_verbs(parser, "lab", VERBS)


run = verbs.run_verb
