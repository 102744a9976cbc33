"""What the model writes cannot switch hooks off: it is read, or refused wherever a hook may block.

`HOOKONCE_FUZZ=20000` makes that many damaged payloads of every agent instead of a few hundred.
"""

import json
import os
from collections import Counter

import pytest

from hookonce import agents
from hookonce.agents._decode.tool_calls import canonical_arguments
from hookonce.base import paths
from hookonce.base.jsontext import MAX_NESTING_LEVELS
from hookonce.dispatch import dispatcher
from hookonce.handlers.operation import OperationResult
from hookonce.model import Reply
from hookonce.sdk.emitter import Emitter
from hookonce.store.spool import files
from tests.attacks.payload_fuzz import ENTRIES, MARK, Fuzzer
from tests.daemon.installed_home import TOOL, command, payload
from tests.sample import part

CALLS = int(os.environ.get("HOOKONCE_FUZZ", "400"))
SAMPLE = 32  # calls through the real client
SEED = int(os.environ.get("HOOKONCE_FUZZ_SEED", "15"))
KINDS = sorted({kind for _, _, kind in ENTRIES})
UNREAD = "hookonce cannot read this call"
# As in README: five lines, and fails open.
GUARD = """from hookonce import deny, hook

@hook("before_tool_execute", tool="shell")
def guard(event):
    if "rm -rf" in event.command:
        return deny("not here")
"""
PROGRAM = """import json, sys
event = json.load(sys.stdin)
print(json.dumps(event), file=sys.stderr)
if "rm -rf" in event["tool"]["input"].get("command", ""):
    print(json.dumps({"decision": "deny", "reason": "not here"}))
"""
DEEP = b'{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /","x":%s}}'


def nested(levels, opening=b"[", closing=b"]"):
    """A value of so many levels."""
    return opening * levels + b"1" + closing * levels


def tool_call(*more):
    """A call of Claude Code's shell, with more in its input as it stands in JSON."""
    inside = b"".join(b",%s:%s" % (key.encode(), value.encode()) for key, value in more)
    return b'{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"%s}}' % inside


ODD = {
    "a high surrogate": tool_call(('"description"', '"\\ud800"')),
    "a low surrogate": tool_call(('"description"', '"\\udc00"')),
    "surrogates in the wrong order": tool_call(('"description"', '"\\udc00\\ud800"')),
    "a surrogate in a key": tool_call(('"\\udfff"', "1")),
    "a surrogate of bytes": tool_call(('"description"', '"@"')).replace(b"@", b"\xed\xa0\x80"),
    "a surrogate in the command": tool_call().replace(b"rm -rf /", b"\\ud800; rm -rf /"),
    "bytes that are no text": tool_call(('"description"', '"@"')).replace(b"@", b"\xff\xfe\x80"),
    "a number beyond all numbers": tool_call(('"n"', "1e999"), ('"m"', "-1e999")),
    "thousands of digits": tool_call(('"n"', "9" * 5000), ('"m"', "9" * 4000)),
    "a number of 70 bits": tool_call(('"n"', str(1 << 70)), ('"m"', str(-(1 << 70)))),
    "no number": tool_call(('"n"', "NaN"), ('"m"', "-Infinity")),
    "zero bytes": tool_call(('"description"', '"a\\u0000b"')),
    "control characters": tool_call(('"description"', '"a\x01\x1b[2J"')),
    "the key twice": tool_call().replace(b'{"command":', b'{"command":"ls","command":'),
    "the input twice": tool_call().replace(b'"tool_input":', b'"tool_input":{"command":"ls"},"tool_input":'),
    "a mark of byte order": b"\xef\xbb\xbf" + tool_call(),
    "as many levels as there may be": DEEP % nested(MAX_NESTING_LEVELS - 2),
    "levels that are text": tool_call(('"description"', json.dumps("{[" * 5000))),
    "a folder that cannot be": tool_call().replace(b'"cwd":"/"', b'"cwd":"/\\u0000"'),
    "a folder without end": tool_call().replace(b'"cwd":"/"', b'"cwd":"' + b"/a" * 100_000 + b'"'),
    "two megabytes": tool_call(('"description"', json.dumps("x" * 2_000_000))),
}
LARGE = tool_call(('"description"', json.dumps("x" * 20_000_000)))


