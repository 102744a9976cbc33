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
        "  hookonce daemon http            open a port for events in an open format\n"
        "  hookonce daemon http --close"
    )
    verbs = ["start", "stop", "status", "http"]
    parser.add_argument(
        "verb", choices=verbs, help="what to do; default: status (the daemon starts by itself when an agent calls)"
    )
    add_flag(parser, "--close", "with http: close the port; agents that send events there go on sending")
    add_flag(parser, "--json", "print JSON")


def run(options: Namespace) -> None:
    """Show, start or stop the process that answers agents while it is warm, or open it for events of tools."""
    if options.verb != "http" and options.close:
        raise UsageError("--close works only with http: hookonce daemon http --close")
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
        print_result(options, {"takes_events": False}, lambda _: print("the port for events is closed"))
        return
    if (obstacle := daemon_endpoints.settings_obstacle()) is not None:
        raise HookonceError(f"{obstacle}; remove that line first")
    new_address = replace(address or daemon_endpoints.new_http_address(), takes_events=True)
    if new_address != address:
        require_consent("daemon http", "open a port of this machine, on which tools with a token can send events")
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
    print(f"tools can send events to {document['url']}")
    print(f"with `Authorization: Bearer TOKEN`; the token is in {document['token_file']}, which only you can read")


def _run_stop(options: Namespace) -> None:
    text = "the daemon was not running"
    if (status := control.query_status()) is not None:
        require_consent("daemon stop", _stop_consequence(status))
        control.stop_daemon()
        text = f"the daemon (process {status['pid']}) is stopped"
    print_result(options, {"running": False, "stopped": status is not None}, lambda _: print(text))


def _stop_consequence(status: Object) -> str:
    """What it means to have no daemon: whoever posts to it is answered by nobody."""
    if not (status.get("http") or {}).get("open"):
        return "stop the daemon; until an agent's next call starts it again, hooks run without it"
    return "stop the daemon; agents that send events over HTTP run without hooks until it runs again; others start it"


def format_status(status: Object | None) -> str:
    """What there is to know of the daemon, in a line."""
    if status is None:
        has_callers = calling_agents(current_roots(), str(paths.client_path()))
        text = "daemon: not running; the next call of an agent starts it"
        if not has_callers:
            text = "daemon: not running, and hookonce is not installed for any agent. Next: hookonce install"
        http_note = "; agents that send events over HTTP run without hooks until it runs: hookonce daemon start"
        return text + (http_note if daemon_endpoints.load_http_address() is not None else "")
    memory = f", {status['memory_kb'] / _KB_PER_MB:.0f} MB" if status.get("memory_kb") else ""
    calls = pluralize(status["answered"], "call")
    listener = status.get("http") or {}
    http_problem = f", HTTP port closed: {listener['problem']}" if listener.get("problem") else ""
    http_note = f", HTTP port open: {listener['port']}" if listener.get("open") else http_problem
    activity = f"{status['under_way']} in progress{memory}{http_note}"
    return f"daemon: process {status['pid']}, {calls} answered, {activity}{_unread_files_note(status)}"


def _unread_files_note(status: Object) -> str:
    """Session files that could not be read: tokens of those sessions are not known."""
    transcripts = status.get("transcripts") or {}
    count = transcripts.get("refused_files", 0) + transcripts.get("broken_files", 0)
    return f", {pluralize(count, 'session file')} cannot be read, the last: {transcripts['problem']}" if count else ""
