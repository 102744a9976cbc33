"""Every agent's payloads, hooks to be asked about them, and what the agent hears in the end."""

import json
from pathlib import Path
from time import monotonic

import pytest

from hookonce import agents
from hookonce.dispatch.dedup import CallDecision
from hookonce.dispatch.request.call_request import CallArguments, parse_request
from hookonce.dispatch.response import build_response
from hookonce.dispatch.run import CallerContext, run_hooks
from hookonce.dispatch.select import SelectedHook
from hookonce.handlers.command import OperationResult
from hookonce.model import Handler, Hook
from hookonce.vocabulary.decision_merge import merge_decisions
from tests.shared import FOLDERS, ROOT, captures, native_event

GOLDENS = sorted((ROOT / "tests" / "golden").glob("*/*.json"))
PLAIN = {"PATH": "/usr/bin:/bin", "HOOKONCE_OF_A_REPOSITORY": "x"}


def goldens():
    """Every payload of the repository itself: the agent, the event that it is configured for, the payload."""
    for file in GOLDENS:
        agent = FOLDERS.get(file.parent.name, file.parent.name)
        golden = json.loads(file.read_text(encoding="utf-8"))
        yield agent, golden.get("event") or native_event(file), golden["payload"], f"{agent}/{file.stem}"


def recorded():
    """Every payload that was recorded of a real agent."""
    for agent, native, file in captures():
        yield agent, native, json.loads(file.read_text(encoding="utf-8")), f"{file.parent.name}/{file.stem} recorded"


def shell_calls(*kinds):
    """Every payload in which a shell is about to be used."""
    for agent, native, payload, name in (*goldens(), *recorded()):
        event = agents.decode(agents.load(agent), payload, native)
        if event.type in kinds and event.tool is not None and event.tool.name == "shell" and event.tool.input.get("command"):
            yield pytest.param(agent, native, payload, id=name)


def asked(agent, native, payload, **more):
    """The call as it is understood."""
    raw = payload if type(payload) is bytes else json.dumps(payload).encode()
    return parse_request(CallArguments(agent=agent, event=native, **more), raw)


def hook(command="true", *, scope="user", may_allow=False, **more):
    """A hook that will run."""
    kept = {"name": "guard", "event": "before_tool_execute", "blocking": True} | more
    handler = {"type": "command", "command": command} | kept.pop("handler", {})
    return SelectedHook(hook=Hook(handler=Handler(**handler), **kept), scope=scope, folder="/", may_allow=may_allow)


def said(stdout="", stderr="", code=0, failure=None):
    """How a run went."""
    text = stdout if type(stdout) is str else json.dumps(stdout)
    return OperationResult(code=None if failure else code, stdout=text.encode(), stderr=stderr.encode(), failure=failure)


def ask(one, hooks, runner=None, seconds=30):
    """What hooks say of a call, together: the agent's answer as the agent itself reads it, and the record.

    A runner stands for the shell: it is told the command, its stdin, its world and its seconds.
    """
    caller = CallerContext(environment=PLAIN, cwd=str(Path.cwd()))
    told = run_hooks(hooks, one.event, caller, monotonic() + seconds, **({"run_operation": lambda job: runner(job.command, job.payload, job.process_context, job.timeout)} if runner else {}))
    runs, gaps = [each.run for each in told], [gap for each in told for gap in each.gaps]
    made = build_response(one, CallDecision(decision=merge_decisions(each.decision for each in told), runs=runs, gaps=gaps))
    return one.agent.read_reply(one.native, made.reply), made.record
