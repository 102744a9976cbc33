"""The four APIs: whatever an agent sends is read, and a turn is the same in one document and in a stream."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.lab.fakes.apis import APIS_BY_PATH_SUFFIX, find_api
from hookonce.lab.fakes.conversation import Conversation, ModelToolCall, ModelTurn, ToolOffer
from hookonce.lab.fakes.model_server import _encode_event
from tests.lab.fakes.api_samples import TONGUES, sse

PARAMETERS = pytest.mark.parametrize("name", TONGUES)
NAMES = st.sampled_from(["run", "mcp__lab__echo", "apply_patch"])
LEAVES = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3))
OBJECTS = st.dictionaries(st.text(max_size=8), VALUES, max_size=4)
CALLS = st.builds(ModelToolCall, NAMES, OBJECTS)
TURNS = st.builds(
    ModelTurn, text=st.text(max_size=60), calls=st.lists(CALLS, max_size=3), number=st.integers(0, 99), scenario=st.just("tour")
)


def bare(path):
    """A path without what is asked after it."""
    return path.partition("?")[0]


def api(name):
    """One of the APIs."""
    return find_api(bare(TONGUES[name].path))


def read(name, body):
    """What a request says."""
    return api(name).read_request(body, bare(TONGUES[name].path))


def streamed(name, turn, talk):
    """A turn as it comes over the wire, read again."""
    return TONGUES[name].stream(sse(b"".join(map(_encode_event, api(name).build_stream(turn, talk)))))


def made(calls):
    """Calls as they are read from answers."""
    return [(call.name, call.input) for call in calls]


@PARAMETERS
def test_a_request_is_read_with_everything_in_it(name):
    """
    System, user, assistant and tools speak; offers of every form are known by name, arguments and group.
    """
    tongue = TONGUES[name]
    talk = read(name, tongue.body)
    assert (tongue.said, tongue.tools) == (talk.messages, talk.tools)
    assert (tongue.model, True, False) == (talk.model, talk.streams, talk.wants_json)


def test_every_api_is_read_in_these_tests():
    """
    So that a new one is not forgotten.
    """
    assert len({api.name for api in APIS_BY_PATH_SUFFIX.values()}) == len(TONGUES)


@PARAMETERS
def test_a_request_with_nothing_in_it_is_an_empty_conversation(name):
    """
    No text, no tools, and no complaint.
    """
    talk = read(name, {})
    assert ([], {}) == ([said for said in talk.messages if said.text], talk.tools)


@PARAMETERS
def test_whoever_does_not_want_a_stream_is_known(name):
    """
    By a field of the body, or by the path.
    """
    path, body = TONGUES[name].asks("x", streams=False)
    assert not find_api(path).read_request(body, path).streams


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("chat", {"response_format": {"type": "json_object"}}),
        ("chat", {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}}),
        ("responses", {"text": {"format": {"type": "json_schema", "name": "x", "schema": {}}}}),
        ("responses", {"text": {"verbosity": "low", "format": {"type": "json_object"}}}),
        ("gemini", {"generationConfig": {"responseMimeType": "application/json"}}),
        ("gemini", {"generationConfig": {"responseJsonSchema": {"type": "object"}}}),
        ("gemini", {"generationConfig": {"responseSchema": {"type": "OBJECT"}}}),
    ],
)
def test_whoever_wants_json_says_so(name, more):
    """
    Each API has its own way, some have two.
    """
    assert read(name, {**TONGUES[name].body, **more}).wants_json


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("chat", {"response_format": {"type": "text"}}),
        ("responses", {"text": {"format": {"type": "text"}}}),
        ("gemini", {"generationConfig": {"responseMimeType": "text/plain"}}),
    ],
)
def test_whoever_wants_a_text_gets_none_of_that(name, more):
    """
    The same fields may ask for an ordinary answer.
    """
    assert not read(name, {**TONGUES[name].body, **more}).wants_json


def test_a_prompt_may_be_a_mere_text():
    """
    Two APIs allow it.
    """
    assert "Hello." == read("responses", {"input": "Hello."}).messages[-1].text
    talk = read("anthropic", {"system": "Be brief.", "messages": [{"role": "user", "content": "Hello."}]})
    assert ["Be brief.", "Hello."] == [said.text for said in talk.messages]


@pytest.mark.part(2)
@PARAMETERS
@given(turn=TURNS)
def test_a_turn_is_the_same_whole_and_in_pieces(name, turn):
    """
    The same text, the same calls, the same ids; as the turn has them.
    """
    tongue, talk = TONGUES[name], Conversation(messages=[], model="m")
    whole = tongue.whole(json.loads(json.dumps(api(name).build_response(turn, talk))))
    assert whole == streamed(name, turn, talk)
    assert (turn.text, made(turn.calls)) == whole[:2]
    assert len(whole[2]) == len(set(whole[2]))


@given(text=st.text(max_size=200))
def test_a_tool_that_takes_a_text_is_called_with_one(text):
    """
    As patches are, whatever stands in them.
    """
    talk = Conversation(messages=[], tools={"apply_patch": ToolOffer(takes_text=True)})
    turn = ModelTurn(text="Step 1.", calls=[ModelToolCall("apply_patch", text)])
    assert [("apply_patch", text)] == streamed("responses", turn, talk)[1]


@pytest.mark.parametrize(
    ("call", "group"),
    [
        (ModelToolCall("echo", {}), "mcp__lab"),
        (ModelToolCall("spawn_agent", {}, "multi_agent_v1"), "multi_agent_v1"),
        (ModelToolCall("run", {}), None),
    ],
)
def test_a_call_names_the_group_of_its_tool(call, group):
    """
    The one that the tool was offered in, or the one that whoever calls it knows.
    """
    item = api("responses").build_response(ModelTurn(text="", calls=[call]), read("responses", TONGUES["responses"].body))["output"][1]
    assert group == item.get("namespace")


@pytest.mark.parametrize("name", [name for name in TONGUES if name != "gemini"])
def test_no_two_calls_of_a_conversation_have_the_same_id(name):
    """
    However many turns it has, and in whichever of its sub-agents.
    """
    turns = [
        ModelTurn(text="", calls=[ModelToolCall("run", {}), ModelToolCall("run", {})], number=number, scenario=scenario)
        for number in range(12)
        for scenario in ("tour", "sub")
    ]
    known = [one for turn in turns for one in streamed(name, turn, Conversation(messages=[]))[2]]
    assert 48 == len(known) == len(set(known))


@PARAMETERS
def test_a_refusal_says_why(name):
    """
    In the place where clients of that API look for it.
    """
    body = api(name).build_error(400, "no such thing")
    assert "no such thing" == body["error"]["message"]
    assert {"anthropic": "error"}.get(name) == body.get("type")
    assert {"anthropic": None, "gemini": 400}.get(name, "400") == body["error"].get("code")


@pytest.mark.parametrize("path", ["/", "/v1/models", "/v1/messages/count_tokens", "/v1beta/models/x:countTokens", "/v1/messages2"])
def test_other_paths_speak_no_api(path):
    """
    They may be something else, but no conversation.
    """
    assert find_api(path) is None
