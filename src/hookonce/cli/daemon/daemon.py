"""hookonce daemon: status, start and stop of the daemon."""

from argparse import ArgumentParser, Namespace

from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.consent import require_consent
from hookonce.cli._ui.messages import pluralize, print_result
from hookonce.client import daemon_endpoints
from hookonce.daemon import control
from hookonce.model import Object

_KB_PER_MB = 1024


def configure(parser: ArgumentParser) -> None:
    """The options of `daemon`."""
    parser.epilog = "examples:\n  hookonce daemon status\n  hookonce daemon status --json\n  hookonce daemon stop"
    parser.add_argument("verb", choices=["start", "stop", "status"], help="it starts by itself when an agent calls")
    add_flag(parser, "--json", "what it tells about itself, as one JSON object")


def run(options: Namespace) -> None:
    """Show, start or stop the process that answers agents while it is warm."""
    if options.verb == "stop":
        _run_stop(options)
        return
    status = control.start_daemon() if options.verb == "start" else control.query_status()
    print_result(options, {"running": status is not None, **(status or {})}, lambda _: print(format_status(status)))


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
        text = "daemon: none runs; the next call of an agent starts it"
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
