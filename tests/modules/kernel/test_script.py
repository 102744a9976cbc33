"""Scripts of the kernel: what a line may say, and what each step comes to."""

import json
from io import BytesIO
from pathlib import Path

import pytest

from hookonce.base.json_stream import read_documents
from hookonce.modules.kernel.script import SCRIPT_OPS, ScriptRunner, ScriptStep, parse_script
from hookonce.modules.kernel.user_kernel import DryLink
from tests.modules.kernel.test_kernel import World, described, echoing

PLAN = {"goal": "try", "inputs": {}}
START = {"op": "session:start", "args": {"plan": PLAN}, "as": "s"}


def parsed(*lines, folder=Path()):
    raw = b"".join(line if type(line) is bytes else json.dumps(line).encode() + b"\n" for line in lines)
    return list(parse_script(read_documents(BytesIO(raw)), folder))


def mount(**more):
    return {"op": "mount:add", "args": {"path": "/mnt/tools", "descriptor": DOCUMENT}} | more


DOCUMENT = {"name": "echo", "kind": "tool", "transport": {"type": "stdio", "command": ["x"]}, "capabilities": []}


def ran(*lines, world=None, is_dry=False):
    world = world or World(echo=DryLink() if is_dry else echoing())
    runner = ScriptRunner(world.kernel, is_dry=is_dry)
    return [runner.run(step).to_document() for step in parsed(*lines)], world


@pytest.mark.covers("AMP-21")
def test_every_call_of_the_kernel_can_be_made_by_a_script():
    """
    Under the names of the events, and each is told as if a program had made it.
    """
    lines = (
        START,
        mount(),
        {"op": "hook:register", "args": {"event": "session:end", "endpoint": "echo", "priority": 20}},
        {"op": "context:set", "args": {"key": "a", "value": [1]}, "session_id": "$s"},
        {"op": "context:get", "session_id": "$s"},
        {"op": "context:compact", "args": {"limit": 1000}, "session_id": "$s"},
        {"op": "module:invoke", "args": {"module": "echo", "op": "echo", "args": {"x": "$$5"}, "timeout": 5}, "session_id": "$s", "id": 9},
        {"op": "emit", "args": {"event": "mine", "data": {}}, "session_id": "$s"},
        {"op": "session:fork", "args": {"parent": "$s"}, "as": "child"},
        {"op": "session:end", "session_id": "$child"},
        {"op": "mount:remove", "args": {"path": "/mnt/tools", "name": "echo"}},
    )
    answers, world = ran(*lines)
    assert {*SCRIPT_OPS} == {one["op"] for one in answers}
    assert [] == [one for one in answers if "problem" in one]
    assert ({"a": [1]}, {"x": "$5"}, 9) == (answers[4]["result"], answers[6]["result"], answers[6]["id"])
    assert [*range(1, 12)] == [one["line"] for one in answers]
    told = world.told("session:start", "session:fork", "mount:add", "mount:remove", "session:end")
    assert [answers[0]["result"], answers[8]["result"]] == [one["session_id"] for one in told if one["event"] in {"session:start", "session:fork"}]
    assert ["mount:add", "session:fork", "session:end", "mount:remove", "session:end"] == [one["event"] for one in told[1:]]


@pytest.mark.covers("AMP-21")
@pytest.mark.parametrize(
    ("word", "name"),
    [("session_create", "session:start"), ("session.start", "session:start"), ("mount", "mount:add"), ("unmount", "mount:remove"), ("invoke_module", "module:invoke"), ("context_set_fragment", "context:set")],
)
def test_a_call_has_one_name_and_who_writes_another_is_told_it(word, name):
    ((number, message),) = parsed(START | {"op": word})
    assert (1, f"there is no operation {word}; did you mean {name}? Operations: {', '.join(SCRIPT_OPS)}") == (number, message)


