"""hookonce try."""

import os
import sys
from argparse import ArgumentParser, Namespace
from os.path import isfile
from shutil import which

from msgspec import to_builtins

from hookonce.canon.events import EVENTS
from hookonce.canon.spelling import near
from hookonce.cli import _named
from hookonce.cli._named import unknown
from hookonce.errors import HookonceError, UsageError
from hookonce.formats import FORMATS
from hookonce.invocation import CANONICAL
from hookonce.journeys.trial import Trial, find, hooks, nobody, sample, try_hook, waits
from hookonce.journeys.visible import visible
from hookonce.manifest.shell import is_builtin
from hookonce.texts import dump, load

_USUAL = "before_tool_execute"
_SHELL = frozenset(" /;|&<>$(")  # with one of these a word is a command
_EXAMPLES = """exit codes: 0 the hook has answered or has no opinion, 1 it has failed, 64 wrong usage

examples:
  hookonce try ./guard.sh --agent gemini-cli
  hookonce try guard.py
  hookonce try no-secrets --agent codex --tool file_read --input '{"path": ".env"}'"""


def configure(parser: ArgumentParser) -> None:
    """The options of `try`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("hook", metavar="HOOK", help="the name of a hook in a manifest, a program or a command")
    parser.add_argument("--agent", default="claude-code", metavar="NAME", help="who asks; default: claude-code")
    parser.add_argument("--event", metavar="EVENT", help=f"default: the hook's own, else {_USUAL}")
    parser.add_argument("--tool", default="shell", metavar="TOOL", help="the canonical tool; default: shell")
    parser.add_argument("--input", default='{"command": "rm -rf /"}', metavar="JSON", help="its canonical input")
    parser.add_argument("--dialect", metavar="NAME", help="whose input and answer it speaks; default: the hook's own")
    parser.add_argument("--json", action="store_true", help="tell it as JSON")


def run(options: Namespace) -> int:
    """Run a hook on an event that never happened, and show what the agent would be answered."""
    agent = _named.agent(options.agent)
    try:
        given = load(options.input)
    except ValueError as problem:
        raise UsageError(f"--input is no JSON: {problem}") from None
    if type(given) is not dict:
        raise UsageError("--input must be a JSON object")
    kind = None if options.event is None else _named.event(options.event)
    tried = find(_hook(options.hook), kind or _USUAL, _dialect(options.dialect))
    event = sample(agent, kind or (tried.hook.event if tried.hook.event in EVENTS else _USUAL), options.tool, given)
    made = try_hook(agent, event, tried, dict(os.environ))
    if options.json:
        sys.stdout.buffer.write(dump(to_builtins(made)) + b"\n")
    else:
        _tell(agent.title, made)
    return 1 if made.told.run.failure else 0


def _hook(name: str) -> str:
    """The name of a hook, or a command; what is neither was probably meant to be a hook."""
    known = hooks()
    is_command = _SHELL & {*name} or is_builtin(name) or which(name) or isfile(name)  # noqa: PTH113  never raises
    if name in known or (is_command and not waits(name)):
        return name
    if near(name, known):
        raise unknown("hook or program", name, known, "hookonce check names the hooks of a manifest")
    raise HookonceError(nobody(name))


def _dialect(name: str | None) -> str | None:
    """Whose words a hook speaks: ours, a format's or an agent's."""
    if name is None or name == CANONICAL or name in FORMATS:
        return name
    return _named.agent(name, others=FORMATS).name


def _tell(title: str, made: Trial) -> None:
    run, decision = made.told.run, made.told.decision
    if made.skipped:
        print(f"no agent would ask this hook, it is only tried: {made.skipped}")
    print(f"the hook was given: {made.stdin}")
    print(f"it ended with {run.failure or f'exit code {run.exit}'} after {run.duration_ms} ms")
    says = "it has failed, which counts as" if run.failure else "it says:"
    print(f"{says} {decision.outcome or 'no opinion'}{f', because {decision.reason}' if decision.reason else ''}")
    for line in made.stderr.splitlines():
        print(f"it wrote on stderr: {visible(line)}")
    if made.unknown:
        print(f"its answer says what nobody understands: {visible(', '.join(made.unknown))}")
    answer = made.reply
    print(f"{title} would be answered: exit code {answer.code}, stdout {answer.stdout!r}, stderr {answer.stderr!r}")
    for gap in made.gaps:
        print(f"note: {gap.where} {gap.note}")
