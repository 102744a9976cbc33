"""hookonce daemon: status, start and stop of the daemon, and its HTTP port for events of tools."""

from argparse import ArgumentParser, Namespace

from msgspec.structs import replace

from hookonce.base import paths
from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.consent import require_consent
from hookonce.cli._ui.messages import pluralize, print_result
from hookonce.client import daemon_endpoints
from hookonce.client.installation import install_client
from hookonce.configure import http_policy
from hookonce.configure.http_probe import EVENTS_TARGET, await_answer
from hookonce.configure.locations import current_roots
from hookonce.daemon import control
from hookonce.diagnose.self_check import calling_agents
from hookonce.errors import HookonceError, UsageError
from hookonce.model import Object

_KB_PER_MB = 1024


def configure(parser: ArgumentParser) -> None:
    """The options of `daemon`."""
    parser.epilog = (
        "examples:\n  hookonce daemon status\n  hookonce daemon status --json\n  hookonce daemon stop\n"
        "  hookonce daemon http            where tools post events in an open format, which it opens\n"
        "  hookonce daemon http --close"
    )
    verbs = ["start", "stop", "status", "http"]
    parser.add_argument("verb", choices=verbs, help="it starts by itself when an agent calls")
    add_flag(parser, "--close", "http: take no events there any more; an agent that posts goes on posting")
    add_flag(parser, "--json", "what it tells about itself, as one JSON object")


def run(options: Namespace) -> None:
    """Show, start or stop the process that answers agents while it is warm, or open it for events of tools."""
    if options.verb != "http" and options.close:
        raise UsageError("only http is closed: hookonce daemon http --close")
    if options.verb == "http":
        _run_http(options)
        return
    if options.verb == "stop":
        _run_stop(options)
        return
    status = control.start_daemon() if options.verb == "start" else control.query_status()
    print_result(options, {"running": status is not None, **(status or {})}, lambda _: print(format_status(status)))


def _run_http(options: Namespace) -> None:
    address = daemon_endpoints.load_http_address()
    if options.close:
        if address is not None and address.takes_events:
            require_consent("daemon http --close", f"take no events at {address.base}{EVENTS_TARGET} any more")
            daemon_endpoints.save_http_address(replace(address, takes_events=False))
            http_policy.drop_unused_address()
        print_result(options, {"takes_events": False}, lambda _: print("no events are taken over HTTP"))
        return
    if (obstacle := http_policy.settings_obstacle()) is not None:
        raise HookonceError(f"{obstacle}; take that line out first")
    new_address = replace(address or daemon_endpoints.new_http_address(), takes_events=True)
    if new_address != address:
        require_consent("daemon http", "take events that tools of yours post to a port of this machine, with a token")
        install_client()
        daemon_endpoints.save_http_address(new_address)
    try:
        await_answer(new_address, EVENTS_TARGET)
    except BaseException:
        daemon_endpoints.restore_http_address(address)
        raise
    token_file = str(daemon_endpoints.http_address_file())
    document = {"takes_events": True, "url": f"{new_address.base}{EVENTS_TARGET}", "token_file": token_file}
    print_result(options, document, _print_http_address)


def _print_http_address(document: Object) -> None:
    print(f"events are taken at {document['url']}")
    print(f"with `Authorization: Bearer TOKEN`; the token stands in {document['token_file']}, for you alone to read")


def _run_stop(options: Namespace) -> None:
    text = "there was none"
    if (status := control.query_status()) is not None:
        require_consent("daemon stop", _stop_consequence(status))
        control.stop_daemon()
        text = f"the daemon (process {status['pid']}) is gone"
    print_result(options, {"running": False, "stopped": status is not None}, lambda _: print(text))


def _stop_consequence(status: Object) -> str:
    """What it means to have no daemon: whoever posts to it is answered by nobody."""
    if not (status.get("http") or {}).get("open"):
        return "end the daemon; agents are answered without it, until one of them starts it again"
    return (
        "end the daemon; agents that post their events go on without hooks until it runs again; "
        "others are answered without it, and start it again"
    )


def format_status(status: Object | None) -> str:
    """What there is to know of the daemon, in a line."""
    if status is None:
        has_callers = calling_agents(current_roots(), str(paths.client_path()))
        text = "daemon: none runs; the next call of an agent starts it"
        if not has_callers:
            text = "daemon: none runs, and no agent calls hookonce, which would start it. Next: hookonce install"
        http_note = "; agents that post their events go on without hooks until it runs: hookonce daemon start"
        return text + (http_note if daemon_endpoints.load_http_address() is not None else "")
    memory = f", {status['memory_kb'] / _KB_PER_MB:.0f} MB" if status.get("memory_kb") else ""
    calls = pluralize(status["answered"], "call")
    listener = status.get("http") or {}
    http_problem = f", HTTP door shut: {listener['problem']}" if listener.get("problem") else ""
    http_note = f", HTTP door open at port {listener['port']}" if listener.get("open") else http_problem
    activity = f"{status['under_way']} under way{memory}{http_note}"
    return f"daemon: process {status['pid']}, {calls} answered, {activity}{_unread_files_note(status)}"


def _unread_files_note(status: Object) -> str:
    """Session files that could not be read: tokens of those sessions are not known."""
    transcripts = status.get("transcripts") or {}
    count = transcripts.get("refused_files", 0) + transcripts.get("broken_files", 0)
    return f", {pluralize(count, 'session file')} not read, the last: {transcripts['problem']}" if count else ""
