"""hookonce module: modules of others are tried, called and listed; hookonce itself is one."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import PAYLOAD, run
from tests.handlers.processes import running
from tests.modules import mcp_fake
from tests.modules.conformance.test_suite import PROGRAM
from tests.modules.talking import grpc_served
from tests.sample import EXHAUSTIVE
from tests.shared import ROOT


@pytest.fixture
def home(tmp_path):
    """A home with a module in it that works, and one that wants something."""
    folder = tmp_path / ".config" / "hookonce" / "modules"
    folder.mkdir(parents=True)
    for name, wants in (("broken", []), ("wanting", ["fs.read"])):
        descriptor = {
            "name": name,
            "kind": "tool",
            "transport": {"type": "stdio", "command": [sys.executable, PROGRAM, "say"]},
            "capabilities": wants,
            "version": "1.0.0",
        }
        (folder / f"{name}.json").write_text(json.dumps(descriptor))
    return tmp_path


def module(home, *words, **more):
    return run("module", *words, HOME=str(home), **more)


@pytest.mark.covers("AMP-32")
def test_check_tells_every_case_with_what_was_said(home):
    ran = module(home, "check", "broken", "--op", "hello", "--json")
    (report,) = ran.documents()
    assert (0, True, "stdio") == (ran.code, report["passed"], report["transport"])
    said = {one["case"]: [message["way"] for message in one["transcript"]] for one in report["cases"]}
    assert ["sent", "heard"] == said["health"]


@pytest.mark.covers("AMP-32")
def test_check_takes_the_words_of_other_conformance_commands(home):
    file = home / ".config" / "hookonce" / "modules" / "broken.json"
    words = ("--descriptor", file, "--transport", "stdio", "--case", "minimal", "--timeout", "30s")
    ran = module(home, "check", *words, "--op", "hello")
    assert (0, "") == (ran.code, ran.err)
    assert "broken (stdio) follows the protocol: 6 of 6 cases" in ran.out


@pytest.mark.covers("AMP-32")
def test_check_keeps_what_was_said_in_files_and_names_them(home):
    words = ("check", "broken", "--op", "hello", "--case", "minimal", "--json", "--transcripts", home / "said")
    (report,) = module(home, *words).documents()
    files = {one["case"]: Path(one["path"]) for one in report["cases"]}
    assert {"health", "describe", "invoke", "unsupported-op", "missing-op", "timeout"} == files.keys()
    sent, heard = (json.loads(line) for line in files["health"].read_text().splitlines())
    assert ("sent", "heard", {"status": "ok", "id": "check-1"}) == (sent["way"], heard["way"], json.loads(heard["text"]))


EXAMPLES = [("python", "stdio"), ("python", "http"), ("shell", "stdio"), ("node", "http"), ("shell", "http"), ("node", "stdio")]


def path_without_hookonce(home):
    """A search path on which no Python has hookonce, as where its environment is not activated."""
    (home / "bin").mkdir(exist_ok=True)
    program = home / "bin/python3"
    program.write_text("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'hookonce'\" >&2; exit 1\n")
    program.chmod(0o755)
    return f"{home}/bin{os.pathsep}{os.environ['PATH']}"


@pytest.mark.part(2)
@pytest.mark.covers("AMP-5", "AMP-12")
@pytest.mark.parametrize(("name", "transport"), EXAMPLES if EXHAUSTIVE else EXAMPLES[:4])
def test_our_examples_pass_over_both_transports(home, name, transport):
    if name == "node" and shutil.which("node") is None:
        pytest.skip("there is no Node.js here")
    folder = ROOT / "examples" / "modules" / name
    words = ("check", folder / "module.json", "--transport", transport, "--json")
    ran = module(home, *words, PATH=path_without_hookonce(home))
    (report,) = ran.documents()
    assert (0, transport) == (ran.code, report["transport"]), report
    assert {"passed", "skipped"} >= {one["state"] for one in report["cases"]}
    assert ["order", "crash", "stderr"] * (transport == "http") == [one["case"] for one in report["cases"] if one["state"] == "skipped"]


def test_a_module_that_fails_a_case_is_exit_code_1_and_says_why(home):
    file = home / "wrong.json"
    known = json.loads((home / ".config/hookonce/modules/broken.json").read_text())
    known["transport"]["command"][-1] = "wrong_status"
    file.write_text(json.dumps(known))
    ran = module(home, "check", file)
    assert (1, True) == (ran.code, "its status is not ok but 'fine'" in ran.out)


@pytest.mark.parametrize(
    "words",
    [
        ["check"],
        ["check", "nobody"],
        ["check", "broken", "--case", "nothing"],
        ["check", "broken", "--args", "5"],
        ["invoke", "broken", "hello", "{"],
        ["serve", "--mcp", "--http", "0"],
        ["serve", "--http", "0"],
    ],
)
def test_wrong_words_are_told_and_nothing_is_run(home, words):
    ran = module(home, *words)
    assert (64, "") == (ran.code, ran.out) or (1, "") == (ran.code, ran.out)
    assert ran.err.startswith("hookonce: ")


@pytest.mark.covers("AMP-9")
def test_invoke_prints_the_answer_and_keeps_what_happened(home):
    ran = module(home, "invoke", "broken", "hello")
    assert (0, [{"ok": True, "result": "hello"}]) == (ran.code, ran.documents())
    failed = module(home, "invoke", "broken", "nothing")
    assert (1, "unsupported_op") == (failed.code, failed.documents()[0]["error"]["code"])
    log = [json.loads(line) for line in (home / ".local/share/hookonce/kernel.jsonl").read_text().splitlines()]
    assert [("module:invoke", "ok"), ("module:invoke", "error")] == [(one["event"], one["status"]) for one in log]
    kept = run("events", "--format", "amplifier", HOME=str(home)).documents()
    assert ["ok", "error"] == [one["status"] for one in kept if one["event"] == "module:invoke"]


# Line by line what the specification prints, and nothing of our own.
TO_THE_LETTER = """
import json, sys
DESCRIBED = {"name": "letter", "version": "1.0.0", "kind": "tool", "capabilities": [], "inputs": {}, "outputs": {}}
def answer(verb, request):
    if verb == "health":
        return {"status": "ok"}
    if verb == "describe":
        return DESCRIBED
    if request.get("op") == "greet":
        return {"ok": True, "result": "hello"}
    code = "unsupported_op" if "op" in request else "bad_request"
    return {"ok": False, "error": {"code": code, "message": "no such operation"}}
