"""A hook that is a module: asked alone and by a daemon, kept running, and ended by its fail mode whatever it does."""

import json
import sys
from pathlib import Path

import pytest

from hookonce.dispatch.module_hook import build_operation, find_obstacles
from hookonce.dispatch.select import SelectedHook
from hookonce.model import Event, Handler, Hook, Record
from hookonce.modules.protocol.descriptor import descriptor_key
from tests.cli.command import run
from tests.daemon.conftest import home, installed, shelf, warm  # noqa: F401  fixtures
from tests.handlers.processes import eventually, running
from tests.modules.talking import grpc_served
from tests.shared import ROOT

MODULE = """
import json, os, sys, time
for number, line in enumerate(iter(sys.stdin.readline, "")):
    asked = json.loads(line)
    command = json.dumps(asked["args"])
    with open(os.environ.get("SEEN", "/dev/null") if "SEEN" in os.environ else sys.argv[1], "a") as seen:
        seen.write(f"{os.getpid()} {asked['op']} {asked['args']['event']['event']}\\n")
    if "hang" in command:
        time.sleep(60)
    if "crash" in command:
        print("it hurts", file=sys.stderr, flush=True)
        os._exit(3)
    if "garbage" in command:
        print("hello", flush=True)
        continue
    answer = {"ok": True, "result": {"decision": "deny", "reason": "the module says no"} if "rm" in command else {"accepted": True}}
    if "refuse" in command:
        answer = {"ok": False, "error": {"code": "internal", "message": "not today"}}
    print(json.dumps(answer | {"id": asked["id"]}), flush=True)
"""


@pytest.fixture
def place(home):  # noqa: F811
    """A home with a hook that is a module."""
    folder = home.home / ".config" / "hookonce"
    folder.mkdir(parents=True)
    (folder / "module.py").write_text(MODULE)
    describe(home)
    return home


def describe(place, *capabilities, kind="hook", **transport):
    folder = place.home / ".config" / "hookonce"
    told = {"type": "stdio", "command": [sys.executable, "module.py", str(place.home / "seen")]} | transport
    document = {"name": "judge", "kind": kind, "transport": told, "capabilities": list(capabilities)}
    (folder / "judge.json").write_text(json.dumps(document))


def hook(place, **more):
    handler = {"type": "module", "file": "judge.json"} | more.pop("handler", {})
    place.hooks({"event": "before_tool_execute", "blocking": True, "handler": handler} | more)


def seen(place):
    return [line.split() for line in place.lines("seen")]


@pytest.mark.covers("AMP-10")
@pytest.mark.parametrize("way", ["env", "cold_env"])
def test_a_module_decides_as_any_hook_does(place, way):
    hook(place)
    if way == "env":
        place.warm()
    _, said, _ = place.tool("rm -rf x", env=getattr(place, way))
    assert b"the module says no" in said
    assert (0, b"", b"") == place.tool("ls", env=getattr(place, way))
    pids, ops, events = zip(*seen(place), strict=True)
    assert ({"on_event"}, {"tool:pre"}) == ({*ops}, {*events})
    assert {"env": 1, "cold_env": 2}[way] == len({*pids})


@pytest.mark.covers("AMP-13")
def test_a_module_over_grpc_decides_as_any_hook_does(place):
    """
    It is asked through a process of its own, so that no process which forks has the threads of grpcio.
    """
    hook(place, name="judge", on_failure="closed", handler={"timeout": 20})
    place.warm()
    env = place.env | {"JUDGE_TOKEN": "abc"}
    with grpc_served() as (url, _):
        describe(place, type="grpc", command=[], token_env="JUDGE_TOKEN", url=url)
        _, said, _ = place.tool("ls")
        assert b"forbidden: the variable JUDGE_TOKEN is to hold the token" in said
        assert (0, b"", b"") == place.tool("ls", env=env)
        assert b"tool:pre: the server says no" in place.tool("rm -rf x", env=env)[1]
        words = ("try", "judge", "--json", "--input", '{"command": "rm"}')
        (tried,) = run(*words, cwd=place.where, HOME=str(place.home), JUDGE_TOKEN="abc").documents()
    assert ([], "deny") == (tried["unknown"], tried["told"]["decision"]["outcome"])
    assert {False} == {b"cygrpc" in Path(f"/proc/{pid}/maps").read_bytes() for pid in place.daemons()}


