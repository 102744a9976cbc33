"""Trial run of one hook (`hookonce try`) on a sample event that never happened, as any agent would send it."""

import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from os.path import isfile
from pathlib import Path
from shutil import which
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from hookonce.agents import config_event_of, decode, encode
from hookonce.base import ids, times
from hookonce.base.invocation import CANONICAL_DIALECT
from hookonce.base.jsontext import dump, load
from hookonce.dispatch import fail_mode, pause
from hookonce.dispatch.dialect import ANSWER_KEYS, encode_input
from hookonce.dispatch.hook_faults import notice
from hookonce.dispatch.hook_faults.project_faults import make_manifest_fault
from hookonce.dispatch.hook_faults.table import describe_fault
from hookonce.dispatch.module_hook import expected_answer_keys, parse_module_result
from hookonce.dispatch.request.call_request import CallDecision, CallRequest
from hookonce.dispatch.response import build_response
from hookonce.dispatch.run import CallerContext, HookResult, run_hooks
from hookonce.dispatch.select import SelectedHook, find_candidates, select_hooks
from hookonce.errors import HookonceError
from hookonce.handlers.command import CommandOperation
from hookonce.handlers.http import HttpOperation
from hookonce.handlers.module import ModuleOperation
from hookonce.handlers.operation import Operation, OperationResult, run_to_completion
from hookonce.manifest.discover import find_project, find_sources, load_last_good, load_source
from hookonce.model import SCHEMA, Agent, Decision, Event, Gap, Handler, Hook, Object, Reply, Result, Subagent, Tool
from hookonce.vocabulary.decision_merge import merge_decisions
from hookonce.vocabulary.names import MODEL_HANDLER_TYPES

_PYTHON_SUFFIX = ".py"
_TRIAL_TIMEOUT_S = 60
_TOOL_END_EVENTS = frozenset({"after_tool_execute", "tool_use_failure"})
_SUBAGENT_EVENTS = frozenset({"subagent_start", "subagent_stop"})
_TOOL_EVENTS = {"before_tool_execute", "permission_request", "permission_denied", *_TOOL_END_EVENTS}
# What modules say to an event.
_ACK_KEYS = {"accepted"}


class Trial(Struct, frozen=True, kw_only=True):
    """What the hook, or a model, was given, what it said, what the agent would be answered, and what was lost.

    `unknown` are keys of its answer that mean nothing; `skipped` is why it would not be asked about such an event;
    `in_force` is what else decides now, a pause or a broken manifest, as sentences. The reply has all of it in it.
    """

    stdin: str
    told: HookResult
    stderr: str
    unknown: list[str]
    skipped: str | None
    in_force: list[str]
    reply: Reply
    gaps: list[Gap]


def sample_event(agent: Agent, kind: str, tool: str, tool_input: Object, prompt: str | None = None) -> Event:
    """Build a sample event of that kind, as the agent sends its own."""
    native = config_event_of(agent, kind)
    if native is None:
        raise HookonceError(f"{agent.title} has no event for {kind}")
    call = Tool(name=tool, native=tool, input=tool_input, native_input=tool_input, call_id="call-1")
    if kind in _TOOL_END_EVENTS:
        call = replace(call, result=Result(ok=kind != "tool_use_failure", exit_code=0, output="done"))
    event = Event(
        id=ids.new_id(),
        schema=SCHEMA,
        type=kind,
        agent="nobody",
        session="a-session-for-trying",
        time=times.now(),
        time_source="received",
        cwd=str(Path.cwd()),
        tool=call if kind in _TOOL_EVENTS else None,
        prompt=(prompt or "Please tidy up") if kind == "before_prompt" else None,
        subagent=Subagent(id="a-helper", type="general") if kind in _SUBAGENT_EVENTS else None,
        parent_session="a-session-above" if kind in _SUBAGENT_EVENTS else None,
    )
    return decode(agent, encode(agent, event), native, id=event.id, received=event.time)


def hook_names() -> list[str]:
    """The names of all hooks in manifests here."""
    candidates = find_candidates(find_project(Path.cwd()))
    return [candidate.hook.name for candidate in candidates if candidate.hook is not None and candidate.hook.name]


def unknown_hook_message(name: str) -> str:
    """Why no hook of that name can be tried, where it is no program either."""
    reasons = {candidate.obstacle: candidate.reason for candidate in find_candidates(find_project(Path.cwd()))}
    if "trust" in reasons:
        return f"no trusted hook has the name {name}; this project's hooks are not trusted yet: hookonce trust"
    ending = f"; {reasons['manifest']}" if "manifest" in reasons else ""
    return f"there is no hook and no program with the name {name}{ending}"


def is_awaiting_trust(name: str) -> bool:
    """Whether a file of this project has a hook of that name, and nobody has agreed to the file."""
    for candidate in find_candidates(find_project(Path.cwd())):
        if candidate.hook is None and candidate.obstacle == "trust":
            with suppress(HookonceError):
                if any(hook.name == name for hook in load_source(candidate.source).hooks):
                    return True
    return False


