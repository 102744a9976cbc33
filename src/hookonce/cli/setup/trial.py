"""hookonce try: run a hook on a sample event."""

import os
from argparse import ArgumentParser, Namespace
from os.path import isfile
from shutil import which

from hookonce.base.invocation import CANONICAL_DIALECT
from hookonce.base.jsontext import load
from hookonce.base.terminal_text import escape_unprintable
from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.messages import print_result
from hookonce.diagnose import trial
from hookonce.errors import HookonceError, UsageError
from hookonce.formats import FORMATS
from hookonce.inspect.query_args import find_agent, find_event_type, unknown_name_error
from hookonce.trust.shell_words import is_builtin
from hookonce.vocabulary.events import EVENTS
from hookonce.vocabulary.names import suggest_name

_DEFAULT_EVENT = "before_tool_execute"
_SHELL_CHARS = frozenset(" /;|&<>$(")  # with one of these a word is a command
_EXAMPLES = """exit codes: 0 the hook has decided or made no decision, 1 it has failed, 64 wrong usage

examples:
  hookonce try ./guard.sh --agent gemini-cli
  hookonce try guard.py
  hookonce try no-secrets --agent codex --tool file_read --input '{"path": ".env"}'"""


def configure(parser: ArgumentParser) -> None:
    """The options of `try`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("hook", metavar="HOOK", help="the name of a hook in a manifest, a program or a command")
    parser.add_argument(
        "--agent", default="claude-code", metavar="NAME", help="the agent that reports the event; default: claude-code"
    )
    parser.add_argument("--event", metavar="EVENT", help=f"default: the hook's own, else {_DEFAULT_EVENT}")
    parser.add_argument("--tool", default="shell", metavar="TOOL", help="the canonical tool; default: shell")
    parser.add_argument("--input", default='{"command": "rm -rf /"}', metavar="JSON", help="its canonical input")
    parser.add_argument(
        "--dialect", metavar="NAME", help="the agent or format of its input and answer; default: the hook's own"
    )
    add_flag(parser, "--json", "print JSON")


def run(options: Namespace) -> int:
    """Run a hook on an event that never happened, and show what the agent would be answered."""
    agent = find_agent(options.agent)
    try:
        tool_input = load(options.input)
    except ValueError as problem:
        raise UsageError(f"--input is not JSON: {problem}") from None
    if type(tool_input) is not dict:
        raise UsageError("--input must be a JSON object")
    event_type = None if options.event is None else find_event_type(options.event)
    hook, dialect = _resolve_hook(options.hook), options.dialect
    if dialect not in {None, CANONICAL_DIALECT, *FORMATS}:
        dialect = find_agent(dialect, others=FORMATS).name
    candidate = trial.find_hook(hook, event_type or _DEFAULT_EVENT, dialect)
    own_type = candidate.hook.event if candidate.hook.event in EVENTS else _DEFAULT_EVENT
    event = trial.sample_event(agent, event_type or own_type, options.tool, tool_input)
    result = trial.try_hook(agent, event, candidate, dict(os.environ))
    print_result(options, result, lambda result: _print_trial(agent.title, result))
    return 1 if result.told.run.failure else 0


def _resolve_hook(name: str) -> str:
    """The name of a hook, or a command; what is neither was probably meant to be a hook."""
    known_names = trial.hook_names()
    is_command = _SHELL_CHARS & {*name} or is_builtin(name) or which(name) or isfile(name)  # noqa: PTH113  never raises
    if name in known_names or (is_command and not trial.is_awaiting_trust(name)):
        return name
    if suggest_name(name, known_names):
        raise unknown_name_error("hook or program", name, known_names, "hookonce check lists the hooks of a manifest")
    raise HookonceError(trial.unknown_hook_message(name))


def _print_trial(title: str, result: trial.Trial) -> None:
    run, decision = result.told.run, result.told.decision
    for sentence in result.in_force:
        print(escape_unprintable(sentence))
    if result.skipped:
        print(f"no agent would run this hook for this event: {result.skipped}")
    print(f"the hook got on stdin: {result.stdin}")
    end = f"it failed ({run.failure})" if run.failure else f"it ended with exit code {run.exit}"
    print(f"{end} after {run.duration_ms} ms")
    verdict_prefix = "the failure counts as:" if run.failure else "decision:"
    reason = f", because {decision.reason}" if decision.reason else ""
    print(f"{verdict_prefix} {decision.outcome or 'no decision'}{reason}")
    for line in result.stderr.splitlines():
        print(f"it wrote on stderr: {escape_unprintable(line)}")
    if result.unknown:
        print(f"its answer has fields that are not known: {escape_unprintable(', '.join(result.unknown))}")
    answer = result.reply
    print(f"{title} would get: exit code {answer.code}, stdout {answer.stdout!r}, stderr {answer.stderr!r}")
    for gap in result.gaps:
        print(f"note: {gap.where} {gap.note}")
