"""Hook execution: time budget, runs in order or at once.

Hooks run one after the other, each seeing the input as those before it have left it; neighbours whose order does not
matter run at once. Hooks that nobody waits for run after the answer, or, without a daemon, in processes of their own.
"""

import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from hookonce import agents
from hookonce.base import process_info, settings, times
from hookonce.base.invocation import CANONICAL_DIALECT
from hookonce.dispatch.dialect import DialectEventError, dialect_variables
from hookonce.dispatch.hook_privacy import (
    DEFAULT_LEVEL,
    filter_variables,
    has_open_format,
    mask_failure,
    mask_output,
    privacy_level,
)
from hookonce.dispatch.prepare import PreparedHook, digest_content, model_cost_micros, prepare_hook, resolve_program
from hookonce.dispatch.rewrite import apply_rewrite
from hookonce.dispatch.select import SelectedHook, is_strict_nonblocking
from hookonce.errors import HookonceError, PayloadError
from hookonce.handlers.command import CommandOperation, ProcessContext
from hookonce.handlers.environment import compose_environment, compose_model_environment, python_variables
from hookonce.handlers.operation import OperationResult, OperationRunner, Task, run_blocking, run_to_completion
from hookonce.handlers.supervise import limits
from hookonce.handlers.supervise.hook_results import CallResults
from hookonce.handlers.verdict import HandlerResult, Rights, Verdict, verdict
from hookonce.manifest.discover import find_project
from hookonce.model import Decision, Event, Gap, Hook, HookRun
from hookonce.secrets import log
from hookonce.vocabulary.names import MODEL_HANDLER_TYPES, hook_name

if TYPE_CHECKING:
    from hookonce.handlers.function import FunctionRef

DEFAULT_HOOK_TIMEOUT_S = 30  # seconds for one hook that names none


def hook_timeout_s(hook: Hook, remaining_s: float) -> float:
    """Timeout of one hook: its own, at most what remains."""
    return min(hook.handler.timeout or DEFAULT_HOOK_TIMEOUT_S, remaining_s)


_DETACHED_EVENTS = frozenset({"session_end", "session_abort"})  # an agent that ends does not wait
_REMOTE_TYPES = frozenset({"http", "module"})  # the variables of a call are for their headers alone
_NO_RESULT = HandlerResult(result=OperationResult(), decision=None)  # of a hook that did not run


class HookSkippedError(HookonceError):
    """A hook does not run here, which is no failure."""


class CallerContext(Struct, frozen=True, kw_only=True):
    """The caller's environment, directory and umask, and the nesting depth of hooks and agents there."""

    environment: Mapping[str, str]
    cwd: str
    umask: int = -1
    depth: int = 0
    handler_registry: process_info.HandlerRegistry = process_info
    depth_token: str = ""  # by which what its hooks start knows its depth
    reduces_privileges: bool = False  # whether its hooks have fewer privileges
    current_settings: settings.Settings | None = None  # as they were when the call came
    results: CallResults | None = None  # of its hooks, where they outlive this process or one before it
    decision: Decision | None = None  # that a derived event is about
    observers: "list[ObserverJob] | None" = None  # gets the hooks that nobody waits for, to run them after the answer
    detaches_observers: bool = False  # whether those in an open format run in processes of their own
    is_after_answer: bool = False
    is_test: bool = False  # whether hooks have all of its environment, and even those in the background are waited for


class ObserverJob(Struct, frozen=True, kw_only=True):
    """A hook that nobody waits for, with the event as the hooks before it have left it."""

    selection: SelectedHook
    event: Event
    caller: CallerContext


class HookResult(Struct, frozen=True, kw_only=True):
    """Result of one hook: its decision, its run, and gaps."""

    decision: Decision
    run: HookRun
    gaps: list[Gap]


