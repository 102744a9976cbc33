"""The example modules are modules: in Python, in plain sh and in Node."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hookonce.base.json_stream import StreamLine
from hookonce.diagnose.document_check import check_documents
from hookonce.modules.host.client import connect, description_problems, health, invoke
from hookonce.modules.host.http import HttpLink
from hookonce.modules.protocol.descriptor import load_descriptor
from hookonce.modules.protocol.messages import Request
from tests.shared import ROOT

EXAMPLES = ROOT / "examples" / "modules"
NEEDS = {"python": sys.executable, "shell": "awk", "node": "node"}
ASKED = {
    "python": ("count", {"text": "to be or not to be that is"}, {"words": 8, "long": 1}),
    "shell": ("uname", {"op": "date", "text": 'a } " \\ {'}, f"{os.uname().sysname} {os.uname().release}"),
    "node": ("slug", {"title": "Crème brûlée, twice!"}, "creme-brulee-twice"),
}


def environment():
    """Where `python3` is the one that runs the tests."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return os.environ | {"PYTHONPATH": str(ROOT / "src"), "PATH": places}


@pytest.fixture(params=NEEDS)
def example(request):
    if shutil.which(NEEDS[request.param]) is None:
        pytest.skip(f"there is no {NEEDS[request.param]} here")
    file = EXAMPLES / request.param / "module.json"
    with connect(load_descriptor(file), env=environment()) as link:
        yield request.param, link


@pytest.mark.covers("AMP-5", "AMP-6", "AMP-7", "AMP-10", "AMP-17", "AMP-25")
def test_an_example_does_what_a_module_has_to_do(example):
    """
    Health, description, work, events, refusals; a megabyte; and ids, so that many may ask at once.
    """
    name, link = example
    op, args, result = ASKED[name]
    assert health(link, timeout=10).ok
    told = link.ask(Request("describe"), 10.0)
    assert description_problems(told) == []
    descriptor = load_descriptor(EXAMPLES / name / "module.json")
    assert (told["name"], told["version"], told["kind"]) == (descriptor.name, descriptor.version, descriptor.kind)
    assert invoke(link, op, args).result == result
    assert invoke(link, "on_event", {"event": {"event": "session:start"}}).result == {"accepted": True}
    assert invoke(link, "no_such_op").error.code == "unsupported_op"
    assert link.ask(Request(""), 10.0)["error"]["code"] == "bad_request"
    assert invoke(link, "no_such_op", {"more": "x" * (1 << 20)}).error.code == "unsupported_op"
    with ThreadPoolExecutor(8) as threads:
        assert [result] * 16 == list(threads.map(lambda _: invoke(link, op, args).result, range(16)))


def test_an_example_survives_garbage():
    """
    In plain sh too, which has no JSON: what is no request is refused, line by line, with the id where one can be read.
    """
    lines = ["{", "[1]", "nonsense", '{"op":"x"} {"op":"y"}', '{"args":{"op":"date"},"id":3}', '{"op":"date","id":{"op":1}}', "", '{"op":"health","id":-2.5}']
    ran = subprocess.run(["sh", EXAMPLES / "shell" / "module.sh"], input="\n".join(lines) + "\n", capture_output=True, check=True, text=True)
    said = ran.stdout.splitlines()
    assert ["bad_request" in line for line in said] == [True, True, True, False, True, False, False]
    assert said[4].endswith('"id":3}')
    assert said[-1] == '{"status":"ok","id":-2.5}'


@pytest.mark.covers("AMP-12")
def test_the_example_in_node_speaks_http():
    """
    One `answer` for both transports.
    """
    if shutil.which("node") is None:
        pytest.skip("there is no node here")
    command = ["node", EXAMPLES / "node" / "module.mjs", "--http", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            with HttpLink(process.stderr.readline().split()[-1]) as link:
                assert health(link, timeout=10).ok
                assert invoke(link, *ASKED["node"][:2]).result == ASKED["node"][2]
                assert invoke(link, "no_such_op").error.code == "unsupported_op"
        finally:
            process.terminate()
            process.stderr.close()


@pytest.mark.parametrize("name", NEEDS)
def test_the_descriptor_of_an_example_is_right(name):
    """
    `check --strict` finds nothing.
    """
    file = Path(EXAMPLES / name / "module.json")
    found = check_documents(str(file), [StreamLine(1, file.read_bytes())], strict=True)
    assert ("module-descriptor", True, [], []) == (found.kind, found.ok, found.problems, found.warnings)
