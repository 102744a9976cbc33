"""hookonce allow: approve one action that needs a person, once."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.base import ids
from hookonce.base.terminal_text import escape_unprintable
from hookonce.cli._ui.consent import find_parent_agent, require_consent
from hookonce.errors import HookonceError
from hookonce.trust import approvals

SCOPE = "once, within ten minutes, in the same folder, by any agent in any session"


def configure(parser: ArgumentParser) -> None:
    """The options of `allow`."""
    parser.epilog = "examples:\n  hookonce allow          # shows what waits for an answer\n  hookonce allow K7PQ2M"
    parser.add_argument(
        "code",
        nargs="?",
        metavar="CODE",
        help="a code from hookonce why; default: the only waiting one, else list them",
    )


def run(options: Namespace) -> None:
    """Say yes to one action that a hook wanted a person to look at: once, within ten minutes."""
    code = options.code or _only_code()
    if code is None:
        return
    question, event_id = approvals.load_question(code), ids.new_id()
    if question is not None:
        text = f"allow this {SCOPE}:\n{question.text}"
        require_consent("allow", text, id=event_id, caused_by=question.call, tool=question.tool)
    if question is None or not approvals.approve(code, event_id):
        raise HookonceError(
            f"no action waits under the code {code}, or it is older than ten minutes; hookonce allow lists them"
        )
    print(f"The same action may be tried again: {SCOPE}")


def _only_code() -> str | None:
    """The code of the only open question; a list of them where there are more, for the eyes of a person alone."""
    if not sys.stdout.isatty() or find_parent_agent() is not None:
        raise HookonceError("name a code; hookonce allow in a terminal lists them")
    questions = approvals.open_questions()
    if not questions:
        raise HookonceError(
            "no action waits for approval; an action can be allowed for ten minutes after it was refused"
        )
    if len(questions) == 1:
        return questions[0][0]
    for code, question in questions:
        print(escape_unprintable(f"hookonce allow {code}   {question.text}"))
    return None
