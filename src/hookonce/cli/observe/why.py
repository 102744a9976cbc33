"""hookonce why: explain the last refusal or hook failure."""

import sys
from argparse import ArgumentParser, Namespace
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from shlex import quote

from hookonce.base.terminal_text import escape_unprintable
from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.consent import find_parent_agent
from hookonce.cli._ui.local_time import add_utc_option, format_time, zone_name
from hookonce.cli._ui.messages import print_json, print_result, warn
from hookonce.cli._ui.tables import print_words
from hookonce.dispatch.derived_hooks import HOOK_RUNS_EVENT
from hookonce.dispatch.hook_faults.handlers import command_faults
from hookonce.errors import HookonceError
from hookonce.handlers.verdict import NOT_BLOCKING
from hookonce.inspect.summary import HookSource, event_subject, find_hook_source, with_derived_runs
from hookonce.manifest.discover import find_project, find_sources, load_source
from hookonce.model import HookRun, Stored
from hookonce.store.spool.overlay import find_record, latest_records
from hookonce.trust.approvals import find_code
from hookonce.vocabulary.decision_merge import APPROVAL_PREFIX

_EXAMPLES = """examples:
  hookonce why
  hookonce why --list
  hookonce why --failures
  hookonce why 01a1dde4-3215-77eb-851b-eb5e5647ff91"""
_MAX_REFUSALS = 20  # refusals in a list
_ACTION_CHARS = 80  # characters of an action in a list
# What keeps a hook from running, and what to do about it.
_HINTS_BY_GAP = {
    "trust": "hookonce trust shows a project's hooks, and lets you trust them",
    "policy": "the author of the policy can change it",
    "manifest": "hookonce doctor says what was wrong",
}
_NO_START_CODES = frozenset({126, 127})  # exit codes of a shell that could not start a program


def configure(parser: ArgumentParser) -> None:
    """The options of `why`."""
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "id",
        nargs="?",
        metavar="ID",
        help="the id of an event; its beginning is enough; default: the last one that was refused",
    )
    add_flag(parser, "--list", f"list the last refusals, at most {_MAX_REFUSALS}, newest last")
    add_flag(parser, "--failures", "hooks that failed, instead of refusals")
    add_utc_option(parser)
    add_flag(parser, "--json", "print the whole record as JSON; with --list one per line")


def run(options: Namespace) -> None:
    """Explain the last refusal, or the last time that hooks did not run, and what can be done about it."""
    if options.list:
        _run_list(options)
        return
    stored_records = [] if options.id else list(latest_records(report_problem=warn))
    failed_record = next(filter(_has_failed, reversed(stored_records)), None)
    if options.id:
        record = find_record(options.id, warn)
    else:
        record = (None if options.failures else _find_last(stored_records)) or failed_record
    if record is None:
        raise HookonceError("there is no such event" if options.id else _none_message(options))
    full_record = with_derived_runs(_origin_record(record), find_record)
    if options.json:
        print_json(full_record)
        return
    _print_record(full_record, utc=options.utc)
    if failed_record is not None and stored_records.index(failed_record) > stored_records.index(record):
        print(f"a hook has failed since then: hookonce why {failed_record.event.id}")


def _origin_record(record: Stored) -> Stored:
    """The record of the event that hooks were asked about, where a record says only how they have run."""
    event = record.event
    origin = find_record(event.derived_from) if event.type == HOOK_RUNS_EVENT and event.derived_from else None
    return origin or record


def _none_message(options: Namespace) -> str:
    return "no hook has failed yet" if options.failures else "nothing was refused yet"


def _has_failed(record: Stored) -> bool:
    return any(run.failure is not None for run in record.runs)


def _run_list(options: Namespace) -> None:
    matches = _has_failed if options.failures else _is_refused
    records = deque(filter(matches, latest_records(report_problem=warn)), maxlen=_MAX_REFUSALS)
    for record in records:
        print_result(options, record, lambda record: print(escape_unprintable(_format_line(record, utc=options.utc))))
    if not records and not options.json:
        print(_none_message(options))


def _format_line(record: Stored, *, utc: bool) -> str:
    action, reason = (" ".join(text.split()) for text in (event_subject(record.event), _reason(record)))
    if len(action) > _ACTION_CHARS:
        action = f"{action[:_ACTION_CHARS]}…"
    line = f"{record.event.id} {_headline(record, utc=utc)}" + (f": {action}" if action else "")
    failure_text = ", ".join(f"{run.hook} failed ({run.failure})" for run in record.runs if run.failure is not None)
    return line + (f", because {reason}" if reason else f", {failure_text}" if failure_text else "")


def _reason(record: Stored) -> str:
    return (record.decision.reason if record.decision is not None else None) or ""


def _is_refused(record: Stored) -> bool:
    own = record.event.derived_from is None  # what follows from a refusal explains nothing
    return own and record.decision is not None and record.decision.outcome == "deny"


def _is_asked(record: Stored) -> bool:
    """Whether the agent was told to ask: without a dialogue it refuses by itself."""
    return record.event.derived_from is None and record.decision is not None and record.decision.outcome == "ask"


def _find_last(records: Iterable[Stored]) -> Stored | None:
    """The last refusal or question; else the last event of which some hook was not told."""
    last_refusal = last_lacking = None
    for record in records:
        if _is_refused(record) or _is_asked(record):
            last_refusal = record
        elif _missing_capabilities(record):
            last_lacking = record
    return last_refusal or last_lacking


def _missing_capabilities(record: Stored) -> list[str]:
    return sorted({gap.capability for gap in record.gaps if gap.capability in _HINTS_BY_GAP})


