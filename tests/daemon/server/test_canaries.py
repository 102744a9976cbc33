"""Canaries through real processes: clients, daemons, hooks that fail and payloads that are none leave no text behind."""

import itertools
import json
import os
import shutil

from hookonce.agents import reports_session_start
from hookonce.dispatch.request.call_request import CallArguments, parse_request
from hookonce.sessions.recorder import Recorder
from hookonce.store.writer import Writer
from hookonce.vocabulary.events import CANONICAL_EVENTS
from tests.daemon.conftest import install
from tests.daemon.http_client import Poster
from tests.daemon.installed_home import TOOL, Home, payload
from tests.handlers.processes import eventually
from tests.laws.planting import Canaries, coded, numbers, odd, secret
from tests.laws.test_canaries import PAYLOADS, steering

SAMPLE = int(os.environ.get("HOOKONCE_CANARY_CALLS", "8"))
SOME = PAYLOADS[:: max(1, len(PAYLOADS) // SAMPLE)][:SAMPLE]
# All of them say what they are given, where nobody should hear it.
ECHOES = {
    "fails": {"command": "tee /dev/stderr; exit 1"},
    "says nonsense": {"command": "cat"},
    "is killed": {"command": "tee /dev/stderr; kill -9 $$"},
    "is late": {"command": "tee /dev/stderr; sleep 60", "timeout": 1},
    "is not waited for": {"command": "tee /dev/stderr", "async": True},
    "refuses": {"command": "cat >/dev/null; echo no >&2; exit 2"},
}
# In the midst of a call our own code fails, with all that it knows in its message.
CRASHES = """

def process_request(request, call_context):
    raise ValueError(repr(request.event))
    yield
"""


def settle(home, way):
    """Have such a hook for every event."""
    home.hooks(
        *({"name": "h", "event": row.name, "blocking": True, "handler": {"type": "command", **ECHOES[way]}} for row in CANONICAL_EVENTS)
    )


def planted(canaries):
    """Words and payload of a call of each of some agents."""
    for agent, native, plain, name in SOME:
        raw = json.dumps(canaries.planted_in(plain, steering(agent, native, plain))).encode()
        canaries.expect(parse_request(CallArguments(agent=agent, event=native), raw).event, name)
        yield [agent, native, "--via", f"{agent}/user"], raw


def left(home):
    """All that is left of calls in a home when everybody has gone: before and after it was put into the store."""
    home.status(flush=True)
    home.end()
    yield from _files(home)
    with home.inside():
        writer = Writer()
        Recorder(writer, reports_session_start).ingest_spool()
        yield from _files(home)
        writer.close()


def _files(home):
    for root in (home.home / ".local", home.house):
        for file in sorted(root.rglob("*")):
            if file.is_file():
                yield file.relative_to(root), file.read_bytes()


def leaks(home, canaries):
    """Where texts are that should be nowhere; and the numbers of all canaries that are somewhere."""
    found, seen = [], set()
    for file, data in left(home):
        here = numbers(data)
        seen |= here
        found += [(file, canaries.hidden[one]) for one in here & canaries.hidden.keys()]
        found += [(file, one) for one in (*coded(data), *odd(data))]
    return found, seen


def test_what_hooks_are_given_is_nowhere_when_they_are_done(home):
    """
    By the daemon, and by processes of their own; whatever a hook does.
    """
    canaries = Canaries()
    home.warm()
    for number, (words, raw) in enumerate(planted(canaries)):
        settle(home, [*ECHOES][number % len(ECHOES)])
        home.call(*words, given=raw, env=home.env if number // len(ECHOES) % 2 else home.cold_env)
    log = home.home / ".local/share/hookonce/hookonce.log"
    assert eventually(lambda: len({log.read_text().count(f"async hook {word}") for word in ("started", "ended")}) == 1, 30)
    found, seen = leaks(home, canaries)

    assert [] == found
    assert canaries.kept.keys() <= seen
    assert len(canaries.kept) > SAMPLE // 4


def bad(canaries):
    """Payloads that are none, with texts in them."""
    one = payload(prompt=canaries.text(), note=canaries.text(), note2={canaries.text(): canaries.text()})
    yield TOOL, one[:-9]
    yield TOOL, one.replace(b"sings", b"\xff\xfe sings")
    yield TOOL, b"[" + one + b"]"
    yield TOOL, canaries.text().encode()
    yield TOOL, payload(session=[canaries.text()])
    yield TOOL, payload(tool_name={"a": canaries.text()})
    yield ["claude-code", "NoSuchEvent", "--via", "claude-code/user"], one.replace(b"PreToolUse", b"NoSuchEvent")
    yield ["nobody", "PreToolUse"], one
    yield ["codex", "Nothing"], b'{"x": ' + json.dumps(canaries.text()).encode() + b"}"
    yield [], one
    yield TOOL, b'{"a":' * 3000 + json.dumps(canaries.text()).encode()
    yield TOOL, payload(tool_name="Write", tool_input={"file_path": "/x", "content": (canaries.text() + "\n") * 200_000})


def test_payloads_that_are_none_leave_no_text_either(home):
    """
    Cut, not UTF-8, of the wrong kind, of nobody, too deep, and ten megabytes long.
    """
    settle(home, "fails")
    canaries, said = Canaries(), b""
    home.warm()
    for number, (words, raw) in enumerate(bad(canaries)):
        said += home.call(*words, given=raw, env=home.env if number % 2 else home.cold_env)[2]
    canaries.hidden = dict.fromkeys(range(canaries.planted), "a payload that is none")

    assert ([], set()) == (leaks(home, canaries)[0], numbers(said))


def test_errors_of_our_own_repeat_nothing_of_the_call(shelf, tmp_path):
    """
    An error is in the log with its way through our code, and without its words; the agent hears none of it.
    """
    broken = tmp_path / "shelf"
    shutil.copytree(shelf, broken)
    with (broken / "hookonce/dispatch/pipeline.py").open("a") as file:
        file.write(CRASHES)
    place = tmp_path / "home"
    place.mkdir()
    home = Home(place, install(broken, _made(tmp_path / "installed")))
    settle(home, "refuses")
    canaries, said = Canaries(), b""
    home.warm()
    for number, (words, raw) in enumerate(itertools.islice(planted(canaries), 4)):
        said += home.call(*words, given=raw, env=home.cold_env if number % 2 else home.env)[2]
    log = (place / ".local/share/hookonce/hookonce.log").read_text()
    found, _ = leaks(home, canaries)
    shutil.rmtree(home.house)

    assert ([], set()) == (found, numbers(said))
    assert "ValueError" in log
    assert "raise ValueError(repr(request.event))" in log


def _made(folder):
    folder.mkdir()
    return folder


def test_daemons_that_are_killed_and_clients_without_python_leave_no_text(home):
    """
    In the midst of calls; and where the client has nobody to ask, it says nothing of what it was told.
    """
    settle(home, "is late")
    canaries, said = Canaries(), b""
    home.warm()
    for words, raw in itertools.islice(planted(canaries), 2):
        with home.start(*words) as process:
            process.stdin.write(raw)
            process.stdin.close()
            eventually(lambda: (home.status() or {}).get("under_way"), 1)
            home.kill()
            said += process.stderr.read()
    home.end()
    (home.bin / "interpreter").unlink()
    for words, raw in itertools.islice(planted(canaries), 2):
        said += home.call(*words, given=raw)[2]

    assert ([], set()) == (leaks(home, canaries)[0], numbers(said))


def test_the_http_door_keeps_no_text(home):
    """
    Of events, of requests that are none, and of headers.
    """
    settle(home, "fails")
    canaries = Canaries()
    door = Poster(home)
    for words, raw in planted(canaries):
        if words[0] == "claude-code":
            door.event(*words[:2], raw)
    text = canaries.text(after="")
    door.event("claude-code", "PreToolUse", f'{{"a": "{text}"'.encode(), X_Note=text)
    door.post(path=f"/on/{text}/x")
    door.post(method=text[:20], X_Key=secret(1))
    canaries.hidden |= dict.fromkeys(numbers(text.encode()), "the door")

    assert [] == leaks(home, canaries)[0]
