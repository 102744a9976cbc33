"""The kernel: every call is told, nobody breaks a run, and nothing is allowed that no policy grants."""

import json
import sys
from itertools import count
from threading import Barrier, Event, Thread

import pytest

from hookonce.formats.amplifier import envelope
from hookonce.modules import module
from hookonce.modules.kernel.kernel import Kernel
from hookonce.modules.kernel.mounts import MOUNT_PATHS
from hookonce.modules.protocol.capabilities import CAPABILITIES, policy_from_grants
from hookonce.modules.protocol.descriptor import Descriptor, Transport
from hookonce.modules.protocol.messages import ERROR_CODES, Fault
from tests.shared import vector

PLAN = {"goal": "see that it works", "inputs": {}}


def described(name, kind="tool", *capabilities):
    """A module that is reached in this process."""
    transport = Transport(type="stdio", command=["true"])
    return Descriptor(name=name, kind=kind, transport=transport, capabilities=list(capabilities))


def echoing(name="echo"):
    """A module that says what it is told."""
    made = module(name=name, kind="tool", capabilities=[])

    @made.op("echo")
    def echo(args: dict):
        return args

    @made.op("fail")
    def fail():
        raise Fault("internal", "as it was told to")

    return made


def listening(heard, decide=lambda _: None):
    """A module that hears of events."""
    made = module(name="ear", kind="hook", capabilities=[])

    @made.op("on_event")
    def on_event(event: dict):
        heard.append(event)
        return decide(event)

    return made


class World:
    """A kernel, the modules that it finds, and its log."""

    def __init__(self, policies=None, **modules):
        self.events, self.modules = [], modules
        numbers = count(1)
        self.kernel = Kernel(
            policies,
            log=self.events.append,
            connect_link=lambda descriptor: self.modules[descriptor.name],
            mint=lambda: f"id-{next(numbers)}",
            clock=lambda: 1.0,
        )

    def told(self, *names):
        """The events of these names, in order; the kernel is closed then."""
        self.kernel.close()
        return [one for one in self.events if not names or one["event"] in names]


@pytest.mark.covers("AMP-21", "AMP-29")
def test_every_call_of_the_kernel_is_told():
    world = World(echo=echoing())
    kernel = world.kernel
    session = kernel.session_create(PLAN)
    kernel.mount("/mnt/tools", described("echo"))
    kernel.register_hook("session:end", lambda _: None)
    kernel.context_set_fragment("a", 1, session_id=session)
    assert {"a": 1} == kernel.context_get(session)
    kernel.context_compact(1000, session_id=session)
    assert {"ok": True, "result": {"x": 1}} == kernel.invoke_module("echo", "echo", {"x": 1}, session_id=session)
    kernel.emit("artifact:write", {"uri": "file:///x", "bytes": 3}, session_id=session)
    kernel.session_end(kernel.session_fork(session))
    kernel.unmount("/mnt/tools", "echo")
    kernel.session_end(session)
    assert [
        "session:start",
        "mount:add",
        "hook:register",
        "context:set",
        "context:get",
        "context:pre_compact",
        "context:post_compact",
        "module:invoke",
        "artifact:write",
        "session:fork",
        "session:end",
        "mount:remove",
        "session:end",
    ] == [one["event"] for one in world.told()]


@pytest.mark.covers("AMP-19", "AMP-14")
def test_what_is_told_is_an_event_with_everything_that_its_name_demands():
    world = World({"all": policy_from_grants({"*": CAPABILITIES})}, echo=echoing())
    kernel = world.kernel
    session = kernel.session_create(PLAN)
    kernel.mount("/mnt/tools", described("echo", "tool", "fs.read"))
    kernel.invoke_module("echo", "echo", {}, session_id=session)
    kernel.context_set_fragment("a", "x" * 100, session_id=session)
    kernel.context_compact(10, session_id=session)
    kernel.context_get(session)
    kernel.register_hook("mine", lambda _: None)
    kernel.session_end(kernel.session_fork(session))
    kernel.unmount("/mnt/tools")
    kernel.emit("artifact:write", {"uri": "file:///x", "bytes": 3}, session_id=session)
    found = {one["event"]: one for one in world.told()}
    assert [] == [problem for one in found.values() for told in envelope.check(one, strict=True) for problem in told]
    assert PLAN == found["session:start"]["data"]["plan"]
    assert {"path": "/mnt/tools", "module": "echo"} == found["mount:add"]["data"]
    invoked = found["module:invoke"]
    assert ("echo", "ok", "echo") == (invoked["module"], invoked["status"], invoked["data"]["op"])
    assert type(invoked["duration_ms"]) is int
    assert ("granted", "fs.read") == (found["policy:decision"]["status"], found["policy:decision"]["data"]["capability"])
    assert found["context:post_compact"]["data"]["delta_bytes"] < 0


