"""hookonce resume: end a pause."""

from argparse import ArgumentParser, Namespace

from hookonce.cli._ui.consent import find_parent_agent, record_action
from hookonce.dispatch.pause import is_paused, resume


def configure(parser: ArgumentParser) -> None:
    """The options of `resume`."""
    parser.epilog = "example:\n  hookonce resume"


def run(_options: Namespace) -> None:
    """Ask hooks again; anybody may say that."""
    was_paused = is_paused()
    if was_paused:
        record_action("resume", "person" if find_parent_agent() is None else "agent")
    resume()
    print("Hooks run again" if was_paused else "Hooks were not paused")