def run_hooks(
    hooks: list[SelectedHook],
    event: Event,
    caller: CallerContext,
    deadline: float,
    run_operation: OperationRunner = run_to_completion,
) -> list[HookResult]:
    """Run hooks to completion."""
    is_parallel = run_operation is run_to_completion  # whoever runs operations alone is given one after the other
    return run_blocking(hooks_task(hooks, event, caller, deadline, is_parallel=is_parallel), run_operation)


def hooks_task(
    hooks: list[SelectedHook], event: Event, caller: CallerContext, deadline: float, *, is_parallel: bool = True
) -> Task[list[HookResult]]:
    """Task that runs hooks in order, or at once where order does not matter.

    A failure of one does not keep the others from running, nor does a deny, unless its hook says so.
    """
    results: list[HookResult] = []
    if not hooks:
        return results
    depth_token = caller.handler_registry.register_handlers(caller.depth + 1)
    try:
        is_reduced = (caller.current_settings or settings.load()).privileges == "reduced"
        detaches = caller.detaches_observers and all(hook.event is None for hook in hooks)  # several are told in order
        fields = {"depth_token": depth_token, "reduces_privileges": is_reduced, "detaches_observers": detaches}
        run_context = replace(caller, **fields)
        if len(hooks) == 1:  # most calls
            for hook in _set_observers_aside(hooks, event, run_context):
                result, _ = yield from _run_hook(hook, hook.event or event, run_context, deadline)
                results.append(result)
            return results
        refuser, gaps = "", []
        for batch in _batches(hooks, is_parallel=is_parallel):
            asked_hooks = [hook for hook in batch if not refuser or has_open_format(hook.hook)]
            gaps += [_unasked_gap(hook, refuser) for hook in batch if hook not in asked_hooks]
            asked_hooks = _set_observers_aside(asked_hooks, event, run_context)
            outcomes, event = yield from _run_batch(asked_hooks, event, run_context, deadline)
            results += [result for _, result in outcomes]
            refuser = refuser or next(
                (hook_name(hook.hook) for hook, result in outcomes if _ends_call(hook, result)), ""
            )
            reached_hooks = [hook for hook, _ in outcomes]
            gaps += [_unasked_gap(hook, refuser) for hook in asked_hooks if hook not in reached_hooks]
        if gaps:
            results[-1] = replace(results[-1], gaps=[*results[-1].gaps, *gaps])
    finally:
        caller.handler_registry.unregister_handlers(depth_token)
    return results


def _set_observers_aside(hooks: list[SelectedHook], event: Event, caller: CallerContext) -> list[SelectedHook]:
    """The hooks that are waited for; the others are told to whoever runs them after the answer, if somebody does."""
    observers = caller.observers
    if observers is None:
        return hooks
    judges = [hook for hook in hooks if not (_is_background(hook.hook, event) or has_open_format(hook.hook))]
    job_caller = replace(caller, observers=None, results=None, is_after_answer=True)
    for hook in hooks:
        if hook not in judges:
            observers.append(ObserverJob(selection=hook, event=hook.event or event, caller=job_caller))
    return judges


def _is_background(hook: Hook, event: Event) -> bool:
    return hook.handler.background or event.type in _DETACHED_EVENTS


def observer_task(job: ObserverJob, deadline: float) -> Task[HookResult]:
    """Task that runs a hook after the answer: in its own time, one in the background until a deadline."""
    result, _ = yield from _run_hook(job.selection, job.event, job.caller, deadline)
    return result


def runs_in_any_order(hook: Hook) -> bool:
    """Whether a hook runs at once with its neighbours: it says so, or only observes and says nothing."""
    return hook.order == "any" or (hook.order is None and has_open_format(hook))


