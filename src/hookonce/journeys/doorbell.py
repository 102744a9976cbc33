"""Ringing at our own HTTP door, as an agent does: to see that somebody answers, and how fast."""

import subprocess
from time import monotonic, sleep
from typing import TYPE_CHECKING

from hookonce.config import paths
from hookonce.journeys.client import Unfit
from hookonce.runtime.address import LOOPBACK, Address, is_free

if TYPE_CHECKING:
    from http.client import HTTPConnection

_AGENT, _EVENT = "claude-code", "PreToolUse"
_PATIENCE = 5.0  # seconds for an answer
_START = 20.0  # seconds for a daemon to come and to open its door
_WORKS = 200


def line(address: Address) -> "HTTPConnection":
    """A connection to the door, which is kept until it is closed."""
    from http.client import HTTPConnection

    return HTTPConnection(LOOPBACK, address.port, timeout=_PATIENCE)


def ring(
    address: Address,
    payload: bytes,
    agent: str = _AGENT,
    event: str = _EVENT,
    kept: "HTTPConnection | None" = None,
) -> tuple[int, bytes]:
    """Post one event; the status and what was answered. On a line that is kept, or on one of its own."""
    end = kept or line(address)
    headers = {"Content-Type": "application/json", **address.headers}
    try:
        end.request("POST", f"/on/{agent}/{event}?via={agent}/user", payload, headers)
        with end.getresponse() as answer:
            return answer.status, answer.read()
    finally:
        if kept is None:
            end.close()


def silence(address: Address) -> str | None:
    """What is wrong with the door; None if it answers."""
    from http.client import HTTPException

    from hookonce.journeys.on import TRIAL

    try:
        status, _ = ring(address, TRIAL)
    except ConnectionRefusedError:
        return f"nobody listens at {address.base}; the daemon comes with the next session or prompt"
    except (OSError, HTTPException) as problem:
        return f"whoever listens at {address.base} does not answer: {problem}"
    if status == _WORKS:
        return None
    return (
        f"{address.base} answers with status {status}: the port may be somebody else's; "
        "hookonce install --http moves the door"
    )


def is_at(address: Address) -> bool:
    """Whether it is our own door that answers there."""
    return silence(address) is None


def await_answer(address: Address) -> None:
    """Have the daemon started, and wait until its door answers; no entry is written for a door that does not."""
    from hookonce.journeys.on import TRIAL

    words = [str(paths.client()), _AGENT, _EVENT, "--via", f"{_AGENT}/user"]
    until = monotonic() + _START
    told = None
    while monotonic() < until:
        if is_free(address.port):
            subprocess.run(words, input=TRIAL, capture_output=True, timeout=_START, check=False)  # noqa: S603  our own client
        told = silence(address)
        if told is None:
            return
        sleep(0.1)
    raise Unfit(f"the HTTP door does not answer, and nothing was installed: {told}")
