"""What Qwen Code takes for an answer: Claude Code's words, read as Gemini CLI reads them.

After code 2 stdout is thrown away and stderr is the answer. To end the turn it takes for a refusal nearly everywhere.
"""

from hookonce.agents.replies._answer import answer, object_in
from hookonce.agents.replies.shaped import (
    BLOCK,
    CONTEXT,
    CONTINUE,
    PERMISSION,
    REQUEST,
    REQUEST_INPUT,
    Shape,
    understood,
    written,
)
from hookonce.model import Decision, Object, Reply
from hookonce.texts import load

_PERMISSION = PERMISSION._replace(words={"deny": "deny", "ask": "ask"})
_EITHER = BLOCK._replace(words={"deny": "deny", "block": "deny", "ask": "ask"})
_BLOCK = BLOCK._replace(words={"block": "deny", "deny": "deny"}, needs=True)
_LOOSE = Shape(proceed=None, named=False, strict=False)
_BLOCKS, _TELLS = _LOOSE._replace(ways=(_BLOCK, CONTINUE)), _LOOSE._replace(context=CONTEXT)
_SHAPES = {
    "PreToolUse": _LOOSE._replace(ways=(_PERMISSION, _EITHER, CONTINUE)),
    "PermissionRequest": _LOOSE._replace(ways=(REQUEST,), input=REQUEST_INPUT),
    "PostToolUse": _TELLS._replace(ways=(CONTINUE,)),
    "PostToolUseFailure": _TELLS,
    "PostToolBatch": _BLOCKS,
    "UserPromptSubmit": _TELLS._replace(ways=(_BLOCK,), proceed=("continue",)),
    "UserPromptExpansion": _BLOCKS,
    "SessionStart": _TELLS,
    "Stop": _BLOCKS,
    "SubagentStop": _BLOCKS,
    "PreCompact": _TELLS,
    "TodoCreated": _BLOCKS,
    "TodoCompleted": _BLOCKS,
}
_HEARD = frozenset({"UserPromptSubmit", "SessionStart"})  # plain text is told to the model


def reply(native: str, decision: Decision, given: Object | None) -> Reply:
    """The decision as Qwen Code honours it; a refused call is refused twice, for another hook's half may be lost."""
    fields = written(_SHAPES.get(native, _LOOSE), native, decision, given)
    if native == "PreToolUse" and decision.outcome == "deny":
        fields = {"decision": "deny", "reason": decision.reason} | fields
    return answer(fields)


def read_reply(native: str, said: Reply) -> Decision | None:
    """What Qwen Code makes of a hook's answer; None where it goes on as if there were none."""
    refused = said.code == 2  # noqa: PLR2004  the code that refuses
    text = said.stderr.strip() if refused else said.stdout.strip() or said.stderr.strip()
    if not text or said.code < 0:
        return None if said.code else Decision()
    found = object_in(text)
    if found is not None:
        return understood(_SHAPES.get(native, _LOOSE), native, found)
    if refused:
        return Decision(outcome="deny", reason=text) if _is_asked(native) else None
    return None if said.code or _is_json(text) else _plain(native, said.stdout.strip())


def _is_asked(native: str) -> bool:
    """Whether a refusal by code counts: nobody looks for one where only the turn can be ended."""
    return bool({_EITHER.outcome, REQUEST.outcome} & {way.outcome for way in _SHAPES.get(native, _LOOSE).ways})


def _is_json(text: str) -> bool:
    """JSON that is no object is no answer, and no text either."""
    try:
        load(text)
    except (ValueError, RecursionError):
        return False
    return True


def _plain(native: str, text: str) -> Decision:
    return Decision(context=text or None) if native in _HEARD else Decision()
