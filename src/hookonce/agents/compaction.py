"""Compaction threshold: how many tokens the context has when an agent compacts it, by the rule in its table."""

from hookonce.model import Agent, CompactionRule

_ANY_MODEL = "*"


def compaction_threshold(agent: Agent, model: str | None, window: int | None) -> int | None:
    """Tokens at which an agent compacts with a model; `window` is what is known of the model. None if unknown."""
    rule = agent.compaction
    if rule is None:
        return None
    own_window = rule.windows.get(model or "", rule.windows.get(_ANY_MODEL))
    window = own_window or window
    if window is None or (rule.max_window is not None and window > rule.max_window):
        return None
    limit = int(rule.share * window)
    return min(limit, window - rule.reserve) if window > rule.reserve else limit


def describe_rule(rule: CompactionRule | None) -> str:
    """The rule in words; `unknown` without one."""
    if rule is None:
        return "unknown"
    share = f"{rule.share:.0%} of the window" if rule.share < 1 else ""
    reserve = f"{rule.reserve:,} tokens before its end" if rule.reserve else ""
    text = " or ".join(filter(None, (share, reserve)))
    text += ", whichever is first" if share and reserve else ""
    return text + (f"; unknown for windows above {rule.max_window:,}" if rule.max_window is not None else "")
