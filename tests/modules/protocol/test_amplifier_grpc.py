"""Messages of Amplifier's gRPC services: read and written as the official library does, and what they mean."""

import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.modules.protocol import amplifier_grpc as codec
from hookonce.modules.protocol.messages import Fault
from tests.modules.grpc_messages import CLASSES, MESSAGES, decode_fields, encode_fields

TABLES = {
    "ToolSpec": codec.TOOL_SPEC,
    "ToolExecuteRequest": codec.TOOL_REQUEST,
    "ToolExecuteResponse": codec.TOOL_RESPONSE,
    "HookHandleRequest": codec.HOOK_REQUEST,
    "HookResult": codec.HOOK_RESULT,
}
VALUES = {
    "string": st.text(max_size=20),
    "bytes": st.binary(max_size=200),
    "bool": st.booleans(),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "enum": st.integers(0, 2**31 - 1) | st.integers(0, 6),
}
pytestmark = pytest.mark.covers("AMP-13")


def field_values(name):
    """Some fields of a message, in the order of its text."""
    fields = {}
    for words in MESSAGES[name].split(";"):
        *label, kind, field = words.split()
        value = VALUES.get(kind, VALUES["enum"])
        fields[field] = st.lists(value, max_size=3) if label == ["repeated"] else value
    return st.fixed_dictionaries({}, optional=fields)


@given(
    st.sampled_from([*TABLES]).flatmap(lambda name: st.tuples(st.just(name), field_values(name))), st.binary(max_size=8)
)
def test_what_the_official_library_writes_is_read(case, unknown):
    """
    Every field has its value or its default; enumerations are words; what a later version adds is skipped.
    """
    name, values = case
    later = b"\xfa\x01" + bytes([len(unknown)]) + unknown + b"\xf8\x01\x07"  # the field 31, as bytes and as a number
    found, expected = codec.decode_message(TABLES[name], encode_fields(name, **values) + later), CLASSES[name](**values)
    assert len(found) == len(TABLES[name])
    for field in TABLES[name].values():
        value = getattr(expected, field.name)
        if field.words:
            value = field.words[value] if value < len(field.words) else value
        if field.type == "double" and not expected.HasField(field.name):
            value = None
        assert found[field.name] == (list(value) if type(found[field.name]) is list else value)


@given(st.text(), st.dictionaries(st.text(max_size=5), st.text()))
def test_the_official_library_reads_what_we_write(event, data):
    request = decode_fields("HookHandleRequest", codec.encode_hook_request(event, data))
    assert (event, codec.dump(data).decode()) == (request.event, request.data_json)
    request = decode_fields("ToolExecuteRequest", codec.encode_tool_request(data))
    assert (codec.dump(data), "application/json") == (request.input, request.content_type)


@given(st.binary(max_size=40))
def test_no_bytes_are_more_than_an_error(raw):
    """
    Whatever comes instead of a message, it is one, or `internal`.
    """
    for table in TABLES.values():
        with suppress(Fault):
            codec.decode_message(table, raw)


