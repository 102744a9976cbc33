"""Summary of a record in a few words: what the action was about, what came of it, and why it was refused."""

from hookonce.journeys.wanted import event_subject
from hookonce.model import Object, Record, Usage

_HOOK_ERROR_TYPE = "HookError"
_DATA_KEYS = ("response", "message", "reason", "source", "path")  # in `data`, the first that is there


def summarize_record(record: Record, *, reason: bool = True) -> str:
    """Summarize a record: its subject, whether it failed, and the reason of its decision."""
    decision, tool = record.decision, record.event.tool
    has_failed = tool is not None and tool.result is not None and tool.result.ok is False
    reason_text = decision.reason if reason and decision is not None and decision.outcome else None
    parts = (record_subject(record), "failed" if has_failed else "", f"because {reason_text}" if reason_text else "")
    return " · ".join(part for part in parts if part)


def summarize_in_line(record: Record) -> str:
    """The same in a line of its own, beginning with the tool, and without the decision, which stands beside it."""
    tool = record.event.tool
    parts = ("" if tool is None else tool.name, summarize_record(record, reason=False))
    return " · ".join(" ".join(part.split()) for part in parts if part)


def record_subject(record: Record) -> str:
    """The command, path, prompt or other text that a record is about; one that was left out is at least measured."""
    if text := event_subject(record.event) or (describe_usage(record.event.usage) if record.event.type == "after_model" else ""):
        return text
    if record.event.agent == "hookonce" and (action := _own_action(record.event.data)):
        return action
    if record.event.data.get("error_type") == _HOOK_ERROR_TYPE:
        return _describe_hook_error(record.event.data)
    for key in _DATA_KEYS:
        value = record.event.data.get(key)
        if type(value) is str:
            return value
        if type(value) is dict and type(length := value.get("length")) is int:
            return f"{length} characters"
    return ""


def _own_action(data: Object) -> str:
    if "taken" in data:
        return f"{data['taken']:,} of {data['rows']:,} records taken over, the others were put aside"
    op, source = data.get("op"), data.get("source")
    if type(op) is not str:
        return ""
    wordings = {"typed": "a person has typed the code", "unattended": "without a person, as the machine's owner allows"}
    return f"{op.replace('_', ' ')}: {wordings.get(str(source), source)}"


def _describe_hook_error(data: Object) -> str:
    """Which hook failed, and how, as far as that is our own words; the call's record and the log know more."""
    hook, error = data.get("hook"), data.get("error")
    name = f"hook {hook}" if type(hook) is str else "a hook"
    return f"{name}: {error if type(error) is str else 'failed'}"


def describe_usage(usage: Usage | None) -> str:
    """Token usage in words; empty where none is known."""
    counts = () if usage is None else ((usage.input_tokens, "in"), (usage.output_tokens, "out"))
    return ", ".join(f"{count:,} tokens {direction}" for count, direction in counts if count is not None)
