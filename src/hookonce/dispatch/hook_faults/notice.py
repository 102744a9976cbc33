"""Notice of hook faults: what a person is told at the start of a session, where no model reads it (ADR 0049)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookonce.base.terminal_text import escape_unprintable
from hookonce.dispatch import pause
from hookonce.handlers.operation import OperationResult, Task
from hookonce.model import Agent, Decision, Reply
from hookonce.secrets import log

if TYPE_CHECKING:
    from hookonce.dispatch.context import CallContext
    from hookonce.dispatch.hook_faults.table import HookFault
    from hookonce.dispatch.request.call_request import CallRequest

_SEARCH_TIMEOUT_S = 3.0  # seconds that a session waits for its notice at most
_BUDGET_RATIO = 0.25  # and the part of its hooks' time
_MAX_NAMED_FAULTS = 5  # that a notice names
_MAX_NAME_CHARS = 40  # of a hook's name, which a stranger may have written
_MAX_FAULT_CHARS = 400  # of what is said of one of them
_SAME_SESSION = frozenset({"compact"})  # sources of a start that is none to its user


def concerns(request: "CallRequest") -> bool:
    """Whether a session starts in an agent that can show a notice."""
    place = request.agent.config.notice
    if place is None or request.native != place[0] or request.document is not None:
        return False
    return request.event.data.get("source") not in _SAME_SESSION and request.arguments.run is None


def add_notice(request: "CallRequest", call_context: "CallContext") -> "Task[CallRequest]":
    """The request with the notice for its user, if a session starts in an agent that can show one."""
    if not concerns(request) or request.in_force is None:
        return request
    from hookonce.dispatch.hook_faults.project_faults import FaultSearch  # most calls do without it

    timeout_s = min(_SEARCH_TIMEOUT_S, _BUDGET_RATIO * (request.budget_s or 0))
    environment, project = call_context.environment, request.in_force.project
    try:
        result: OperationResult = yield FaultSearch(
            project=project,
            agent=request.agent,
            environment=environment,
            find_entry_faults=call_context.find_entry_faults,
            timeout=timeout_s,
        )
        text, failure = result.stdout.decode(), result.failure
    except Exception as problem:  # noqa: BLE001  hooks are asked, and the call is recorded, all the same
        text, failure = "", log.safe_message(problem)
    if failure is not None:
        log.write(f"on {request.agent.name} {request.native}: the notice about broken hooks failed: {failure}")
    return replace(request, notice=text or None)


def pause_reply(agent: Agent, argv: list[str]) -> Reply | None:
    """The reply that tells of a pause, if a session starts in an agent that can show it."""
    place = agent.config.notice
    is_start = place is not None and argv[1:2] == [place[0]] and "--run" not in argv
    if place is None or agent.reply is None or not is_start or not pause.is_paused():
        return None
    from hookonce.dispatch.hook_faults import project_faults  # as above

    text = describe_faults(project_faults.machine_faults())
    return None if text is None else agent.reply(place[0], Decision(system_message=text), None)


def describe_faults(faults: Iterable["HookFault"]) -> str | None:
    """What a person is told of these faults in an agent: how many guards do not protect them, which, and why."""
    from hookonce.dispatch.hook_faults.table import FAULT_KINDS, describe_fault

    severe_faults = [fault for fault in faults if FAULT_KINDS[fault.kind].is_broken]
    by_hook = {(fault.path, fault.hook): fault for fault in reversed(severe_faults) if fault.hook}
    parts = [_shorten(describe_fault(fault)) for fault in severe_faults if not fault.hook]
    if by_hook:
        verb = "does" if len(by_hook) == 1 else "do"
        groups = _group_hooks([by_hook[key] for key in reversed(by_hook)])
        texts = [f"{_shorten(', '.join(names))}: {_shorten(sentence)}" for sentence, names in groups.items()]
        unnamed_count = sum(map(len, list(groups.values())[_MAX_NAMED_FAULTS:]))
        more = f"; and {unnamed_count} more" if unnamed_count else ""
        named_text = "; ".join(texts[:_MAX_NAMED_FAULTS])
        parts.insert(0, f"{len(by_hook)} of your guards {verb} not protect you: {named_text}{more}")
    return f"hookonce: {'. '.join(parts)}. Next: hookonce doctor" if parts else None


def _group_hooks(faults: list["HookFault"]) -> dict[str, list[str]]:
    """Names of hooks by what is wrong with them, and what that means for what they judge."""
    names_by_sentence: dict[str, list[str]] = {}
    for fault in faults:
        sentence = f"{fault.sentence}, {fault.effect}" if fault.effect else fault.sentence
        names_by_sentence.setdefault(sentence, []).append(_shorten(fault.hook, _MAX_NAME_CHARS))
    return names_by_sentence


def _shorten(text: str, max_chars: int = _MAX_FAULT_CHARS) -> str:
    text = escape_unprintable(text)
    return text if len(text) <= max_chars else f"{text[:max_chars]}…"
