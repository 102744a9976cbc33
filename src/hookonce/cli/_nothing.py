"""What is said where nothing was found, whatever was asked for."""

from hookonce.store import condition, spool
from hookonce.store.summary import load_store_summary


def no_records_message(otherwise: str) -> str:
    """Say that nothing is recorded yet, or why nothing can be; `otherwise` where records exist."""
    record_summary = load_store_summary()
    if record_summary.records or record_summary.waiting or record_summary.problem:
        return otherwise
    if (problem := condition.find_write_obstacle()) is not None:
        return f"nothing is recorded: {problem}"
    if spool.lost_record_count():
        return "nothing is recorded, though agents have called. Next: hookonce doctor"
    return "nothing is recorded yet. Next: hookonce install, and hookonce status once that is done"
