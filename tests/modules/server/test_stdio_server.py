"""Requests on stdio without an id are answered in their order, those with an id as they are done."""

import json
import os
from contextlib import contextmanager
from random import Random
from threading import Event
from time import monotonic, sleep

import pytest

from hookonce.modules import module
from hookonce.modules.server.stdio_server import StdioServer

DONE = []


def napping():
    made = module(name="napper", kind="tool", capabilities=[])
    released = Event()

    @made.op("nap")
    def nap(seconds: float, name: str = "") -> str:
        sleep(seconds)
        DONE.append(name)
        return name

    @made.op("done")
    def done() -> list[str]:
        return list(DONE)

    @made.op("hang")
    def hang():
        released.wait(10)

    @made.op("release")
    def release():
        released.set()

    return made


class Wire:
    """Both ends of a server in this process."""

    def __init__(self, deadline):
        DONE.clear()
        in_fd, self.write_fd = os.pipe()
        self.read_fd, out_fd = os.pipe()
        self.server = StdioServer(napping().answer, in_fd, out_fd, deadline)
        self.fds, self._heard = [in_fd, out_fd, self.read_fd], b""
        self.server.start()

    def ask(self, *requests):
        """Write all requests at once; the answers, in their order."""
        raw = b"".join(line if type(line) is bytes else json.dumps(line).encode() + b"\n" for line in requests)
        os.write(self.write_fd, raw)
        while self._heard.count(b"\n") < len(requests):
            self._heard += os.read(self.read_fd, 1 << 16)
        lines, self._heard = self._heard.splitlines(), b""
        return [json.loads(line) for line in lines]


@contextmanager
def wired(deadline=30.0):
    wire = Wire(deadline)
    try:
        yield wire
    finally:
        os.close(wire.write_fd)
        wire.server.stop_event.wait(5)
        wire.server.drain(5)
        for fd in wire.fds:
            os.close(fd)


def nap(seconds, name, **more):
    return {"op": "nap", "args": {"seconds": seconds, "name": name}} | more


def results(answers):
    return [answer.get("result", answer.get("status") or answer.get("error", {}).get("code")) for answer in answers]


@pytest.mark.covers("AMP-11")
def test_requests_without_ids_are_answered_in_the_order_in_which_they_came():
    """
    However long each of them takes, and a line that is no JSON keeps its place.
    """
    with wired() as wire:
        asked = (nap(0.15, "slow"), nap(0.03, "quick"), {"op": "health"}, b"{no JSON\n", nap(0, "null", id=None), {"op": "nothing"})
        assert ["slow", "quick", "ok", "bad_request", "null", "unsupported_op"] == results(wire.ask(*asked))


@pytest.mark.covers("AMP-11")
def test_one_without_an_id_sees_what_those_before_it_have_done():
    with wired() as wire:
        assert ["a", "b", ["a", "b"]] == results(wire.ask(nap(0.1, "a"), nap(0.02, "b"), {"op": "done"}))


@pytest.mark.covers("AMP-11")
def test_requests_with_ids_pass_those_without():
    with wired() as wire:
        asked = (nap(0.2, "a"), nap(0.1, "x", id=1), nap(0.01, "b"), {"op": "health", "id": "two"})
        answers = wire.ask(*asked)
    assert ["two", 1, None, None] == [answer.get("id") for answer in answers]
    assert ["ok", "x", "a", "b"] == results(answers)


@pytest.mark.covers("AMP-11")
@pytest.mark.parametrize("seed", range(3))
def test_in_any_mixture_order_and_ids_are_right(seed):
    chance = Random(seed)  # noqa: S311  no secret
    asked = [nap(chance.choice((0, 0, 0.001, 0.004)), str(number), **({"id": number} if chance.random() < 0.5 else {})) for number in range(120)]
    with wired() as wire:
        answers = wire.ask(*asked)
    assert [one["args"]["name"] for one in asked if "id" not in one] == [one["result"] for one in answers if "id" not in one]
    told = {one["id"]: one["result"] for one in answers if "id" in one}
    assert {one["id"]: one["args"]["name"] for one in asked if "id" in one} == told


def test_the_time_of_a_request_begins_with_its_turn():
    """
    What hangs is a timeout at its place, and takes nothing of the time of those that wait for it.
    """
    began = monotonic()
    with wired(deadline=0.6) as wire:  # which is over for all of them, counted from when they came
        answers = wire.ask({"op": "hang"}, nap(0.02, "a"), nap(0.02, "b"), {"op": "release"})
    assert ["timeout", "a", "b", None] == results(answers)
    assert 0.6 <= monotonic() - began < 8  # not as long as it hangs


def test_when_nothing_more_comes_everything_is_still_answered():
    """
    Also if that takes longer together than the server waits for one of them.
    """
    wire = Wire(30.0)
    os.write(wire.write_fd, b"".join(json.dumps(nap(0.06, name)).encode() + b"\n" for name in "abcde"))
    os.close(wire.write_fd)
    wire.server.stop_event.wait(5)
    wire.server.drain(0.2)
    assert list("abcde") == [json.loads(line)["result"] for line in os.read(wire.read_fd, 1 << 16).splitlines()]
    for fd in wire.fds:
        os.close(fd)
