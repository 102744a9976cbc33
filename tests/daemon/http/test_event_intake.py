"""Live intake with a daemon: `POST /events` and the client take events of open formats, each once, through any of them."""

import json
import os
import select
import shutil
import sqlite3
import time
from collections import Counter
from types import SimpleNamespace

import pytest

from hookonce.base import paths
from hookonce.daemon.dedup_cache import DedupCache
from hookonce.daemon.http import event_intake
from hookonce.daemon.http.connection import RequestHead
from hookonce.daemon.http.event_intake import LARGE_EVENT_BYTES, MAX_EVENT_BYTES, EventIntake
from hookonce.dispatch.context import CallContext
from hookonce.handlers.operation import run_blocking
from tests.daemon.http_client import Poster, status_of
from tests.daemon.installed_home import SILENT, Home, command, payload
from tests.dispatch.live_events import ACTION, CLOUD, KERNEL, OPENHOOK, agent_hooks_stream, openhook_stream, raw
from tests.handlers.processes import eventually
from tests.manifest.projects import house, manifest, put

EVENTS = "/events"
LINES = "application/x-ndjson"
STREAM = "application/vnd.agent-hooks.stream+jsonl"
BATCH = "application/cloudevents-batch+json"
COUNT = int(os.environ.get("HOOKONCE_LIVE_EVENTS", "18"))  # of each format; 1000 for the whole
_LONG = 120
_ASKED = "IFS= read -r said; printf '%s\\n' \"$said\" >> {home}/asked"  # in one piece: ends are asked in the background


@pytest.fixture(scope="module")
def poster(installed, tmp_path_factory):
    """A port that is open for all tests; its hooks, one of which must answer, leave a line and refuse tools."""
    home = Home(tmp_path_factory.mktemp("intake"), installed)
    asked = _ASKED.format(home=home.home)
    hold = f"; case $said in *held-*) until [ -e {home.home}/go ]; do sleep 0.02; done;; esac"
    refuse = asked + hold + "; echo '{\"decision\": \"deny\", \"reason\": \"no\"}'"
    handlers = [command(asked, event="session_end", blocking=False, name="end")]
    home.hooks(command(refuse, on_failure="closed"), *handlers)
    yield Poster(home)
    home.end()
    shutil.rmtree(home.house)


def post(poster, documents, content_type="application/json", **headers):
    """Post something; its status, and the answer as JSON."""
    body = documents if type(documents) is bytes else raw(documents)
    status, answer = poster.post(body, EVENTS, Content_Type=content_type, **headers)
    lines = answer.decode().splitlines()
    return status, [json.loads(line) for line in lines] if content_type in {LINES, STREAM} and status == 200 else json.loads(answer)


def shown_events(poster, key="id"):
    """What hooks were shown, by a member of it."""
    return Counter(json.loads(line)[key] for line in poster.home.lines("asked") if line)


def rows(poster):
    """The rows of the record, once everything is there."""
    assert eventually(lambda: (poster.home.status() or {}).get("store", {}).get("waiting") == 0, _LONG)
    file = poster.home.bin.parent / "events.db"
    if not file.exists():
        return []
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as base:
        return base.execute("SELECT id, type FROM events").fetchall()


def fresh(document, **more):
    """The document with an id that nobody has used."""
    key = "event_id" if "event_id" in document else "id"
    return document | {key: f"fresh-{time.time_ns()}"} | more


# One event


def test_one_event_is_answered_as_its_format_defines(poster):
    """
    Also while a hook exists that must answer: who posts here does not wait for a permission of an agent.
    """
    answer = {"event_type": "Action.Before", "data": {"decision": {"outcome": "deny", "reason": "no"}}}

    assert (200, answer) == post(poster, fresh(ACTION))
    assert (200, answer) == post(poster, fresh(ACTION), "application/vnd.agent-hooks.event+json; charset=utf-8")
    assert (200, {}) == post(poster, fresh(OPENHOOK))
    assert (200, {"action": "continue"}) == post(poster, fresh(KERNEL, event="session:start"))
    assert (200, {}) == post(poster, fresh(CLOUD), "application/cloudevents+json")
    assert 503 == poster.event("claude-code", "PostToolUse", payload("ls", hook_event_name="PostToolUse"))[0]


