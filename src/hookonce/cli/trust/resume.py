"""hookonce resume: end a pause."""

from argparse import ArgumentParser, Namespace

from hookonce.dispatch.pause import resume


def configure(parser: ArgumentParser) -> None:
    """The options of `resume`."""
    parser.epilog = "example:\n  hookonce resume"


def run(_options: Namespace) -> None:
    """Ask hooks again; anybody may say that."""
    resume()
    print("Hooks are asked again")
