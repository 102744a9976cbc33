"""A module of one's own: ten lines, both transports, nothing but hookonce."""

import json
import os
import subprocess
import sys
import threading
import time
from functools import partial

import pytest
from msgspec import Struct

from hookonce.errors import UsageError
from hookonce.modules import Fault, Module, Request, module
from hookonce.modules.host.client import connect, health, invoke
from hookonce.modules.host.stdio import StdioLink
from hookonce.modules.protocol.descriptor import parse_descriptor
from hookonce.modules.server.http_server import ModuleHttpServer, bridge_document
from hookonce.modules.server.operations import JobQueue, OperationFunction
from hookonce.modules.server.stdio_server import StdioServer
from tests.modules.subject import m
from tests.modules.talking import SUBJECT, environment, posted, program

TEN_LINES = """
from hookonce.modules import module

m = module(name="greeter", kind="tool", capabilities=["fs.read"])

@m.op("greet")
def greet(name: str) -> str:
    return f"hello {name}"

m.run()
"""


@pytest.mark.covers("AMP-7", "AMP-11")
def test_ten_lines_are_a_module(tmp_path):
    """
    It describes itself, and is reached by the descriptor that it prints.
    """
    file = tmp_path / "greeter.py"
    file.write_text(TEN_LINES, encoding="utf-8")
    printed = subprocess.run([sys.executable, file, "--descriptor"], env=environment(), capture_output=True, check=True)
    with connect(parse_descriptor(json.loads(printed.stdout)), env=environment()) as link:
        assert link.ask(Request("describe"), 10.0)["capabilities"] == ["fs.read"]
        assert invoke(link, "greet", {"name": "you"}).result == "hello you"


class Point(Struct):
    x: int
    y: int = 0


@pytest.mark.covers("AMP-8")
def test_arguments_are_typed_by_the_parameters():
    """
    Shapes, defaults, the request and everything at once; what does not fit never reaches the function.
    """
    own = module(name="x", kind="tool")

    @own.op("move")
    def move(point: Point, by: int = 1, *, request: Request) -> Point:
        return Point(point.x + by, len(request.session_id or ""))

    assert invoke(own, "move", {"point": {"x": 1}}, session_id="ab").result == {"x": 2, "y": 2}
    answer = invoke(own, "move", {"point": {"x": "1"}})
    assert answer.error.code == "bad_request"
    assert "$.point.x" in answer.error.message
    takes, gives = own.ops["move"].schemas()
    assert takes["$defs"]["Point"]["required"] == gives["required"] == ["x"]


def test_what_cannot_be_an_operation_is_refused_when_it_is_written():
    """
    Words of the protocol, arguments without names, and kinds that there are not.
    """
    own = Module(name="x", kind="tool", capabilities=[], version="1")
    with pytest.raises(UsageError, match="reserved by the protocol"):
        own.op("health")(print)
    with pytest.raises(UsageError, match="name each argument"):
        own.op("do")(lambda *words: words)
    with pytest.raises(UsageError, match="no kind of module"):
        module(name="x", kind="thing")


@pytest.mark.covers("AMP-10")
def test_a_queue_of_events_has_an_end(monkeypatch):
    """
    When too many wait, the next is refused with a code and a hint.
    """
    monkeypatch.setattr("hookonce.modules.server.operations._MAX_JOBS", 2)
    later = JobQueue(OperationFunction("on_event", lambda seconds: time.sleep(seconds or 0)))
    request = Request("on_event", {"seconds": 0.2})
    with pytest.raises(Fault) as caught:
        list(map(later, [request] * 4))
    assert ("oom", {"retryable": True}) == (caught.value.error.code, caught.value.error.details)


@pytest.mark.covers("AMP-10")
def test_what_was_acknowledged_is_done_before_the_module_leaves(tmp_path):
    """
    The end of stdin is no reason to forget events.
    """
    text = (
        "import sys, time, pathlib\nfrom hookonce.modules import module\nm = module(name='x', kind='hook')\n"
        "@m.on_event\ndef seen(event: dict):\n    time.sleep(0.05)\n"
        f"    with open({str(tmp_path / 'seen')!r}, 'a') as f: f.write(event['event'] + '\\n')\nm.run()\n"
    )
    with StdioLink([sys.executable, "-c", text], env=environment()) as link:
        for number in range(5):
            assert invoke(link, "on_event", {"event": {"event": str(number)}}).ok
    assert (tmp_path / "seen").read_text(encoding="utf-8").split() == list("01234")


