"""How a hook was asked and what came of it, whatever it is that was asked."""

from msgspec import Struct

from hookonce.handlers.errand import OperationResult
from hookonce.model import Decision, Gap, Usage


class HandlerResult(Struct, frozen=True, kw_only=True):
    """Result of a handler: the operation's result, the decision (None if there is no answer), and the model's usage."""

    result: OperationResult
    decision: Decision | None
    model: str | None = None
    usage: Usage | None = None
    cost_micros: int | None = None
    gaps: list[Gap] = []
