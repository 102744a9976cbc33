"""Summary of a record in a few words: what the action was about, what came of it, and why it was refused."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hookonce.dispatch.derived_hooks import HOOK_RUNS_EVENT, runs_record_id
from hookonce.dispatch.pause import PAUSE_GAP
from hookonce.dispatch.prepare import command_of, digest_content
from hookonce.dispatch.request.call_record import OBSERVER_CAPABILITY
from hookonce.dispatch.select import SelectedHook, find_candidates
from hookonce.errors import HookonceError
from hookonce.model import Digest, Event, HookRun, Json, Object, Record, Stored, Tool, Usage
from hookonce.vocabulary.events import EVENTS, is_derived
from hookonce.vocabulary.tools import ARGUMENTS

_SUBJECT_CLASSES = frozenset({"command", "path"})  # argument classes that say what was done, and to what
_MAX_SUBJECT_CHARS = 2000


def event_subject(event: Event) -> str:
    """The command, path or prompt of an event; empty if nothing of it was stored."""
    if event.tool is not None:
        text = ", ".join(_argument_texts(event.tool))
    elif isinstance(event.prompt, Digest):
        text = f"a prompt of {event.prompt.length} characters"
    else:
        text = event.prompt or ""
    excess_chars = len(text) - _MAX_SUBJECT_CHARS
    return text if excess_chars <= 0 else f"{text[:_MAX_SUBJECT_CHARS]}… and {excess_chars} characters more"


def _argument_texts(tool: Tool) -> Iterator[str]:
    """The telling arguments; of a tool without a table every text, since only what may be shown was stored."""
    classes = ARGUMENTS.get(tool.name)
    for key, value in tool.input.items():
        if classes is None or classes.get(key) in _SUBJECT_CLASSES:
            yield from _json_texts(value)


def _json_texts(value: Json) -> Iterator[str]:
    """A text, those of a list, or the paths of files; a digest in place of a text says nothing."""
    if type(value) is str:
        yield value
    elif type(value) is list:
        for item in value:
            yield from _json_texts(item)
    elif type(value) is dict and type(path := value.get("path")) is str:
        yield path


HOOK_ERROR_TYPE = "HookError"
_DATA_KEYS = ("response", "message", "reason", "source", "path")  # in `data`, the first that is there


def summarize_record(record: Record, *, reason: bool = True) -> str:
    """Summarize a record: its subject, whether it failed, and the reason of its decision."""
    decision, tool = record.decision, record.event.tool
    result = tool.result if tool is not None else None
    result_text = "" if result is None else {True: "", False: "failed", None: "result unknown"}[result.ok]
    reason_text = decision.reason if reason and decision is not None and decision.outcome else None
    parts = (
        record_subject(record),
        result_text,
        _decision_note(record),
        f"because {reason_text}" if reason_text else "",
    )
    return " · ".join(part for part in parts if part)


def _decision_note(record: Record) -> str:
    """What its decision alone does not say: a person has allowed it, somebody else has refused it, nobody was asked."""
    decision = record.decision
    if PAUSE_GAP in record.gaps:
        return PAUSE_GAP.note or ""
    if decision is None or decision.by is None:
        return ""
    if decision.outcome is None:
        return "allowed by a person" if decision.by == "user" else ""
    return f"refused by {decision.by}" if decision.outcome == "deny" and decision.reason is None else ""


def says_nothing(record: Record) -> bool:
    """Whether a record tells no more than that an event came."""
    event, decision = record.event, record.decision
    is_plain = event.tool is None and not record.runs and (decision is None or decision.outcome is None)
    return is_plain and is_minor(event.type) and not record_subject(record)


def is_minor(event_type: str) -> bool:
    """Whether an event of that type tells nothing by itself: sessions are read by the others."""
    kind = EVENTS.get(event_type)
    return kind is None or kind.group != "core"


def summarize_in_line(record: Record) -> str:
    """The same in a line of its own, beginning with the tool, and without the decision, which stands beside it."""
    tool = record.event.tool
    parts = ("" if tool is None else tool.name, summarize_record(record, reason=False))
    return " · ".join(" ".join(part.split()) for part in parts if part)


def record_subject(record: Record) -> str:
    """The command, path, prompt or other text that a record is about; one that was left out is at least measured."""
    usage = describe_usage(record.event.usage) if record.event.type == "after_model" else ""
    own_text, text = _own_subject(record), event_subject(record.event) or usage
    if own_text or text:
        return " · ".join(filter(None, (own_text, text)))
    if record.event.data.get("error_type") == HOOK_ERROR_TYPE:
        hook, error = record.event.data.get("hook"), record.event.data.get("error")
        name = f"hook {hook}" if type(hook) is str else "a hook"
        return f"{name}: {error if type(error) is str else 'failed'}"  # the call's record and the log know more
    for key in _DATA_KEYS:
        value = record.event.data.get(key)
        if type(value) is str:
            return value
        if type(value) is dict and type(length := value.get("length")) is int:
            return f"{length} characters"
    return ""


def _own_subject(record: Record) -> str:
    """What an event of our own is about: hooks that were asked about a derived event, or something a person did."""
    if record.event.type == HOOK_RUNS_EVENT:
        runs = ", ".join(map(_describe_run, record.runs)) or "none"
        return f"hooks of {record.event.data.get('origin_event')}: {runs}"
    return _own_action(record.event.data) if record.event.agent == "hookonce" else ""


def _describe_run(run: HookRun) -> str:
    return f"{run.hook} ({run.failure or f'exit code {run.exit}'})"


def with_derived_runs(record: Stored, find: Callable[[str], Stored | None]) -> Stored:
    """A record with the runs and gaps of those that follow it: of hooks that were asked about it after it was kept.

    A hook that was to run after the answer, and of which nothing followed, stays named in a gap.
    """
    later_gaps = [gap for gap in record.gaps if (gap.capability, gap.strategy) == (OBSERVER_CAPABILITY, "later")]
    runs, gaps = [*record.runs], [*record.gaps]
    for index in range(max(len(later_gaps), int(is_derived(record.event)))):
        if (follower := find(runs_record_id(record.event.id, index))) is not None:
            runs += follower.runs
            gaps = [gap for gap in gaps if gap not in later_gaps[index : index + 1]] + follower.gaps
    return replace(record, runs=runs, gaps=gaps)


def _own_action(data: Object) -> str:
    if "taken" in data:
        return f"{data['taken']:,} of {data['rows']:,} records taken over, the others were put aside"
    op, source = data.get("op"), data.get("source")
    if type(op) is not str:
        return ""
    wordings = {
        "typed": "a person has typed the code",
        "unattended": "without a person, as the machine's owner allows",
        "person": "by a person",
        "agent": "by an agent",
    }
    end = f" until {data['until']}" if type(data.get("until")) is str else ""
    return f"{op.replace('_', ' ')}{end}: {wordings.get(str(source), source)}"


def describe_usage(usage: Usage | None) -> str:
    """Token usage in words; empty where none is known."""
    counts = () if usage is None else ((usage.input_tokens, "in"), (usage.output_tokens, "out"))
    return ", ".join(f"{count:,} tokens {direction}" for count, direction in counts if count is not None)


class HookSource(Struct, frozen=True):
    """The command that ran, and the manifest that has it."""

    command: str
    file: Path


def find_hook_source(run: HookRun, project: Path) -> HookSource | None:
    """Find the hook whose digest a run has, if a manifest has it still."""
    for hook, source in ((candidate.hook, candidate.source) for candidate in find_candidates(project)):
        if hook is None:
            continue
        folder = project if source.scope == "project" else source.path.parent
        selected_hook = SelectedHook(hook=hook, scope=source.scope, folder=str(folder))
        with suppress(HookonceError):
            if sha256(digest_content(selected_hook)).hexdigest() == run.digest:
                is_function = hook.handler.type == "function"  # what starts it is ours
                function_name = f"{folder / (hook.handler.file or '')}: {hook.handler.name}"
                return HookSource(function_name if is_function else command_of(selected_hook), source.path)
    return None
