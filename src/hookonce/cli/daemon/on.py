"""hookonce on: answer one hook call of an agent, or one event in an open format (one-shot client)."""

from argparse import REMAINDER, ArgumentParser, Namespace

from hookonce.client.oneshot_call import main
from hookonce.dispatch import live_formats


def configure(parser: ArgumentParser) -> None:
    """The options of `on`, which are read by hand: nothing that an agent writes may end in a usage message."""
    options = "[--via AGENT/SCOPE] [--dialect D --run CMD --scope SCOPE --timeout S --on-failure MODE]"
    parser.usage = f"hookonce on AGENT [EVENT] {options}\n       hookonce on FORMAT"
    parser.epilog = (
        "examples:\n  hookonce on claude-code PreToolUse < payload.json\n  hookonce on openhook < event.json\n\n"
        f"FORMAT is an open format that a tool can send: {', '.join(live_formats.LIVE_FORMATS)} (docs/intake.md)"
    )
    parser.add_argument("words", nargs=REMAINDER, metavar="AGENT [EVENT] …", help="the agent and its event")
    parser.set_defaults(explain=parser.print_help)
    parser.prefix_chars = "\0"  # no word begins with it, so that every word comes to us


def run(options: Namespace) -> int:
    """Answer one call of an agent, or one event of a tool: payload on stdin, the caller's own answer on stdout."""
    if options.words in (["-h"], ["--help"]):
        options.explain()
        return 0
    try:
        return main(options.words)
    except Exception:  # noqa: BLE001  too broken to know any better: no opinion
        return 0