def find_hook(name: str, kind: str, dialect: str | None = None) -> SelectedHook:
    """Find the hook of that name in a manifest; else the name is a command to be tried, blocking and canonical."""
    project = find_project(Path.cwd())
    for candidate in find_candidates(project):
        hook, scope = candidate.hook, candidate.source.scope
        if hook is not None and hook.name == name:
            if candidate.obstacle is not None:
                raise HookonceError(candidate.reason)
            folder = project if scope == "project" else candidate.source.path.parent
            allows = hook.may_allow and scope != "project"
            dialect_hook = replace(hook, dialect=dialect or hook.dialect)
            return SelectedHook(hook=dialect_hook, scope=scope, folder=str(folder), may_allow=allows)
    command = name if which(name) and not name.endswith(_PYTHON_SUFFIX) else command_line_of(name)
    handler = Handler(type="command", command=command)
    trial_hook = Hook(event=kind, name=name, handler=handler, blocking=True, may_allow=True, dialect=dialect)
    return SelectedHook(hook=trial_hook, scope="user", folder=str(Path.cwd()), may_allow=True)


def command_line_of(hook: str | Path) -> str:
    """The shell command for a path, with Python if its name says so; any other text is a command already."""
    if not isfile(hook):  # noqa: PTH113  a long command is no name of a file, for which that of pathlib raises
        return str(hook)
    program = shlex.quote(str(Path(hook).absolute()))
    return f"{shlex.quote(sys.executable)} {program}" if Path(hook).suffix == _PYTHON_SUFFIX else program


def try_hook(agent: Agent, event: Event, selected_hook: SelectedHook, environment: Mapping[str, str]) -> Trial:
    """Run it once, and answer as the agent would be answered."""
    native = config_event_of(agent, event.type) or ""
    dialect = selected_hook.hook.dialect or CANONICAL_DIALECT
    stdin, _ = encode_input(dialect, event, selected_hook.hook, selected_hook.scope)
    caller = CallerContext(environment=environment, cwd=str(Path.cwd()))
    results: list[OperationResult] = []
    payloads, expected_keys = [stdin], set[str]()

    def run_and_record(operation: Operation) -> OperationResult:
        if isinstance(operation, CommandOperation | HttpOperation | ModuleOperation):
            payloads.append(operation.payload)
        if isinstance(operation, ModuleOperation):
            expected_keys.update(expected_answer_keys(operation))
        results.append(run_to_completion(operation))
        return results[-1]

    speaks = dialect == CANONICAL_DIALECT and selected_hook.hook.handler.type not in MODEL_HANDLER_TYPES
    (hook_result,) = run_hooks([selected_hook], event, caller, monotonic() + _TRIAL_TIMEOUT_S, run_and_record)
    is_listed = selected_hook.hook.name in hook_names()  # any other is tried as if it were the only hook
    skip_reason = _skip_reason(selected_hook.hook, event) if is_listed else None
    in_force, decisions = _find_force(event) if is_listed else ([], [])
    decision = merge_decisions([*decisions, *([] if skip_reason else [hook_result.decision])])
    call_decision = CallDecision(decision=decision, runs=[hook_result.run], gaps=hook_result.gaps)
    response = build_response(CallRequest(agent=agent, native=native, event=event), call_decision)
    reply, gaps = response.reply, response.record.gaps
    if is_listed and pause.is_paused():
        reply, gaps = notice.pause_reply(agent, [agent.name, native]) or fail_mode.open_reply(agent), hook_result.gaps
    is_module = selected_hook.hook.handler.type == "module"  # whose answer is the result alone
    answers = [parse_module_result(result) if is_module else result for result in results] if speaks else []
    return Trial(
        stdin=payloads[-1].decode(errors="replace"),
        told=hook_result,
        stderr=b"".join(result.stderr for result in results).decode(errors="replace"),
        unknown=[key for answer in answers for key in _unknown_keys(answer.stdout) if key not in expected_keys],
        skipped=skip_reason,
        in_force=in_force,
        reply=reply,
        gaps=gaps,
    )


def _find_force(event: Event) -> tuple[list[str], list[Decision]]:
    """What decides about an event beside its hooks: sentences for a person, and the decisions."""
    project = find_project(Path.cwd())
    sentences = []
    for source in find_sources(project):
        try:
            load_source(source)
        except (HookonceError, ValueError) as problem:
            sentences.append(describe_fault(make_manifest_fault(source, problem, load_last_good(source))))
    if (end := pause.pause_end()) is not None:
        until = f"hooks are paused until {times.format_local(end)}"
        return [f"{until}: no agent asks this hook now; hookonce resume ends the pause", *sentences], []
    candidates = find_candidates(project, event.type)
    decisions = fail_mode.standing_decisions(event.type, select_hooks(event, project, candidates), candidates)
    texts = (f"without this hook it is {decision.outcome}, because {decision.reason}" for decision in decisions)
    return [*sentences, *texts], decisions


def _unknown_keys(answer: bytes) -> list[str]:
    try:
        document = load(answer.decode(errors="replace"))
    except (ValueError, RecursionError):
        return []
    return [key for key in document if key not in ANSWER_KEYS | _ACK_KEYS] if type(document) is dict else []


def _skip_reason(hook: Hook, event: Event) -> str | None:
    selection = select_hooks(event, find_project(Path.cwd()))
    if any(candidate.hook.name == hook.name for candidate in selection.hooks):
        return None
    if hook.event != event.type:
        return f"it is for {hook.event}, and this is {event.type}"
    tool = f"{event.tool.name} ({event.tool.native})" if event.tool is not None else event.type
    return f"its matcher {dump(hook.matcher).decode()} does not match {tool}"
