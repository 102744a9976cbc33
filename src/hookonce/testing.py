"""Hooks in tests: run one as any agent would, and see what that agent is answered.

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
from hookonce.agents import encode, kind_of, native_of, natives
from hookonce.canon.events import EVENTS
from hookonce.canon.merge import merged
from hookonce.canon.spelling import near
from hookonce.errors import UsageError
from hookonce.handlers.errand import Errand, Ran, waited
from hookonce.handlers.process import Job
from hookonce.journeys.chosen import Chosen, fitting
from hookonce.journeys.respond import Asked, Call, answered, understand
from hookonce.journeys.runs import Caller, run_hooks
from hookonce.journeys.trial import program_of
from hookonce.journeys.trial import sample as made_up
from hookonce.manifest.discover import Source
from hookonce.manifest.load import load, manifest_of
from hookonce.manifest.problems import problems_of
from hookonce.model import Agent, Decision, Event, Gap, Handler, Hook, HookRun, Manifest, Object, Reply
from hookonce.runtime.twice import Decided
from hookonce.sdk.answers import written
from hookonce.sdk.functions import answer
from hookonce.sdk.script import event_of
from hookonce.texts import dump
from hookonce.texts import load as parse

__all__ = ["Outcome", "Sample", "run", "sample", "samples"]

_MANIFESTS = (".json", ".yaml", ".yml")
_USUAL: dict[str, Object] = {"shell": {"command": "echo hello"}, "file_read": {"path": "README.md"}}


class Outcome(Struct, frozen=True, kw_only=True):
    """What came of it: what the hook decided, what the agent is answered, and what of it the agent cannot be told.

    `reply` is the agent's own form, with stdout, stderr and exit code; `stderr` is what the hook itself wrote there.
    """

    event: Event
    decision: Decision
    reply: Reply
    gaps: list[Gap]
    runs: list[HookRun]
    stderr: str = ""

    def __repr__(self) -> str:
        said = self.failure or self.decision.outcome or "no opinion"
        why = f", reason={self.reason!r}" if self.reason else ""
        reply = f"code={self.reply.code}, stdout={self.reply.stdout!r}, stderr={self.reply.stderr!r}"
        return f"Outcome({self.event.agent} {self.event.type}: {said!r}{why}, {reply})"

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
        return next((one.failure for one in self.runs if one.failure is not None), None)

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
    asked = _asked(agents.load(agent), event, payload, (tool, input, prompt))
    heard: list[Ran] = []
    raised: list[BaseException] = []

    def doing(errand: Errand) -> Ran:
        try:
            heard.append(_called(hook, errand) if _is_function(hook) else waited(errand))
        except BaseException as problem:
            raised.append(problem)
            raise
        return heard[-1]

    caller = Caller(environment=os.environ | (env or {}), cwd=str(Path.cwd()), waits=True)
    told = run_hooks(_hooks(hook, asked.event), asked.event, caller, monotonic() + timeout, doing)
    if raised:
        raise raised[0]
    decided = Decided(
        decision=merged(one.decision for one in told),
        runs=[one.run for one in told],
        gaps=[gap for one in told for gap in one.gaps],
    )
    made = answered(asked, decided)
    return Outcome(
        event=asked.event,
        decision=decided.decision,
        reply=made.reply,
        gaps=made.record.gaps,
        runs=decided.runs,
        stderr=b"".join(one.stderr for one in heard).decode(errors="replace"),
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
    who = agents.load(agent)
    return encode(who, _made_up(who, event, (tool, input, prompt)))


def samples() -> Iterator[Sample]:
    """One for each event of each agent whose payloads we can write."""
    for who in map(agents.load, agents.AGENTS):
        for kind in dict.fromkeys(natives(who).values()):
            if who.encodes and kind in EVENTS and native_of(who, kind) is not None:
                payload = sample(who.name, kind)
                yield Sample(agent=who.name, event=native_of(who, kind) or "", type=kind, payload=payload)


def _asked(who: Agent, event: str, payload: Object | None, about: tuple[str, Object | None, str | None]) -> Asked:
    native = event if event in natives(who) else native_of(who, event)
    document = payload if payload is not None else encode(who, _made_up(who, event, about))
    return understand(Call(agent=who.name, event=native or event), dump(document), {})


def _made_up(who: Agent, event: str, about: tuple[str, Object | None, str | None]) -> Event:
    kind = kind_of(who, event) if event in natives(who) else event
    if native_of(who, kind) is None:
        raise UsageError(f"{who.title} has no event {event}{near(event, [*natives(who), *natives(who).values()])}")
    tool, given, prompt = about
    return made_up(who, kind, tool, given if given is not None else _USUAL.get(tool, {}), prompt)


def _is_function(hook: Any) -> bool:
    return callable(hook) and not isinstance(hook, (str, Path, dict, Manifest))


def _called(function: Callable[..., Any], errand: Errand) -> Ran:
    """What a function says, asked here; what it raises is for the test to see."""
    given = errand.given if isinstance(errand, Job) else b""
    return Ran(code=0, stdout=written(answer([function], event_of(parse(given.decode())))))


def _hooks(hook: Any, event: Event) -> list[Chosen]:
    if isinstance(hook, (dict, Manifest)):
        return fitting(_manifest(hook), Source(scope="user", path=Path.cwd() / "hooks.json"), event)
    if isinstance(hook, (str, Path)) and str(hook).endswith(_MANIFESTS) and Path(hook).is_file():
        path = Path(hook).absolute()
        return fitting(load(path.read_bytes()), Source(scope="user", path=path), event)
    command = getattr(hook, "__name__", "a function") if _is_function(hook) else program_of(hook)
    made = Hook(event=event.type, handler=Handler(type="command", command=command), blocking=True, name=command)
    return [Chosen(hook=made, scope="user", folder=str(Path.cwd()), may_allow=True)]


def _manifest(document: Object | Manifest) -> Manifest:
    if isinstance(document, Manifest):
        return document
    problems, _ = problems_of(document)
    if problems:
        raise UsageError("; ".join(f"{path}: {message}" for path, message in problems))
    return manifest_of(document)