@pytest.mark.covers("AMP-23")
def test_ids_tell_what_belongs_together():
    world = World({"all": policy_from_grants({"*": CAPABILITIES})}, echo=echoing())
    session = world.kernel.session_create(PLAN)
    world.kernel.mount("/mnt/tools", described("echo", "tool", "fs.read"))
    for _ in range(2):
        world.kernel.invoke_module("echo", "echo", {}, session_id=session)
    asked, first, _, second = world.told("policy:decision", "module:invoke")
    assert session == first["session_id"] == asked["session_id"]
    assert (asked["request_id"], asked["span_id"]) == (first["request_id"], first["span_id"])
    assert first["request_id"] != second["request_id"]
    assert first["span_id"] != second["span_id"]


@pytest.mark.covers("AMP-28")
def test_what_no_policy_grants_is_forbidden_and_told():
    world = World(echo=echoing())
    world.kernel.mount("/mnt/tools", described("echo", "tool", "fs.read", "net.fetch"))
    said = world.kernel.invoke_module("echo", "echo", {})
    assert ("forbidden", {"capabilities": ["fs.read", "net.fetch"]}) == (said["error"]["code"], said["error"]["details"])
    rulings = world.told("policy:decision")
    assert [("fs.read", "denied"), ("net.fetch", "denied")] == [
        (one["data"]["capability"], one["status"]) for one in rulings
    ]


@pytest.mark.covers("AMP-20")
def test_the_registered_capabilities_are_the_published_ones():
    published = json.loads(vector("amplifier/CAPABILITIES_REGISTRY.json").read_text(encoding="utf-8"))["namespaces"]
    assert {f"{space}.{name}" for space, names in published.items() for name in names} == {*CAPABILITIES}


@pytest.mark.covers("AMP-28")
@pytest.mark.parametrize("capability", [*CAPABILITIES, "our.own"])
def test_what_a_policy_grants_works_for_that_module_alone(capability):
    world = World({"table": policy_from_grants({"echo": [capability]})}, echo=echoing(), other=echoing("other"))
    for name in ("echo", "other"):
        world.kernel.mount("/mnt/tools", described(name, "tool", capability))
    assert world.kernel.invoke_module("echo", "echo", {})["ok"]
    assert "forbidden" == world.kernel.invoke_module("other", "echo", {})["error"]["code"]


@pytest.mark.covers("AMP-28")
@pytest.mark.parametrize(("says", "granted"), [("grant", True), ("allow", True), ("deny", False), (None, False)])
def test_a_hook_is_asked_for_capabilities(says, granted):
    heard = []
    world = World(echo=echoing(), ear=listening(heard, lambda _: {"decision": says}))
    world.kernel.mount("/mnt/hooks", described("ear", "hook"))
    world.kernel.mount("/mnt/tools", described("echo", "tool", "fs.read"))
    world.kernel.register_hook("policy:decision", "ear")
    assert granted is world.kernel.invoke_module("echo", "echo", {})["ok"]
    assert ("asked", "fs.read") == (heard[0]["status"], heard[0]["data"]["capability"])


def test_one_who_denies_is_enough_and_a_policy_that_fails_denies():
    world = World({"yes": lambda _: "grant", "broken": lambda _: 1 / 0}, echo=echoing())
    world.kernel.mount("/mnt/tools", described("echo", "tool", "fs.read"))
    assert "forbidden" == world.kernel.invoke_module("echo", "echo", {})["error"]["code"]
    assert "broken" == world.told("policy:decision")[0]["data"]["by"]


