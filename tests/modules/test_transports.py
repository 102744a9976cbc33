"""One meaning on every transport: in process, on stdio and over HTTP."""

import threading
import time

import pytest

from hookonce.modules.host.client import health, invoke
from hookonce.modules.protocol.messages import Request
from tests.modules.talking import linked, wired

TRANSPORTS = ["in process", "stdio", "http"]


@pytest.fixture(scope="module", params=TRANSPORTS)
def link(request):
    with linked(request.param) as found:
        yield found


@pytest.fixture(scope="module", params=TRANSPORTS)
def wire(request):
    with wired(request.param) as found:
        yield found


def error(code, message, **details):
    return {"ok": False, "error": {"code": code, "message": message} | ({"details": details} if details else {})}


NO_OP = error("bad_request", "op is required and is a text: the name of an operation", path="$.op")
NO_OBJECT = error("bad_request", "a request is an object with op and args")
ECHO = {"ok": True, "result": {"args": {"a": [1, None, "é"]}, "session_id": "S"}}
CASES = {
    "health": ({"op": "health"}, {"status": "ok"}),
    "health by method": ({"method": "health", "id": 1}, {"status": "ok", "id": 1}),
    "an invocation": ({"op": "echo", "args": {"a": [1, None, "é"]}, "session_id": "S"}, ECHO),
    "spelled out": ({"op": "invoke", "args": {"op": "echo", "args": {"a": [1, None, "é"]}, "session_id": "S"}}, ECHO),
    "by method": ({"method": "echo", "params": {"a": [1, None, "é"]}, "session_id": "S"}, ECHO),
    "invoke by method": (
        {"method": "invoke", "params": {"op": "add", "args": {"one": 2}}, "id": 5},
        {"ok": True, "result": 3, "id": 5},
    ),
    "a number as id": ({"op": "add", "args": {"one": 1}, "id": 7}, {"ok": True, "result": 2, "id": 7}),
    "a text as id": ({"op": "add", "args": {"one": 1}, "id": "x y"}, {"ok": True, "result": 2, "id": "x y"}),
    "null as id": ({"op": "add", "args": {"one": 1}, "id": None}, {"ok": True, "result": 2, "id": None}),
    "no args": ({"op": "seen"}, {"ok": True, "result": []}),
    "a fault": ({"op": "refuse", "args": {}}, error("forbidden", "not you", retryable=False)),
    "an exception": ({"op": "fail", "args": {}}, error("internal", "fail failed: ValueError: no luck")),
    "an exit": ({"op": "leave", "args": {}}, error("internal", "leave failed: SystemExit: 3")),
    "no op": ({"args": {}, "id": 3}, NO_OP | {"id": 3}),
    "an empty op": ({"op": ""}, NO_OP),
    "an op that is no text": ({"op": 5}, NO_OP),
    "an invocation of nothing": ({"op": "invoke", "args": {}}, NO_OP),
    "args that are no object": ({"op": "echo", "args": [1]}, error("bad_request", "args is an object", path="$.args")),
    "a session that is no text": (
        {"op": "echo", "args": {}, "session_id": 1},
        error("bad_request", "session_id is a text", path="$.session_id"),
    ),
    "a list": ([1], NO_OBJECT),
    "a text": ("health", NO_OBJECT),
    "an argument that is missing": (
        {"op": "add", "args": {}},
        error("bad_request", "the arguments of add do not fit: Object missing required field `one`"),
    ),
    "an argument of another type": (
        {"op": "add", "args": {"one": "1"}},
        error("bad_request", "the arguments of add do not fit: Expected `int`, got `str` - at `$.one`"),
    ),
}


@pytest.mark.covers("AMP-5", "AMP-6", "AMP-8", "AMP-9", "AMP-11", "AMP-12", "AMP-17", "AMP-X2", "AMP-X9")
@pytest.mark.parametrize("case", CASES)
def test_a_document_is_answered_alike_everywhere(wire, case):
    """
    The same question has the same answer, to the letter, and the id comes back as it was.
    """
    document, expected = CASES[case]
    assert expected == wire(document)


@pytest.mark.covers("AMP-17")
def test_an_operation_that_nobody_has_is_unsupported(wire):
    """
    The error names the code, and what there is instead.
    """
    found = wire({"op": "nothing", "args": {}})["error"]
    assert ("unsupported_op", "there is no operation nothing") == (found["code"], found["message"])
    assert "echo" in found["details"]["ops"]