PROBLEMS = {
    "no JSON": (b"{nope\n", "invalid JSON"),
    "a list": ([1], "a step is an object"),
    "no op": ({"args": {}}, "op is required"),
    "another op": ({"op": "session:strat"}, "there is no operation session:strat; did you mean session:start? Operations: "),
    "an op of nobody's": ({"op": "nope"}, f"there is no operation nope. Operations: {', '.join(SCRIPT_OPS)}"),
    "another field": ({"op": "emit", "arg": {}}, "a step has no field arg; did you mean args?"),
    "args": ({"op": "emit", "args": 5}, "args is an object"),
    "a missing argument": ({"op": "mount:add", "args": {"path": "/mnt/tools"}}, "mount:add needs descriptor in args"),
    "another argument": ({"op": "emit", "args": {"event": "x", "date": {}}}, "emit has no argument date; did you mean data?"),
    "another type": ({"op": "emit", "args": {"event": 5}}, "event is a text"),
    "a plan": ({"op": "session:start", "args": {"plan": {"inputs": 5}}}, "$.goal is required; $.inputs expected an object"),
    "a path": ({"op": "mount:remove", "args": {"path": "/mnt"}}, "/mnt is no mount path; there are /mnt/providers"),
    "a descriptor": ({"op": "mount:add", "args": {"path": "/mnt/tools", "descriptor": {"name": "x"}}}, "$.kind: is required"),
    "no descriptor": ({"op": "mount:add", "args": {"path": "/mnt/tools", "descriptor": 5}}, "descriptor is an object, the file of a descriptor, or a name"),
    "a missing file": ({"op": "mount:add", "args": {"path": "/mnt/tools", "descriptor": "nowhere.json"}}, "nowhere.json cannot be read"),
    "no session": ({"op": "context:get"}, "context:get needs a session_id"),
    "a session too many": (START | {"session_id": "x"}, "session:start takes no session_id"),
    "a reference": ({"op": "session:end", "session_id": "$nobody"}, "no line before is called nobody"),
    "a name": (START | {"as": "a b"}, "as is a name for the result"),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_line_that_is_no_step_is_told_with_its_number(name):
    line, message = PROBLEMS[name]
    _, found, _ = parsed(START, line, b"# a comment\n", b"\n", {"op": "session:end", "session_id": "$s"})
    assert (2, True) == (found[0], message in found[1]), found


def test_a_descriptor_is_found_beside_the_script(tmp_path):
    (tmp_path / "echo.json").write_text(json.dumps(DOCUMENT))
    (step,) = parsed({"op": "mount:add", "args": {"path": "/mnt/tools", "descriptor": "echo.json"}}, folder=tmp_path)
    assert ("echo", str(tmp_path)) == (step.args["descriptor"].name, step.args["descriptor"].folder)


EXPECTED = {
    "part of an answer": ({"ok": True, "result": {"x": 1}}, None),
    "nothing special": ({}, None),
    "another value": ({"result": {"x": 2}}, "$.result.x is 1, expected 2"),
    "another type": ({"result": {"x": True}}, "$.result.x is 1, expected True"),
    "a missing field": ({"result": {"z": 1}}, "$.result.z is missing"),
    "a list of another length": ({"result": {"y": [1]}}, "$.result.y is [1, 2], expected [1]"),
    "an item": ({"result": {"y": [1, 3]}}, "$.result.y[1] is 2, expected 3"),
    "a failure": ({"ok": False}, "$.ok is True, expected False"),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_an_answer_is_compared_with_what_was_expected(name):
    expect, problem = EXPECTED[name]
    invoke = {"op": "module:invoke", "args": {"module": "echo", "op": "echo", "args": {"x": 1, "y": [1, 2]}}, "expect": expect}
    answers, _ = ran(mount(), invoke)
    assert problem == answers[1].get("problem")


def test_an_error_is_a_problem_unless_it_was_expected():
    invoke = {"op": "module:invoke", "args": {"module": "echo", "op": "nothing"}}
    answers, _ = ran(mount(), invoke, invoke | {"expect": {"ok": False, "error": {"code": "unsupported_op"}}})
    assert "unsupported_op: there is no operation nothing" == answers[1]["problem"]
    assert "problem" not in answers[2]


def test_results_are_used_by_their_names():
    echo = {"op": "module:invoke", "args": {"module": "echo", "op": "echo", "args": {"list": ["a", {"b": 7}]}}, "as": "r"}
    uses = [{"op": "context:set", "args": {"key": "k", "value": f"$r.{path}"}, "session_id": "$s"} for path in ("list.1.b", "list.5", "none")]
    answers, _ = ran(START, mount(), echo, uses[0], {"op": "context:get", "session_id": "$s"}, *uses[1:])
    assert {"k": 7} == answers[4]["result"]
    assert ["bad_request: the result called r has no 5", "bad_request: the result called r has no none"] == [one["problem"] for one in answers[5:]]


def test_a_dry_run_checks_everything_but_what_a_module_says():
    invoke = {"op": "module:invoke", "args": {"module": "echo", "op": "echo"}, "as": "r", "expect": {"result": 5}}
    use = {"op": "context:set", "args": {"key": "k", "value": "$r.x"}, "session_id": "$s"}
    nobody = {"op": "module:invoke", "args": {"module": "nobody", "op": "echo"}}
    answers, _ = ran(START, mount(), invoke, use, nobody, {"op": "session:end", "session_id": "gone"}, is_dry=True)
    assert [None, None, None, None] == [one.get("problem") for one in answers[:4]]
    assert ["not tried: a dry run asks no module", "not tried: it depends on a module's answer"] == [one["note"] for one in answers[2:4]]
    assert ["bad_request: no module nobody is mounted", "bad_request: there is no session gone, or it has ended"] == [one["problem"] for one in answers[4:]]


def test_what_is_not_granted_is_forbidden_to_a_script_too():
    world = World(echo=echoing())
    world.kernel.mount("/mnt/tools", described("echo", "tool", "fs.read"))
    answers, _ = ran({"op": "module:invoke", "args": {"module": "echo", "op": "echo"}}, world=world)
    assert answers[0]["problem"].startswith("forbidden: echo wants fs.read")
    assert isinstance(parsed(START)[0], ScriptStep)
