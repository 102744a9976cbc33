"""The words of the protocol: codes, hints, plans."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.modules.host.client import description_problems
from hookonce.modules.protocol.messages import (
    DESCRIPTION_FIELDS,
    ERROR_CODES,
    ErrorInfo,
    Fault,
    LineBuffer,
    ModuleResponse,
    Request,
    build_error,
    check_plan,
    decode_line,
    encode_line,
    parse_plain_response,
    parse_request,
    parse_response,
    request_document,
)
from tests.shared import seed_text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
WORDS = ("op", "method", "args", "params", "session_id", "id")
OBJECT = st.dictionaries(st.text(), JSON, max_size=4)


@pytest.mark.covers("AMP-17")
def test_the_reserved_codes_are_those_of_the_specification():
    """
    Seven codes, each with what it means here.
    """
    listed = re.search(r"\*\*Reserved codes\*\*: (.+)\.", seed_text("004"))[1]
    assert set(re.findall(r"`(\w+)`", listed)) == ERROR_CODES.keys()
    assert len(ERROR_CODES) == 7


@pytest.mark.covers("AMP-9", "AMP-17")
def test_an_answer_is_a_result_or_an_error():
    """
    Both directions agree, codes of a module's own included.
    """
    for answer in (ModuleResponse(ok=True, result=[1]), ModuleResponse(ok=False, error=ErrorInfo("mine", "so", {"a": 1}))):
        assert answer == parse_response(answer.to_document())
    assert ModuleResponse(ok=False, error=ErrorInfo("timeout", "late")).to_document() == {"ok": False, "error": {"code": "timeout", "message": "late"}}


@given(JSON)
def test_any_document_is_some_answer(document):
    """
    What is no answer is an internal error, never an exception.
    """
    answer = parse_response(document)
    assert answer.ok == (type(document) is dict and document.get("ok") is True)
    assert answer.ok or answer.error.code


DESCRIBED = dict.fromkeys(DESCRIPTION_FIELDS, "x")
PLAIN = {
    "as the specification prints it": ("health", {"status": "ok"}, {"status": "ok"}),
    "with ok": ("health", {"ok": True, "status": "ok"}, {"status": "ok"}),
    "as if it was invoked": ("health", {"ok": True, "result": {"status": "ok"}}, {"status": "ok"}),
    "a description": ("describe", DESCRIBED, DESCRIBED),
    "a description as if it was invoked": ("describe", {"ok": True, "result": DESCRIBED}, DESCRIBED),
    "a description with a result of its own": ("describe", {"name": "x", "result": "y"}, {"name": "x", "result": "y"}),
    "another status": ("health", {"status": "bad"}, "internal"),
    "no status": ("health", {}, "internal"),
    "a refusal": ("health", {"ok": False, "error": {"code": "mine", "message": "no"}}, "mine"),
    "something else": ("describe", {"fine": 1}, "internal"),
    "no object": ("describe", [1], "internal"),
}


@pytest.mark.covers("AMP-6", "AMP-7")
@pytest.mark.parametrize("case", PLAIN)
def test_health_and_describe_are_answered_without_ok(case):
    verb, document, expected = PLAIN[case]
    answer = parse_plain_response(verb, document)
    assert expected == (answer.result if answer.ok else answer.error.code)


@given(JSON, st.sampled_from(["health", "describe"]))
def test_any_document_is_some_answer_to_health_and_describe(document, verb):
    answer = parse_plain_response(verb, document)
    assert answer.ok is (answer.error is None)


@pytest.mark.covers("AMP-8", "AMP-X2")
@given(st.text(min_size=1).filter(lambda op: op != "invoke"), OBJECT, st.none() | st.text(), JSON)
def test_a_request_is_what_was_spelled(op, args, session, number):
    """
    Whatever is asked comes across.
    """
    request = Request(op, args, session, number)
    assert request == parse_request(request_document(request) | {"id": number})


@given(JSON | st.fixed_dictionaries({}, optional=dict.fromkeys(WORDS, JSON)))
def test_any_document_is_a_request_or_bad(document):
    """
    There is one way to refuse it.
    """
    try:
        code = parse_request(document).op and None
    except Fault as fault:
        code = fault.error.code
    assert code in {None, "bad_request"}


@pytest.mark.covers("AMP-X9")
def test_hints_about_trying_again_stand_in_the_details():
    """
    Whether and when, there and back.
    """
    document = build_error("unreachable", "y", retryable=True, retry_after=1.5)
    assert ErrorInfo("unreachable", "y", {"retryable": True, "retry_after": 1.5}) == parse_response(document).error


@pytest.mark.covers("AMP-18")
def test_a_plan_has_a_goal_and_inputs():
    """
    The goal is required, inputs are an object, and every problem is told.
    """
    check_plan({"goal": "tidy", "inputs": {"a": 1}})
    check_plan({"goal": "tidy"})
    for wrong, paths in (({}, ["$.goal"]), ({"goal": 1, "inputs": []}, ["$.goal", "$.inputs"]), ({"goal": ""}, ["$.goal"])):
        with pytest.raises(Fault) as caught:
            check_plan(wrong)
        assert (caught.value.error.code, paths) == ("bad_request", [path for path, _ in caught.value.error.details["problems"]])
    with pytest.raises(Fault):
        check_plan("tidy")


@pytest.mark.covers("AMP-7")
def test_a_description_lacks_what_it_lacks():
    """
    Each of the six fields is required and has its type.
    """
    good = {"name": "x", "version": "1", "kind": "tool", "capabilities": [], "inputs": {}, "outputs": True}
    assert [] == description_problems(good)
    assert [f"$.{name}" for name in DESCRIPTION_FIELDS] == [path for path, _ in description_problems({})]
    assert [f"$.{name}" for name in DESCRIPTION_FIELDS] == [path for path, _ in description_problems(dict.fromkeys(DESCRIPTION_FIELDS, 5))]
    assert description_problems([])[0][0] == "$"


@given(st.lists(JSON, max_size=5), st.lists(st.integers(1, 30), max_size=20))
def test_documents_survive_the_stream_however_it_is_cut(documents, cuts):
    """
    Lines come out as they went in, whatever pieces the bytes arrive in.
    """
    stream, lines, found = b"".join(map(encode_line, documents)), LineBuffer(), []
    for size in [*cuts, len(stream)]:
        found += lines.feed(stream[:size])
        stream = stream[size:]
    assert documents == [decode_line(line) for line in found]
    assert lines.partial == b""


def test_a_line_that_is_too_long_is_told_once_and_skipped(monkeypatch):
    """
    It never fills the memory, and the next line is read.
    """
    monkeypatch.setattr("hookonce.modules.protocol.messages.MAX_MESSAGE_BYTES", 10)
    lines = LineBuffer()
    assert [None] == lines.feed(b"x" * 11)
    assert [] == lines.feed(b"x" * 11)
    assert [b"y"] == lines.feed(b"xx\ny\n")
    assert [None, b"z"] == lines.feed(b"x" * 12 + b"\nz\n")
    assert [None] == lines.feed(b"x" * 11 + b"\n")
