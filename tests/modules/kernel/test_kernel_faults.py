"""A kernel among those who mean it harm, or do not think: nobody loses an event, a veto or an error because of them."""

import sys
from threading import Event, Thread
from time import monotonic

import pytest

from hookonce.modules.kernel import events
from hookonce.modules.kernel.events import EventBus
from hookonce.modules.kernel.kernel import Kernel
from hookonce.modules.protocol.descriptor import Descriptor, Transport
from hookonce.modules.protocol.messages import ERROR_CODES, Fault
from tests.handlers.processes import eventually
from tests.modules.kernel.test_kernel import PLAN, World, described, echoing, listening


@pytest.mark.covers("AMP-27")
def test_an_observer_that_hangs_at_the_end_costs_the_log_nothing(monkeypatch):
    monkeypatch.setattr(events, "_CLOSE_TIMEOUT_S", 0.3)
    stuck, slow = Event(), []

    def log(event):
        stuck.wait(0.01)
        slow.append(event)

    kernel = Kernel(log=log)
    kernel.observe(lambda _: stuck.wait(), "stuck")
    for number in range(15):
        kernel.emit("mine", {"number": number})
    posts = {post.name: post for post in kernel.close()}
    stuck.set()
    assert 15 == len([one for one in slow if one["event"] == "mine"])
    assert posts["stuck"].drop_count >= 14


@pytest.mark.covers("AMP-27")
def test_what_one_observer_does_to_an_event_no_other_sees():
    seen = []
    with Kernel() as kernel:
        kernel.observe(lambda event: event.clear())
        kernel.observe(lambda event: event["data"]["list"].append("!"))
        kernel.observe(seen.append)
        given = {"list": [1]}
        kernel.emit("mine", given)
        given["list"].append(2)
    assert {"list": [1]} == seen[0]["data"]
    assert {"list": [1, 2]} == given


@pytest.mark.covers("AMP-27")
def test_an_observer_that_exits_sees_the_next_event_all_the_same():
    seen = []

    def leaves(event):
        seen.append(event["event"])
        sys.exit(1)

    with Kernel() as kernel:
        kernel.observe(leaves)
        kernel.emit("one")
        kernel.emit("two")
    assert ["one", "two"] == seen


def test_a_hook_may_leave_while_it_hears():
    heard, ends = [], []
    with Kernel() as kernel:

        def once(event):
            heard.append(event)
            ends[0]()

        ends.append(kernel.register_hook("mine", once))
        (post,) = kernel.bus.list_queues()
        kernel.emit("mine")
        assert eventually(lambda: not kernel.bus.list_queues())
        kernel.emit("mine")
    assert (1, 0, None) == (len(heard), post.failures, post.last_error)


def test_an_observer_that_hangs_is_left_even_while_others_go_on_telling(monkeypatch):
    monkeypatch.setattr(events, "_CLOSE_TIMEOUT_S", 0.1)
    stuck, over, told = Event(), Event(), EventBus()
    told.observe("stuck", lambda _: stuck.wait(), max_queued=1)

    def tell():
        while not over.is_set():
            told.publish(lambda: {"event": "x"})

    threads = [Thread(target=tell) for _ in range(4)]
    for thread in threads:
        thread.start()
    began = monotonic()
    closing = Thread(target=told.close, daemon=True)
    closing.start()
    closing.join(20)
    over.set()
    stuck.set()
    assert (False, True) == (closing.is_alive(), monotonic() - began < 20)


@pytest.mark.covers("AMP-28")
@pytest.mark.parametrize("events", [("policy:decision", "session:end"), ("policy:decision", "*"), ("*", "policy:decision")])
def test_a_hook_that_leaves_one_event_keeps_its_veto(events):
    world = World({"table": lambda _: "grant"}, echo=echoing(), ear=listening([], lambda _: {"decision": "deny"}))
    world.kernel.mount("/mnt/hooks", described("ear", "hook"))
    world.kernel.mount("/mnt/tools", described("echo", "tool", "fs.read"))
    first, second = (world.kernel.register_hook(event, "ear") for event in events)
    second()
    assert "forbidden" == world.kernel.invoke_module("echo", "echo", {})["error"]["code"]
    first()
    assert world.kernel.invoke_module("echo", "echo", {})["ok"]
    world.kernel.close()


@pytest.mark.covers("AMP-28")
def test_a_hook_that_is_called_like_a_table_does_not_take_its_place():
    world = World({"guard": lambda _: "deny"}, echo=echoing(), guard=listening([], lambda _: {"decision": "grant"}))
    world.kernel.mount("/mnt/hooks", described("guard", "hook"))
    world.kernel.mount("/mnt/tools", described("echo", "tool", "fs.read"))
    world.kernel.register_hook("policy:decision", "guard")
    assert "forbidden" == world.kernel.invoke_module("echo", "echo", {})["error"]["code"]
    world.kernel.close()


