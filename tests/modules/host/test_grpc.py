"""Modules over gRPC: a tool and a hook of Amplifier's services, and what becomes of everything that can go wrong."""

import json
import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from hookonce.modules.host.client import connect, invoke
from hookonce.modules.host.grpc import GrpcLink
from hookonce.modules.host.stdio import StdioLink
from hookonce.modules.protocol import amplifier_grpc, messages
from hookonce.modules.protocol.descriptor import parse_descriptor
from tests.modules.grpc_messages import encode_fields
from tests.modules.talking import GRPC_FAKE, environment, grpc_served

pytestmark = pytest.mark.covers("AMP-13")
EVENT = {
    "event": {"id": "1", "ts": 0, "event": "tool:pre", "component": "c", "data": {"tool_input": {"command": "rm x"}}}
}
SPEC_ARGS = {"type": "object", "required": ["one"], "properties": {"one": {"type": "integer"}}}
SPEC, EXECUTE, HANDLE = "ToolService/GetSpec", "ToolService/Execute", "HookService/Handle"


def descriptor(url, kind="tool", **transport):
    reached = {"type": "grpc", "url": url} | transport
    return {"name": "far", "kind": kind, "transport": reached, "capabilities": ["net.fetch"], "version": "2.0.0"}


class Place:
    """A server in another process, and a link to it beside it."""

    def __init__(self, link, url):
        self.link, self.url = link, url

    def do(self, op, /, **args):
        answer = invoke(self.link, op, args, timeout=20)
        assert answer.error is None, answer.error
        return answer.result

    def ask(self, op, args=None, *, kind="tool", url=None, steps=None, env=None, transport=None, **more):
        """The answer of the link, and what the server was asked."""
        document = descriptor(url or self.url, kind, **(transport or {}))
        found = self.do("ask", descriptor=document, op=op, given=args or {}, steps=steps or {}, env=env or {}, **more)
        return found["answer"], found["calls"]


@pytest.fixture(scope="module")
def identity(tmp_path_factory):
    """The files of a key and a certificate for localhost."""
    folder, key = tmp_path_factory.mktemp("identity"), ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")]), datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    formats = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *formats))
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return {"key": str(folder / "key.pem"), "certificate": str(folder / "cert.pem")}


@pytest.fixture(scope="module")
def place(identity):
    env = environment() | {"SSL_CERT_FILE": identity["certificate"], "http_proxy": "http://127.0.0.1:1"}
    with StdioLink([sys.executable, GRPC_FAKE], env=env) as link:
        yield Place(link, invoke(link, "listen").result)


def test_a_tool_is_well_described_and_called(place):
    assert ({"status": "ok"}, [[SPEC, None, ""]]) == place.ask("health")
    described, _ = place.ask("describe")
    assert ("far", "2.0.0", "tool", ["net.fetch"]) == tuple(
        described[name] for name in ("name", "version", "kind", "capabilities")
    )
    assert {"enum": ["add"]} == described["inputs"]["properties"]["op"]
    assert {"description": "adds", "properties": {"args": SPEC_ARGS}} == described["inputs"]["allOf"][0]["then"]
    answer, calls = place.ask("add", {"one": 2})
    assert ({"ok": True, "result": 3}, [EXECUTE]) == (answer, [method for method, *_ in calls])
    answer, _ = place.ask("add")
    assert {
        "ok": False,
        "error": {"code": "tool_error", "message": "one is missing", "details": {"output": "[1]"}},
    } == answer


def test_a_hook_hears_of_an_event_and_decides(place):
    """
    The event's name and data reach it; a server without subscriptions, of which there are, is well all the same.
    """
    assert {"status": "ok"} == place.ask("health", kind="hook")[0]
    subscribed = {"HookService/GetSubscriptions": {"raw": "0a00"}}
    assert {"status": "ok"} == place.ask("health", kind="hook", steps=subscribed)[0]
    described, _ = place.ask("describe", kind="hook")
    assert ("hook", {"enum": ["on_event"]}) == (described["kind"], described["inputs"]["properties"]["op"])
    answer, ((method, _, body),) = place.ask("on_event", EVENT, kind="hook", session="s")
    told = {"id": "1", "ts": 0, "component": "c", "session_id": "s", "tool_input": {"command": "rm x"}}
    assert (HANDLE, ("tool:pre", told)) == (method, read_request(body))
    chosen = {name: answer["result"][name] for name in ("action", "decision", "reason")}
    assert {"action": "deny", "decision": "deny", "reason": "tool:pre: the server says no"} == chosen


def read_request(body):
    message = amplifier_grpc.decode_message(amplifier_grpc.HOOK_REQUEST, bytes.fromhex(body))
    return message["event"], json.loads(message["data_json"])


@pytest.mark.parametrize("kind", ["tool", "hook"])
def test_what_is_not_asked_for_properly_is_refused(place, kind):
    answer, _ = place.ask("nothing", kind=kind)
    ops = {"tool": ["add"], "hook": ["on_event"]}[kind]
    assert ("unsupported_op", ops) == (answer["error"]["code"], answer["error"]["details"]["ops"])
    assert "bad_request" == place.ask("", kind=kind)[0]["error"]["code"]
    for args in ({}, {"event": 5}, {"event": {"event": 5}}):
        assert "bad_request" == place.ask("on_event", args, kind="hook")[0]["error"]["code"]


STATUSES = {
    "DEADLINE_EXCEEDED": "timeout",
    "UNAVAILABLE": "unreachable",
    "UNIMPLEMENTED": "unsupported_op",
    "UNAUTHENTICATED": "forbidden",
    "PERMISSION_DENIED": "forbidden",
    "RESOURCE_EXHAUSTED": "oom",
    "INVALID_ARGUMENT": "bad_request",
    "INTERNAL": "internal",
    "UNKNOWN": "internal",
    "NOT_FOUND": "internal",
    "CANCELLED": "internal",
}