@pytest.fixture
def nest(tmp_path, monkeypatch):
    """A home for calls in this process."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settle(*hooks):
    """Let these be the user's hooks."""
    file = paths.config_dir() / "hooks.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"spec": "hooks/1.0", "hooks": list(hooks)}), encoding="utf-8")


def ask(raw, agent="claude-code", native="PreToolUse", run=None):
    """What the agent hears, as it reads it."""
    options = {} if run is None else {"run_operation": run}
    return agents.load(agent).read_reply(native, dispatcher.answer_call([agent, native], raw, {"PATH": os.environ["PATH"]}, **options))


def function_hook(place, **more):
    """README's hook, in a file."""
    (place / "guard.py").write_text(GUARD, encoding="utf-8")
    return {"name": "guard", "event": "before_tool_execute", "blocking": True, "handler": {"type": "function", "file": str(place / "guard.py")}, **more}


def program_hook(place, **more):
    """The same as a program that was written for nobody in particular, and fails where a text cannot be printed."""
    (place / "program.py").write_text(PROGRAM, encoding="utf-8")
    return {"name": "guard", "event": "before_tool_execute", "blocking": True, "handler": {"type": "command", "command": f"python3 {place}/program.py"}, **more}


@pytest.mark.part(4)
@pytest.mark.parametrize("hook", [function_hook, program_hook])
@pytest.mark.parametrize("odd", ODD)
def test_hooks_that_fail_open_read_whatever_a_model_writes(nest, odd, hook):
    """
    The command is seen and refused by the hook itself, whatever stands beside it.
    """
    settle(hook(nest))

    heard = ask(ODD[odd])

    assert ("deny", "not here") == (heard.outcome, heard.reason)
    assert 0 == files.lost_record_count()


def test_half_a_character_switches_off_no_function_hook(home):
    """
    S3, as it was found: warm and cold, in the description and in the command.
    """
    home.hooks(function_hook(home.home))
    home.warm()
    for env in (home.env, home.cold_env):
        for text in ("harmless", "\ud800", "\udc00\ud800"):
            heard = home.call(*TOOL, given=payload("rm -rf /", tool_input={"command": f"rm -rf / {text}", "description": text}), env=env)
            assert b'"not here"' in heard[1], (text, heard)


@pytest.mark.part(2)
@pytest.mark.parametrize("levels", [MAX_NESTING_LEVELS + 1, 990, 1200, 100_000])
def test_what_is_nested_too_deeply_is_refused_with_a_reason(home, levels):
    """
    S8: hooks could not read it either; the model is told what to do instead.
    """
    home.hooks(command("exit 0"))
    home.warm()
    for env in (home.env, home.cold_env):
        for value in (nested(levels), nested(levels, b'{"a":', b"}"), b"[" * levels):
            heard = home.call(*TOOL, given=DEEP % value, env=env)
            said = json.loads(heard[1])["hookSpecificOutput"]
            assert ("deny", True) == (said["permissionDecision"], UNREAD in said["permissionDecisionReason"])


def test_depth_in_the_text_of_an_input_is_the_same(nest):
    """
    Some agents hand the input on as the text that the model wrote.
    """
    settle(command("exit 0"))
    text = json.dumps((b'{"command":"rm -rf /","x":%s}' % nested(300)).decode()).encode()

    heard = ask(b'{"sessionId":"s","cwd":"/","toolName":"bash","toolArgs":%s}' % text, "copilot-cli", "preToolUse")

    assert ("deny", True) == (heard.outcome, UNREAD in heard.reason)


@pytest.mark.parametrize("text", ['{"command": "rm -rf /"}', ' \n\t{"command": "rm -rf /"}', '{"command": "rm -rf /", "x": "\\ud800"}', '{"command": "rm -rf /", "x": 1e999}'])
def test_the_text_of_an_input_is_read_as_agents_read_it(nest, text):
    """
    With what may stand before it and in it.
    """
    settle(function_hook(nest))
    raw = json.dumps({"sessionId": "s", "cwd": "/", "toolName": "bash", "toolArgs": text}).encode()

    assert "not here" == ask(raw, "copilot-cli", "preToolUse").reason