def _print_record(record: Stored, *, utc: bool) -> None:
    event, decision = record.event, record.decision
    print(escape_unprintable(_headline(record, utc=utc)))
    print(f"  event {event.id}")
    if action := event_subject(event):
        _print_indented(f"action: {action}")
    if decision is not None and decision.reason:
        _print_indented(f"because {decision.reason}" + (f" (said {decision.by})" if decision.by else ""))
    project = find_project(Path(event.cwd or ".").absolute())
    runs = [(run, find_hook_source(run, project) if _needs_details(run) else None) for run in record.runs]
    for run, source in runs:
        _print_run(run, source)
    for gap in record.gaps:
        if gap.note and gap.strategy != "hashed":  # how a text was left out explains nothing
            origin = f"{gap.where.removeprefix('$.')} was inferred: " if gap.strategy == "synthesised" else ""
            _print_indented(f"note: {origin}{gap.note}")
    for capability in _missing_capabilities(record):
        files = _broken_manifests(project) if capability == "manifest" else []
        hints = [f"hookonce check {quote(str(file))} lists its problems" for file in files]
        print(escape_unprintable(f"Next: {'; '.join(hints) or _HINTS_BY_GAP[capability]}"))
    failures = [(run, source) for run, source in runs if run.failure is not None]
    if _reason(record).startswith(APPROVAL_PREFIX) or _is_asked(record):
        # The code is for people: whoever is not at a terminal, or has an agent in between, does not see it.
        code = find_code(event.id) if sys.stdout.isatty() and find_parent_agent() is None else None
        hint = f"hookonce allow {code}" if code else "run hookonce why in a terminal to see how to allow it once"
        print(f"Next: {hint}")
    elif refusals := [(run, source) for run, source in runs if run.outcome == "deny"]:
        run, source = refusals[-1]
        change = "" if source is None else f"change the hook {run.hook} in {source.file}; "
        change = _repair_hint(run, source) if run.failure is not None and source is not None else change
        print(escape_unprintable(f"Next: {change}hookonce pause 10m runs no hooks for ten minutes"))
    elif failures and failures[-1][1] is not None:
        print(escape_unprintable(f"Next: {_repair_hint(*failures[-1]).removesuffix('; ')}"))


def _broken_manifests(project: Path) -> list[Path]:
    """The manifests that cannot be used now."""
    files = []
    for source in find_sources(project):
        try:
            load_source(source)
        except (HookonceError, ValueError):
            files.append(source.path)
    return files


def _repair_hint(run: HookRun, source: HookSource | None) -> str:
    """What a person does about a hook that failed, as the beginning of a list."""
    if source is None:
        return ""
    faults = command_faults(source.command, run.scope or "user") if run.exit in _NO_START_CODES else ()
    if (fault := next(iter(faults), None)) is not None:
        return f"{fault.next_step}; "
    if run.failure == "timeout":
        return f"make the hook {run.hook} faster, or give it a longer timeout in {source.file}; "
    if run.failure == NOT_BLOCKING:
        return f'give the hook {run.hook} "blocking": true in {source.file}; '
    return f"hookonce logs shows what the hook wrote, and hookonce try {quote(run.hook)} what it answers; "


def _print_indented(text: str) -> None:
    """Lines of a text that somebody else wrote; further ones stand deeper, so that none passes for a line of ours."""
    first, *other_lines = text.splitlines()
    print_words(first, "  ")
    for line in other_lines:
        print_words(f"| {line}", "    ")


def _headline(record: Stored, *, utc: bool) -> str:
    event, decision = record.event, record.decision
    native = f" ({event.tool.native})" if event.tool is not None and event.tool.native != event.tool.name else ""
    subject = f"{event.tool.name}{native}: " if event.tool is not None else ""
    outcome = (decision.outcome if decision else None) or "no decision"
    time = f"{format_time(event.received or event.time, utc=utc)} {zone_name(utc=utc)}"
    event_type = event.data.get("origin_event") if event.type == HOOK_RUNS_EVENT else event.type
    return f"{time} {event.agent} {event_type}: {subject}{outcome}"


def _print_run(run: HookRun, source: HookSource | None) -> None:
    """A hook; of one that refused or failed its command too, and its id, by which it is known when its words change."""
    ending = f", {run.failure or f'exit code {run.exit}'}" if run.failure or run.exit is not None else ""
    outcome = f"{run.outcome or 'no decision'}{ending}, ran for {run.duration_ms} ms{_model_text(run)}"
    scope = f" ({run.scope})" if run.scope else ""
    print(escape_unprintable(f"  {run.hook}{scope}: {outcome}"))
    if _needs_details(run):
        command_text = "its command is not in any manifest now" if source is None else f"command: {source.command}"
        print(escape_unprintable(f"    {command_text} (id {(run.digest or 'unknown')[:12]})"))
    if run.failure is not None and run.exit:
        print("    hookonce logs shows what it wrote to stderr")


def _needs_details(run: HookRun) -> bool:
    return run.outcome == "deny" or run.failure is not None


def _model_text(run: HookRun) -> str:
    if run.model is None and run.usage is None:
        return ""
    usage = run.usage
    token_count = usage and (usage.total_tokens or (usage.input_tokens or 0) + (usage.output_tokens or 0))
    tokens = f", {token_count:,} tokens" if token_count else ""
    price = f", ${run.cost_micros / 1_000_000:.6f}" if run.cost_micros is not None else ""
    return f", asked {run.model or 'a model'}{tokens}{price}"