def test_a_hook_grants_itself_nothing():
    heard = []
    world = World(ear=listening(heard, lambda _: {"decision": "grant"}))
    world.kernel.mount("/mnt/hooks", described("ear", "hook", "fs.write"))
    world.kernel.register_hook("*", "ear")
    world.kernel.emit("something")
    told = world.told("policy:decision")
    assert {"denied"} == {one["status"] for one in told}
    assert [] == heard


@pytest.mark.covers("AMP-26")
@pytest.mark.parametrize(
    "call",
    [
        lambda kernel: kernel.session_create({"inputs": {}}),
        lambda kernel: kernel.session_create("a plan"),
        lambda kernel: kernel.session_fork("nobody"),
        lambda kernel: kernel.session_end("nobody"),
        lambda kernel: kernel.mount("/mnt/elsewhere", described("echo")),
        lambda kernel: kernel.mount("/mnt/tools", described("twice")),
        lambda kernel: kernel.unmount("/mnt/tools", "nobody"),
        lambda kernel: kernel.register_hook("session:end", "nobody"),
        lambda kernel: kernel.context_get("nobody"),
        lambda kernel: kernel.context_set_fragment("a", 1, session_id="nobody"),
        lambda kernel: kernel.context_compact(1, session_id="nobody"),
        lambda kernel: kernel.emit(""),
    ],
)
def test_a_call_that_fails_does_so_with_an_error_of_the_protocol(call):
    world = World()
    world.kernel.mount("/mnt/tools", described("twice"))
    with pytest.raises(Fault) as caught:
        call(world.kernel)
    assert caught.value.error.code in ERROR_CODES
    failed = [one for one in world.told() if one.get("status") == "error"]
    assert failed == [] or failed[0]["error"]["code"] == caught.value.error.code


@pytest.mark.covers("AMP-26", "AMP-17")
@pytest.mark.parametrize(("name", "op", "code"), [("echo", "fail", "internal"), ("echo", "no", "unsupported_op"), ("x", "echo", "bad_request")])
def test_an_invocation_that_fails_is_answered_and_told_as_an_error(name, op, code):
    world = World(echo=echoing())
    world.kernel.mount("/mnt/tools", described("echo"))
    assert code == world.kernel.invoke_module(name, op, {})["error"]["code"]
    (told,) = world.told("module:invoke")
    assert ("error", code, name) == (told["status"], told["error"]["code"], told["module"])


@pytest.mark.covers("AMP-24")
def test_a_module_that_takes_too_long_times_out_as_answer_and_as_event():
    descriptor = Descriptor(
        name="slow",
        kind="tool",
        transport=Transport(type="stdio", command=[sys.executable, "-c", "import time; time.sleep(60)"]),
        capabilities=[],
    )
    events = []
    with Kernel(log=events.append) as kernel:
        assert "timeout" == kernel.invoke_module(descriptor, "do", {}, timeout=0.2)["error"]["code"]
    (told,) = [one for one in events if one["event"] == "module:invoke"]
    assert ("error", "timeout") == (told["status"], told["error"]["code"])
    assert told["duration_ms"] >= 200


class Listening:
    """A link that notes how long it is waited for."""

    def __init__(self):
        self.timeouts = []

    def ask(self, request, timeout):
        self.timeouts.append(timeout)
        return {"ok": True, "result": request.op}

    def close(self):
        pass


@pytest.mark.covers("AMP-24")
def test_an_invocation_has_thirty_seconds_unless_somebody_says_otherwise():
    link = Listening()
    world = World(echo=link)
    world.kernel.mount("/mnt/tools", described("echo"))
    world.kernel.invoke_module("echo", "do")
    world.kernel.invoke_module("echo", "do", timeout=2)
    assert [30.0, 2.0] == link.timeouts
    world.kernel.close()