WRONG = {
    "another wire type": (b"\x08\x01", "name has the wire type 0"),
    "a wire type of long ago": (b"\xfb\x01", "a field has the wire type 3"),
    "no UTF-8": (b"\x0a\x01\xff", "name is not UTF-8"),
    "half a text": (b"\x0a\x05ab", "it ends in the middle of a field"),
    "half a number": (b"\x0a\xff", "it ends in the middle of a number"),
    "an endless number": (b"\xff" * 11, "a number has more than 64 bits"),
    "no name": (b"", "the tool has no name"),
    "no JSON": (encode_fields("ToolSpec", name="x", parameters_json="{"), "parameters_json is not JSON"),
    "no object": (encode_fields("ToolSpec", name="x", parameters_json="[1]"), "parameters_json is not a JSON object"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_is_internal_and_says_what_is_wrong(name):
    raw, reason = WRONG[name]
    with pytest.raises(Fault) as caught:
        codec.parse_tool_spec(raw)
    assert ("internal", f"the module's answer is not valid: {reason}") == (caught.value.error.code, str(caught.value))


def test_a_tool_is_one_operation():
    name, schema = codec.parse_tool_spec(
        encode_fields("ToolSpec", name="add", description="adds", parameters_json='{"a": 1}')
    )
    assert ("add", {"a": 1}, "adds") == (name, schema.args, schema.description)
    name, schema = codec.parse_tool_spec(encode_fields("ToolSpec", name="describe"))
    assert ("tool_describe", {"type": "object"}) == (name, schema.args)


RESULTS = {
    "JSON": ({"success": True, "output": b'{"a": [1]}'}, {"ok": True, "result": {"a": [1]}}),
    "nothing": ({"success": True}, {"ok": True, "result": None}),
    "an output beside its blocks": (
        {"success": True, "output": b"1", "content_blocks": [b"x"]},
        {"ok": True, "result": 1},
    ),
    "a failure": ({"error": "no", "output": b"\xff"}, ("tool_error", "no", {"output": "\ufffd"})),
    "a failure without a word": ({}, ("tool_error", "the tool failed and said nothing more", None)),
    "no JSON": (
        {"success": True, "output": b"\x81", "content_type": "application/msgpack"},
        ("internal", "the module's answer is not valid: the output (application/msgpack) is not JSON", None),
    ),
    "blocks alone": (
        {"success": True, "content_blocks": [b"x"]},
        ("internal", "the tool answered with content blocks alone; only its output is read here", None),
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_tool_gives_a_result_or_an_error(name):
    fields, expected = RESULTS[name]
    try:
        found = codec.parse_tool_response(encode_fields("ToolExecuteResponse", **fields)).to_document()
    except Fault as fault:
        found = fault.document
    if type(expected) is tuple:
        code, message, details = expected
        expected = {
            "ok": False,
            "error": {"code": code, "message": message} | ({"details": details} if details else {}),
        }
    assert expected == found


TOLD = {"tool_input": {"command": "ls"}, "session_id": "s"}
ACTIONS = {
    "nothing": ({}, {}),
    "continue": ({"action": 1, "reason": "fine"}, {}),
    "deny": ({"action": 3, "reason": "no"}, {"decision": "deny"}),
    "ask": ({"action": 5, "approval_prompt": "sure?"}, {"decision": "ask", "reason": "sure?"}),
    "ask with a reason": (
        {"action": 5, "approval_prompt": "sure?", "reason": "why"},
        {"decision": "ask", "reason": "why"},
    ),
    "context": ({"action": 4, "context_injection": "know"}, {"context": "know"}),
    "context of another action": ({"action": 1, "context_injection": "know"}, {}),
    "a message": ({"user_message": "hi", "user_message_level": 2}, {"system_message": "hi"}),
    "a denial in a newer form": ({"action": 3, "user_message_level": 99}, {"decision": "deny"}),
    "another input": (
        {"action": 2, "data_json": '{"tool_input": {"command": "pwd"}}'},
        {"updated_input": {"command": "pwd"}},
    ),
    "no input": ({"action": 2, "data_json": '{"tool_input": 5}'}, {"updated_input": 5}),
    "the same input": ({"action": 2, "data_json": '{"tool_input": {"command": "ls"}, "x": 1}'}, {}),
    "other data": ({"action": 2, "data_json": '{"prompt": "x"}'}, {}),
    "data without an effect": ({"action": 1, "data_json": '{"tool_input": {}}'}, {}),
}
DECISION_WORDS = {"decision", "context", "updated_input", "system_message"}


@pytest.mark.parametrize("name", ACTIONS)
def test_a_hook_decides_by_its_action(name):
    """
    All fifteen fields are there, under the names and in the words that Amplifier has for them.
    """
    fields, expected = ACTIONS[name]
    found = codec.parse_hook_result(encode_fields("HookResult", **fields), TOLD)
    assert expected == {
        word: found[word] for word in found if word in DECISION_WORDS or (word == "reason" and word in expected)
    }
    names = {field.name for field in codec.HOOK_RESULT.values()} - {"data_json"} | {"data"}
    assert (15, names) == (len(names), found.keys() - DECISION_WORDS)


def test_the_fields_of_a_hook_s_answer_are_as_amplifier_reads_them():
    given = encode_fields("HookResult", action=5, context_injection_role=2, approval_options=["a", "é"], approval_timeout=0.0)
    found = codec.parse_hook_result(given + encode_fields("HookResult", approval_default=1, user_message_level=3), {})
    chosen = {"context_injection_role": "user", "approval_options": ["a", "é"], "approval_timeout": 0.0}
    chosen |= {"approval_default": "allow", "user_message_level": "error", "action": "ask_user"}
    assert chosen == {name: found[name] for name in chosen}
    plain = codec.parse_hook_result(b"", {})
    defaults = {
        "action": "continue",
        "data": None,
        "reason": None,
        "context_injection_role": "system",
        "ephemeral": False,
    }
    defaults |= {
        "approval_options": None,
        "approval_timeout": 300.0,
        "approval_default": "deny",
        "user_message_level": "info",
    }
    assert defaults == {name: plain[name] for name in defaults}


def test_a_prompt_can_be_changed():
    raw = encode_fields("HookResult", action=2, data_json='{"prompt": "other"}')
    assert {"prompt": "other"} == codec.parse_hook_result(raw, {"prompt": "one"})["updated_input"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"action": 6}, "there is no action 6"),
        ({"action": 3, "data_json": "{"}, "data_json is not JSON"),
        ({"data_json": "[1]"}, "data_json is not a JSON object"),
        ({"approval_timeout": math.nan}, "approval_timeout is not a number"),
    ],
)
def test_an_answer_that_cannot_be_read_is_no_answer(fields, reason):
    """
    It may be a refusal: what becomes of the call is the hook's `on_failure`.
    """
    with pytest.raises(Fault, match=reason):
        codec.parse_hook_result(encode_fields("HookResult", **fields), {})


def test_a_hook_is_told_the_data_of_an_event_and_what_it_may_change():
    tool = {"name": "shell", "input": {"command": "ls"}, "native_input": {"cmd": "ls"}}
    event = {"id": "1", "ts": 2.0, "event": "tool:pre", "component": "c", "session_id": "s", "data": {"op": "shell"}}
    expected = {"id": "1", "ts": 2.0, "component": "c", "session_id": "s", "op": "shell"}
    assert expected == codec.build_hook_data(event, "other")
    event["data"]["dev.hookonce"] = {"tool": tool}
    assert expected | event["data"] | {"tool_input": {"command": "ls"}} == codec.build_hook_data(event, None)
    assert {"session_id": "s", "prompt": "p", "dev.hookonce": {"prompt": "p"}} == codec.build_hook_data(
        {"data": {"dev.hookonce": {"prompt": "p"}}}, "s"
    )
