"""hookonce module invoke: one operation of a module."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.cli._ui.arguments import parse_duration
from hookonce.cli._ui.messages import pluralize
from hookonce.errors import UsageError
from hookonce.vocabulary.names import suggest_name

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
    parser.add_argument("--timeout", type=parse_duration, default=30.0, metavar="TIME", help="default: 30s")
    parser.add_argument("--json", action="store_true", help="the answer is JSON with and without it")


def run(options: Namespace) -> int:
    """Ask it, and print the document that it answers with."""
    from hookonce.base.jsontext import dump
    from hookonce.cli._ui.messages import warn
    from hookonce.cli.module.arguments import load_descriptor, parse_arguments
    from hookonce.modules.kernel.user_kernel import build_kernel
    from hookonce.modules.protocol.capabilities import policy_from_grants

    module_descriptor = load_descriptor(options.module)
    if unwanted_name := next(
        (capability for capability in options.allow if capability not in module_descriptor.capabilities), None
    ):
        wanted_note = (
            f"; it wants {', '.join(module_descriptor.capabilities)}"
            if module_descriptor.capabilities
            else "; it wants nothing"
        )
        raise UsageError(
            f"{module_descriptor.name} does not want {unwanted_name}{suggest_name(unwanted_name, module_descriptor.capabilities) or wanted_note}"
        )
    with build_kernel(
        {"--allow": policy_from_grants({module_descriptor.name: options.allow})}, options.timeout
    ) as host:
        response = host.invoke_module(module_descriptor, options.op, parse_arguments(options.args))
        deliveries = host.close()
    sys.stdout.buffer.write(dump(response) + b"\n")
    for delivery in deliveries:
        if delivery.failures:
            warn(f"{pluralize(delivery.failures, 'event')} could not be kept: {delivery.last_error}")
    if not response["ok"] and response["error"]["code"] == "forbidden":
        warn("--allow CAPABILITY grants it this time, [grants] of config.toml for good")
    return 0 if response["ok"] else 1
