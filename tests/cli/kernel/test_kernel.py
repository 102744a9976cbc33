"""hookonce kernel run: a script drives the kernel, and says what it came to."""

import json

import pytest

from tests.cli.command import run
from tests.cli.module.test_module import path_without_hookonce
from tests.shared import ROOT

EXAMPLE = ROOT / "examples" / "kernel" / "words.jsonl"
START = {"op": "session:start", "args": {"plan": {"goal": "try"}}, "as": "s"}


def kernel(home, *words, **more):
    return run("kernel", "run", *words, HOME=str(home), PATH=path_without_hookonce(home), **more)


@pytest.mark.covers("AMP-21", "AMP-27")
def test_the_example_runs_and_is_kept_in_the_record(tmp_path):
    ran = kernel(tmp_path, EXAMPLE)
    assert (0, "", 8) == (ran.code, ran.err, len(ran.documents()))
    log = [json.loads(line)["event"] for line in (tmp_path / ".local/share/hookonce/kernel.jsonl").read_text().splitlines()]
    assert ["session:start", "mount:add", "module:invoke", "module:invoke", "context:set", "context:get", "module:invoke", "session:end"] == log


def test_a_dry_run_starts_and_keeps_nothing(tmp_path):
    ran = kernel(tmp_path, EXAMPLE, "--dry-run")
    assert (0, "", 8) == (ran.code, ran.err, len(ran.documents()))
    assert not (tmp_path / ".local/share/hookonce/kernel.jsonl").exists()


def test_a_file_with_problems_is_not_begun(tmp_path):
    script = tmp_path / "script.jsonl"
    script.write_text("\n".join(json.dumps(one) for one in (START, {"op": "mout"}, {"op": "context:get"})))
    ran = kernel(tmp_path, script)
    assert (1, "") == (ran.code, ran.out)
    assert f"{script}:2: there is no operation mout" in ran.err
    assert f"{script}:3: context:get needs a session_id" in ran.err
    assert "2 problems; nothing was run" in ran.err


def test_standard_input_is_run_line_by_line_and_the_first_failure_ends_it(tmp_path):
    lines = (START, {"op": "context:get", "session_id": "$s", "expect": {"result": {"a": 1}}}, {"op": "session:end", "session_id": "$s"})
    given = b"".join(json.dumps(one).encode() + b"\n" for one in lines)
    ran = kernel(tmp_path, "-", given=given)
    assert (1, 2) == (ran.code, len(ran.documents()))
    assert "line 2: context:get: $.result.a is missing" in ran.err
    going = kernel(tmp_path, "-", "--keep-going", given=given + b'{"op": "mout"}\n')
    assert (1, 3) == (going.code, len(going.documents()))
    assert "2 steps failed" in going.err
    assert "line 4: there is no operation mout" in going.err


def test_without_a_script_nothing_is_run(tmp_path):
    assert 64 == kernel(tmp_path).code
    assert 1 == kernel(tmp_path, tmp_path / "nowhere.jsonl").code