@pytest.mark.covers("AMP-30")
def test_a_name_that_means_two_modules_has_to_come_with_its_path():
    world = World(echo=echoing())
    other = Descriptor(
        name="echo", kind="tool", transport=Transport(type="stdio", command=["other"]), capabilities=["fs.read"]
    )
    world.kernel.mount("/mnt/tools", described("echo"))
    world.kernel.mount("/mnt/agents", other)
    said = world.kernel.invoke_module("echo", "echo", {})
    assert ("bad_request", True) == (said["error"]["code"], "/mnt/tools/echo" in said["error"]["message"])
    assert world.kernel.invoke_module("/mnt/tools/echo", "echo", {})["ok"]
    assert "forbidden" == world.kernel.invoke_module("/mnt/agents/echo", "echo", {})["error"]["code"]
    world.kernel.close()


def test_contexts_share_nothing():
    with Kernel() as kernel:
        parent, given = kernel.session_create(PLAN), [1]
        kernel.context_set_fragment("a", given, session_id=parent)
        child = kernel.session_fork(parent)
        given.append(2)
        kernel.context_get(child)["a"].append(3)
        assert {"a": [1]} == kernel.context_get(parent) == kernel.context_get(child)


DEEP = []
for _ in range(100_000):
    DEEP = [DEEP]


@pytest.mark.covers("AMP-26")
@pytest.mark.parametrize(
    "call",
    [
        lambda kernel, _: kernel.session_create({"goal": "x", "inputs": {"a": object()}}),
        lambda kernel, _: kernel.session_fork([]),
        lambda kernel, _: kernel.session_end({}),
        lambda kernel, _: kernel.mount([], described("echo")),
        lambda kernel, _: kernel.mount("/mnt/tools", {"name": "echo"}),
        lambda kernel, _: kernel.unmount({}),
        lambda kernel, _: kernel.register_hook(5, print),
        lambda kernel, _: kernel.register_hook("*", print, "high"),
        lambda kernel, _: kernel.register_hook("*", 5),
        lambda kernel, session: kernel.context_set_fragment(5, 1, session_id=session),
        lambda kernel, session: kernel.context_set_fragment("a", object(), session_id=session),
        lambda kernel, session: kernel.context_set_fragment("a", DEEP, session_id=session),
        lambda kernel, session: kernel.context_compact("small", session_id=session),
        lambda kernel, _: kernel.emit("mine", {"a": object()}),
        lambda kernel, _: kernel.emit("mine", [1]),
        lambda kernel, _: kernel.emit(5),
    ],
)
def test_whatever_is_said_to_a_kernel_it_fails_with_an_error_of_the_protocol_and_works_on(call):
    world = World()
    session = world.kernel.session_create(PLAN)
    with pytest.raises(Fault) as caught:
        call(world.kernel, session)
    assert caught.value.error.code in ERROR_CODES
    assert world.kernel.emit("mine", {"a": 1})
    assert 1 == len(world.told("mine"))


@pytest.mark.part(2)
@pytest.mark.covers("AMP-26")
@pytest.mark.parametrize(
    "more",
    [
        {"args": {"a": object()}},
        {"args": {"a": DEEP}},
        {"args": [1]},
        {"op": 5},
        {"op": ""},
        {"timeout": float("nan")},
        {"timeout": -1},
        {"timeout": "soon"},
        {"session_id": []},
        {"module": 5},
    ],
    ids=range(10),
)
def test_an_invocation_that_makes_no_sense_is_a_bad_request_and_told(more):
    events = []
    program = Transport(type="stdio", command=[sys.executable, "-c", "import time; time.sleep(9)"])
    descriptor = Descriptor(name="x", kind="tool", transport=program, capabilities=[])
    with Kernel(log=events.append) as kernel:
        given = {"module": descriptor, "op": "do", "args": {}} | more
        said = kernel.invoke_module(given.pop("module"), given.pop("op"), given.pop("args"), **given)
    assert "bad_request" == said["error"]["code"]
    assert ["error"] == [one["status"] for one in events if one["event"] == "module:invoke"]


def test_a_time_without_end_is_no_reason_to_fail():
    made = Transport(type="stdio", command=[sys.executable, "-c", "input(); print('{\"ok\": true, \"result\": 1}')"])
    descriptor = Descriptor(name="x", kind="tool", transport=made, capabilities=[])
    with Kernel() as kernel:
        assert 1 == kernel.invoke_module(descriptor, "do", {}, timeout=float("inf"))["result"]


def test_a_closed_kernel_starts_nothing():
    made = Transport(type="stdio", command=[sys.executable, "-c", "import time; time.sleep(9)"])
    kernel = Kernel()
    kernel.close()
    said = kernel.invoke_module(Descriptor(name="x", kind="tool", transport=made, capabilities=[]), "do", {})
    assert ("unreachable", True) == (said["error"]["code"], "closed" in said["error"]["message"])


def test_a_session_that_ends_while_the_kernel_is_closed_disturbs_nobody():
    kernel = Kernel()
    session = kernel.session_create(PLAN)
    real = kernel._sessions.list_ids
    kernel._sessions.list_ids = lambda: [*real(), "gone meanwhile"]
    kernel.close()
    assert session not in real()
