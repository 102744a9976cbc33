"""What is said where nothing was found, whatever was asked for."""

from hookonce.store import condition, spool
from hookonce.store.summary import summary


def nothing_at_all(otherwise: str) -> str:
    """That nothing is recorded yet, or why nothing can be; `otherwise` where there are records, but none like that."""
    known = summary()
    if known.records or known.waiting or known.problem:
        return otherwise
    if (shut := condition.unwritable()) is not None:
        return f"nothing is recorded: {shut}"
    if spool.lost():
        return "nothing is recorded, though agents have called. Next: hookonce doctor"
    return "nothing is recorded yet. Next: hookonce install, and hookonce status once that is done"
