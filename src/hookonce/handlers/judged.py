"""How a hook was asked and what came of it, whatever it is that was asked."""

from msgspec import Struct

from hookonce.handlers.errand import Ran
from hookonce.model import Decision, Gap, Usage


class Judged(Struct, frozen=True, kw_only=True):
    """How it went, what was said (None if that is no answer), and what a language model has taken for it."""

    ran: Ran
    decision: Decision | None
    model: str | None = None
    usage: Usage | None = None
    cost_micros: int | None = None
    gaps: list[Gap] = []