def test_another_grpc_server_or_token_is_another_process_and_a_tool_hears_of_nothing(place, monkeypatch):
    handler, folder = Handler(type="module", file="judge.json"), place.home / ".config/hookonce"
    selection = SelectedHook(hook=Hook(event="session_start", handler=handler), scope="user", folder=str(folder))
    record = Record(event=Event(id="1", schema="1", type="session_start", agent="x", time="2026-01-01T00:00:00Z", time_source="none"))
    keys = set()
    for port, token in (("1", "a"), ("2", "a"), ("2", "b"), ("2", "b")):
        describe(place, type="grpc", command=[], token_env="TOKEN", url=f"http://127.0.0.1:{port}")
        operation = build_operation(selection, record, {"TOKEN": token, "X": "y"})
        assert {"TOKEN": token} == operation.variables
        keys.add((descriptor_key(operation.descriptor), token))
    assert 3 == len(keys)
    monkeypatch.setitem(sys.modules, "grpc", None)
    assert ["install it with: pip install 'hookonce[grpc]'"] == [text.partition("; ")[2] for _, text in find_obstacles(handler, folder, "user")]
    describe(place, kind="tool", type="grpc", url="http://127.0.0.1:1")
    assert ["judge is a tool; over gRPC a hook alone receives events"] == [text for _, text in find_obstacles(handler, folder, "user")]


def test_a_module_that_has_crashed_is_started_again_for_the_next_event(place):
    hook(place)
    place.warm()
    assert (0, b"", b"") == place.tool("crash")
    _, said, _ = place.tool("rm")
    assert b"the module says no" in said
    assert 2 == len({pid for pid, *_ in seen(place)})


@pytest.mark.part(3)
@pytest.mark.parametrize("what", ["hang", "crash", "garbage", "refuse"])
@pytest.mark.parametrize(("mode", "denies"), [("open", False), ("closed", True)])
def test_what_goes_wrong_ends_by_the_fail_mode(place, what, mode, denies):
    hook(place, on_failure=mode, handler={"timeout": 0.5})
    place.warm()
    _, said, _ = place.tool(what)
    assert denies is (b"deny" in said)


def test_a_capability_that_is_not_granted_is_forbidden_and_told(place):
    describe(place, "net.fetch")
    hook(place, on_failure="closed")
    place.warm()
    _, said, _ = place.tool("ls")
    assert b"deny" in said
    assert [] == seen(place)
    (place.home / ".config/hookonce/config.toml").write_text('[grants]\njudge = ["net.fetch"]\n')
    assert (0, b"", b"") == place.tool("ls")
    log = place.home / ".local/share/hookonce/kernel.jsonl"
    (denied,) = [json.loads(line) for line in log.read_text().splitlines()]
    assert ("policy:decision", "denied", "net.fetch") == (denied["event"], denied["status"], denied["data"]["capability"])


def test_a_project_s_hook_starts_no_module(place):
    project = place.where / ".hookonce"
    project.mkdir()
    for name in ("module.py", "judge.json"):
        (project / name).write_text((place.home / ".config/hookonce" / name).read_text())
    handler = {"type": "module", "file": ".hookonce/judge.json"}
    place.hooks({"event": "before_tool_execute", "blocking": True, "handler": handler}, scope="project")
    place.trust()
    place.tool("rm", env=place.cold_env)
    assert [] == seen(place)


def test_nothing_is_left_when_the_daemon_leaves(place):
    hook(place)
    place.warm()
    place.tool("ls")
    pids = {int(pid) for pid, *_ in seen(place)}
    place.end()
    assert eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids) or not running("module.py"))


def test_our_example_is_a_hook_too(place):
    folder = ROOT / "examples" / "modules" / "python"
    place.hooks(
        {"event": "before_tool_execute", "blocking": True, "handler": {"type": "module", "file": str(folder / "module.json")}}
    )
    assert (0, b"", b"") == place.tool("ls", env=place.cold_env)


def findings(place):
    ran = run("doctor", "--json", cwd=place.where, HOME=str(place.home))
    (told,) = ran.documents()
    return [one["message"] for one in told["findings"] if one["kind"] in {"module", "missing"}]


def test_doctor_says_what_keeps_a_module_from_being_asked(place):
    hook(place)
    assert [] == findings(place)
    describe(place, "net.fetch")
    (told,) = findings(place)
    assert 'write: "judge" = ["net.fetch"]' in told
    describe(place, command=["/nowhere/at/all"])
    assert "there is no program /nowhere/at/all" in findings(place)[0]
    describe(place, type="mcp")
    assert "judge is an MCP server, which cannot receive events" in findings(place)[0]
    (place.home / ".config/hookonce/judge.json").unlink()
    assert "judge.json cannot be read" in findings(place)[0]


def test_try_shows_what_a_module_was_told_and_what_its_answer_means(place):
    hook(place, name="judge")
    words = ("try", "judge", "--json", "--input", '{"command": "ls"}')
    (tried,) = run(*words, cwd=place.where, HOME=str(place.home)).documents()
    assert ("on_event", "tool:pre") == (json.loads(tried["stdin"])["op"], json.loads(tried["stdin"])["args"]["event"]["event"])
    assert [] == tried["unknown"]