def test_the_head_tells_what_became_of_an_event(poster):
    document = fresh(OPENHOOK)
    line = poster.line()
    states = []
    for one in (document, document, document | {"session_id": "other"}):
        line.request("POST", EVENTS, raw(one), poster.headers)
        answer = line.getresponse()
        answer.read()
        states.append((answer.headers["Hookonce-State"], answer.headers["Hookonce-Event"]))
    line.close()

    names = dict(states)
    assert [("recorded", names["recorded"]), ("duplicate", names["recorded"]), ("conflict", names["conflict"])] == states
    assert {names["recorded"], names["conflict"]} <= {name for name, _ in rows(poster)}


def test_a_cloud_event_may_stand_in_the_head(poster):
    """
    Binary mode: what is said so is the same event as in one document.
    """
    name = fresh(CLOUD)["id"]
    head = {"ce_specversion": "1.0", "ce_id": name, "ce_source": "/a%20b", "ce_type": "com.example.done"}

    assert (200, {}) == post(poster, b'{"x": 1}', ce_time=CLOUD["time"], **head)
    assert 200 == post(poster, b"\x00\x01", "image/png", **head | {"ce_id": f"{name}-png"})[0]
    whole = {"specversion": "1.0", "id": name, "source": "/a b", "type": "com.example.done", "time": CLOUD["time"], "datacontenttype": "application/json", "data": {"x": 1}}
    (result,) = post(poster, [whole], BATCH)[1]
    assert "duplicate" == result["state"]
    assert 400 == post(poster, b"{", **head | {"ce_id": "x"})[0]


def test_what_is_not_recorded_is_not_said_to_be(poster):
    folder = poster.home.home / ".config/hookonce"
    (folder / "config.toml").write_text("record = false\n")
    try:
        assert eventually(lambda: "asked" == post(poster, [fresh(ACTION)])[1][0]["state"], 5)
        (result,) = post(poster, [fresh(ACTION)])[1]
    finally:
        (folder / "config.toml").unlink()
    assert eventually(lambda: "recorded" == post(poster, [fresh(ACTION)])[1][0]["state"], 5)
    assert ("asked", None, "deny") == (result["state"], result.get("event"), result["answer"]["data"]["decision"]["outcome"])


def idle_services(**more):
    """A daemon that has nothing to do."""
    call_context = CallContext(environment={}, cwd="/", spool=None, dedup_store=None, **more)
    return SimpleNamespace(store_writer=SimpleNamespace(pending_count=0), dedup_cache=DedupCache(), call_context=call_context)


def test_the_end_of_a_tool_has_the_time_since_its_start():
    """
    The daemon is told of each record: files that a refusal is about, and when a call began.
    """
    records = []
    EventIntake(idle_services(on_record=records.append))._make_context().on_record("record")

    assert ["record"] == records


# Large ones