def test_on_stdio_slow_work_is_answered_with_timeout_and_its_result_is_dropped(monkeypatch):
    """
    The module keeps its own deadline: one answer, and no second one when the work is done after all.
    """
    into, out = os.pipe(), os.pipe()
    slow = module(name="slow", kind="tool")
    slow.op("wait")(lambda: time.sleep(0.3))
    monkeypatch.setattr("hookonce.modules.server.stdio_server.MAX_THREADS", 2)
    monkeypatch.setattr("hookonce.modules.protocol.messages.MAX_MESSAGE_BYTES", 1000)
    desk = StdioServer(slow.answer, into[0], out[1], 0.05)
    desk.start()
    os.write(into[1], b'{"op":"wait","id":1}\n{"op":"health","id":2}\n')
    heard = b""
    while heard.count(b"\n") < 2:
        heard += os.read(out[0], 1 << 16)
    os.write(into[1], b"x" * 1001 + b"\n")
    while heard.count(b"\n") < 3:
        heard += os.read(out[0], 1 << 16)
    time.sleep(0.35)
    os.write(into[1], b'\n \n{"op":"health","id":3}\n')
    while heard.count(b"\n") < 4:
        heard += os.read(out[0], 1 << 16)
    os.close(into[1])
    desk.stop_event.wait(10)
    told = [json.loads(line) for line in heard.splitlines()]
    assert sorted(one["id"] for one in told if "id" in one) == [1, 2, 3]
    assert next(one for one in told if one.get("id") == 1)["error"]["code"] == "timeout"
    assert next(one for one in told if "id" not in one)["error"]["code"] == "bad_request"
    for end in (into[0], *out):
        os.close(end)


@pytest.mark.covers("AMP-5")
def test_a_module_on_stdio_can_be_offered_over_http():
    """
    A bridge passes on what is asked and answered, under the caller's own ids; what is no request stays here.
    """
    echo = "say({'status': 'ok', 'id': r['id']} if r['op'] == 'health' else {'ok': True, 'result': r['args'], 'id': r['id']})"
    with StdioLink(program(echo)) as link, ModuleHttpServer(partial(bridge_document, link), 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert posted(server.url, "/health", b"")[1] == {"status": "ok"}
        found = posted(server.url, "/invoke", {"op": "do", "args": {"n": 1}, "id": "mine"})[1]
        assert found == {"ok": True, "result": {"n": 1}, "id": "mine"}
        assert posted(server.url, "/invoke", {"args": {}})[1]["error"]["code"] == "bad_request"
        server.shutdown()


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--http", "0", "--token-env", "NOT_SET"], "NOT_SET"), (["--http", "0", "--host", "0.0.0.0"], "--token-env")],  # noqa: S104
)
def test_a_command_line_that_cannot_be_followed_says_so(words, said):
    """
    Wrong usage ends with 64 and one sentence.
    """
    ran = subprocess.run([sys.executable, SUBJECT, *words], env=environment(), capture_output=True, check=False, text=True)
    assert (64, True) == (ran.returncode, said in ran.stderr)
    assert "Traceback" not in ran.stderr


def test_a_module_in_process_is_a_link_like_any_other():
    """
    So its author can test it without starting anything.
    """
    assert health(m).ok
    assert invoke(m, "add", {"one": 1, "other": 5}).result == 6
    m.close()


def test_arguments_that_there_are_not_are_refused_and_named():
    """
    Whoever mistypes an argument hears of it, unless the function takes whatever comes.
    """
    made = module(name="x", kind="tool")
    made.op("greet")(lambda name="you": f"hello {name}")
    made.op("echo")(lambda args: args)
    made.op("both")(lambda args, name="you": [args, name])

    said = made.answer({"op": "greet", "args": {"nam": "x"}})

    assert {"code": "bad_request", "message": "greet has no argument nam; did you mean name?", "details": {"args": ["name"]}} == said["error"]
    assert {"nam": "x"} == made.answer({"op": "echo", "args": {"nam": "x"}})["result"]
    assert [{"nam": "x"}, "you"] == made.answer({"op": "both", "args": {"nam": "x"}})["result"]
    assert made.describe()["inputs"]["allOf"][0]["then"]["properties"]["args"]["additionalProperties"] is False
