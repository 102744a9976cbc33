"""hookonce module: verbs check, invoke, list and serve of the module protocol."""

import os
import sys
from argparse import ArgumentParser, Namespace
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hookonce.base import settings
from hookonce.base.jsontext import load
from hookonce.cli._ui.arguments import add_flag, add_verb, parse_duration
from hookonce.cli._ui.messages import pluralize, print_json, print_result, show_status, warn
from hookonce.cli._ui.tables import print_table
from hookonce.errors import HookonceError, UsageError
from hookonce.model import Object
from hookonce.modules.protocol.descriptor import Descriptor, mount_problems
from hookonce.modules.protocol.messages import DEFAULT_TIMEOUT_S, HEALTH_TIMEOUT_S
from hookonce.vocabulary.names import suggest_name

if TYPE_CHECKING:
    from hookonce.modules.conformance.suite import ConformanceReport

VERBS: dict[str, str] = {
    "check": "test whether a module follows the protocol",
    "invoke": "call an operation of a module, and print the answer",
    "list": "list the modules with a descriptor on this machine",
    "serve": "serve hookonce as a module, for hosts and agents",
}
_EXAMPLES = """Descriptors are in ~/.config/hookonce/modules; instead of a name, a path to one works everywhere.

examples:
  hookonce module check greeter.json
  hookonce module invoke greeter.json greet '{"name": "you"}'
  hookonce module list
  hookonce module serve --mcp"""
_CHECK_HELP = """A module on stdio is started and stopped by the check; one that listens must be running already.

exit codes: 0 every case passed (or was skipped, with a reason), 1 a case failed, 64 wrong usage

examples:
  hookonce module check greeter.json
  hookonce module check --descriptor greeter.json --case minimal --timeout 30s
  hookonce module check greeter.json --transport http
  hookonce module check greeter.json --json --transcripts said
  hookonce module check greeter.json --op greet --args '{"name": "you"}' --json"""
_INVOKE_HELP = """A module gets only granted capabilities: [grants] in config.toml grants permanently, --allow once.

exit codes: 0 ok, 1 the module answered with an error, 64 wrong usage

examples:
  hookonce module invoke greeter.json greet '{"name": "you"}'
  hookonce module invoke reader cat '{"path": "/etc/hostname"}' --allow fs.read"""
_LIST_HELP = "examples:\n  hookonce module list\n  hookonce module list --health --json"
_SERVE_HELP = """Without an option it serves the module protocol, as JSON lines on stdin and stdout: respond,
translate, check, query, sessions, show, and on_event, which records an event. Over MCP an agent can ask what it did:
query, sessions, show, check and translate, which change nothing. A MODULE that is reached over HTTP, MCP or gRPC is
served on stdin and stdout too.

examples:
  hookonce module serve --descriptor
  hookonce module serve --http 8790 --token-env HOOKONCE_TOKEN
  hookonce module serve greeter.json --http 8791 --token-env HOOKONCE_TOKEN
  hookonce module serve judge.json
  hookonce module serve --mcp
  claude mcp add hookonce -- hookonce module serve --mcp"""


def configure(parser: ArgumentParser) -> None:
    """The verbs of `module`."""
    parser.epilog = _EXAMPLES
    subparsers = parser.add_subparsers(metavar="VERB", required=True)
    for name, (add_options, run_verb, epilog) in _VERB_FUNCTIONS.items():
        verb = add_verb(subparsers, name, VERBS[name], epilog)
        add_options(verb)
        verb.set_defaults(verb=run_verb)


def run(options: Namespace) -> int:
    """Run the verb that was parsed."""
    return cast("int", options.verb(options))


def _load_descriptor(name: str | None) -> Descriptor:
    from hookonce.modules.kernel.user_kernel import find_module

    if name is None:
        raise UsageError("name a module of this machine, or the file of a descriptor")
    return find_module(name)


