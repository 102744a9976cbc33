"""Ids of payloads: each is an event of its own, or the same one again where that is asked for."""

import json

import pytest

from hookonce import translate
from hookonce.base.ids import is_uuid
from tests.cli.command import PAYLOAD, lines, run, tagged

OPENHOOK_FORMATS = {
    "openhook": ("id",),
    "agent-hooks": ("event_id",),
    "cloudevents": ("id",),
    "canonical": ("event", "id"),
}


def ids_of(ran, name="openhook"):
    """The ids of what was written."""
    found = []
    for document in ran.documents():
        value = document
        for key in OPENHOOK_FORMATS[name]:
            value = value[key]
        found.append(value)
    return found


@pytest.mark.covers("OH-3", "OH-4")
@pytest.mark.parametrize("name", OPENHOOK_FORMATS)
def test_two_payloads_are_two_events_whoever_reads_them(name):
    """
    Payloads that are the same to the last byte have different random ids, in one run and in the next.
    """
    first, again = (run("translate", "--to", name, given=lines(PAYLOAD, PAYLOAD, tagged(2))) for _ in "ab")
    ids = ids_of(first, name) + ids_of(again, name)

    assert (6, True) == (len(set(ids)), all(map(is_uuid, ids)))
    assert {"4"} == {text[14] for text in ids}


@pytest.mark.covers("OH-3", "OH-4")
def test_a_program_that_translates_has_new_ids_too():
    """
    The function does as the command does, and both give the same ids again when they are asked to.
    """
    fresh = [translate(PAYLOAD, "claude-code", "openhook")[0]["id"] for _ in range(50)]
    stable = {translate(PAYLOAD, "claude-code", "openhook", stable_ids=True)[0]["id"] for _ in range(3)}

    assert (50, 1) == (len(set(fresh)), len(stable))


def test_an_id_that_is_there_is_kept():
    """
    An event of a format has its id already, and keeps it from one to the next.
    """
    (event,) = run("translate", "--to", "openhook", given=lines(PAYLOAD)).documents()

    assert [event["id"]] * 2 == [
        event["id"] for event in run("translate", "--to", "openhook", given=lines(event, event)).documents()
    ]


def test_stable_ids_are_the_same_on_every_run_and_different_in_one():
    """
    Repeated payloads of one run get different UUIDs of version 5, and the next run gets the same ones.
    """
    given = lines(PAYLOAD, PAYLOAD, tagged(2))
    first, again = (run("translate", "--stable-ids", "--to", "openhook", "-", given=given) for _ in "ab")
    ids = ids_of(first)

    assert first.out == again.out
    assert (3, True) == (len(set(ids)), all(map(is_uuid, ids)))
    assert {"5"} == {text[14] for text in ids}


def test_line_ends_change_no_stable_id():
    """
    The same payload has the same id with LF, with CRLF and with nothing at its end.
    """
    text = json.dumps(PAYLOAD).encode()
    ids = [
        ids_of(run("translate", "--stable-ids", "--to", "openhook", given=text + end)) for end in (b"", b"\n", b"\r\n")
    ]

    assert ids[0] == ids[1] == ids[2]


@pytest.mark.covers("OH-3", "OH-4")
@pytest.mark.parametrize("name", ["openhook", "agent-hooks"])
def test_two_calls_of_an_agent_are_two_events_in_every_format(tmp_path, name):
    """
    The same payload twice, in two processes: the record has two, under ids that are random and in order of time.
    """
    payload = PAYLOAD | {"hook_event_name": "UserPromptSubmit", "prompt": "yes"}
    for _ in "ab":
        assert 0 == run("on", "claude-code", "UserPromptSubmit", given=json.dumps(payload).encode(), HOME=str(tmp_path)).code

    first, again = (ids_of(run("events", "--format", name, "--type", "before_prompt", HOME=str(tmp_path)), name) for _ in "ab")

    assert (first, 2, {"7"}) == (again, len(set(first)), {text[14] for text in first})