if sys.argv[1] == "stdio":
    for line in iter(sys.stdin.readline, ""):
        request = json.loads(line)
        print(json.dumps(answer(request.get("op"), request)), flush=True)
else:
    from http.server import BaseHTTPRequestHandler, HTTPServer
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps(answer(self.path.strip("/"), request)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        def log_message(self, *words):
            pass
    server = HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
"""


@pytest.fixture(params=["stdio", "http"])
def letter(request, tmp_path):
    """The descriptor of that module over a transport."""
    program, file = tmp_path / "letter.py", tmp_path / "letter.json"
    program.write_text(TO_THE_LETTER)
    command = [sys.executable, str(program), request.param]
    document = {"name": "letter", "kind": "tool", "transport": {"type": "stdio", "command": command}, "capabilities": []}
    if request.param == "stdio":
        file.write_text(json.dumps(document))
        yield file
        return
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        url = f"http://127.0.0.1:{int(process.stdout.readline())}"
        file.write_text(json.dumps(document | {"transport": {"type": "http", "url": url}}))
        yield file
        process.terminate()


@pytest.mark.covers("AMP-6", "AMP-7", "AMP-11")
def test_health_and_describe_of_a_module_to_the_letter_can_be_invoked(letter):
    home = letter.parent
    health = module(home, "invoke", letter, "health")
    assert (0, [{"ok": True, "result": {"status": "ok"}}]) == (health.code, health.documents())
    described = module(home, "invoke", letter, "describe").documents()[0]
    assert (True, "letter", {}) == (described["ok"], described["result"]["name"], described["result"]["inputs"])
    assert {"ok": True, "result": "hello"} == module(home, "invoke", letter, "greet").documents()[0]
    checked = module(home, "check", letter, "--op", "greet", "--case", "invoke", "--case", "order")
    assert (0, True) == (checked.code, "follows the protocol" in checked.out), checked.out


@pytest.mark.covers("AMP-6", "AMP-7")
def test_health_and_describe_of_our_example_can_be_invoked(home):
    example = ROOT / "examples" / "modules" / "shell" / "module.json"
    assert [{"ok": True, "result": {"status": "ok"}}] == module(home, "invoke", example, "health", "--allow", "exec.spawn").documents()
    described = module(home, "invoke", example, "describe", "--allow", "exec.spawn").documents()[0]
    assert (True, "machine") == (described["ok"], described["result"]["name"])


@pytest.mark.covers("AMP-13", "AMP-28", "AMP-29")
def test_an_mcp_server_is_listed_called_behind_the_gate_tried_and_offered(home):
    transport = {"type": "mcp", "command": [sys.executable, "-I", "-S", mcp_fake.__file__]}
    document = {"name": "fake", "kind": "tool", "transport": transport, "capabilities": ["net.fetch"]}
    (home / ".config/hookonce/modules/fake.json").write_text(json.dumps(document))
    rows = {row["module"]: row for row in module(home, "list", "--health", "--json").documents()}
    assert ("mcp", "well") == (rows["fake"]["transport"], rows["fake"]["state"])
    denied = module(home, "invoke", "fake", "echo", '{"text": "hi"}')
    assert (1, "forbidden") == (denied.code, denied.documents()[0]["error"]["code"])
    ran = module(home, "invoke", "fake", "echo", '{"text": "hi"}', "--allow", "net.fetch")
    assert (0, [{"ok": True, "result": "echo: hi"}]) == (ran.code, ran.documents())
    failed = module(home, "invoke", "fake", "fail", "--allow", "net.fetch")
    assert (1, "tool_error") == (failed.code, failed.documents()[0]["error"]["code"])
    log = [json.loads(line) for line in (home / ".local/share/hookonce/kernel.jsonl").read_text().splitlines()]
    told = [(one["event"], one["status"], one["data"]["op"]) for one in log]
    assert [("policy:decision", "denied", "echo"), ("module:invoke", "error", "echo")] == told[:2]
    assert [("module:invoke", "ok", "echo"), ("policy:decision", "granted", "fail"), ("module:invoke", "error", "fail")] == told[3:]
    for words in (("--case", "crash", "--case", "garbage"), ("--transport", "http", "--case", "invoke")):
        checked = module(home, "check", "fake", "--op", "echo", *words)
        assert (0, True) == (checked.code, "follows the protocol" in checked.out), checked.out
    wrong = module(home, "check", "fake", "--transport", "stdio")
    assert (64, True) == (wrong.code, "fake speaks MCP, according to its descriptor" in wrong.err)


@pytest.mark.covers("AMP-13", "AMP-28", "AMP-32")
def test_a_grpc_server_is_listed_called_behind_the_gate_and_tried(home):
    with grpc_served() as (url, _):
        for name, kind in (("sum", "tool"), ("judge", "hook"), ("guide", "agent")):
            document = {"name": name, "kind": kind, "transport": {"type": "grpc", "url": url}, "capabilities": ["net.fetch"]}
            (home / f".config/hookonce/modules/{name}.json").write_text(json.dumps(document))
        rows = {row["module"]: row for row in module(home, "list", "--health", "--json").documents()}
        assert [("grpc", "well")] * 2 == [(rows[name]["transport"], rows[name]["state"]) for name in ("sum", "judge")]
        assert "over gRPC a module is a tool or a hook" in rows["guide"]["state"]
        refused = module(home, "check", "guide")
        assert (64, True) == (refused.code, "guide cannot be tested: $.kind over gRPC a module is a tool or a hook" in refused.err)
        ran = module(home, "invoke", "sum", "add", '{"one": 1}', "--allow", "net.fetch")
        assert (0, [{"ok": True, "result": 2}], "") == (ran.code, ran.documents(), ran.err)
        checked = module(home, "check", "judge", "--json")
        states = {one["case"]: one["state"] for one in checked.documents()[0]["cases"]}
    skipped = ("megabyte", "garbage", "order", "crash", "stderr")
    assert (0, dict.fromkeys(states, "passed") | dict.fromkeys(skipped, "skipped")) == (checked.code, states)


@pytest.mark.covers("AMP-28", "AMP-33")
def test_what_is_not_granted_is_forbidden_until_somebody_grants_it(home):
    ran = module(home, "invoke", "wanting", "hello")
    assert (1, "forbidden") == (ran.code, ran.documents()[0]["error"]["code"])
    mistyped = module(home, "invoke", "wanting", "hello", "--allow", "fs.raed")
    assert (64, True) == (mistyped.code, "does not need fs.raed; did you mean fs.read?" in mistyped.err)
    assert "--allow CAPABILITY grants it once" in ran.err
    assert 0 == module(home, "invoke", "wanting", "--allow", "fs.read", "hello").code
    (home / ".config/hookonce/config.toml").write_text('[grants]\nwanting = ["fs.read"]\n')
    assert 0 == module(home, "invoke", "wanting", "hello").code
    lines = (home / ".local/share/hookonce/kernel.jsonl").read_text().splitlines()
    log = [json.loads(line) for line in lines]
    assert lines == [json.dumps(one, sort_keys=True, separators=(",", ":"), ensure_ascii=False) for one in log]
    rulings = [(one["status"], one["data"].get("by")) for one in log if one["event"] == "policy:decision"]
    assert [("denied", None), ("granted", "--allow"), ("granted", "settings")] == rulings


def test_list_shows_modules_and_files_that_describe_none(home):
    (home / ".config/hookonce/modules/odd.json").write_text('{"name": 5}')
    rows = {row["file"].rpartition("/")[2]: row for row in module(home, "list", "--health", "--json").documents()}
    assert ("well", "well") == (rows["broken.json"]["state"], rows["wanting.json"]["state"])
    assert ["fs.read (not granted)"] == rows["wanting.json"]["wants"]
    assert "$.name" in rows["odd.json"]["state"]
    assert "odd" not in module(home, "list").err


def test_without_modules_list_says_where_they_would_be(tmp_path):
    assert "modules/greeter.json" in module(tmp_path, "list").out


def asked(home, *requests, words=()):
    """What hookonce as a module says to requests."""
    given = b"".join(json.dumps(one).encode() + b"\n" for one in requests)
    ran = module(home, "serve", *words, given=given)
    assert (0, "") == (ran.code, ran.err)
    return {one["id"]: one for one in ran.documents()}


@pytest.mark.covers("AMP-5", "AMP-6", "AMP-7", "AMP-8")
def test_hookonce_is_a_module_that_responds_translates_checks_and_looks(home):
    (home / ".config/hookonce/hooks.json").write_text(
        json.dumps(
            {
                "spec": "hooks/1.0",
                "hooks": [
                    {
                        "event": "before_tool_execute",
                        "blocking": True,
                        "handler": {"type": "command", "command": "echo no >&2; exit 2"},
                    }
                ],
            }
        )
    )
    event = {"agent": "claude-code", "event": "PreToolUse", "payload": PAYLOAD}
    said = asked(
        home,
        {"id": 1, "op": "health"},
        {"id": 2, "op": "describe"},
        {"id": 3, "op": "respond", "args": event},
        {"id": 4, "op": "translate", "args": {"document": PAYLOAD, "source": "claude-code", "to": "openhook"}},
        {"id": 5, "op": "check", "args": {"document": {"specversion": "1.0"}}},
        {"id": 6, "op": "translate", "args": {"document": PAYLOAD, "source": "nobody", "to": "openhook"}},
        {"id": 7, "op": "query", "args": {"since": "10m"}},
    )
    assert {"id": 1, "status": "ok"} == said[1]
    assert "hookonce" == said[2]["name"]
    assert "deny" in said[3]["result"]["stdout"]
    assert "tool.start" == said[4]["result"][0]["type"]
    assert said[5]["result"]["ok"] is False
    assert "bad_request" == said[6]["error"]["code"]
    assert "bad_request" == said[7]["error"]["code"]
    looked = asked(
        home,
        {"id": 1, "op": "query", "args": {"decision": "deny"}},
        {"id": 2, "op": "show", "args": {"session": "s1"}},
        {"id": 3, "op": "sessions", "args": {}},
        {"id": 4, "op": "query", "args": {"since": "2026-02-23", "until": "2026-02-24T00:00:00Z"}},
    )
    assert [] == looked[4]["result"]
    assert "before_tool_execute" == looked[1]["result"][0]["event"]["type"]
    assert 1 == looked[2]["result"]["refused"]
    assert ["s1"] == [one["session"] for one in looked[3]["result"]]


WRONG = {
    "argument": ({"limit": 1}, "query has no argument limit; there are agent, session"),
    "mistyped": ({"lasts": 1}, "query has no argument lasts; did you mean last?"),
    "agent": ({"agent": "cloude-code"}, "no agent is called 'cloude-code'; did you mean claude-code?"),
    "type": ({"type": "PreToolUse"}, "no event is called 'PreToolUse'; did you mean before_tool_execute?"),
    "tool": ({"tool": "Bash"}, "no tool is called 'Bash'; did you mean shell?"),
    "tools": ({"tool": "shel"}, "no tool is called 'shel'; did you mean shell?"),
    "format": ({"format": "openhok"}, "openhok"),
    "time": ({"since": "yesterday"}, "'yesterday' is not a time"),
}


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    """What hookonce says to questions that cannot be meant."""
    asking = [{"id": name, "op": "query", "args": args} for name, (args, _) in WRONG.items()]
    return asked(tmp_path_factory.mktemp("home"), *asking)


@pytest.mark.parametrize("name", WRONG)
def test_a_question_that_nothing_can_answer_is_refused(refused, name):
    """
    An agent that asks what it did gets no confident nothing.
    """
    error = refused[name]["error"]
    assert "bad_request" == error["code"]
    assert WRONG[name][1] in error["message"]


@pytest.mark.covers("AMP-10")
def test_the_store_is_a_module_that_hears_of_events(home):
    event = {"id": "e1", "ts": 1.0, "event": "session:start", "component": "kernel", "session_id": "S"}
    said = asked(home, {"id": 1, "op": "on_event", "args": {"event": event}})
    assert said[1]["ok"]
    kept = run("events", "--format", "amplifier", HOME=str(home)).documents()
    assert [("session:start", "S")] == [(one["event"], one["session_id"]) for one in kept]


def test_over_mcp_an_agent_can_ask_and_change_nothing(home):
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "sessions", "arguments": {}}},
    ]
    listed, called = asked(home, *lines, words=["--mcp"]).values()
    assert ["query", "sessions", "show", "check", "translate"] == [one["name"] for one in listed["result"]["tools"]]
    assert "[]" == called["result"]["content"][0]["text"]


@pytest.mark.covers("AMP-1")
def test_the_descriptor_that_serve_prints_is_one_that_check_passes(home):
    file = home / "hookonce.json"
    file.write_text(module(home, "serve", "--descriptor").out)
    assert run("check", file, HOME=str(home)).code == 0
    ran = module(home, "check", file, "--case", "minimal", "--op", "sessions", PYTHONPATH=str(ROOT / "src"))
    assert (0, True) == (ran.code, "6 of 6 cases" in ran.out), ran


STRAYS = """
import os, sys, time
sys.path.insert(0, {folder!r})
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for end in (0, 1, 2):
            os.close(end)
        time.sleep(600)
    os._exit(0)
os.wait()
from broken import say
import json
for line in iter(sys.stdin.readline, ""):
    say(json.loads(line))
"""


@pytest.mark.covers("AMP-32", "AMP-31")
def test_what_a_module_leaves_behind_is_ended_and_told(home):
    program = home / "strays.py"
    program.write_text(STRAYS.format(folder=str(Path(PROGRAM).parent)))
    file = home / "strays.json"
    transport = {"type": "stdio", "command": [sys.executable, str(program)]}
    file.write_text(json.dumps({"name": "broken", "kind": "tool", "transport": transport, "capabilities": []}))
    ran = module(home, "check", file, "--case", "describe", "--json")
    last = ran.documents()[0]["cases"][-1]
    assert (1, "leaving", "failed") == (ran.code, last["case"], last["state"])
    assert str(program) in last["reason"]
    assert [] == running(str(program))


def test_two_modules_of_one_name_are_not_mixed_up(home):
    folder = home / ".config/hookonce/modules"
    (folder / "again.json").write_text((folder / "broken.json").read_text())
    ran = module(home, "invoke", "broken", "hello")
    assert (True, True) == (ran.code != 0, "again.json" in ran.err and "broken.json" in ran.err)


def test_a_pipe_among_the_descriptors_keeps_nobody_waiting(home):
    os.mkfifo(home / ".config/hookonce/modules/pipe.json")
    rows = {row["file"].rpartition("/")[2]: row for row in module(home, "list", "--json").documents()}
    assert "not a regular file" in rows["pipe.json"]["state"]


@pytest.mark.covers("AMP-31")
def test_who_keeps_no_record_has_no_log_either(home):
    (home / ".config/hookonce/config.toml").write_text("record = false\n")
    assert 0 == module(home, "invoke", "broken", "hello").code
    assert not (home / ".local/share/hookonce/kernel.jsonl").exists()
    assert "" == run("events", "--json", HOME=str(home)).out


@pytest.mark.covers("AMP-31")
def test_neither_log_nor_record_holds_what_an_operation_was_given_or_said(home):
    secret, words = "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "a sentence of my own"
    ran = module(home, "invoke", "broken", f"{words} {secret}", json.dumps({"token": secret, "text": words}))
    assert (1, True) == (ran.code, words in ran.out)
    kept = run("events", "--format", "amplifier", HOME=str(home)).out
    files = [path for path in (home / ".local/share/hookonce").rglob("*") if path.is_file()]
    held = b"".join(path.read_bytes() for path in files) + kept.encode()
    assert (True, False, False) == (bool(files), secret.encode() in held, words.encode() in held)
