"""hookonce module invoke."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.canon.spelling import near
from hookonce.cli._when import span
from hookonce.cli._words import counted
from hookonce.errors import UsageError

_EXAMPLES = """A module gets nothing that it was not granted: [grants] in config.toml does so for good, --allow once.

exit codes: 0 ok, 1 the module answered with an error, 64 wrong usage

examples:
  hookonce module invoke greeter.json greet '{"name": "you"}'
  hookonce module invoke reader cat '{"path": "/etc/hostname"}' --allow fs.read"""


def configure(parser: ArgumentParser) -> None:
    """The options of `module invoke`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("module", metavar="MODULE", help="the name of a module, or a descriptor's file")
    parser.add_argument("op", metavar="OP", help="what it is to do; health and describe as well")
    parser.add_argument("args", nargs="?", metavar="JSON", help="what it is given")
    parser.add_argument("--allow", action="append", default=[], metavar="CAPABILITY", help="grant it this time")
    parser.add_argument("--timeout", type=span, default=30.0, metavar="TIME", help="default: 30s")
    parser.add_argument("--json", action="store_true", help="the answer is JSON with and without it")


def run(options: Namespace) -> int:
    """Ask it, and print the document that it answers with."""
    from hookonce.cli._module_named import argument, descriptor
    from hookonce.cli._warn import warn
    from hookonce.journeys.kernel import kernel
    from hookonce.modules.gate import listed
    from hookonce.texts import dump

    found = descriptor(options.module)
    if strange := next((one for one in options.allow if one not in found.capabilities), None):
        there = f"; it wants {', '.join(found.capabilities)}" if found.capabilities else "; it wants nothing"
        raise UsageError(f"{found.name} does not want {strange}{near(strange, found.capabilities) or there}")
    with kernel({"--allow": listed({found.name: options.allow})}, options.timeout) as made:
        said = made.invoke_module(found, options.op, argument(options.args))
        posts = made.close()
    sys.stdout.buffer.write(dump(said) + b"\n")
    for post in posts:
        if post.failures:
            warn(f"{counted(post.failures, 'event')} could not be kept: {post.problem}")
    if not said["ok"] and said["error"]["code"] == "forbidden":
        warn("--allow CAPABILITY grants it this time, [grants] of config.toml for good")
    return 0 if said["ok"] else 1