@pytest.mark.part(2)
@pytest.mark.covers("AMP-5")
@pytest.mark.parametrize("raw", [b"{", b"\xff\xfe", b'{"op": NaN}', b"[" * 100_000], ids=["half", "bytes", "nan", "deep"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_garbage_is_a_bad_request_and_the_next_request_is_answered(transport, raw):
    """
    Nothing that can be sent ends a module.
    """
    with wired(transport) as wire:
        assert wire(raw)["error"]["code"] == "bad_request"
        assert wire({"op": "health"}) == {"status": "ok"}


@pytest.mark.covers("AMP-6", "AMP-7")
def test_a_module_is_well_and_describes_itself(link):
    """
    Health is ok; the description has its six fields, and the schemas of what goes in and comes out.
    """
    assert health(link).result == {"status": "ok"}
    told = link.ask(Request("describe"), 10.0)
    assert ("subject", "1.2.3", "tool", ["fs.read"]) == tuple(told[key] for key in ("name", "version", "kind", "capabilities"))
    case = next(one for one in told["inputs"]["allOf"] if one["if"]["properties"]["op"]["const"] == "add")
    assert case["then"]["properties"]["args"]["required"] == ["one"]
    assert {"type": "integer"} in told["outputs"]["anyOf"]


@pytest.mark.covers("AMP-5", "AMP-13")
@pytest.mark.parametrize("link", [*TRANSPORTS, "grpc"], indirect=True)
def test_one_tool_is_asked_alike_everywhere(link):
    """
    Over gRPC as well, where a module has one operation: its host sees no difference.
    """
    assert health(link).result == {"status": "ok"}
    assert invoke(link, "add", {"one": 2}).result == 3
    found = invoke(link, "nothing").error
    assert ("unsupported_op", True) == (found.code, "add" in found.details["ops"])
    assert invoke(link, "").error.code == "bad_request"
    cases = link.ask(Request("describe"), 10.0)["inputs"]["allOf"]
    case = next(one for one in cases if one["if"]["properties"]["op"]["const"] == "add")
    assert case["then"]["properties"]["args"]["required"] == ["one"]


@pytest.mark.part(2)
@pytest.mark.covers("AMP-25")
@pytest.mark.parametrize("size", [0, 1 << 20, 5 << 20])
def test_large_messages_come_back_whole(link, size):
    """
    A megabyte is nothing special, in either direction.
    """
    args = {"text": "ü\\" * (size // 3), "lone": "\ud800"}
    assert invoke(link, "echo", args, timeout=60).result["args"] == args


@pytest.mark.covers("AMP-24")
def test_what_takes_too_long_is_a_timeout_and_holds_up_nobody(link):
    """
    The caller hears of it in time, and others are answered while the work still goes on.
    """
    answer = invoke(link, "hold", timeout=0.3)
    assert answer.error.code == "timeout"
    assert answer.error.details["seconds"] == 0.3
    assert invoke(link, "add", {"one": 1}).result == 2
    assert invoke(link, "release").result == 1


def test_many_requests_at_once_are_answered_each_with_its_own_answer(link):
    """
    A dozen callers meet inside the module, so all were there at once; and none gets what is somebody else's.
    """
    invoke(link, "add", {"one": 1})
    met, wrong = [], []

    def talk(number):
        met.append(invoke(link, "meet").result)
        for turn in range(20):
            args, session = {"number": number, "turn": turn}, f"s{number}"
            wrong.append(invoke(link, "echo", args, session_id=session).result != {"args": args, "session_id": session})

    threads = [threading.Thread(target=talk, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(met) == list(range(12))
    assert wrong == [False] * 240


@pytest.mark.covers("AMP-10")
def test_events_are_acknowledged_before_they_are_worked_on(link):
    """
    The acknowledgement does not wait for the work; the work is done in order, and a failure ends nothing.
    """
    before = invoke(link, "seen").result
    for name in ("session:start", "tea:ready", "session:end"):
        assert invoke(link, "on_event", {"event": {"event": name}}).result == {"accepted": True}
    assert len(invoke(link, "seen").result) < len(before) + 2  # the last one is still to be worked on
    assert invoke(link, "on_event", {}).error.code == "bad_request"
    for _ in range(200):
        if len(found := invoke(link, "seen").result) == len(before) + 2:
            break
        time.sleep(0.02)
    assert found == [*before, "session:start", "session:end"]


def test_what_an_operation_prints_is_no_answer(link):
    """
    Neither prints nor the output of other programs get between the answers, and nobody reads our requests.
    """
    assert invoke(link, "chatter").result == "said"
    assert invoke(link, "add", {"one": 4}).result == 5


def test_a_result_that_is_no_json_is_an_internal_error(link):
    """
    The caller is told, and nothing breaks.
    """
    assert invoke(link, "strange").error.code == "internal"
    assert link.ask(Request("health"), 5.0) == {"status": "ok"}
