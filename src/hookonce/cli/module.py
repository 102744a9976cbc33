"""hookonce module: verbs check, invoke, list and serve of the module protocol."""

import os
import sys
from argparse import ArgumentParser, Namespace
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, nullcontext, suppress
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
    "check": "try a module, case by case, and say what it does wrong",
    "invoke": "ask a module to do something, and print its answer",
    "list": "list the modules that are described here",
    "serve": "be a module, for hosts and agents that want to use hookonce",
}
_EXAMPLES = """Descriptors lie in ~/.config/hookonce/modules; everywhere a path to one does as well.

examples:
  hookonce module check greeter.json
  hookonce module invoke greeter.json greet '{"name": "you"}'
  hookonce module list
  hookonce module serve --mcp"""
_CHECK_HELP = """A module on stdio is started for it, and ended; one over HTTP has to listen already.

exit codes: 0 every case passed (or was skipped, with a reason), 1 a case failed, 64 wrong usage

examples:
  hookonce module check greeter.json
  hookonce module check --descriptor greeter.json --case minimal --timeout 30s
  hookonce module check greeter.json --transport http
  hookonce module check greeter.json --json --transcripts said
  hookonce module check greeter.json --op greet --args '{"name": "you"}' --json"""
_INVOKE_HELP = """A module gets nothing that it was not granted: [grants] in config.toml does so for good, --allow once.

exit codes: 0 ok, 1 the module answered with an error, 64 wrong usage

examples:
  hookonce module invoke greeter.json greet '{"name": "you"}'
  hookonce module invoke reader cat '{"path": "/etc/hostname"}' --allow fs.read"""
