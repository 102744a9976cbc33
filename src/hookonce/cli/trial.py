"""hookonce try."""

import os
import sys
from argparse import ArgumentParser, Namespace

from msgspec import to_builtins

from hookonce import agents
from hookonce.errors import UsageError
from hookonce.journeys.trial import Trial, find, sample, try_hook
from hookonce.texts import dump, load

_EXAMPLES = """examples:
  hookonce try ./guard.sh --agent gemini-cli
  hookonce try no-secrets --agent codex --tool file_read --input '{"path": ".env"}'"""


def configure(parser: ArgumentParser) -> None:
    """The options of `try`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("hook", metavar="HOOK", help="the name of a hook in a manifest, or a command")
    parser.add_argument("--agent", default="claude-code", metavar="NAME", help="who asks; default: claude-code")
    parser.add_argument("--event", default="before_tool_execute", metavar="EVENT", help="default: before_tool_execute")
    parser.add_argument("--tool", default="shell", metavar="TOOL", help="the canonical tool; default: shell")
    parser.add_argument("--input", default='{"command": "rm -rf /"}', metavar="JSON", help="its canonical input")
    parser.add_argument("--dialect", metavar="NAME", help="whose input and answer it speaks; default: the hook's own")
    parser.add_argument("--json", action="store_true", help="tell it as JSON")


def run(options: Namespace) -> int:
    """Run a hook on an event that never happened, and show what the agent would be answered."""
    agent = agents.load(options.agent)
    try:
        given = load(options.input)
    except ValueError as problem:
        raise UsageError(f"--input is no JSON: {problem}") from None
    if type(given) is not dict:
        raise UsageError("--input must be a JSON object")
    event = sample(agent, options.event, options.tool, given)
    tried = find(options.hook, options.event, options.dialect)
    made = try_hook(agent, event, tried, dict(os.environ))
    if options.json:
        sys.stdout.buffer.write(dump(to_builtins(made)) + b"\n")
    else:
        _tell(agent.title, made)
    return 0


def _tell(title: str, made: Trial) -> None:
    run, decision = made.told.run, made.told.decision
    print(f"the hook was given: {made.stdin}")
    print(f"it ended with {run.failure or f'exit code {run.exit}'} after {run.duration_ms} ms")
    print(f"it says: {decision.outcome or 'no opinion'}{f', because {decision.reason}' if decision.reason else ''}")
    answer = made.reply
    print(f"{title} would be answered: exit code {answer.code}, stdout {answer.stdout!r}, stderr {answer.stderr!r}")
    for gap in made.gaps:
        print(f"note: {gap.where} {gap.note}")