def test_without_a_hook_that_may_block_nothing_is_refused(nest):
    """
    Whoever only looks on refuses nothing, however little could be read.
    """
    settle(command("exit 0", blocking=False), command("exit 0", event="before_prompt"))

    for raw in (b"", b"{", DEEP % nested(1200)):
        assert ask(raw).outcome is None


@pytest.mark.parametrize("mode", ["open", "closed"])
def test_an_event_that_nobody_knows_is_judged_as_that_of_its_entry(nest, mode):
    """
    S22, at every entry where something can be refused, by names that install writes and others: the hook is asked.
    """
    asked = []
    settle(*({"event": kind, "blocking": True, "on_failure": mode, "handler": {"type": "command", "command": "true"}} for kind in KINDS))

    def run(operation):
        asked.append(operation.payload)
        return OperationResult(code=2, stderr=b"asked")

    for agent, native, _ in part(ENTRIES, 2, mode == "open"):
        own_keys = [key for key, slot in agents.load(agent).keys.items() if slot == "event"]
        for name in ("SomethingNew", "SessionStart", "", 7, None):
            for key in {*own_keys, "hook_event_name", "agent_action_name"}:
                heard = ask(json.dumps({key: name, "session_id": f"{agent} {native}", "tool_name": "x"}).encode(), agent, native, run)
                assert "deny" == heard.outcome, (agent, native, key, name)
    assert asked


def test_what_cannot_be_read_is_refused_at_every_entry(nest):
    """
    Cut, empty, a list, bytes, depth: also at names that only people write, spelled in any way.
    """
    settle(*({"event": kind, "blocking": True, "handler": {"type": "command", "command": "true"}} for kind in KINDS))

    for agent, native, _ in ENTRIES:
        for raw in (b"", b'{"session_id": "s", "tool_na', b"[1]", bytes(range(256)), b"[" * 5000):
            heard = ask(raw, agent, native)
            assert ("deny", True) == (heard.outcome, UNREAD in heard.reason), (agent, native, raw)
    for native in ("PRETOOLUSE", "pre_tool_use", "pre-tool-use", "before_tool_execute"):
        reply = dispatcher.answer_call(["claude-code", native], b"{", {})
        assert UNREAD in agents.load("claude-code").read_reply("PreToolUse", reply).reason, native
    assert UNREAD in dispatcher.answer_call(["claude-code"], b"{", {}).stdout  # not even a name


@pytest.mark.parametrize(("handler", "timeout_s"), [({"command": "head -c 9000000 >/dev/null; exit 1"}, None), ({"command": "sleep 5"}, 0.2)])
def test_a_hook_that_cannot_take_so_much_refuses(nest, handler, timeout_s):
    """
    It fails, or is too slow, because of what the model has written; with a small input it fails open.
    """
    settle(command("x", handler=handler | ({"timeout": timeout_s} if timeout_s else {})))

    assert "deny" == ask(LARGE).outcome
    assert ask(tool_call()).outcome is None


MODULE = """import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request.get("id"), "ok": True, "result": {}}), flush=True)
"""


@pytest.mark.parametrize("limit", [None, 1 << 24])
def test_a_module_hook_is_asked_about_twenty_megabytes_or_they_are_refused(nest, limit):
    """
    S8: one that reads them may let them pass; one that cannot does not.
    """
    code = MODULE if limit is None else MODULE.replace("in sys.stdin:", f"in sys.stdin:\n    if len(line) > {limit}: sys.exit(1)")
    (nest / "module.py").write_text(code, encoding="utf-8")
    descriptor = {"name": "m", "version": "1", "kind": "hook", "capabilities": [], "transport": {"type": "stdio", "command": ["python3", str(nest / "module.py")]}}
    (nest / "module.json").write_text(json.dumps(descriptor), encoding="utf-8")
    settle({"event": "before_tool_execute", "blocking": True, "handler": {"type": "module", "file": str(nest / "module.json")}})

    assert ask(tool_call()).outcome is None
    assert [None] == [run.failure for record in files.load_records() for run in record.runs]
    assert ("deny" if limit else None) == ask(LARGE).outcome


