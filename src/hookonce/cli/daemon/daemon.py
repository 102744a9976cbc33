"""hookonce daemon: status, start and stop of the daemon."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.base.jsontext import dump
from hookonce.cli._ui.consent import consent_help, require_consent
from hookonce.cli._ui.messages import pluralize
from hookonce.client import daemon_endpoints
from hookonce.daemon import control
from hookonce.model import Object

_KB_PER_MB = 1024


def configure(parser: ArgumentParser) -> None:
    """The options of `daemon`."""
    parser.epilog = (
        consent_help("daemon stop")
        + "\n\nexamples:\n  hookonce daemon status\n  hookonce daemon status --json\n  hookonce daemon stop"
    )
    parser.add_argument("verb", choices=["start", "stop", "status"], help="it starts by itself when an agent calls")
    parser.add_argument("--json", action="store_true", help="what it tells about itself, as one JSON object")


def run(options: Namespace) -> int:
    """Show, start or stop the process that answers agents while it is warm."""
    if options.verb == "stop":
        return _run_stop(options)
    daemon_status = control.start_daemon() if options.verb == "start" else control.query_status()
    if options.json:
        sys.stdout.buffer.write(dump({"running": daemon_status is not None, **(daemon_status or {})}) + b"\n")
    else:
        print(format_status(daemon_status))
    return 0


def _run_stop(options: Namespace) -> int:
    if (daemon_status := control.query_status()) is not None:
        require_consent("daemon stop", _stop_consequence(daemon_status))
    stopped_status = control.stop_daemon()
    if options.json:
        sys.stdout.buffer.write(dump({"running": False, "stopped": stopped_status is not None}) + b"\n")
    else:
        print("there was none" if stopped_status is None else f"the daemon (process {stopped_status['pid']}) is gone")
    return 0


def _stop_consequence(daemon_status: Object) -> str:
    """What it means to have no daemon: whoever posts to it is answered by nobody."""
    if not (daemon_status.get("http") or {}).get("open"):
        return "end the daemon; agents are answered without it, until one of them starts it again"
    return (
        "end the daemon; agents that post their events go on without hooks until it runs again; "
        "others are answered without it, and start it again"
    )


def format_status(daemon_status: Object | None) -> str:
    """What there is to know of the daemon, in a line."""
    if daemon_status is None:
        text = "daemon: none runs; the next call of an agent starts it"
        http_note = "; agents that post their events go on without hooks until it runs: hookonce daemon start"
        return text + (http_note if daemon_endpoints.load_http_address() is not None else "")
    memory = f", {daemon_status['memory_kb'] / _KB_PER_MB:.0f} MB" if daemon_status.get("memory_kb") else ""
    calls = pluralize(daemon_status["answered"], "call")
    activity = f"{daemon_status['under_way']} under way{memory}{_http_note(daemon_status)}"
    return f"daemon: process {daemon_status['pid']}, {calls} answered, {activity}{_unread_files_note(daemon_status)}"


def _unread_files_note(daemon_status: Object) -> str:
    """Session files that could not be read: tokens of those sessions are not known."""
    transcripts = daemon_status.get("transcripts") or {}
    count = transcripts.get("refused_files", 0) + transcripts.get("broken_files", 0)
    return f", {pluralize(count, 'session file')} not read, the last: {transcripts['problem']}" if count else ""


def _http_note(daemon_status: Object) -> str:
    listener = daemon_status.get("http") or {}
    if listener.get("open"):
        return f", HTTP door open at port {listener['port']}"
    return f", HTTP door shut: {listener['problem']}" if listener.get("problem") else ""
