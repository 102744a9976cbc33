"""What the plugin in OpenCode takes for an answer, and where the functions of a plugin take it from."""

from msgspec.structs import replace

from hookonce.agents.replies import _assign
from hookonce.agents.replies._assign import Place
from hookonce.model import Decision, Json, Object, Reply
from hookonce.texts import dump

_AFTER = "tool.execute.after"
_THROWS = Place(refuses=True)
_PLACES = {
    "tool.execute.before": Place(refuses=True, input="args"),
    _AFTER: Place(refuses=True, context="output.-", output="output"),
    # Beside the message stands what the system prompt is to hold for it.
    "chat.message": Place(refuses=True, context="message.system"),
    "command.execute.before": _THROWS,
    "chat.params": _THROWS,
    "chat.headers": _THROWS,
    "experimental.chat.messages.transform": _THROWS,
    "experimental.chat.system.transform": Place(refuses=True, context="system.-"),
    "experimental.session.compacting": Place(context="context.-"),
    "experimental.text.complete": Place(output="text"),
}


def reply(native: str, decision: Decision, given: Object | None) -> Reply:
    """The decision for the plugin to carry out."""
    found = _assign.changes(_PLACES.get(native, Place()), decision, given)
    if native == _AFTER and "output" in found:
        found = _result(found["output"]) | {key: value for key, value in found.items() if key != "output"}
    if native == _AFTER and "output.-" in found:
        found["content.-"] = _parts(found["output.-"])[0]
    return _assign.written(decision, found)


def _result(new: Json) -> Object:
    """Built-in tools answer with a text and MCP tools with a list of parts; neither looks at the other's field."""
    text = new if type(new) is str else dump(new).decode()
    return {"output": text, "content": new if type(new) is list else _parts(text)}


def _parts(text: Json) -> list[Json]:
    return [{"type": "text", "text": text}]


def read_reply(native: str, said: Reply) -> Decision | None:
    """What the plugin would carry out."""
    heard = _assign.told(said)
    if heard is None:
        return None
    decision = _assign.understood(_PLACES.get(native, Place()), heard)
    content = heard.tree.get("content") if native == _AFTER else None
    if decision is None or content is None or content == _parts(decision.updated_output):
        return decision
    return replace(decision, updated_output=content)
