"""HTTP probe: an event is posted to our own listener as an agent does it, to see that it answers."""

from contextlib import closing, suppress
from subprocess import TimeoutExpired
from time import monotonic, sleep

from hookonce.base import paths
from hookonce.base.spawn import run
from hookonce.client.daemon_endpoints import LOOPBACK, HttpAddress, is_port_free
from hookonce.client.installation import UnusableInstallError

_AGENT, _EVENT = "claude-code", "PreToolUse"
AGENT_TARGET, EVENTS_TARGET = f"/on/{_AGENT}/{_EVENT}?via={_AGENT}/user", "/events"
_REPLY_TIMEOUT_S = 5.0  # seconds for an answer
_START_TIMEOUT_S = 20.0  # seconds for a daemon to come and to open its door
_HTTP_OK = 200


def probe_listener(address: HttpAddress, target: str = AGENT_TARGET) -> str | None:
    """What is wrong with the listener; None if it answers."""
    from http.client import HTTPConnection, HTTPException

    from hookonce.dispatch.dispatcher import TRIAL_PAYLOAD

    headers = {"Content-Type": "application/json", **address.headers}
    try:
        with closing(HTTPConnection(LOOPBACK, address.port, timeout=_REPLY_TIMEOUT_S)) as connection:
            connection.request("POST", target, TRIAL_PAYLOAD, headers)
            with connection.getresponse() as response:
                status = response.status
                response.read()
    except ConnectionRefusedError:
        return f"nothing listens at {address.base}; the next session or prompt starts the daemon"
    except (OSError, HTTPException) as problem:
        return f"the program that listens at {address.base} does not answer: {problem}"
    if status == _HTTP_OK:
        return None
    hint = "another program may use the port; hookonce install --http chooses another one"
    return f"{address.base} answers with status {status}: {hint}"


def await_answer(address: HttpAddress, target: str = AGENT_TARGET) -> None:
    """Start the daemon and wait until its listener answers; no entry is written for one that does not."""
    from hookonce.dispatch.dispatcher import TRIAL_PAYLOAD

    command = [str(paths.client_path()), _AGENT, _EVENT, "--via", f"{_AGENT}/user"]
    deadline = monotonic() + _START_TIMEOUT_S
    problem = None
    while monotonic() < deadline:
        if is_port_free(address.port):
            with suppress(TimeoutExpired):  # nobody answers, as is told below
                run(command, TRIAL_PAYLOAD, timeout_s=_START_TIMEOUT_S)
        problem = probe_listener(address, target)
        if problem is None:
            return
        sleep(0.1)
    raise UnusableInstallError(f"the HTTP port does not answer, and nothing was installed: {problem}")