@pytest.mark.covers("AMP-29", "AMP-1")
@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"kind": "thing"}, "$.kind"),
        ({"capabilities": "fs.read"}, "$.capabilities"),
        ({"name": ""}, "$.name"),
        ({"transport": {"type": "smoke"}}, "$.transport.type"),
        ({"transport": {"type": "stdio"}}, "$.transport.command"),
        ({"transport": {"type": "http", "url": "http://example.com"}}, "$.transport.url"),
    ],
)
def test_a_descriptor_is_checked_when_it_is_mounted(change, place):
    document = {"name": "echo", "kind": "tool", "transport": {"type": "stdio", "command": ["x"]}, "capabilities": []}
    world = World(echo=echoing())
    world.kernel.mount("/mnt/agents", document)
    with pytest.raises(Fault) as caught:
        world.kernel.mount("/mnt/tools", document | change)
    assert ("bad_request", place) == (caught.value.error.code, caught.value.error.details["problems"][0][0])
    good, bad = world.told("mount:add")
    assert ("echo", "error") == (good["data"]["module"], bad["status"])


@pytest.mark.covers("AMP-30")
def test_several_modules_share_each_of_six_paths():
    world = World(one=echoing("one"), two=echoing("two"))
    for path in MOUNT_PATHS:
        for name in ("one", "two"):
            world.kernel.mount(path, described(name))
    assert 6 == len(MOUNT_PATHS)
    assert ["one", "two"] == [mount.descriptor.name for mount in world.kernel.mounts.list_mounts("/mnt/agents")]
    assert world.kernel.invoke_module("/mnt/agents/two", "echo", {})["ok"]
    world.kernel.unmount("/mnt/agents")
    assert [] == world.kernel.mounts.list_mounts("/mnt/agents")
    assert 10 == len(world.kernel.mounts.list_mounts())


@pytest.mark.covers("AMP-X1")
def test_what_cannot_be_reached_is_refused_when_it_is_mounted():
    with Kernel() as kernel, pytest.raises(Fault) as caught:
        kernel.mount("/mnt/tools", Descriptor(name="x", kind="tool", transport=Transport(type="http"), capabilities=[]))
    assert "bad_request" == caught.value.error.code


@pytest.mark.covers("AMP-27", "AMP-10")
def test_an_observer_that_fails_hangs_or_is_slow_disturbs_nobody():
    stuck, seen, heard = Event(), [], []
    world = World(ear=listening(heard))
    kernel = world.kernel

    def broken(event):
        raise RuntimeError("as always")

    kernel.mount("/mnt/hooks", described("ear", "hook"))
    kernel.register_hook("*", broken)
    kernel.register_hook("*", lambda _: stuck.wait())
    kernel.register_hook("*", seen.append)
    kernel.register_hook("mine", "ear")
    for number in range(200):
        kernel.emit("mine", {"number": number})
    stuck.set()
    posts = {post.name: post for post in kernel.close()}
    numbers = [*range(200)]
    assert numbers == [one["data"]["number"] for one in seen if one["event"] == "mine"]
    assert numbers == [one["data"]["number"] for one in heard]
    assert numbers == [one["data"]["number"] for one in world.events if one["event"] == "mine"]
    assert (posts["broken"].failures >= 200, posts["broken"].last_error) == (True, "RuntimeError: as always")


def test_what_an_observer_never_got_is_counted():
    stuck = Event()
    with Kernel() as kernel:
        kernel.bus.observe("stuck", lambda _: stuck.wait(), max_queued=5)
        for _ in range(100):
            kernel.emit("mine")
        (post,) = kernel.bus.list_queues()
        assert post.drop_count >= 94
        stuck.set()


@pytest.mark.covers("AMP-X8")
def test_a_hook_has_priority_0_unless_somebody_says_otherwise():
    world = World()
    world.kernel.register_hook("mine", lambda _: None)
    (told,) = world.told("hook:register")
    assert 0 == told["data"]["priority"]