def test_an_agent_of_one_s_own_is_told_no_too(nest):
    """
    Its values are Python's: half characters are read, depth is refused.
    """
    settle(function_hook(nest))
    deep = []
    for _ in range(2000):
        deep = [deep]
    with Emitter("my-agent") as agent:
        steps = [agent.tool("shell", {"command": "rm -rf /", "x": more}) for more in ("\ud800", deep)]
        assert ["deny", "deny"] == [step.decision.outcome for step in steps]
        assert "not here" == steps[0].decision.reason


SHADOWS = [
    (name, native, canonical, tool)
    for name in agents.AGENTS
    for tool, table in agents.load(name).arguments.items()
    for native, canonical in table.items()
    if native != canonical and canonical not in table and tool != "*"
]


@pytest.mark.parametrize(("name", "native", "canonical", "tool"), SHADOWS)
def test_an_argument_that_a_model_makes_up_is_not_judged_in_the_place_of_the_one_that_counts(name, native, canonical, tool):
    """
    Under the canonical name, which the agent itself does not read; before it and behind it.
    """
    agent = agents.load(name)
    for arguments in ({native: MARK, canonical: "harmless"}, {canonical: "harmless", native: MARK}):
        assert MARK == canonical_arguments(agent, tool, tool, arguments)[canonical]


def closed_hooks(line):
    """A hook that has to be asked, at every entry where something can be refused."""
    return [{"name": kind, "event": kind, "blocking": True, "on_failure": "closed", "handler": {"type": "command", "command": line}} for kind in KINDS]


def test_fuzzed_payloads_are_refused_or_were_really_read(nest, show):
    """
    Of every agent, at every entry where something can be refused: none passes that the hook has not seen.
    """
    settle(*closed_hooks("true"))
    fuzzer, seen, counts, passed = Fuzzer(SEED), [], Counter(), []

    def run(operation):
        seen.append(operation.payload)
        return OperationResult(code=0, stdout=b"{}")

    for _ in range(CALLS):
        words, raw, damage = fuzzer.call()
        seen.clear()
        reply = dispatcher.answer_call(words, raw, {}, run_operation=run)
        heard = agents.load(words[0]).read_reply(words[1], reply)
        is_refused = heard is not None and heard.outcome == "deny"
        counts["refused" if is_refused else "read" if seen else "unread"] += 1
        is_whole = not {"twice", "put_in", "flipped"} & set(damage)  # else the mark itself may be damaged or doubled
        if not is_refused and not (seen and (not is_whole or MARK.encode() not in raw or MARK.encode() in b"".join(seen))):
            passed.append((words, damage, raw[:500]))
    show(f"{CALLS} fuzzed payloads, seed {SEED}: {dict(counts)}")

    assert [] == passed
    assert 16 == len({name for name, _, _ in ENTRIES})


@pytest.mark.parametrize("warm", [True, False])
def test_a_sample_of_them_through_the_real_client(home, warm):
    """
    With a hook that is a process, by the daemon and without one.
    """
    home.hooks(*closed_hooks(f'echo "$NUMBER" >> {home.home}/asked'))
    if warm:
        home.warm()
    fuzzer = Fuzzer(SEED + warm)
    calls = [fuzzer.call()[:2] for _ in range(SAMPLE)]
    endings = home.crowd(calls, at_once=4, env=home.env if warm else home.cold_env)

    asked = set(home.lines("asked"))
    for number, ((words, raw), (code, out, err)) in enumerate(zip(calls, endings, strict=True)):
        reply = Reply(stdout=out.decode().strip(), stderr=err.decode(), code=code)
        assert str(number) in asked or agents.load(words[0]).read_reply(words[1], reply).outcome == "deny", (words, raw[:500])