_LIST_HELP = "examples:\n  hookonce module list\n  hookonce module list --health --json"
_SERVE_HELP = """Without an option it speaks JSON lines on stdin and stdout, as the module protocol has them: respond,
translate, check, query, sessions, show, and on_event, which keeps an event. Over MCP an agent can ask what it did:
query, sessions, show, check and translate, which change nothing.

examples:
  hookonce module serve --descriptor
  hookonce module serve --http 8790 --token-env HOOKONCE_TOKEN
  hookonce module serve greeter.json --http 8791 --token-env HOOKONCE_TOKEN
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
        raise UsageError("which module? Name one that is described here, or the file of a descriptor")
    return find_module(name)


def _parse_arguments(text: str | None) -> Object:
    try:
        arguments = {} if text is None else load(text)
    except (ValueError, RecursionError):
        raise UsageError('the arguments are no JSON; an object is wanted: \'{"name": "you"}\'') from None
    if type(arguments) is not dict:
        raise UsageError('the arguments are no object: \'{"name": "you"}\'')
    return arguments


def _configure_check(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("module", nargs="?", metavar="MODULE", help="the name of a module, or a descriptor's file")
    add("--descriptor", metavar="FILE", help="the same, as other conformance commands have it")
    transport_help = "the way in which it is reached; http offers a program on stdio over HTTP for it"
    add("--transport", choices=("stdio", "http"), help=transport_help)
    add("--case", action="append", metavar="CASE", help="minimal, all (the default), or one by its name")
    add("--timeout", type=parse_duration, default=30.0, metavar="TIME", help="for an invocation; default: 30s")
    add("--op", metavar="OP", help="an operation that has to succeed")
    add("--args", metavar="JSON", help="what it is given")
    transcripts_help = "keep what was said in each case there, a file for each; the report names it"
    add("--transcripts", type=Path, metavar="FOLDER", help=transcripts_help)
    add_flag(parser, "--json", "the whole report, with what was said in each case")


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
        own = {"http": "listens over HTTP", "mcp": "speaks MCP"}[descriptor.transport.type]
        raise UsageError(f"{descriptor.name} {own}, as its descriptor says; it is no module on stdio")
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
    verdict = "keeps to the protocol" if report.passed else "does not keep to the protocol"
    skip_note = " as far as it was tried" if report.passed and "skipped" in states else ""
    count_text = f"{states.count('passed')} of {pluralize(len(states), 'case')} passed"
    print(f"\n{report.module} ({report.transport}) {verdict}{skip_note}: {count_text}")
    if "skipped" in states:
        print(f"not tried: {', '.join(case.case for case in report.cases if case.state == 'skipped')}")


def _configure_invoke(parser: ArgumentParser) -> None:
    parser.add_argument("module", metavar="MODULE", help="the name of a module, or a descriptor's file")
    parser.add_argument("op", metavar="OP", help="what it is to do; health and describe as well")
    parser.add_argument("args", nargs="?", metavar="JSON", help="what it is given")
    parser.add_argument("--allow", action="append", default=[], metavar="CAPABILITY", help="grant it this time")
    parser.add_argument("--timeout", type=parse_duration, default=30.0, metavar="TIME", help="default: 30s")
    add_flag(parser, "--json", "the answer is JSON with and without it")


def _run_invoke(options: Namespace) -> int:
    from hookonce.modules.kernel.user_kernel import build_kernel
    from hookonce.modules.protocol.capabilities import policy_from_grants

    descriptor = _load_descriptor(options.module)
    if surplus := [name for name in options.allow if name not in descriptor.capabilities]:
        wanted_note = f"; it wants {', '.join(descriptor.capabilities) or 'nothing'}"
        suggestion = suggest_name(surplus[0], descriptor.capabilities) or wanted_note
        raise UsageError(f"{descriptor.name} does not want {surplus[0]}{suggestion}")
    with build_kernel({"--allow": policy_from_grants({descriptor.name: options.allow})}, options.timeout) as host:
        response = host.invoke_module(descriptor, options.op, _parse_arguments(options.args))
        deliveries = host.close()
    print_json(response)
    for delivery in deliveries:
        if delivery.failures:
            warn(f"{pluralize(delivery.failures, 'event')} could not be kept: {delivery.last_error}")
    if not response["ok"] and response["error"]["code"] == "forbidden":
        warn("--allow CAPABILITY grants it this time, [grants] of config.toml for good")
    return 0 if response["ok"] else 1


def _configure_list(parser: ArgumentParser) -> None:
    add_flag(parser, "--health", "ask each of them how it is")
    add_flag(parser, "--json", "one JSON object per module")


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
        print(f"no module is described in {folder}; put a descriptor there: {folder / 'greeter.json'}")
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
    parser.add_argument("module", nargs="?", metavar="MODULE", help="offer this module over HTTP instead of hookonce")
    add_flag(parser, "--mcp", "speak the Model Context Protocol on stdin and stdout")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve over HTTP instead; 0 takes any free port")
    parser.add_argument("--host", help="where to listen; beyond this machine only with a token; default: 127.0.0.1")
    parser.add_argument("--token-env", metavar="NAME", help="the environment variable with the token that callers need")
    add_flag(parser, "--descriptor", "print the Module Descriptor v1 and leave")


def _run_serve(options: Namespace) -> int:
    from hookonce.modules.server.authoring import transport_document
    from hookonce.modules.server.hookonce_module import build_module, build_query_module

    if options.http is not None and not (options.token_env or options.descriptor or options.mcp):
        subject = "the record" if options.module is None else options.module
        raise UsageError(f"every user of this machine could ask for {subject} then: name a token with --token-env")
    if options.module is not None:
        return _serve_other_module(options)
    if options.mcp:
        if options.http is not None or options.token_env or options.descriptor or options.host:
            raise UsageError("--mcp is on stdin and stdout, and has no descriptor")
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
    """Somebody else's module, which speaks stdio or MCP, for those who speak HTTP."""
    from hookonce.modules.server.authoring import read_token
    from hookonce.modules.server.http_server import serve_over_http

    if options.http is None or options.mcp or options.descriptor:
        example = "hookonce module serve MODULE --http PORT --token-env NAME"
        raise UsageError(f"a module of others is offered over HTTP: {example}")
    descriptor, host = _load_descriptor(options.module), options.host or "127.0.0.1"
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
