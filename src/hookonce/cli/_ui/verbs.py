"""Verbs of a command, one module each below the command's package."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from importlib import import_module


def add_verbs(parser: ArgumentParser, command: str, verbs: dict[str, str]) -> None:
    """Add a subparser for each verb of a command."""
    subparsers = parser.add_subparsers(metavar="VERB", required=True)
    for name, text in verbs.items():
        verb = subparsers.add_parser(name, help=text, description=text, formatter_class=RawDescriptionHelpFormatter)
        module = import_module(f"hookonce.cli.{command}.{name}")
        module.configure(verb)
        verb.set_defaults(verb=module.run)


def run_verb(options: Namespace) -> int:
    """Run the verb that was parsed."""
    code: int = options.verb(options)
    return code
