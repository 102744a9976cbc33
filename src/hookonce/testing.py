"""Test harness for hooks: run one as any agent would, and see the reply of that agent.

from hookonce.testing import run

def test_no_rm():
    assert run(no_rm, "codex", input={"command": "rm -rf /"}).denied
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import monotonic
from typing import Any

from msgspec import Struct

from hookonce import agents
from hookonce.agents import canonical_event_of, config_event_of, config_events, encode
from hookonce.base.jsontext import dump
from hookonce.base.jsontext import load as parse
from hookonce.diagnose.trial import command_line_of, sample_event
from hookonce.dispatch.request.call_request import CallArguments, CallDecision, CallRequest, parse_request
from hookonce.dispatch.response import build_response
from hookonce.dispatch.run import CallerContext, run_hooks
from hookonce.dispatch.select import SelectedHook, select_from_manifest
from hookonce.errors import UsageError
from hookonce.handlers.command import CommandOperation
from hookonce.handlers.operation import Operation, OperationResult, run_to_completion
from hookonce.manifest.discover import ManifestSource
from hookonce.manifest.load import build_manifest, find_problems, load_manifest
from hookonce.model import Agent, Decision, Event, Gap, Handler, Hook, HookRun, Manifest, Object, Reply
from hookonce.sdk.answers import encode_decision
from hookonce.sdk.functions import run_functions
from hookonce.sdk.script import parse_event
from hookonce.vocabulary.decision_merge import merge_decisions
from hookonce.vocabulary.events import EVENTS
from hookonce.vocabulary.names import suggest_name

__all__ = ["Outcome", "Sample", "run", "sample", "samples"]

_MANIFEST_SUFFIXES = (".json", ".yaml", ".yml")
_DEFAULT_INPUTS: dict[str, Object] = {"shell": {"command": "echo hello"}, "file_read": {"path": "README.md"}}


class Outcome(Struct, frozen=True, kw_only=True):
    """Outcome of a run: the hook's decision, the agent's reply, and the gaps that the agent cannot honour."""

    event: Event
    decision: Decision
    reply: Reply  # the agent's own form, with stdout, stderr and exit code
    gaps: list[Gap]
    runs: list[HookRun]
    stderr: str = ""  # what the hook itself wrote there

    def __repr__(self) -> str:
        summary = self.failure or self.decision.outcome or "no opinion"
        why = f", reason={self.reason!r}" if self.reason else ""
        reply = f"code={self.reply.code}, stdout={self.reply.stdout!r}, stderr={self.reply.stderr!r}"
        return f"Outcome({self.event.agent} {self.event.type}: {summary!r}{why}, {reply})"

    @property
    def denied(self) -> bool:
        """Whether it was refused."""
        return self.decision.outcome == "deny"

    @property
    def asked(self) -> bool:
        """Whether a person has to decide."""
        return self.decision.outcome == "ask"

    @property
    def allowed(self) -> bool:
        """Whether it was let pass without a question, which is more than no opinion."""
        return self.decision.outcome == "allow"

    @property
    def silent(self) -> bool:
        """Whether nothing was said at all."""
        return self.decision == Decision() and self.failure is None

    @property
    def reason(self) -> str:
        """Why."""
        return self.decision.reason or ""

    @property
    def context(self) -> str:
        """What the model is told."""
        return self.decision.context or ""

    @property
    def failure(self) -> str | None:
        """How the first hook that failed did."""
        return next((hook_run.failure for hook_run in self.runs if hook_run.failure is not None), None)

    @property
    def answer(self) -> Any:
        """What the agent reads on stdout, as JSON where it is that; None if it is nothing."""
        try:
            return parse(self.reply.stdout) if self.reply.stdout else None
        except ValueError:
            return self.reply.stdout


class Sample(Struct, frozen=True, kw_only=True):
    """A payload that an agent might write at one of its events."""

    agent: str
    event: str
    type: str
    payload: Object


def run(  # noqa: PLR0913  one name for each thing that a test may choose
    hook: Any,
    agent: str = "claude-code",
    event: str = "before_tool_execute",
    payload: Object | None = None,
    *,
    tool: str = "shell",
    input: Object | None = None,  # noqa: A002  the event's own word
    prompt: str | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 30.0,
) -> Outcome:
    """Run a hook as an agent would at one of its events, by the agent's name of it or the canonical one.

    A hook is a function (run here, so that errors and breakpoints are yours), the path of a program, a shell command,
    or a manifest: its document, or the path of its file. Without a payload one is made up: of this tool with this
    input, or of this prompt. Whatever is allowed counts, as it would with `may_allow` in a user's manifest.
    """
    request = _build_request(agents.load(agent), event, payload, (tool, input, prompt))
    results: list[OperationResult] = []
    errors: list[BaseException] = []

    def run_operation(operation: Operation) -> OperationResult:
        try:
            results.append(_call_function(hook, operation) if _is_function(hook) else run_to_completion(operation))
        except BaseException as problem:
            errors.append(problem)
            raise
        return results[-1]

    caller = CallerContext(environment=os.environ | (env or {}), cwd=str(Path.cwd()), is_test=True)
    hook_results = run_hooks(
        _select_hooks(hook, request.event), request.event, caller, monotonic() + timeout, run_operation
    )
    if errors:
        raise errors[0]
    call_decision = CallDecision(
        decision=merge_decisions(result.decision for result in hook_results),
        runs=[result.run for result in hook_results],
        gaps=[gap for result in hook_results for gap in result.gaps],
    )
    response = build_response(request, call_decision)
    return Outcome(
        event=request.event,
        decision=call_decision.decision,
        reply=response.reply,
        gaps=response.record.gaps,
        runs=call_decision.runs,
        stderr=b"".join(result.stderr for result in results).decode(errors="replace"),
    )


def sample(
    agent: str,
    event: str = "before_tool_execute",
    *,
    tool: str = "shell",
    input: Object | None = None,  # noqa: A002  the event's own word
    prompt: str | None = None,
) -> Object:
    """A payload such as an agent writes at one of its events, by its own name of it or the canonical one."""
    agent_table = agents.load(agent)
    return encode(agent_table, _build_event(agent_table, event, (tool, input, prompt)))


def samples() -> Iterator[Sample]:
    """One for each event of each agent whose payloads we can write."""
    for table in map(agents.load, agents.AGENTS):
        for event_type in dict.fromkeys(config_events(table).values()):
            native = config_event_of(table, event_type)
            if table.encodes and event_type in EVENTS and native is not None:
                yield Sample(agent=table.name, event=native, type=event_type, payload=sample(table.name, event_type))


def _build_request(
    agent_table: Agent, event: str, payload: Object | None, subject: tuple[str, Object | None, str | None]
) -> CallRequest:
    native = event if event in config_events(agent_table) else config_event_of(agent_table, event)
    document = payload if payload is not None else encode(agent_table, _build_event(agent_table, event, subject))
    return parse_request(CallArguments(agent=agent_table.name, event=native or event), dump(document))


def _build_event(agent_table: Agent, event: str, subject: tuple[str, Object | None, str | None]) -> Event:
    events = config_events(agent_table)
    event_type = canonical_event_of(agent_table, event) if event in events else event
    if config_event_of(agent_table, event_type) is None:
        hint = suggest_name(event, [*events, *events.values()])
        raise UsageError(f"{agent_table.title} has no event {event}{hint}")
    tool, tool_input, prompt = subject
    arguments = tool_input if tool_input is not None else _DEFAULT_INPUTS.get(tool, {})
    return sample_event(agent_table, event_type, tool, arguments, prompt)


def _is_function(hook: Any) -> bool:
    return callable(hook) and not isinstance(hook, (str, Path, dict, Manifest))


def _call_function(function: Callable[..., Any], operation: Operation) -> OperationResult:
    """Call a function here; what it raises is for the test to see."""
    stdin = operation.payload if isinstance(operation, CommandOperation) else b""
    return OperationResult(
        code=0, stdout=encode_decision(run_functions([function], parse_event(parse(stdin.decode()))))
    )


def _select_hooks(hook: Any, event: Event) -> list[SelectedHook]:
    if isinstance(hook, (dict, Manifest)):
        return select_from_manifest(
            _load_manifest(hook), ManifestSource(scope="user", path=Path.cwd() / "hooks.json"), event
        )
    if isinstance(hook, (str, Path)) and str(hook).endswith(_MANIFEST_SUFFIXES) and Path(hook).is_file():
        path = Path(hook).absolute()
        return select_from_manifest(load_manifest(path.read_bytes()), ManifestSource(scope="user", path=path), event)
    command = getattr(hook, "__name__", "a function") if _is_function(hook) else command_line_of(hook)
    test_hook = Hook(event=event.type, handler=Handler(type="command", command=command), blocking=True, name=command)
    return [SelectedHook(hook=test_hook, scope="user", folder=str(Path.cwd()), may_allow=True)]


def _load_manifest(document: Object | Manifest) -> Manifest:
    if isinstance(document, Manifest):
        return document
    problems, _ = find_problems(document)
    if problems:
        raise UsageError("; ".join(f"{path}: {message}" for path, message in problems))
    return build_manifest(document)