def _batches(hooks: list[SelectedHook], *, is_parallel: bool) -> Iterator[list[SelectedHook]]:
    """Hooks that run at once; those that judge and those that observe apart, for a deny never ends an observer.

    A hook that is told several events of one call is told one after the other.
    """

    def batch_key(selection: SelectedHook) -> tuple[bool, bool]:
        is_single = is_parallel and selection.event is None
        return is_single and runs_in_any_order(selection.hook), has_open_format(selection.hook)

    for key, neighbours in groupby(hooks, batch_key):
        if key[0]:
            yield [*neighbours]
        else:
            yield from ([hook] for hook in neighbours)


def _run_batch(
    batch: list[SelectedHook], event: Event, caller: CallerContext, deadline: float
) -> Task[tuple[list[tuple[SelectedHook, HookResult]], Event]]:
    """Run hooks at once: those that were not cancelled with their results, and the event as the next batch sees it."""
    if len(batch) > 1:
        from hookonce.handlers.loop_task import TaskGroup  # most hooks run alone

        tasks = [_run_hook(hook, hook.event or event, caller, deadline) for hook in batch]
        group = TaskGroup(tasks, float("inf"), lambda index, outcome: _ends_call(batch[index], outcome[0]))
        yield group
        if group.error is not None:
            raise group.error
        pairs = zip(batch, group.results, strict=True)
        return [(hook, outcome[0]) for hook, outcome in pairs if outcome is not None], event
    outcomes = []
    for hook in batch:
        result, next_event = yield from _run_hook(hook, hook.event or event, caller, deadline)
        outcomes.append((hook, result))
        event = event if hook.event else next_event
    return outcomes, event


def _ends_call(hook: SelectedHook, result: HookResult) -> bool:
    return hook.hook.on_deny == "stop" and result.decision.outcome == "deny"


def _unasked_gap(hook: SelectedHook, refuser: str) -> Gap:
    return _handler_gap(f"{hook_name(hook.hook)} was not asked to the end, because {refuser} had refused", "on_deny")


def _hook_world(selection: SelectedHook, event: Event, caller: CallerContext) -> ProcessContext:
    """Environment and directory of a hook: the caller's, as far as it chooses no code, and three variables of ours.

    Variables of another agent than the one that calls, which the hook was written for, are never the caller's.
    """
    hook, handler = selection.hook, selection.hook.handler
    keeps_callers = handler.type in _REMOTE_TYPES or (hook.environment == "caller" and hook.on_failure != "closed")
    keeps_callers = keeps_callers or caller.is_test
    if handler.type in MODEL_HANDLER_TYPES and not keeps_callers:
        env = compose_model_environment(caller.environment, (settings.load().models or {}).get("key_env"))
    else:
        env = compose_environment(caller.environment, keeps_callers=keeps_callers)
    if variables := dialect_variables(hook.dialect or CANONICAL_DIALECT, event, caller.cwd):
        known_names = agents.load(event.agent).variables if event.agent in agents.AGENTS else {}
        env = variables | env | {name: value for name, value in variables.items() if name not in known_names}
    if handler.type in MODEL_HANDLER_TYPES:  # a model is told of no prompt and no user but by the question
        key_name = (settings.load().models or {}).get("key_env")
        env = filter_variables(env, DEFAULT_LEVEL) | {name: env[name] for name in (key_name,) if name in env}
    elif has_open_format(hook):
        env = filter_variables(env, privacy_level(hook, selection.scope)[0])
    is_safe_path = selection.scope != "project" and not keeps_callers  # a project's own folder is its business
    env = {
        **env,
        **(python_variables(handler.command or "") if is_safe_path else {}),
        **handler.env,
        process_info.DEPTH_VARIABLE: str(caller.depth + 1),
        process_info.PARENT_VARIABLE: caller.depth_token,
        process_info.HOOK_DIR_VARIABLE: selection.folder,
    }
    caller_dir = caller.cwd if os.access(caller.cwd, os.X_OK) else os.sep  # it may be gone, or be shut
    cwd = selection.folder if selection.scope == "project" else caller_dir
    if handler.cwd:
        root = selection.folder if selection.scope == "project" else find_project(Path(event.cwd or caller.cwd))
        cwd = str(Path(root, handler.cwd))
    return ProcessContext(cwd=cwd, env=env, umask=caller.umask, drops_privileges=caller.reduces_privileges)


