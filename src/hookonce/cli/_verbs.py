"""Commands that have verbs, each verb in a file of its own: _COMMAND_VERB.py."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from importlib import import_module


def configure(parser: ArgumentParser, command: str, verbs: dict[str, str]) -> None:
    """The verbs of a command, each with its own options."""
    known = parser.add_subparsers(metavar="VERB", required=True)
    for name, text in verbs.items():
        verb = known.add_parser(name, help=text, description=text, formatter_class=RawDescriptionHelpFormatter)
        module = import_module(f"hookonce.cli._{command}_{name}")
        module.configure(verb)
        verb.set_defaults(verb=module.run)


def run(options: Namespace) -> int:
    """Do what the verb says."""
    code: int = options.verb(options)
    return code
