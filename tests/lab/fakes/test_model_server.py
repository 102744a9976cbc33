"""The scripted model as agents meet it: a server on loopback that answers everybody, and keeps what it was sent."""

import http.client
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from hookonce.lab.fakes.model_server import ModelServer
from hookonce.lab.fakes.scenarios import scenario_prompt
from tests.lab.fakes.api_samples import TONGUES, sse

AGENTS = {"anthropic": "claude-code", "chat": "qwen-code", "responses": "codex", "gemini": "gemini-cli"}
EVERY_WAY = [(name, streams) for name in TONGUES for streams in (True, False)]
BROKEN = [b"{", b'{"messages": [', b"\xff\xfe", b"[1,]", b"nonsense"]
_LONG = 20  # seconds that nothing takes, however busy the machine is


@pytest.fixture
def model():
    """A model that listens."""
    with ModelServer() as found:
        yield found


def line(model):
    """A connection to it."""
    return closing(http.client.HTTPConnection(urlsplit(model.url).netloc, timeout=_LONG))


def said(connection, method, path, body=None, **headers):
    """Ask something; the status, the kind of answer, and the answer."""
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.headers["Content-Type"], answer.read()


def ask(model, method, path, body=None, **headers):
    """The same, on a connection of its own."""
    with line(model) as connection:
        return said(connection, method, path, body, **headers)


def play(model, name, *, streams, scenario="pair", folder="/p", **more):
    """Ask for a scenario in the words of an API; the status, the text and the calls."""
    path, body = TONGUES[name].asks(scenario_prompt(scenario, AGENTS[name], folder), streams=streams, **more)
    status, kind, data = ask(model, "POST", path, json.dumps(body))
    assert kind == ("text/event-stream" if streams else "application/json")
    found = TONGUES[name].stream(sse(data)) if streams else TONGUES[name].whole(json.loads(data))
    return status, *found[:2]


@pytest.mark.parametrize(("name", "streams"), EVERY_WAY)
def test_every_api_is_spoken(model, name, streams):
    """
    In one document or as a stream, as is asked.
    """
    status, text, calls = play(model, name, streams=streams)
    assert (200, "Step 1.", 2) == (status, text, len(calls))
    assert ["first.txt" in str(calls[0][1]), "second.txt" in str(calls[1][1])] == [True, True]


@pytest.mark.parametrize(("name", "streams"), EVERY_WAY)
def test_a_side_question_is_answered_in_every_api(model, name, streams):
    """
    Whoever offers no tools is not told to call one.
    """
    assert (200, "ok", []) == play(model, name, streams=streams, tools=False)


@pytest.mark.parametrize(("name", "streams"), EVERY_WAY)
def test_an_api_fails_in_its_own_words(model, name, streams):
    """
    Also where a stream was wanted.
    """
    path, body = TONGUES[name].asks(scenario_prompt("error", AGENTS[name], "/p"), streams=streams)
    status, kind, data = ask(model, "POST", path, json.dumps(body))
    assert (400, "application/json") == (status, kind)
    assert json.loads(data)["error"]["message"]


@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_a_request_may_come_in_chunks(model, cut):
    """
    Of any size.
    """
    path, body = TONGUES["chat"].asks(scenario_prompt("talk", "qwen-code", "/p"), streams=False)
    data = json.dumps(body).encode()
    chunks = (data[at : at + cut] for at in range(0, len(data), cut))
    with line(model) as connection:
        connection.request("POST", path, chunks, encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
        assert "All done." in connection.getresponse().read().decode()
    assert body == model.requests[0].body


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_no_json_is_refused(model, broken):
    """
    With a sentence; whoever sent it may ask again on the same connection.
    """
    path, body = TONGUES["chat"].asks(scenario_prompt("talk", "qwen-code", "/p"), streams=False)
    with line(model) as connection:
        status, kind, data = said(connection, "POST", path, broken)
        assert (400, "application/json") == (status, kind)
        assert "JSON" in json.loads(data)["error"]["message"]
        assert 200 == said(connection, "POST", path, json.dumps(body))[0]
    assert [None, body] == [one.body for one in model.requests]


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/v1/models", (200, "scripted")),
        ("GET", "/v1/models?client_version=1", (200, "scripted")),
        ("GET", "/page.html", (200, "A page of the lab")),
        ("HEAD", "/", (200, "")),
        ("GET", "/nowhere", (404, "{}")),
        ("POST", "/nowhere", (404, "{}")),
        ("POST", "/api/telemetry", (200, "{}")),
        ("POST", "/v1/messages/count_tokens?beta=true", (200, "input_tokens")),
        ("POST", "/v1beta/models/gemini-x:countTokens", (200, "totalTokens")),
    ],
)
def test_whatever_else_is_asked_is_answered(model, method, path, expected):
    """
    Agents ask for models, tokens and their makers' services, and must not wait.
    """
    status, _, data = ask(model, method, path, b"{}" if method == "POST" else None)
    assert (expected[0], True) == (status, expected[1] in data.decode())