def _run_hook(
    selection: SelectedHook, event: Event, caller: CallerContext, deadline: float
) -> Task[tuple[HookResult, Event]]:
    """Run one hook: its result, and the event as the next one sees it; any exception is this hook's failure."""
    hook, start_time, command = selection.hook, times.now(), ""
    try:
        program = resolve_program(selection)
        command = program if isinstance(program, str) else program.command
        handler_result, hook_verdict, gaps = yield from _run_handler(selection, program, event, caller, deadline)
        decision, order_gaps = _limit_to_order(hook, hook_verdict.decision)
        decision, event, rewrite_gaps = apply_rewrite(decision, event)
        gaps = [*gaps, *order_gaps]
    except (HookSkippedError, DialectEventError) as skip_error:
        handler_result, gaps, rewrite_gaps = _NO_RESULT, [_handler_gap(str(skip_error))], []
        skip_result = OperationResult(failure=f"not run: {skip_error}")
        hook_verdict = verdict(hook, skip_result, None, Rights()) if hook.must_answer else Verdict(Decision())
        decision = hook_verdict.decision
    except Exception as problem:  # noqa: BLE001  nothing that one hook does may hide what another says
        handler_result = HandlerResult(
            result=OperationResult(failure=f"not started: {log.safe_message(problem)}"), decision=None
        )
        judged_hook = _demand_answer(hook) if isinstance(problem, PayloadError) else hook
        hook_verdict, gaps, rewrite_gaps = verdict(judged_hook, handler_result.result, None, Rights()), [], []
        decision = hook_verdict.decision
    run_result = handler_result.result
    if hook_verdict.failure is not None:
        failure_text = f"failed ({hook_verdict.failure}, {run_result.duration:.1f} s)"
        log.write(f"hook {hook_name(hook)} {failure_text}: {command}", mask_output(run_result, event))
    hook_run = HookRun(
        hook=hook_name(hook),
        scope=selection.scope,
        digest=sha256(digest_content(selection, command)).hexdigest(),
        started=start_time,
        duration_ms=round(run_result.duration * 1000, 3),
        exit=run_result.code,
        outcome=decision.outcome,
        failure=hook_verdict.failure,
        model=handler_result.model,
        usage=handler_result.usage,
        cost_micros=model_cost_micros(handler_result),
    )
    return HookResult(decision=decision, run=hook_run, gaps=[*gaps, *hook_verdict.gaps, *rewrite_gaps]), event


def _limit_to_order(hook: Hook, decision: Decision) -> tuple[Decision, list[Gap]]:
    """The decision of a hook that runs beside others: new input cannot count, and must not go on unchanged."""
    if not runs_in_any_order(hook) or (decision.updated_input is None and decision.updated_output is None):
        return decision, []
    note = f"{hook_name(hook)} has order: any, so it cannot change the input that other hooks see"
    decision = replace(decision, updated_output=None)
    if decision.updated_input is None or decision.outcome == "deny":
        return replace(decision, updated_input=None), [_handler_gap(note, "order")]
    gap = Gap(where="$.decision", capability="order", strategy="weaken", effect="prevents", note=note)
    return replace(decision, outcome="deny", reason=note, updated_input=None, by=hook_name(hook)), [gap]


def _demand_answer(hook: Hook) -> Hook:
    """The hook as one that fails closed: what a model has written must not be what keeps it from being judged."""
    return replace(hook, on_failure="closed")