@pytest.mark.covers("AMP-21", "AMP-23")
def test_what_is_emitted_carries_the_ids_that_it_is_given_and_a_request_of_its_own_otherwise():
    world = World()
    name = world.kernel.emit("mine", {"a": 1}, session_id="s", request_id="r", span_id="p")
    world.kernel.emit("mine")
    first, second = world.told("mine")
    assert (name, "s", "r", "p") == tuple(first[key] for key in ("id", "session_id", "request_id", "span_id"))
    assert ("request_id" in second, "session_id" in second, "span_id" in second) == (True, False, False)


@pytest.mark.covers("AMP-X8")
@pytest.mark.parametrize(("priority", "linted"), [(0, False), (10, False), (90, False), (5, True), (91, True), (-1, True)])
def test_a_priority_that_is_not_advised_is_a_lint(priority, linted):
    world = World()
    world.kernel.register_hook("*", lambda _: None, priority)
    (told,) = world.told("hook:register")
    assert (priority, linted) == (told["data"]["priority"], "lint" in told["data"])


def test_a_hook_that_has_left_hears_no_more():
    heard = []
    world = World()
    leave = world.kernel.register_hook("mine", heard.append)
    world.kernel.emit("mine")
    leave()
    world.kernel.emit("mine")
    world.kernel.close()
    assert 1 == len(heard)


@pytest.mark.covers("AMP-22")
def test_a_hundred_threads_use_one_kernel_without_cross_talk():
    world = World(echo=echoing())
    world.kernel.mount("/mnt/tools", described("echo"))
    wrong, together = [], Barrier(100)

    def use(number):
        together.wait()
        session = world.kernel.session_create({"goal": str(number)})
        for step in range(10):
            world.kernel.context_set_fragment("mine", [number, step], session_id=session)
            said = world.kernel.invoke_module("echo", "echo", {"n": [number, step]}, session_id=session)
            if said["result"] != {"n": [number, step]} or world.kernel.context_get(session) != {"mine": [number, step]}:
                wrong.append(number)
        world.kernel.session_end(session)

    threads = [Thread(target=use, args=(number,)) for number in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    invoked = world.told("module:invoke")
    assert ([], 1000) == (wrong, len(invoked))
    assert 1000 == len({one["span_id"] for one in invoked})


def test_a_fork_begins_with_its_parents_context_and_goes_its_own_way():
    with Kernel() as kernel:
        parent = kernel.session_create(PLAN)
        kernel.context_set_fragment("a", 1, session_id=parent)
        child = kernel.session_fork(parent)
        kernel.context_set_fragment("b", 2, session_id=child)
        kernel.context_set_fragment("a", None, session_id=child)
        assert ({"a": 1}, {"b": 2}) == (kernel.context_get(parent), kernel.context_get(child))


def test_a_context_module_compacts_and_what_was_set_meanwhile_stays():
    made = module(name="memory", kind="context", capabilities=[])
    world = World(memory=made)
    session = world.kernel.session_create(PLAN)

    @made.op("compact")
    def compact(context: dict, limit: int):
        world.kernel.context_set_fragment("late", "!", session_id=session)
        return {"summary": f"{len(context)} fragments in {limit} bytes"}

    world.kernel.mount("/mnt/context", described("memory", "context"))
    world.kernel.context_set_fragment("a", "x" * 1000, session_id=session)
    assert {"summary": "1 fragments in 50 bytes", "late": "!"} == world.kernel.context_compact(50, session_id=session)


def test_without_a_context_module_the_newest_fragments_stay():
    with Kernel() as kernel:
        session = kernel.session_create(PLAN)
        for number in range(10):
            kernel.context_set_fragment(f"k{number}", "x" * 20, session_id=session)
        assert ["k8", "k9"] == [*kernel.context_compact(70, session_id=session)]


@pytest.mark.covers("AMP-33")
def test_the_same_run_tells_the_same():
    def run():
        world = World(echo=echoing())
        session = world.kernel.session_create(PLAN)
        world.kernel.mount("/mnt/tools", described("echo"))
        world.kernel.invoke_module("echo", "echo", {"a": [1, 2]}, session_id=session)
        return [one | ({"duration_ms": 0} if "duration_ms" in one else {}) for one in world.told()]

    assert json.dumps(run()) == json.dumps(run())
