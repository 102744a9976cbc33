"""hookonce lab."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from importlib import import_module

# What the lab can do beside `prove`, each in a file of its own: _lab_NAME.py.
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
    """The verbs of `lab`, each with its own options."""
    parser.epilog = _EXAMPLES
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    for name, text in VERBS.items():
        verb = verbs.add_parser(name, help=text, description=text, formatter_class=RawDescriptionHelpFormatter)
        module = import_module(f"hookonce.cli._lab_{name}")
        module.configure(verb)
        verb.set_defaults(verb=module.run)


def run(options: Namespace) -> int:
    """Do what the verb says."""
    code: int = options.verb(options)
    return code
