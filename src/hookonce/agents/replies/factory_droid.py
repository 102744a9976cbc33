"""What droid takes for an answer: Claude Code's object whatever the exit code, and codes that speak for themselves."""

from msgspec.structs import replace

from hookonce.agents.replies._answer import answer, object_in
from hookonce.agents.replies._refusal import REFUSES, refusal, refused
from hookonce.agents.replies.shaped import BLOCK, CONTEXT, INPUT, PERMISSION, Shape, understood, written
from hookonce.model import Decision, Object, Reply

_ENDS = 3  # the exit code that ends the whole run
_BEFORE, _AFTER, _PROMPT, _START, _STOP = "PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop"
# To ask changes nothing, whatever the mode.
_PERMISSION = PERMISSION._replace(words={"allow": "allow", "deny": "deny", "ask": None})
_DEAF = Shape(proceed=None, message=None, suppress=None, named=False)
_HEEDS = _DEAF._replace(proceed=Shape().proceed)
_SHAPES = {
    _BEFORE: _HEEDS._replace(ways=(_PERMISSION,), input=INPUT),
    _AFTER: _HEEDS._replace(context=CONTEXT, message=Shape().message),
    _PROMPT: _HEEDS._replace(context=CONTEXT, input=INPUT),
    _START: _DEAF._replace(context=CONTEXT),
    _STOP: _HEEDS._replace(ways=(BLOCK._replace(needs=True),)),
}
_UNSPOKEN = frozenset({_PROMPT, "PreCompact"})  # where an object cannot refuse
# Before a tool it can, but only the first object that names a permission counts, and that may be another hook's.
_BY_CODE = _UNSPOKEN | {_BEFORE}
_REFUSABLE = _BY_CODE | {_STOP}
_UNFIT = "a hook wants other input, and nothing but the text of the prompt can be changed here"
_PLAIN = frozenset({_PROMPT, _START})  # where text that is no object is told to the model


def reply(native: str, decision: Decision, given: Object | None) -> Reply:
    """The decision as an object, but for refusals that only an exit code can say for sure."""
    if native == _PROMPT and given is not None and type(given.get("prompt")) is not str:
        return refusal(Decision(outcome="deny", reason=_UNFIT))
    if decision.outcome == "deny" and decision.proceed is None and native in _BY_CODE:
        return refusal(decision)
    said = written(_SHAPES.get(native, _DEAF), native, decision, given)
    return answer(said) if said else Reply()


def read_reply(native: str, said: Reply) -> Decision | None:
    """What droid makes of a hook's answer: an end goes before a refusal, and a refusal before all else."""
    heard = _spoken(native, said.stdout.strip(), said.code)
    spoken = heard or Decision()
    if spoken.proceed is False:
        return spoken
    if said.code == _ENDS and native in _REFUSABLE | {_AFTER}:
        return _ended(native, said.stderr.strip())
    if spoken.outcome == "deny":
        return spoken
    if said.code == REFUSES and (coded := _coded(native, said.stderr.strip(), spoken)) is not None:
        return coded
    broken = said.code != 0 or heard is None
    return None if broken and spoken == Decision() else spoken


def _spoken(native: str, text: str, code: int) -> Decision | None:
    """The object on stdout, or the text that stands for one; None where it begins like an object and is none."""
    if not text.startswith("{"):
        return Decision(context=text or None) if native in _PLAIN and code == 0 else Decision()
    found = object_in(text)
    decision = None if found is None else understood(_SHAPES.get(native, _DEAF), native, found)
    if found is None or decision is None:
        return None
    if native == _STOP and decision.outcome == "deny" and not found.get("reason"):
        return replace(decision, outcome=None)  # there is nothing to go on with
    return _prompted(decision, found) if native == _PROMPT else decision


def _prompted(decision: Decision, found: Object) -> Decision:
    """Before a prompt an end is a refusal, and of new input only the prompt itself is looked at."""
    if decision.proceed is False:
        shown = found.get("systemMessage")
        return Decision(outcome="deny", reason=decision.reason or (shown if type(shown) is str else None))
    new = (decision.updated_input or {}).get("prompt")
    return replace(decision, updated_input={"prompt": new} if type(new) is str else None)


def _ended(native: str, why: str) -> Decision:
    return refused(why) if native in _UNSPOKEN else Decision(proceed=False, reason=why or None)


def _coded(native: str, why: str, spoken: Decision) -> Decision | None:
    """What exit code 2 means: a refusal, or after a tool a word to the model; None where it means nothing."""
    if native == _AFTER:
        return replace(spoken, context="\n".join(text for text in (spoken.context, why) if text) or None)
    return refused(why) if native in _REFUSABLE and (why or native != _STOP) else None
