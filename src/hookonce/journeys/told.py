"""What a record says in a few words."""

from hookonce.journeys.wanted import wanted
from hookonce.model import Object, Record, Usage

_OURS = "HookError"
_TELLING = ("response", "message", "reason", "source", "path")  # in `data`, the first that is there


def told(record: Record, *, reason: bool = True) -> str:
    """What was wanted, what came of it, and why it was refused."""
    decision, tool = record.decision, record.event.tool
    failed = tool is not None and tool.result is not None and tool.result.ok is False
    why = decision.reason if reason and decision is not None and decision.outcome else None
    parts = (subject(record), "failed" if failed else "", f"because {why}" if why else "")
    return " · ".join(part for part in parts if part)


def told_in_full(record: Record) -> str:
    """The same in a line of its own, beginning with the tool, and without the decision, which stands beside it."""
    tool = record.event.tool
    parts = ("" if tool is None else tool.name, told(record, reason=False))
    return " · ".join(" ".join(part.split()) for part in parts if part)


def subject(record: Record) -> str:
    """The command, path, prompt or other text that it is about; one that was left out is at least measured."""
    if found := wanted(record.event) or (used(record.event.usage) if record.event.type == "after_model" else ""):
        return found
    if record.event.agent == "hookonce" and (own := _own(record.event.data)):
        return own
    if record.event.data.get("error_type") == _OURS:
        return _hook_error(record.event.data)
    for key in _TELLING:
        value = record.event.data.get(key)
        if type(value) is str:
            return value
        if type(value) is dict and type(length := value.get("length")) is int:
            return f"{length} characters"
    return ""


def _own(data: Object) -> str:
    """What somebody has done with hookonce itself."""
    if "taken" in data:
        return f"{data['taken']:,} of {data['rows']:,} records taken over, the others were put aside"
    op, how = data.get("op"), data.get("source")
    if type(op) is not str:
        return ""
    who = {"typed": "a person has typed the code", "unattended": "without a person, as the machine's owner allows"}
    return f"{op.replace('_', ' ')}: {who.get(str(how), how)}"


def _hook_error(data: Object) -> str:
    """Which hook failed, and how, as far as that is our own words; the call's record and the log know more."""
    hook, error = data.get("hook"), data.get("error")
    name = f"hook {hook}" if type(hook) is str else "a hook"
    return f"{name}: {error if type(error) is str else 'failed'}"


def used(usage: Usage | None) -> str:
    """Tokens in words; empty where none are known."""
    counts = () if usage is None else ((usage.input_tokens, "in"), (usage.output_tokens, "out"))
    return ", ".join(f"{count:,} tokens {way}" for count, way in counts if count is not None)