def test_a_document_that_is_no_object_is_no_conversation(model):
    """
    It is kept, and there is nothing to say about it.
    """
    assert 404 == ask(model, "POST", "/v1/messages", b"[]")[0]
    assert [([], None)] == [(one.body, one.conversation) for one in model.requests]


def test_what_was_sent_is_kept_in_order(model):
    """
    With its path and the conversation that was read from it.
    """
    play(model, "anthropic", streams=True)
    ask(model, "GET", "/v1/models")
    play(model, "gemini", streams=False, scenario="talk")
    first, second, third = model.requests
    assert ("POST", "/v1/messages", "Anthropic Messages") == (first.method, first.path, first.api)
    assert ("GET", "/v1/models", None, None) == (second.method, second.path, second.api, second.conversation)
    assert scenario_prompt("talk", "gemini-cli", "/p") == third.conversation.messages[-1].text
    assert first.at <= second.at <= third.at


def test_a_connection_is_kept(model):
    """
    Agents ask many times on one.
    """
    path, body = TONGUES["responses"].asks(scenario_prompt("talk", "codex", "/p"), streams=True)
    with line(model) as connection:
        found = {said(connection, "POST", path, json.dumps(body)) for _ in range(5)}
    assert (1, 5) == (len(found), len(model.requests))


def test_twenty_clients_at_once_are_told_apart(model):
    """
    Each is told to work in its own folder, by a model that knows nothing of the others.
    """
    ways = [EVERY_WAY[number % len(EVERY_WAY)] for number in range(20)]
    with ThreadPoolExecutor(20) as pool:
        found = list(
            pool.map(
                lambda number: play(
                    model, ways[number][0], streams=ways[number][1], scenario="refuse-read", folder=f"/project-{number:02}"
                ),
                range(20),
            )
        )
    assert [200] * 20 == [status for status, _, _ in found]
    assert [True] * 20 == [f"/project-{number:02}/secret.txt" in str(calls) for number, (_, _, calls) in enumerate(found)]
    assert 20 == len(model.requests)


def test_who_hangs_up_disturbs_nobody(model, capfd):
    """
    Neither the next one, nor whoever reads what is printed.
    """
    place = urlsplit(model.url)
    for sent in (b"", b"POST /v1/messages HTTP/1.1\r\nContent-Length: 100\r\n\r\n{", b"nonsense\r\n\r\n"):
        with socket.create_connection((place.hostname, place.port), _LONG) as client:
            client.sendall(sent)
    assert 200 == play(model, "chat", streams=True)[0]
    assert ("", "") == capfd.readouterr()


def test_nobody_listens_afterwards():
    """
    And nobody but this machine could ask before.
    """
    with ModelServer() as model:
        place = urlsplit(model.url)
        assert "127.0.0.1" == place.hostname
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((place.hostname, place.port), _LONG)


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1/models/m:generateContent"])
@pytest.mark.parametrize("body", [{"messages": 1, "input": [1], "contents": 1}, {"messages": [1], "input": [[]], "contents": [1]}])
def test_a_request_of_the_wrong_shape_is_refused_and_kept(path, body):
    """
    Whoever writes a driver sees what the agent has sent.
    """
    with ModelServer() as model:
        line = http.client.HTTPConnection("127.0.0.1", int(model.url.rpartition(":")[2]), timeout=10)
        line.request("POST", path, json.dumps(body))
        answer = line.getresponse()
        answer.read()
        line.close()

    assert 400 == answer.status
    assert [body] == [one.body for one in model.requests]