def _run_handler(
    selection: SelectedHook, program: "str | FunctionRef", event: Event, caller: CallerContext, deadline: float
) -> Task[tuple[HandlerResult, Verdict, list[Gap]]]:
    hook, command = selection.hook, program if isinstance(program, str) else program.command
    if hook.handler.type in MODEL_HANDLER_TYPES and caller.depth > 0:
        raise HookSkippedError(f"{hook_name(hook)} has a handler that does not run inside another hook")
    world = _hook_world(selection, event, caller)
    preparation = prepare_hook(selection, program, event, world, caller.decision, caller.current_settings)
    gaps = preparation.gaps
    if caller.reduces_privileges and (extra_privileges := limits.describe_unremovable()):
        gaps = [*gaps, _handler_gap(f"{hook_name(hook)} keeps privileges, {extra_privileges}", "privileges")]
    if caller.is_after_answer and _is_background(hook, event):
        return (yield from _run_background(hook, preparation, command, deadline))
    if _is_detached(hook, event, caller):
        return (*_start_detached(selection, event, caller, preparation, command), gaps)
    remaining_s = hook_timeout_s(hook, deadline - monotonic())
    operation, recovered_result = replace(preparation.operation, timeout=remaining_s), None
    if remaining_s <= 0:
        recovered_result = OperationResult(failure="timeout")
    elif caller.results is not None and caller.results.takes_over:
        recovered_result = yield from caller.results.recover(command, remaining_s)
    elif caller.results is not None and isinstance(operation, CommandOperation):
        operation = replace(operation, claim=caller.results.claim(command))
    elif caller.results is not None:
        caller.results.begin(command)
    run_result = recovered_result or (yield operation)
    if preparation.is_large:
        hook = _demand_answer(hook)
    handler_result = mask_failure(preparation.parse_result(run_result), event)
    may_allow = selection.may_allow and not runs_in_any_order(hook)
    rights = Rights(may_allow=may_allow, strict=not hook.blocking and is_strict_nonblocking(selection))
    hook_verdict = verdict(
        hook, handler_result.result, handler_result.decision, rights, has_own_exit_codes=preparation.knows_exit_codes
    )
    return handler_result, hook_verdict, [*gaps, *handler_result.gaps]


def _is_detached(hook: Hook, event: Event, caller: CallerContext) -> bool:
    """Whether a hook runs in a process of its own, because nobody waits for it and we do not live on."""
    is_unawaited = _is_background(hook, event) or (caller.detaches_observers and has_open_format(hook))
    return is_unawaited and not (caller.is_test or caller.is_after_answer)


def _start_detached(
    selection: SelectedHook, event: Event, caller: CallerContext, preparation: PreparedHook, command: str
) -> tuple[HandlerResult, Verdict]:
    run_result = OperationResult(code=0)
    if caller.results is None or caller.results.begin(command):
        from hookonce.handlers.supervise.detached_process import run_detached  # few hooks are not waited for
        from hookonce.store.privacy.sanitize import sanitize_output

        process_context = _hook_world(selection, event, caller)
        run_result = run_detached(preparation.operation, command, process_context, sanitize_output)
    return HandlerResult(result=run_result, decision=None), verdict(selection.hook, run_result, Decision(), Rights())


def _run_background(
    hook: Hook, preparation: PreparedHook, command: str, deadline: float
) -> Task[tuple[HandlerResult, Verdict, list[Gap]]]:
    """Run a hook whose answer does not count, in all the time that there is; the log tells what it said."""
    from hookonce.handlers.supervise.detached_process import log_end, log_start  # as above
    from hookonce.store.privacy.sanitize import sanitize_output

    log_start(command)
    operation = preparation.operation
    run_result = yield replace(operation, timeout=max(deadline - monotonic(), 0.0))
    log_end(command, run_result, operation.payload, sanitize_output)
    hook_verdict = verdict(hook, run_result, Decision(), Rights())
    return HandlerResult(result=run_result, decision=None), hook_verdict, preparation.gaps


def _handler_gap(note: str, capability: str = "handler") -> Gap:
    return Gap(where="$.runs", capability=capability, strategy="exclude", effect="observes", note=note)