def large(document, **more):
    """The document with so much in it that others should not wait for it."""
    return fresh(document) | {"data": document["data"] | {"padding": ["x" * 99] * (LARGE_EVENT_BYTES // 100)}} | more


def test_a_large_event_is_answered_as_any_other(poster):
    """
    Alone, in an array and in a stream, with and without a hook; its id means the same.
    """
    action, cloud = large(ACTION), large(CLOUD)
    other = action | {"session_id": "other"}
    answer = {"event_type": "Action.Before", "data": {"decision": {"outcome": "deny", "reason": "no"}}}

    assert (200, answer) == post(poster, action)
    results = post(poster, b"\n".join(map(raw, (other, cloud))), LINES)[1]
    names = [one["event"] for one in results]
    assert eventually(lambda: set(names) <= {name for name, _ in rows(poster)}, _LONG)
    results += post(poster, [other, cloud])[1]
    assert [answer, None, answer, None] == [one.get("answer") for one in results]
    assert ["conflict", "recorded", "duplicate", "duplicate"] == [one["state"] for one in results]
    assert [*names, *names] == [one["event"] for one in results]
    assert 1 == shown_events(poster)[names[0]]


def lose(monkeypatch, document):
    """The response where the process that answers an event dies."""
    monkeypatch.setattr(event_intake, "_CHILD_PROGRAM", "import sys; sys.exit('gone')")
    head = RequestHead("POST", EVENTS, {"content-type": "application/json"}, keep_alive=True)
    return run_blocking(EventIntake(idle_services()).answer_request(head, raw(document)))


@pytest.mark.parametrize("on_failure", ["closed", "open"])
def test_a_large_event_that_is_lost_is_refused_where_a_hook_has_to_be_asked(monkeypatch, tmp_path, on_failure):
    home = house(monkeypatch, tmp_path)
    put(home / ".config/hookonce/hooks.json", manifest(command("true", blocking=True, on_failure=on_failure)))
    response = lose(monkeypatch, large(ACTION))
    outcome = json.loads(response.body).get("data", {}).get("decision", {}).get("outcome")

    assert (500, "deny" if on_failure == "closed" else None) == (response.status, outcome)


def test_a_large_event_is_not_read_where_others_wait(monkeypatch, tmp_path):
    """
    Another process does it; where that dies, its sender is told to try again.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(event_intake, "parse_json", lambda _: pytest.fail("read here"))
    monkeypatch.setattr(event_intake, "_failure_answer", lambda *_: None)
    response = lose(monkeypatch, large(CLOUD))

    assert (500, True) == (response.status, b"send it again" in response.body)
    assert "a large event was not answered: gone" in paths.log_path().read_text()


# Many


@pytest.mark.covers("AH-65")
@pytest.mark.parametrize("content_type", [LINES, STREAM, "application/json", BATCH])
def test_a_bad_event_costs_the_others_nothing(poster, content_type):
    """
    Each has an answer of its own, in order.
    """
    good, other = fresh(ACTION), fresh(CLOUD)
    parts = [raw(good), b'{"broken": ', raw({"neither": 1}), raw(good), raw(good | {"session_id": "x"}), raw(other)]
    if content_type in {LINES, STREAM}:
        body, expected = b"\r\n\n".join(parts), ["recorded", "refused", "refused", "duplicate", "conflict", "recorded"]
    else:
        del parts[1]
        body, expected = b"[" + b",\n".join(parts) + b"]", ["recorded", "refused", "duplicate", "conflict", "recorded"]
    status, results = post(poster, body, content_type)

    assert (200, expected) == (status, [one["state"] for one in results])
    assert good["event_id"] == results[0]["id"]
    assert results[0]["answer"]["data"]["decision"] == {"outcome": "deny", "reason": "no"} == results[-3]["answer"]["data"]["decision"]
    assert results[0]["event"] == results[-3]["event"] != results[-2]["event"]
    if content_type in {LINES, STREAM}:
        assert [1, 3, 5, 7, 9, 11] == [one["line"] for one in results]
        assert "at line 3 column 11" in results[1]["error"]
    else:
        assert [1, 2, 3, 4, 5] == [one["line"] for one in results]


@pytest.mark.parametrize(
    ("status", "body", "content_type"),
    [
        (400, b'{\n"a": }', "application/json"),
        (400, b'[{"a": 1},\n{]', "application/json"),
        (400, b"", "application/json"),
        (400, b'["\xff"]', "application/json"),
        (400, raw(CLOUD), BATCH),
        (400, b'{"openhook": "0.1"}', "application/json"),
        (400, b'{"neither": "nor"}', "application/json"),
        (400, payload("ls"), "application/json"),
        (400, b"\xff", "application/cloudevents+json"),
        (413, raw(OPENHOOK | {"data": {"x": "y" * MAX_EVENT_BYTES}}), "application/json"),
        (415, raw(OPENHOOK), "application/x-www-form-urlencoded"),
        (415, raw(OPENHOOK), "application/json; charset=utf-16"),
        (415, raw(OPENHOOK), None),
    ],
)
def test_what_is_refused_says_why(poster, status, body, content_type):
    before = len(rows(poster))
    answer = post(poster, body, content_type)

    assert status == answer[0]
    assert answer[1]["error"]
    if b"\n" in body:
        assert "line 2" in answer[1]["error"]
    assert before == len(rows(poster))


def test_who_does_not_know_the_token_is_not_heard(poster):
    assert 401 == poster.post(raw(OPENHOOK), EVENTS, Authorization="Bearer x")[0]
    assert 405 == poster.post(b"", EVENTS, method="GET")[0]
    assert 404 == poster.post(raw(OPENHOOK), "/events/x")[0]
    assert 413 == status_of(poster.raw(poster.head(f"Content-Length: {(16 << 20) + 1}", path=EVENTS) + b"\r\n\r\n"))


def test_a_body_has_so_many_events_and_no_more(monkeypatch):
    """
    Two bytes for an event would be answered with a hundred times as many.
    """
    monkeypatch.setattr(event_intake, "MAX_EVENTS", 50)
    intake = EventIntake(SimpleNamespace(store_writer=SimpleNamespace(pending_count=0)))
    for content_type, body in ((LINES, b"1\n" * 60), ("application/json", b"[" + b"1," * 60 + b"1]")):
        head = RequestHead("POST", EVENTS, {"content-type": content_type}, keep_alive=True)
        response = run_blocking(intake.answer_request(head, body))
        assert (200, 51) == (response.status, response.body.count(b'"state":"refused"'))
        assert 1 == response.body.count(b"more than 50 events")


def stub_intake():
    """An intake that has no daemon, for events that are refused."""
    return EventIntake(SimpleNamespace(store_writer=SimpleNamespace(pending_count=0)))


def post_array(intake, body):
    return run_blocking(intake.answer_request(RequestHead("POST", EVENTS, {"content-type": "application/json"}, keep_alive=True), body))


def test_a_number_that_nobody_reads_costs_its_own_event_only():
    response = post_array(stub_intake(), b'[1,{"x":' + b"9" * 5000 + b"},[2],3]")

    assert (200, ["refused"] * 4) == (response.status, [one["state"] for one in json.loads(response.body)])


def test_what_only_one_parser_takes_leaves_the_answers_before_it(monkeypatch):
    """
    Each event before it has its answer, and a last one says where it ended.
    """

    class Shallow(json.JSONDecoder):
        def raw_decode(self, text, start=0):
            if text[start] == "[":
                raise RecursionError
            return super().raw_decode(text, start)

    monkeypatch.setattr(json, "JSONDecoder", Shallow)
    response = post_array(stub_intake(), b"[1,2,[[]],3]")

    assert (200, 3) == (response.status, response.body.count(b'"state":"refused"'))
    assert b"too deep to be read; nothing from here on" in response.body


def test_a_large_body_is_not_parsed_twice_to_name_its_fault(monkeypatch):
    body = b"[" + b"1," * MAX_EVENT_BYTES + b"}"
    monkeypatch.setattr(json, "loads", lambda *_: pytest.fail("parsed again"))
    response = post_array(stub_intake(), body)

    assert 400 == response.status
    assert b"byte 2097153" in response.body


# The same event through every way in


def test_each_way_in_knows_what_came_through_the_others(poster):
    """
    The client with the daemon, the client without it, and the port.
    """
    home = poster.home
    ways = {
        "warm": lambda document: home.call("agent-hooks", given=raw(document)),
        "cold": lambda document: home.call("agent-hooks", given=raw(document), env=home.cold_env),
        "port": lambda document: (200 == post(poster, document)[0]) and SILENT,
    }
    before = shown_events(poster)
    for first in ("cold", "port"):
        document = fresh(ACTION)
        answers = {name: ways[name](document) for name in (first, *ways)}
        assert answers["warm"] == answers["cold"]
        assert b'"deny"' in answers["warm"][1]
        other = document | {"session_id": "other"}
        for way in ways.values():
            way(other)
        assert 2 == sum((shown_events(poster) - before).values()), first
        before = shown_events(poster)


def test_it_is_known_after_the_daemon_was_killed(poster):
    """
    Whether its record was in the database by then or not.
    """
    home = poster.home
    document, before = fresh(ACTION), sum(shown_events(poster).values())
    post(poster, document)
    assert home.kill()
    assert eventually(lambda: not home.daemons(), _LONG)
    shutil.rmtree(home.house / "doors")
    cold = home.call("agent-hooks", given=raw(document), env=home.cold_env)
    home.warm()
    assert eventually(lambda: (home.status() or {}).get("http", {}).get("open"), _LONG)

    assert b'"deny"' in cold[1]
    assert (200, json.loads(cold[1])) == post(poster, document)
    assert 1 == sum(shown_events(poster).values()) - before


@pytest.mark.covers("OH-3")
def test_streams_of_others_are_recorded_once(poster, show):
    """
    Sent live twice, through the port and through the client: right types, and hooks asked once each.
    """
    open_hook, agent_hooks = list(openhook_stream(COUNT)), list(agent_hooks_stream(COUNT))
    before, first = set(rows(poster)), shown_events(poster)
    body = b"\n".join(raw(document) for document, _ in open_hook + agent_hooks)
    started = time.monotonic()
    status, results = post(poster, body, LINES)
    spent = time.monotonic() - started
    assert (200, {"recorded": 2 * COUNT}) == (status, Counter(one["state"] for one in results))
    calls = [(["openhook"], raw(document)) for document, _ in open_hook]
    calls += [(["agent-hooks"], raw(document)) for document, _ in agent_hooks]
    endings = poster.home.crowd(calls, at_once=8)
    assert {0} == {code for code, _, _ in endings}
    again = post(poster, body, LINES)[1]

    assert {"duplicate"} == {one["state"] for one in again}
    assert [one.get("answer") for one in results] == [one.get("answer") for one in again]
    told = [json.loads(out) if out else None for _, out, _ in endings]
    assert [one.get("answer") for one in results] == told
    names = {one["event"] for one in results}
    found = {name: kind for name, kind in set(rows(poster)) - before if name in names}
    assert dict(zip([one["event"] for one in results], [kind for _, kind in open_hook + agent_hooks], strict=True)) == found
    kinds = {"before_tool_execute", "session_end"}
    expected = {one["event"] for one, (_, kind) in zip(results, open_hook + agent_hooks, strict=True) if kind in kinds}
    assert eventually(lambda: expected == names & (shown_events(poster) - first).keys(), _LONG)
    assert dict.fromkeys(expected, 1) == {name: count for name, count in (shown_events(poster) - first).items() if name in names}
    show(f"{2 * COUNT} events, {len(expected)} of them with a hook, in {spent:.2f} s")


def test_other_calls_are_answered_while_a_stream_is_worked_through(poster):
    """
    Nobody waits for a whole body, whose first event here has a hook that waits until the others were answered.
    """
    documents = [fresh(ACTION, event_id=f"held-{time.time_ns()}")]
    documents += [fresh(CLOUD, id=f"long-{time.time_ns()}-{number}") for number in range(100)]
    body = b"\n".join(map(raw, documents))
    with poster.socket() as end:
        end.sendall(poster.head(f"Content-Length: {len(body)}", path=EVENTS).replace(b"application/json", LINES.encode()) + b"\r\n\r\n" + body)
        assert eventually(lambda: documents[0]["event_id"] in "".join(poster.home.lines("asked")), _LONG)
        for _ in range(5):
            assert poster.home.status()["under_way"] >= 1
            assert 200 == post(poster, fresh(OPENHOOK))[0]
        assert [] == select.select([end], [], [], 0)[0]  # nothing of the stream is answered yet
        (poster.home.home / "go").touch()
        head = end.recv(64)
    assert 200 == status_of(head)
