"""What a tool of MCP gives, and how a server refuses, in the words of the module protocol."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.modules.protocol.mcp import parse_error, parse_tool_result
from tests.modules.protocol.test_messages import JSON

TEXT, OTHER = {"type": "text", "text": "a"}, {"type": "image", "data": "aGk="}
RESULTS = {
    "one text": ({"content": [TEXT]}, "a"),
    "two texts": ({"content": [TEXT, TEXT]}, {"content": [TEXT, TEXT]}),
    "nothing": ({"content": []}, {"content": []}),
    "no content": ({}, {}),
    "content that is none": ({"content": 5}, {"content": 5}),
    "structured": ({"content": [TEXT], "structuredContent": [1]}, [1]),
    "structured alone": ({"structuredContent": {"a": None}}, {"a": None}),
    "structured and an image": ({"content": [OTHER], "structuredContent": {}}, {"content": [OTHER], "structuredContent": {}}),
    "a text that is none": ({"content": [{"type": "text"}]}, {"content": [{"type": "text"}]}),
    "complete": ({"content": [TEXT], "resultType": "complete"}, "a"),
}
FAILURES = {
    "texts": ({"content": [TEXT, TEXT], "isError": True}, ("tool_error", "a\na")),
    "an image": ({"content": [OTHER], "isError": True}, ("tool_error", "the tool failed and said nothing that can be read")),
    "a question": ({"resultType": "input_required"}, ("internal", "the tool gave no result: it asks for input, which is not possible here")),
    "a list": ([], ("internal", "the tool gave no result: expected an object")),
}


@pytest.mark.covers("AMP-13")
@pytest.mark.parametrize("name", RESULTS)
def test_the_result_of_a_tool_is_what_it_is_about(name):
    given_result, expected = RESULTS[name]
    answer = parse_tool_result(given_result)
    assert (True, expected) == (answer.ok, answer.result)


@pytest.mark.covers("AMP-13")
@pytest.mark.parametrize("name", FAILURES)
def test_a_tool_that_fails_is_an_error(name):
    given_result, expected = FAILURES[name]
    error = parse_tool_result(given_result).error
    assert expected == (error.code, error.message)


def test_what_cannot_be_read_of_a_failure_stands_in_its_details():
    assert {"content": [OTHER]} == parse_tool_result({"content": [OTHER], "isError": True}).error.details


@given(JSON | st.fixed_dictionaries({}, optional={"content": st.integers() | st.lists(JSON, max_size=2), "structuredContent": JSON, "isError": JSON}))
def test_any_result_is_some_answer(document):
    answer = parse_tool_result(document)
    assert answer.ok is (answer.error is None)


@pytest.mark.covers("AMP-17")
@pytest.mark.parametrize(("code", "word"), [(-32602, "bad_request"), (-32601, "unsupported_op"), (-32603, "internal"), (7, "internal"), (None, "internal")])
def test_an_error_of_json_rpc_is_an_error_of_the_protocol(code, word):
    error = parse_error({"code": code, "message": "no"})
    assert (word, "no", {"jsonrpc_code": code}) == (error.code, error.message, error.details)