def _parse_arguments(text: str | None) -> Object:
    try:
        arguments = {} if text is None else load(text)
    except (ValueError, RecursionError):
        raise UsageError('the arguments are not JSON; expected an object such as \'{"name": "you"}\'') from None
    if type(arguments) is not dict:
        raise UsageError('expected a JSON object such as \'{"name": "you"}\'')
    return arguments


def _configure_check(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("module", nargs="?", metavar="MODULE", help="the name of a module, or a descriptor's file")
    add("--descriptor", metavar="FILE", help="the same, under the name that other conformance tools use")
    transport_help = "the transport to test; http serves a program on stdio over HTTP"
    add("--transport", choices=("stdio", "http"), help=transport_help)
    add("--case", action="append", metavar="CASE", help="minimal, all, or the name of one case; default: all")
    add("--timeout", type=parse_duration, default=30.0, metavar="TIME", help="timeout of an invocation; default: 30s")
    add("--op", metavar="OP", help="an operation that must succeed")
    add("--args", metavar="JSON", help="the arguments, as a JSON object")
    transcripts_help = "write the messages of each case to a file in this folder"
    add("--transcripts", type=Path, metavar="FOLDER", help=transcripts_help)
    add_flag(parser, "--json", "print the whole report as JSON, with the messages of each case")


def _run_check(options: Namespace) -> int:
    from hookonce.modules.conformance.suite import (
        CASE_SETS,
        ConformanceOptions,
        add_leftover_processes,
        adopt_orphan_processes,
        check_module,
        save_transcripts,
    )

    descriptor = _load_descriptor(options.module or options.descriptor)
    names, known_cases = options.case or ["all"], CASE_SETS["all"]
    if unknown_names := [name for name in names if name not in CASE_SETS and name not in known_cases]:
        raise UsageError(f"there is no case {unknown_names[0]}; there are {', '.join([*CASE_SETS, *known_cases])}")
    token = descriptor.transport.token_env
    plan = ConformanceOptions(
        cases=tuple(dict.fromkeys(case for name in names for case in CASE_SETS.get(name, (name,)))),
        timeout=options.timeout,
        op=options.op,
        args=_parse_arguments(options.args),
        token=None if token is None else os.environ.get(token),
    )
    with adopt_orphan_processes() as orphans, _over_transport(descriptor, options.transport) as target:
        report = check_module(target, plan, lambda case: show_status(f"{case.case}: {case.state}"))
    report = add_leftover_processes(report, orphans)
    if options.transcripts is not None:
        report = save_transcripts(report, options.transcripts)
    show_status("")
    print_result(options, report, _print_report)
    return 0 if report.passed else 1


def _over_transport(descriptor: Descriptor, transport: str | None) -> AbstractContextManager[Descriptor]:
    """The module over the transport that is wanted; a program can be offered over HTTP, but not the other way round."""
    if transport in {None, descriptor.transport.type}:
        return nullcontext(descriptor)
    if transport == "stdio":
        own = {"http": "listens over HTTP", "mcp": "speaks MCP", "grpc": "speaks gRPC"}[descriptor.transport.type]
        raise UsageError(f"{descriptor.name} {own}, according to its descriptor; it is not a module on stdio")
    from hookonce.modules.server.http_server import expose_over_http

    return expose_over_http(descriptor)


def _print_report(report: "ConformanceReport") -> None:
    rows: list[tuple[str, ...]] = []
    for (state, reason), same_result in groupby(report.cases, lambda case: (case.state, case.reason)):
        cases = list(same_result)
        if reason is not None and cases[1:]:  # all for the same reason, which is read once
            rows.append((f"{len(cases)} others", state, "", reason))
        else:
            rows += [(case.case, state, str(case.ms), reason or "") for case in cases]
    print_table(("case", "state", "took (ms)", "why"), rows)
    states = [case.state for case in report.cases]
    verdict = "follows the protocol" if report.passed else "does not follow the protocol"
    skip_note = " as far as it was tested" if report.passed and "skipped" in states else ""
    count_text = f"{states.count('passed')} of {pluralize(len(states), 'case')} passed"
    print(f"\n{report.module} ({report.transport}) {verdict}{skip_note}: {count_text}")
    if "skipped" in states:
        print(f"not tested: {', '.join(case.case for case in report.cases if case.state == 'skipped')}")


def _configure_invoke(parser: ArgumentParser) -> None:
    parser.add_argument("module", metavar="MODULE", help="the name of a module, or a descriptor's file")
    parser.add_argument("op", metavar="OP", help="the operation; health and describe work for every module")
    parser.add_argument("args", nargs="?", metavar="JSON", help="the arguments, as a JSON object")
    parser.add_argument(
        "--allow", action="append", default=[], metavar="CAPABILITY", help="grant this capability for this call"
    )
    parser.add_argument("--timeout", type=parse_duration, default=30.0, metavar="TIME", help="default: 30s")
    add_flag(parser, "--json", "print JSON, which is the default")


def _run_invoke(options: Namespace) -> int:
    from hookonce.modules.kernel.user_kernel import build_kernel
    from hookonce.modules.protocol.capabilities import policy_from_grants

    descriptor = _load_descriptor(options.module)
    if surplus := [name for name in options.allow if name not in descriptor.capabilities]:
        wanted_note = f"; it needs {', '.join(descriptor.capabilities) or 'nothing'}"
        suggestion = suggest_name(surplus[0], descriptor.capabilities) or wanted_note
        raise UsageError(f"{descriptor.name} does not need {surplus[0]}{suggestion}")
    with build_kernel({"--allow": policy_from_grants({descriptor.name: options.allow})}, options.timeout) as host:
        response = host.invoke_module(descriptor, options.op, _parse_arguments(options.args))
        deliveries = host.close()
    print_json(response)
    for delivery in deliveries:
        if delivery.failures:
            warn(f"{pluralize(delivery.failures, 'event')} could not be recorded: {delivery.last_error}")
    if not response["ok"] and response["error"]["code"] == "forbidden":
        warn("--allow CAPABILITY grants it once, [grants] in config.toml permanently")
    return 0 if response["ok"] else 1


def _configure_list(parser: ArgumentParser) -> None:
    add_flag(parser, "--health", "call the health operation of each")
    add_flag(parser, "--json", "print one JSON object per module")


def _run_list(options: Namespace) -> int:
    from hookonce.modules.kernel.user_kernel import descriptor_folder, list_modules

    descriptors = list_modules()
    with ThreadPoolExecutor() as pool:
        rows = list(pool.map(lambda pair: _module_row(*pair, ask_health=options.health), descriptors.items()))
    if options.json:
        print_json(*rows)
        return 0
    if not rows:
        folder = descriptor_folder()
        print(f"there is no descriptor in {folder}; add one, such as {folder / 'greeter.json'}")
        return 0
    columns = ("module", "kind", "version", "transport", "wants", "state")
    print_table(columns, ([_module_cell(row.get(column)) for column in columns] for row in rows))
    return 0


def _module_cell(value: str | list[str] | None) -> str:
    return (", ".join(value) if type(value) is list else str(value or "")) or "-"


def _module_row(path: Path, descriptor: object, *, ask_health: bool) -> Object:
    from hookonce.modules.host.client import connect, health

    if not isinstance(descriptor, Descriptor):
        return {"file": str(path), "state": str(descriptor) if isinstance(descriptor, HookonceError) else "unreadable"}
    grants = {name for owner in (descriptor.name, "*") for name in settings.load().grants.get(owner, ())}
    row: Object = {
        "file": str(path),
        "module": descriptor.name,
        "kind": descriptor.kind,
        "version": descriptor.version,
        "transport": descriptor.transport.type,
        "wants": [name if name in grants else f"{name} (not granted)" for name in descriptor.capabilities],
        "state": "described",
    }
    if problems := mount_problems(descriptor):
        row["state"] = "; ".join(f"{path} {message}" for path, message in problems)
    elif ask_health:
        with closing(connect(descriptor)) as link:
            is_mcp = descriptor.transport.type == "mcp"  # such servers are known to take their time to start
            error = health(link, DEFAULT_TIMEOUT_S if is_mcp else HEALTH_TIMEOUT_S).error
        row["state"] = "well" if error is None else f"{error.code}: {error.message}"
    return row


def _configure_serve(parser: ArgumentParser) -> None:
    parser.add_argument("module", nargs="?", metavar="MODULE", help="serve this module, instead of hookonce")
    add_flag(parser, "--mcp", "serve the Model Context Protocol on stdin and stdout")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve over HTTP on this port; 0 takes any free port")
    parser.add_argument(
        "--host", help="the address to listen on; other than this machine only with a token; default: 127.0.0.1"
    )
    parser.add_argument("--token-env", metavar="NAME", help="the environment variable that holds the token for callers")
    add_flag(parser, "--descriptor", "print the Module Descriptor v1 and exit")


def _run_serve(options: Namespace) -> int:
    from hookonce.modules.server.authoring import transport_document
    from hookonce.modules.server.hookonce_module import build_module, build_query_module

    if options.http is not None and not (options.token_env or options.descriptor or options.mcp):
        subject = "the record" if options.module is None else options.module
        raise UsageError(f"every user of this machine could get {subject}; set a token with --token-env")
    if options.module is not None:
        return _serve_other_module(options)
    if options.mcp:
        if options.http is not None or options.token_env or options.descriptor or options.host:
            raise UsageError("--mcp uses stdin and stdout: leave out --http, --host, --token-env and --descriptor")
        from hookonce.modules.server.mcp import serve_mcp

        serve_mcp(build_query_module())
        return 0
    if options.descriptor:
        command = [sys.executable, "-m", "hookonce", "module", "serve"]
        print_json(build_module().descriptor(transport_document(options, command)))
        return 0
    arguments = [] if options.http is None else ["--http", str(options.http)]
    arguments += ["--host", options.host] if options.host else []
    arguments += ["--token-env", options.token_env] if options.token_env else []
    build_module().run(arguments)
    return 0


def _serve_other_module(options: Namespace) -> int:
    """Somebody else's module, for those who speak HTTP, or on stdio."""
    from hookonce.modules.server.authoring import read_token
    from hookonce.modules.server.http_server import bridge_document, serve_over_http

    if options.mcp or options.descriptor or (options.http is None and (options.host or options.token_env)):
        example = "hookonce module serve MODULE --http PORT --token-env NAME"
        raise UsageError(f"another module can be served on stdio without options, or over HTTP: {example}")
    descriptor, host = _load_descriptor(options.module), options.host or "127.0.0.1"
    if options.http is None:
        from hookonce.modules.host.client import connect
        from hookonce.modules.server.stdio_server import serve_stdio

        with closing(connect(descriptor)) as link, suppress(KeyboardInterrupt):
            serve_stdio(partial(bridge_document, link))
        return 0
    with (
        serve_over_http(descriptor, options.http, host=host, token=read_token(options.token_env)) as server,
        suppress(KeyboardInterrupt),
    ):
        sys.stderr.write(f"{descriptor.name} listens at {server.url}\n")
        sys.stderr.flush()
        server.serve_forever()
    return 0


_VERB_FUNCTIONS = {
    "check": (_configure_check, _run_check, _CHECK_HELP),
    "invoke": (_configure_invoke, _run_invoke, _INVOKE_HELP),
    "list": (_configure_list, _run_list, _LIST_HELP),
    "serve": (_configure_serve, _run_serve, _SERVE_HELP),
}
