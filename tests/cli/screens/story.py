"""Two working days of three agents, as they stand in a record: the story that golden screens show."""

from datetime import UTC, datetime, timedelta

from hookonce.model import Decision, Digest, Event, HookRun, Result, Stored, Subagent, Tool, Usage

SHOP = "/home/dev/projects/customer-portal/services/shop"
CLAUDE, CODEX, GEMINI = "01a1dde4-3215-77eb-851b-eb5e5647ff91", "019a88f0-11b2-7c31-9e5d-0c6f2d1f7a11", "7d0c2f0e-5b1e-4f6e-8a57-3b8a2f4c9d10"
LONG = "find . -name '*.py' -newer pyproject.toml -exec grep -l 'import os' {} + | xargs wc -l | sort -n | tail -20 > /tmp/report/os.txt"
DEEP = f"{SHOP}/src/checkout/payment/providers/adapters/stripe_adapter.py"
FIRST = datetime(2026, 11, 14, 22, 58, tzinfo=UTC)  # before midnight in UTC and after it in Berlin
BEFORE, AFTER = "before_tool_execute", "after_tool_execute"

GUARD = HookRun(hook="no-rm-rf", outcome=None, duration_ms=11.6)
REFUSES = HookRun(hook="no-rm-rf", outcome="deny", exit=2, duration_ms=12.4)
REVIEW = HookRun(hook="review-migrations", outcome="ask", duration_ms=48.0, tokens=120)
LATE = HookRun(hook="format-after-write", failure="timeout", duration_ms=30_000)
NO = Decision(outcome="deny", reason="whole folders are removed by people, one at a time; ask before you do that", by="no-rm-rf")
ASK = Decision(outcome="ask", reason="migrations change the data of customers", by="review-migrations")
HELPER = Subagent(id="explorer-1", type="Explore")


def call(name, number, result=None, **given):
    return Tool(name=name, native=name, input=given, call_id=f"call-{number}", result=result)


def pair(name, number, result, runs=(), decision=None, **given):
    """A call and its end."""
    before = (BEFORE, {"tool": call(name, number, **given), "runs": list(runs), "decision": decision})
    return [before, (AFTER, {"tool": call(name, number, result, **given)})]


def claude():
    """A refusal, a question, a failure, a sub-agent, and events that say nothing."""
    tokens = Usage(input_tokens=182_340, output_tokens=9_120, cache_read_tokens=150_000, cache_write_tokens=12_000)
    return [
        ("session_start", {"data": {"source": "startup"}}),
        ("instructions_loaded", {}),
        ("before_prompt", {"prompt": "clean up the build folder, then add the stripe adapter and run its tests"}),
        *pair("shell", 1, Result(ok=True, exit_code=0, duration_ms=84), [GUARD], command="ls -la build"),
        (BEFORE, {"tool": call("shell", 2, command="rm -rf build /home/dev/photos"), "runs": [REFUSES], "decision": NO}),
        *pair("file_write", 3, Result(ok=True, duration_ms=1500), [GUARD, LATE], path=DEEP, content="x\ny\nz\n"),
        *pair("shell", 4, Result(ok=True, exit_code=0, duration_ms=2210), [GUARD], command=LONG),
        ("message_display", {}),
        ("tool_batch", {}),
        ("message_display", {}),
        (BEFORE, {"tool": call("shell", 5, command="alembic upgrade head"), "runs": [GUARD, REVIEW], "decision": ASK}),
        (AFTER, {"tool": call("shell", 5, Result(ok=True, exit_code=0, duration_ms=5300), command="alembic upgrade head")}),
        ("subagent_start", {"subagent": HELPER}),
        (BEFORE, {"tool": call("file_read", 6, path=DEEP), "subagent": HELPER}),
        (AFTER, {"tool": call("file_read", 6, Result(ok=True, duration_ms=3), path=DEEP), "subagent": HELPER}),
        ("subagent_stop", {"subagent": HELPER}),
        *pair("shell", 7, Result(ok=False, exit_code=1, duration_ms=6400), [GUARD], command="make test"),
        ("agent_stop", {"model": "claude-sonnet-4-5", "usage": tokens, "data": {"response": "The adapter is there; one test still fails."}}),
        ("before_prompt", {"prompt": Digest(hash="0" * 64, length=412, lines=9)}),
        *pair("shell", 8, Result(ok=True, exit_code=0, duration_ms=7100), [GUARD], command="make test"),
        ("agent_stop", {"model": "claude-sonnet-4-5", "usage": Usage(input_tokens=61_000, output_tokens=2_100)}),
        ("session_end", {"data": {"reason": "exit"}}),
    ]


def codex():
    """One loop, which is an alarm."""
    failed = Result(ok=False, exit_code=2, duration_ms=900)
    return [
        ("session_start", {"data": {"source": "startup"}}),
        ("before_prompt", {"prompt": "make the build pass"}),
        *(step for number in range(3) for step in pair("shell", 20 + number, failed, command="npm run build")),
        ("retry_loop_detected", {"data": {"count": 3}, "derived_from": "00000000-0000-7000-8000-000000000035"}),
        *pair("mcp:github/create_issue", 30, Result(ok=True, duration_ms=640), title="build fails"),
        ("agent_stop", {"model": "gpt-5", "usage": Usage(input_tokens=1_204_000, output_tokens=33_000)}),
    ]


def gemini():
    """A session of a model that has no price."""
    return [
        ("session_start", {}),
        ("before_model", {}),
        ("after_model", {"model": "gemini-next", "usage": Usage(input_tokens=5_200, output_tokens=310)}),
        *pair("file_read", 50, Result(ok=True, duration_ms=2), path=f"{SHOP}/README.md"),
        ("session_end", {}),
    ]


def story():
    """All records in the order of time."""
    number, records = 0, []
    for agent, session, cwd, begin, steps in (
        ("claude-code", CLAUDE, SHOP, FIRST, claude()),
        ("codex", CODEX, "/home/dev/w", FIRST + timedelta(hours=10), codex()),
        ("gemini-cli", GEMINI, SHOP, FIRST + timedelta(hours=34), gemini()),
    ):
        for at, (kind, facts) in enumerate(steps):
            number += 1
            made = {name: facts.pop(name) for name in ("runs", "decision") if name in facts}
            time = (begin + timedelta(seconds=7 * at)).isoformat().replace("+00:00", "Z")
            known = {"id": f"00000000-0000-7000-8000-{number:012}", "schema": "hookonce/1", "type": kind, "agent": agent}
            known |= {"time": time, "time_source": "agent", "session": session, "cwd": cwd}
            records.append(Stored(event=Event(**known, **facts), level="full", **made))
    return records
