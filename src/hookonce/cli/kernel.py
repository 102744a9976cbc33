"""hookonce kernel: run a script of sessions, mounts and invocations of modules."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from hookonce.base.json_stream import read_documents
from hookonce.cli._ui.arguments import add_flag, add_verb, line_location, open_input, parse_duration
from hookonce.cli._ui.messages import pluralize, print_json, warn
from hookonce.errors import HookonceError
from hookonce.modules.kernel.script import ScriptLine, ScriptRunner, ScriptStep, parse_script
from hookonce.modules.kernel.user_kernel import build_kernel
from hookonce.modules.protocol.capabilities import policy_from_grants

VERBS: dict[str, str] = {"run": "run a script of sessions, mounts and invocations, one per line"}
_EXAMPLES = "examples:\n  hookonce kernel run greet.jsonl\n  hookonce kernel run --help"
_RUN_HELP = """Each line is a request of the module protocol, {"op": …, "args": {…}, "session_id": …}; each
answer a line of JSON. "as" names a result, "$NAME" stands for it later; "expect" is what the answer has to hold.

  {"op": "session:start", "args": {"plan": {"goal": "say hello", "inputs": {}}}, "as": "s"}
  {"op": "mount:add", "args": {"path": "/mnt/tools", "descriptor": "greeter.json"}}
  {"op": "module:invoke", "args": {"module": "greeter", "op": "greet"}, "session_id": "$s", "expect": {"ok": true}}
  {"op": "session:end", "session_id": "$s"}

Further: session:fork, mount:remove, hook:register, context:get, context:set, context:compact, emit. A file is checked
before anything of it is run; standard input (-) is run line by line. A step whose answer is an error, or not what is
expected, ends the script. Modules get nothing that was not granted: [grants] in config.toml grants permanently, --allow
for this run. Everything is recorded, like every call of a module.

exit codes: 0 every step did what it should, 1 one did not, or the script has problems, 64 wrong usage

examples:
  hookonce kernel run greet.jsonl
  hookonce kernel run greet.jsonl --dry-run
  hookonce kernel run tools.jsonl --allow fs.read --keep-going
  echo '{"op": "module:invoke", "args": {"module": "greeter.json", "op": "health"}}' | hookonce kernel run -"""


def configure(parser: ArgumentParser) -> None:
    """The verb of `kernel`."""
    parser.epilog = _EXAMPLES
    verb = add_verb(parser.add_subparsers(metavar="VERB", required=True), "run", VERBS["run"], _RUN_HELP)
    verb.add_argument("script", metavar="FILE", help="a script with one request per line; - is stdin")
    verb.add_argument(
        "--allow", action="append", default=[], metavar="CAPABILITY", help="grant this capability in this run"
    )
    verb.add_argument(
        "--timeout", type=parse_duration, default=30.0, metavar="TIME", help="timeout of an invocation; default: 30s"
    )
    add_flag(verb, "--keep-going", "continue after a failed step")
    add_flag(verb, "--dry-run", "check the script, without starting or calling a module or recording anything")


def run(options: Namespace) -> int:
    """Run a script, step by step."""
    folder = Path() if options.script == "-" else Path(options.script).resolve().parent
    with ExitStack() as stack:
        lines: Iterable[ScriptLine] = parse_script(
            read_documents(stack.enter_context(open_input(options.script))), folder
        )
        if options.script != "-" or options.dry_run:
            lines = list(lines)
            if problems := [line for line in lines if not isinstance(line, ScriptStep)]:
                for number, message in problems:
                    warn(f"{line_location(options.script, number)}: {message}")
                raise HookonceError(f"the script has {pluralize(len(problems), 'problem')}; nothing was run")
        failed_count, rest_count = _run_steps(lines, options)
    if failed_count:
        rest = f"; {pluralize(rest_count, 'step')} after it did not run; --keep-going runs them" if rest_count else ""
        warn(f"{pluralize(failed_count, 'step')} failed{rest}")
    return 1 if failed_count else 0


def _run_steps(lines: Iterable[ScriptLine], options: Namespace) -> tuple[int, int]:
    """How many steps failed, and how many of a file were not run."""
    policy = {"--allow": policy_from_grants({"*": options.allow})}
    failed_count, steps = 0, iter(lines)
    with build_kernel(policy, options.timeout, is_dry=options.dry_run) as kernel:
        runner = ScriptRunner(kernel, is_dry=options.dry_run)
        for line in steps:
            failed_count += not _run_line(runner, line, options.script)
            if failed_count and not options.keep_going:
                break
        for delivery in kernel.close():
            if delivery.failures:
                fate = "kept" if delivery.is_lossless else f"sent to {delivery.name}"
                warn(f"{pluralize(delivery.failures, 'event')} could not be {fate}: {delivery.last_error}")
    return failed_count, 0 if options.script == "-" else sum(1 for _ in steps)


def _run_line(runner: ScriptRunner, line: ScriptLine, script: str) -> bool:
    """Whether a step did what it should."""
    if not isinstance(line, ScriptStep):
        warn(f"{line_location(script, line[0])}: {line[1]}")
        return False
    answer = runner.run(line)
    print_json(answer.to_document())
    sys.stdout.flush()  # somebody may be waiting at the other end
    if answer.problem is not None:
        warn(f"{line_location(script, line.line)}: {line.op}: {answer.problem}")
    return answer.problem is None
