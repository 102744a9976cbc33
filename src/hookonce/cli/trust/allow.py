"""hookonce allow: approve one action that needs a person, once."""

from argparse import ArgumentParser, Namespace

from hookonce.cli._ui.consent import require_consent
from hookonce.errors import HookonceError
from hookonce.trust import approvals


def configure(parser: ArgumentParser) -> None:
    """The options of `allow`."""
    parser.epilog = "example:\n  hookonce why          # shows the code\n  hookonce allow K7PQ2M"
    parser.add_argument("code", metavar="CODE", help="the code that hookonce why shows")


def run(options: Namespace) -> None:
    """Say yes to one action that a hook wanted a person to look at: once, within ten minutes."""
    question = approvals.load_question(options.code)
    if question is not None:
        require_consent("allow", f"let this happen once, within ten minutes:\n{question.text}")
    if question is None or not approvals.approve(options.code):
        raise HookonceError(f"there is no question {options.code}, or it is older than ten minutes")
    print("The same action may be tried once within ten minutes")
