"""A home in which something has happened: two agents, a refusal, a failure, a sub-agent, tokens."""


from jsonschema import Draft202012Validator
from msgspec.structs import replace

from hookonce.formats.schema import load_schema
from hookonce.model import Decision, Event, HookRun, Result, Stored, Subagent, Tool, Usage
from hookonce.store.entry import build_entry
from hookonce.store.spool import files as spool_files
from hookonce.store.writer import Writer

FIRST, SECOND = "01a1dde4-3215-77eb-851b-eb5e5647ff91", "ses_2"
REASON = "it says [bold]no[/bold] \x1b[31m"


def event(number, kind, **more):
    """An event of the first session, some seconds after the one before."""
    known = {"id": f"00000000-0000-7000-8000-{number:012}", "schema": "hookonce/1", "type": kind, "agent": "codex"}
    known |= {"time": f"2026-11-15T10:00:{number:02}Z", "time_source": "agent", "session": FIRST, "cwd": "/w"}
    return Event(**(known | more))


def stored(number, kind, decision=None, runs=(), **more):
    """The record of such an event."""
    return Stored(event=event(number, kind, **more), decision=decision, runs=list(runs), level="minimal")


def call(name, call_id, result=None, **given):
    return Tool(name=name, native=name, input=given, call_id=call_id, result=result)


def story():
    """What has happened."""
    before, after = "before_tool_execute", "after_tool_execute"
    ran = HookRun(hook="guard", duration_ms=12, tokens=7)
    refused = replace(ran, outcome="deny", duration_ms=3)
    inner = Subagent(id="a1", type="explorer")
    return [
        stored(1, "session_start", data={"source": "startup"}),
        stored(2, "before_prompt", prompt="make it so"),
        stored(3, before, runs=[ran], tool=call("shell", "c1", command='echo "ä 漢字" | tr a b')),
        stored(5, after, tool=call("shell", "c1", Result(ok=False, exit_code=2), command='echo "ä 漢字" | tr a b')),
        stored(6, before, Decision(outcome="deny", reason=REASON), [refused], tool=call("shell", "c2", command="rm -rf /")),
        stored(7, before, subagent=inner, tool=call("file_write", "c3", path="/w/src/a.py", content="x\ny\n")),
        stored(8, after, subagent=inner, tool=call("file_write", "c3", Result(ok=True, duration_ms=1500), path="/w/src/a.py", content="x\ny\n")),
        stored(9, "agent_stop", model="gpt-5", usage=Usage(input_tokens=1_000_000, output_tokens=100_000)),
        stored(20, "session_end", model="gpt-5", usage=Usage(input_tokens=1_000_000, output_tokens=100_000), data={"reason": "exit"}),
        stored(30, "session_start", agent="opencode", session=SECOND, cwd="/v", time="2026-11-14T10:00:00Z"),
        stored(31, "agent_stop", agent="opencode", session=SECOND, cwd="/v", time="2026-11-14T10:30:00Z", model="strange", usage=Usage(input_tokens=5, output_tokens=1)),
    ]


def remember(home, monkeypatch):
    """Let it have happened there; half of it lies in the spool, where cold processes leave it."""
    monkeypatch.setenv("HOME", str(home))
    happened = story()
    with Writer() as writer:
        writer.append([build_entry(one) for one in happened[:5]])
    assert all(map(spool_files.append, happened[5:]))
    return home


def problems(name, document):
    """What the published schema has against a document."""
    return [error.message for error in Draft202012Validator(load_schema(name)).iter_errors(document)]