@pytest.mark.covers("AMP-17")
@pytest.mark.parametrize("status", STATUSES)
def test_a_status_of_grpc_is_an_error_of_the_protocol(place, status):
    answer, _ = place.ask("add", {"one": 1}, steps={EXECUTE: {"status": status, "message": "for a reason"}})
    error = answer["error"]
    assert STATUSES[status] == error["code"]
    assert ("for a reason" in error["message"]) is (status != "DEADLINE_EXCEEDED")
    assert error["details"].get("retryable") is (True if status == "UNAVAILABLE" else None)


@pytest.mark.parametrize(
    "step",
    [
        {"raw": "ff"},
        {"raw": "0801"},
        {"raw": "0a01ff"},
        {"raw": encode_fields("ToolSpec", name="x", parameters_json="[").hex()},
    ],
)
def test_a_wrong_answer_is_internal(place, step):
    assert "internal" == place.ask("describe", steps={SPEC: step})[0]["error"]["code"]
    if step["raw"] != "0801":  # that is a success without output
        assert (
            "internal"
            == place.ask("add", {"one": 1}, steps={EXECUTE: step})[0].get("error", {"code": "internal"})["code"]
        )


@pytest.mark.covers("AMP-25")
def test_messages_of_some_megabytes_come_through_and_there_is_a_limit(place):
    args = {"text": "ü" * (1 << 20)}
    assert {"ok": True, "result": args} == place.ask("add", args)[0]
    limit = messages.MAX_MESSAGE_BYTES
    answer, _ = place.ask("add", {"one": 1}, steps={EXECUTE: {"zeros": limit + 1}})
    assert "oom" == answer["error"]["code"]
    with connect(parse_descriptor(descriptor("http://127.0.0.1:1", "hook"))) as link:
        found = link.ask(messages.Request("on_event", {"event": {"event": "x", "data": {"x": "y" * limit}}}), 1.0)
    assert ("bad_request", True) == (found["error"]["code"], f"{limit} are the most" in found["error"]["message"])


@pytest.mark.covers("AMP-24")
def test_what_takes_too_long_is_a_timeout_and_holds_up_nobody(place):
    answer, _ = place.ask("add", {"one": 1}, steps={EXECUTE: {"sleep": 0.4}}, timeout=0.1)
    assert ("timeout", {"seconds": 0.1}) == (answer["error"]["code"], answer["error"]["details"])
    assert {"ok": True, "result": 2} == place.ask("add", {"one": 1})[0]
    assert "timeout" == place.ask("nothing", kind="hook", timeout=1e-6)[0]["error"]["code"]


def test_a_server_that_is_gone_is_unreachable_and_reached_again_once_it_is_back(place):
    """
    At once: the pauses that gRPC makes between two attempts are not waited for.
    """
    url = place.do("listen")
    for kind in ("tool", "hook"):
        assert {"status": "ok"} == place.ask("health", kind=kind, url=url)[0]
    place.do("stop", url=url)
    for _ in range(4):
        for kind in ("tool", "hook"):
            error = place.ask("health", kind=kind, url=url)[0]["error"]
            assert ("unreachable", True) == (error["code"], error["details"]["retryable"])
            assert "cannot be reached" in error["message"]
    place.do("start", url=url)
    for kind in ("tool", "hook"):
        assert {"status": "ok"} == place.ask("health", kind=kind, url=url)[0]


def test_a_server_that_is_killed_in_the_middle_of_a_call_is_unreachable(place):
    with grpc_served() as (url, process):
        assert {"ok": True, "result": 2} == place.ask("add", {"one": 1}, url=url)[0]
        timer = threading.Timer(0.1, process.kill)
        timer.start()
        answer, _ = place.ask("add", {"one": 1, "hold": 20}, url=url)
        timer.join()
    assert ("unreachable", True) == (answer["error"]["code"], answer["error"]["details"]["retryable"])


def test_a_token_is_sent_with_every_call_and_told_nobody(place):
    named = {"token_env": "TOKEN"}
    _, calls = place.ask("nothing", transport=named, env={"TOKEN": "abc"})
    assert [[SPEC, "Bearer abc", ""]] == calls
    for env, why in (({}, "the variable TOKEN is to hold the token"), ({"TOKEN": "a\nb"}, "cannot be sent")):
        answer, calls = place.ask("health", transport=named, env=env)
        assert ("forbidden", True, []) == (answer["error"]["code"], why in answer["error"]["message"], calls)


def test_https_is_tls_with_the_certificates_that_this_machine_trusts(place, identity):
    url = place.do("listen", **identity)
    assert {"ok": True, "result": 2} == place.ask("add", {"one": 1}, url=url)[0]
    other = url.replace("localhost", "127.0.0.1")  # which the certificate does not name
    assert "unreachable" == place.ask("health", url=other)[0]["error"]["code"]
    assert "unreachable" == place.ask("health", url=place.url.replace("http:", "https:"))[0]["error"]["code"]


def test_a_link_that_is_closed_asks_nobody():
    link = GrpcLink(parse_descriptor(descriptor("http://127.0.0.1:1")))
    link.close()
    assert "unreachable" == link.ask(messages.Request("health"), 1.0)["error"]["code"]


def test_without_the_library_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "grpc", None)
    with connect(parse_descriptor(descriptor("http://127.0.0.1:1"))) as link:
        answer = link.ask(messages.Request("health"), 1.0)
    assert ("unreachable", True) == (
        answer["error"]["code"],
        "pip install 'hookonce[grpc]'" in answer["error"]["message"],
    )
