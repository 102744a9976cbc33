"""Who posts to the HTTP door, in all the ways that one can: properly, slowly, and not at all as one should."""

import json
import socket
from http.client import HTTPConnection

from hookonce.client import daemon_endpoints
from tests.daemon.installed_home import heard
from tests.handlers.processes import eventually

_LONG = 60  # seconds that nothing takes, however busy the machine is
PATH = "/on/claude-code/PreToolUse?via=claude-code/user"


class Poster:
    """Knows a home's door and its token."""

    def __init__(self, home):
        self.home = home
        with home.inside():
            self.address = daemon_endpoints.load_http_address() or daemon_endpoints.new_http_address()
            daemon_endpoints.save_http_address(self.address)
        home.warm()
        assert eventually(lambda: (home.status() or {}).get("http", {}).get("open"), _LONG)

    @property
    def headers(self):
        return {"Content-Type": "application/json", **self.address.headers}

    def line(self):
        """A connection of Python's own."""
        return HTTPConnection("127.0.0.1", self.address.port, timeout=_LONG)

    def post(self, body=b"{}", path=PATH, method="POST", line=None, **headers):
        """One request; its status, and what was answered."""
        end = line or self.line()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        kept = {name: value for name, value in (self.headers | named).items() if value is not None}
        end.request(method, path, body, kept)
        answer = end.getresponse()
        found = answer.status, answer.read()
        if line is None:
            end.close()
        return found

    def event(self, agent, native, payload, **more):
        """Post an event as an agent does."""
        raw = payload if type(payload) is bytes else json.dumps(payload).encode()
        return self.post(raw, f"/on/{agent}/{native}?via={agent}/user", **more)

    def socket(self):
        """A connection on which anything can be said."""
        return socket.create_connection(("127.0.0.1", self.address.port), timeout=_LONG)

    def head(self, *more, method="POST", path=PATH):
        """The beginning of a proper request, without the empty line."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.address.port}"]
        return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in self.headers.items()), *more]).encode()

    def raw(self, data):
        """Say something, and hear all of the answer until the door hangs up."""
        with self.socket() as end:
            end.sendall(data)
            return heard(end)


def status_of(answer):
    """The status of an answer."""
    return int(answer.split(b" ", 2)[1])
