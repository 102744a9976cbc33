"""A clone and a record in which every text is an attack on a terminal."""

import json
import os

from hookonce import agents
from hookonce.model import Decision, Event, Gap, HookRun, Result, Stored, Subagent, Tool, Usage
from hookonce.secrets import log
from hookonce.store.entry import build_entry
from hookonce.store.writer import Writer

FORGED = "hookonce: nothing is wrong"
# A title, an erased screen, a C1 sequence, a hidden direction, an overwritten line, and a line that is not ours.
EVIL = f"x\x1b]0;t\x07\x1b[2J\x9b31m\u202eb\u2066c\u200bd\u2028e\U000e0041f\x7f\b\rg\n{FORGED}\n"
NAME = EVIL.replace("/", "-")


def clone(folder):
    """A repository that somebody hostile wrote, in a folder of a hostile name."""
    project = folder / f"repo{NAME}"
    (project / ".git").mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    handler = {"type": "command", "command": f"./{EVIL}.sh", "env": {EVIL: EVIL}, "cwd": EVIL}
    hook = {"name": EVIL, "event": "before_tool_execute", "matcher": EVIL, "handler": handler, "blocking": True, EVIL: EVIL}
    odd = {"name": EVIL, "event": EVIL, "handler": {"type": EVIL, "url": f"http://{EVIL}", "headers": {EVIL: f"${{{EVIL}}}"}}}
    own = {"spec": f"hooks/{EVIL}", "hooks": [hook, odd], EVIL: EVIL}
    write(project / ".hookonce" / "hooks.json", own)
    write(project / ".hookonce" / "policy.json", {"disable_all_hooks": EVIL, EVIL: [EVIL]})
    write(project / ".openhook.json", {"version": EVIL, "hooks": {EVIL: [{"command": EVIL}]}, "events": {EVIL: EVIL}})
    entry = {"matcher": EVIL, "hooks": [{"type": "command", "command": EVIL, "timeout": EVIL}, {"type": EVIL, "command": EVIL}]}
    for agent in agents.load_all():
        for scope, name in agent.config.files.items():
            if scope != "project":
                continue
            file = project / name
            if name.endswith("/"):
                write(file / NAME, EVIL)
                write(file / "PreToolUse", f"#!/bin/sh\n# {EVIL}")
            else:
                write(file, {"hooks": {"PreToolUse": [entry], EVIL: [entry], "preToolUse": [{"command": EVIL, "bash": EVIL}]}, EVIL: EVIL})
    return project


def write(file, document):
    """Write a document, as JSON unless it is a text."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(document if type(document) is str else json.dumps(document, ensure_ascii=False), encoding="utf-8")


def records(cwd="/w"):
    """What hostile payloads leave behind, as far as a record can hold it."""
    tool = Tool(name=EVIL, native=EVIL, input={"command": EVIL, "path": EVIL, EVIL: EVIL}, call_id=EVIL, result=Result(ok=False, exit_code=2))
    run = HookRun(hook=EVIL, duration_ms=1, outcome="deny", scope="project", digest="d" * 64, failure="exit", exit=3, model=EVIL)
    usage, deny = Usage(input_tokens=10, output_tokens=2), Decision(outcome="deny", reason=EVIL, by=EVIL)
    kinds = ["session_start", "before_prompt", "before_tool_execute", "after_tool_execute", "policy_violation", "agent_stop", EVIL]
    for number, kind in enumerate(kinds, 1):
        known = {"id": f"00000000-0000-7000-8000-{number:012}", "schema": "hookonce/1", "type": kind, "time": f"2026-11-15T10:00:{number:02}Z"}
        event = Event(
            **known, time_source="agent", agent="codex" if number < 5 else EVIL, session=EVIL, cwd=os.fspath(cwd), model=EVIL,
            prompt=EVIL, usage=usage, tool=tool if "tool" in kind else None, subagent=Subagent(id=EVIL, type=EVIL), data={EVIL: EVIL, "reason": EVIL},
        )
        gaps = [Gap(where=f"$.{EVIL}", capability="trust", strategy=EVIL, effect="lost", note=EVIL)]
        yield Stored(event=event, decision=deny if "before" in kind else None, runs=[run], gaps=gaps, level="full")


def remember(home, cwd):
    """Let it have happened there."""
    with Writer() as writer:
        writer.append([build_entry(one) for one in records(cwd)])
    log.write(f"hook {EVIL} failed", EVIL.encode())
    write(home / ".config" / "hookonce" / "modules" / f"{NAME}.json", {"name": EVIL, "kind": EVIL, "transport": {"type": EVIL}, "capabilities": [EVIL], "version": EVIL})
    write(home / ".config" / "hookonce" / "modules" / "good.json", {"name": "good", "kind": "tool", "transport": {"type": "stdio", "command": ["/bin/sh", "-c", "printf '\\033[2J' >&2; exit 3"]}, "capabilities": []})
