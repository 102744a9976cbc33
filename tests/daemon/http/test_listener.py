"""The HTTP door: agents that post their events hear what they would hear if they ran our client, and nobody else is heard."""

import json
import shutil
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from hookonce import agents
from hookonce.agents import http_reply
from hookonce.client import daemon_endpoints
from hookonce.model import Reply
from tests.daemon.conftest import hurried
from tests.daemon.http_client import PATH, Poster, status_of
from tests.daemon.installed_home import Home, command, heard, payload, refused
from tests.dispatch.pipeline_cases import goldens
from tests.handlers.processes import eventually
from tests.sample import part

EMPTY = b"\r\n\r\n"
GUARD = command("echo no >&2; exit 2", matcher={"pattern": "Bash"})
POSTED = [pytest.param(*one[:3], id=one[3]) for one in goldens() if one[0] in http_reply.COMMAND_EVENTS]


@pytest.fixture(scope="module")
def poster(installed, tmp_path_factory):
    """A door that is open for all tests which only knock; its hook refuses shells."""
    home = Home(tmp_path_factory.mktemp("posting"), installed)
    home.hooks(GUARD)
    yield Poster(home)
    home.end()
    shutil.rmtree(home.house)


def denies(answer):
    """Whether a shell was refused by the guard."""
    status, body = answer
    return status == 200 and refused((0, body), "no")


# What it answers


def test_a_post_is_answered_as_the_agent_wants_it(poster):
    """
    A refusal is an object with status 200; no opinion is an empty one.
    """
    assert denies(poster.post(payload("ls")))
    assert (200, b"{}") == poster.event("claude-code", "PreToolUse", payload("ls", tool_name="Read", tool_input={"file_path": "/x"}))
    assert (200, b"{}") == poster.event("qwen-code", "Stop", {"hook_event_name": "Stop", "session_id": "q", "tool_call_id": "x"})


def test_curl_is_answered(poster):
    """
    With a body that it announces first, and one in chunks.
    """
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("there is no curl here")
    big = payload("x" * 2_000_000)
    for more in ([], ["-H", "Transfer-Encoding: chunked"], ["-H", "Expect: 100-continue"], ["--http1.0"]):
        words = [curl, "-sS", "--noproxy", "*", "-H", f"Authorization: Bearer {poster.address.token}", "--data-binary", "@-", *more]
        ran = subprocess.run([*words, f"{poster.address.base}{PATH}"], input=big, capture_output=True, check=False)
        assert (0, True) == (ran.returncode, refused((0, ran.stdout), "no")), ran.stderr


NODE = """
const [url, token] = process.argv.slice(1)
const one = async (body) => {
  const headers = {"Content-Type": "application/json", Authorization: `Bearer ${token}`}
  const answer = await fetch(url, {method: "POST", headers, body, redirect: "manual"})
  return [answer.status, await answer.json()]
}
const body = require("fs").readFileSync(0, "utf-8")
one(body).then(first => one(body).then(second => console.log(JSON.stringify([first, second]))))
"""


def test_node_is_answered(poster):
    """
    Both agents live there, or in something like it; its fetch keeps a connection and adds headers of its own.
    """
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node here")
    words = [node, "-e", NODE, f"{poster.address.base}{PATH}", poster.address.token]
    ran = subprocess.run(words, input=payload("ls"), capture_output=True, check=False)

    assert [200, 200] == [status for status, _ in json.loads(ran.stdout)], ran.stderr
    assert all(refused((0, json.dumps(body)), "no") for _, body in json.loads(ran.stdout))


def test_a_connection_is_kept_for_many_posts(poster):
    """
    Python's client opens no second one.
    """
    line = poster.line()
    assert denies(poster.post(payload("one"), line=line))
    first = line.sock
    assert all(denies(poster.post(payload(str(number)), line=line)) for number in range(20))
    assert first is line.sock
    line.close()


def test_posts_that_are_sent_at_once_are_answered_in_their_order(poster):
    """
    Also while the hook of the first one runs; the last one asks to hang up.
    """
    def one(body, *more):
        return poster.head(f"Content-Length: {len(body)}", *more) + EMPTY + body

    reading = payload("x", tool_name="Read", tool_input={"file_path": "/x"})
    answer = poster.raw(one(payload("a")) + one(reading) + one(payload("b"), "Connection: close"))
    bodies = [part.partition(EMPTY)[2] for part in answer.split(b"HTTP/1.1 200 OK\r\n")[1:]]

    assert [True, False, True] == [body != b"{}" and refused((0, body), "no") for body in bodies]
    assert answer.count(b"Connection: close") == 1


def test_a_body_may_come_in_pieces_of_any_size(poster):
    """
    Each in a packet of its own, and with words behind the last one.
    """
    body = payload("ls")
    pieces = [body[at : at + 7] for at in range(0, len(body), 7)]
    with poster.socket() as end:
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        end.sendall(poster.head("Transfer-Encoding: chunked", "Connection: close") + EMPTY)
        for piece in pieces:
            end.sendall(b"%X;x=1\r\n%s\r\n" % (len(piece), piece))
        end.sendall(b"0\r\nTrailer: x\r\n\r\n")
        answer = heard(end)

    assert 200 == status_of(answer)
    assert refused((0, answer.partition(EMPTY)[2]), "no")


@pytest.mark.part(2)
@pytest.mark.parametrize("size", [5_000_000, 16 << 20])
@pytest.mark.parametrize("chunked", [False, True])
def test_large_payloads_are_answered(poster, size, chunked):
    """
    Up to sixteen megabytes.
    """
    bare = payload("")
    body = payload("x" * (size - len(bare)))
    assert size == len(body)
    given = iter([body[:100_000], body[100_000:]]) if chunked else body
    assert denies(poster.post(given))


@pytest.mark.parametrize("chunked", [False, True])
def test_more_than_sixteen_megabytes_are_refused(poster, chunked):
    """
    By one byte; the door says so instead of hanging up in the middle.
    """
    size = (16 << 20) + 1
    head = poster.head("Transfer-Encoding: chunked" if chunked else f"Content-Length: {size}") + EMPTY
    answer = poster.raw(head + (b"%X\r\n" % size + b"x" * size if chunked else b"x" * 1_000_000))
    assert 413 == status_of(answer)


# Whom it does not answer


@pytest.mark.parametrize(
    ("status", "changed"),
    [
        (401, {"Authorization": None}),
        (401, {"Authorization": "Bearer "}),
        (401, {"Authorization": "Bearer \xe9"}),
        (401, {"Authorization": "Basic eDp5"}),
        (403, {"Origin": "http://127.0.0.1"}),
        (403, {"Origin": "null"}),
        (421, {"Host": "evil.example"}),
        (421, {"Host": "127.0.0.1"}),
        (421, {"Host": "127.0.0.1.evil.example:80"}),
        (404, {"path": "/"}),
        (404, {"path": "/on/claude-code/PreToolUse"}),
        (404, {"path": "/on/codex/PreToolUse?via=codex/user"}),
        (404, {"path": "/on/claude-code/../x?via=claude-code/user"}),
        (404, {"path": PATH + "&run=rm"}),
        (405, {"method": "GET"}),
        (405, {"method": "OPTIONS"}),
        (501, {"Transfer_Encoding": "gzip, chunked"}),
    ],
)
def test_strangers_are_refused(poster, status, changed):
    """
    Without the token, under another name, from a page, or for something else.
    """
    assert status == poster.post(payload("ls"), **changed)[0]


def test_a_token_of_another_length_or_letter_is_refused(poster):
    """
    Every letter counts.
    """
    token = poster.address.token
    for wrong in (token[:-1], token + "x", ("a" if token[0] != "a" else "b") + token[1:], token.swapcase()):
        assert 401 == poster.post(payload("ls"), Authorization=f"Bearer {wrong}")[0]


def test_the_same_door_goes_by_the_name_of_localhost(poster):
    """
    For that is what people write.
    """
    assert denies(poster.post(payload("ls"), Host=f"localhost:{poster.address.port}"))


BAD = {
    "no request": b"hello\r\n\r\n",
    "no version": b"POST / \r\n\r\n",
    "an older version": b"POST / HTTP/0.9\r\n\r\n",
    "bare line feeds": b"POST / HTTP/1.1\nHost: x\n\n",
    "a header without a name": b"POST / HTTP/1.1\r\n: x\r\n\r\n",
    "a space before the colon": b"POST / HTTP/1.1\r\nHost : x\r\n\r\n",
    "a folded header": b"POST / HTTP/1.1\r\nHost: x\r\n y\r\n\r\n",
    "a NUL": b"POST / HTTP/1.1\r\nHost: \0\r\n\r\n",
    "two hosts": b"POST / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
}


@pytest.mark.parametrize("said", BAD.values(), ids=BAD)
def test_what_is_no_request_is_a_bad_one(poster, said):
    """
    And the door hangs up.
    """
    assert 400 == status_of(poster.raw(said))


@pytest.mark.parametrize(
    ("status", "lines", "rest"),
    [
        (400, ["Content-Length: 2", "Transfer-Encoding: chunked"], b""),
        (400, ["Content-Length: 2", "Content-Length: 2"], b""),
        (400, ["Content-Length: +2"], b""),
        (400, ["Content-Length: 2, 2"], b""),
        (411, [], b""),
        (400, ["Transfer-Encoding: chunked"], b"x\r\n"),
        (400, ["Transfer-Encoding: chunked"], b"-1\r\n"),
        (400, ["Transfer-Encoding: chunked"], b"2\r\nxxx\r\n"),
        (400, ["Transfer-Encoding: chunked"], b"2\nxx\n"),
        (400, ["Transfer-Encoding: chunked"], b"1" * 70),
        (431, ["Transfer-Encoding: chunked"], b"0\r\n" + b"x" * 20_000),
        (431, ["X: " + "x" * 20_000], b""),
    ],
)
def test_a_body_that_can_be_read_in_two_ways_is_refused(poster, status, lines, rest):
    """
    So that nobody smuggles a request behind another one.
    """
    assert status == status_of(poster.raw(poster.head(*lines) + EMPTY + rest))


@pytest.fixture
def impatient(shelf, tmp_path_factory):
    """A door that waits for a head for three seconds."""
    hasty = hurried(shelf, tmp_path_factory, "daemon/http/connection.py", "120.0, 10.0, 30.0", "120.0, 3.0, 30.0")
    home = Home(tmp_path_factory.mktemp("impatient"), hasty)
    home.hooks(GUARD)
    yield Poster(home)
    home.end()
    shutil.rmtree(home.house)


@pytest.mark.slow
def test_whoever_says_nothing_is_not_waited_for(impatient):
    """
    A slow head ends after seconds, and meanwhile everybody else is answered; strangers make room for agents.
    """
    poster = impatient
    slow = [poster.socket() for _ in range(300)]
    try:
        for end in slow:
            end.sendall(b"POST / HTTP/1.1\r\n")
        assert denies(poster.post(payload("ls")))
        assert 0 < (poster.home.status()["http"]["guests"]) <= 256
        with suppress(ConnectionError):  # on a busy machine the time may be over already
            for letter in b"X: slowly":
                slow[-1].sendall(bytes([letter]))
                time.sleep(0.1)
        assert b"" == heard(slow[-1])
        assert eventually(lambda: poster.home.status()["http"]["guests"] == 0, 60)
    finally:
        for end in slow:
            end.close()


# What it is for


@pytest.mark.slow
@pytest.mark.parametrize("word", ["deny", "ask", "context"])
def test_every_payload_is_decided_as_it_is_at_the_other_door(installed, tmp_path_factory, word):
    """
    Claude Code's and Qwen Code's: what the agent understands of both answers is the same, and so are the bytes.
    """
    said = {
        "deny": {"decision": "deny", "reason": "r"},
        "ask": {"decision": "ask", "reason": "r"},
        "context": {"context": "c"},
    }[word]
    home = Home(tmp_path_factory.mktemp("both"), installed)
    kinds = {agents.decode(agents.load(one.values[0]), one.values[2], one.values[1]).type for one in POSTED}
    line = f"cat >/dev/null; echo '{json.dumps(said)}'"
    home.hooks(*(command(line, event=kind, may_allow=True) for kind in sorted(kinds) if not kind.startswith("vendor.")))
    bodies = set()

    def both(agent, native, given, session):
        """What is heard at either door; a machine that is too busy may be late at one of them."""
        code, out, err = home.call(agent, native, given=json.dumps(given | {"session_id": f"{session}-a"}).encode())
        ran = Reply(stdout=out.decode(), stderr=err.decode(), code=code)
        return ran, poster.event(agent, native, given | {"session_id": f"{session}-b"})

    try:
        poster = Poster(home)
        for agent, native, given in (one.values for one in part(POSTED, 4, len(word))):
            for attempt in range(5):
                ran, (status, body) = both(agent, native, given, f"{word}{attempt}")
                bodies.add(body)
                expected = http_reply.response_body(agent, native, ran).strip()
                if expected == body.decode():
                    break
            assert (200, expected) == (status, body.decode()), (agent, native)
            if not ran.code:
                known = agents.load(agent)
                assert known.read_reply(native, ran) == known.read_reply(native, Reply(stdout=body.decode()))
        assert len(bodies) > 3
    finally:
        home.end()
        shutil.rmtree(home.house)


@pytest.mark.parametrize(
    ("native", "expected"),
    [
        ("TaskCreated", {"continue": False, "stopReason": "r"}),
        ("Elicitation", {"hookSpecificOutput": {"hookEventName": "Elicitation", "action": "decline"}}),
    ],
)
def test_a_refusal_by_exit_code_is_an_object_over_http(native, expected):
    """
    A response has no exit code.
    """
    assert expected == json.loads(http_reply.response_body("claude-code", native, Reply(stderr="r", code=2)))


def test_a_hook_sees_where_the_agent_is_and_little_else(home):
    """
    The directory is that of the payload; of the daemon's environment it has three variables, and three words of ours.
    """
    home.hooks(command(f"pwd >{home.home}/seen; env >>{home.home}/seen"))
    poster = Poster(home)
    poster.post(payload("ls", cwd=str(home.where)))
    seen = home.lines("seen")

    assert str(home.where) == seen[0]
    names = {line.partition("=")[0] for line in seen[1:]} - {"PWD", "SHLVL", "_", "OLDPWD"}
    assert {"HOME", "PATH", "LANG", "HOOKONCE_DEPTH", "HOOKONCE_PARENT", "HOOKONCE_HOOK_DIR"} == names
    assert "HOOKONCE_DEPTH=1" in seen


def test_two_doors_of_one_call_ask_the_hooks_once(home):
    """
    A call that was posted and that comes through our client as well is one call.
    """
    home.hooks(command(f"echo ran >>{home.home}/seen; echo no >&2; exit 2"))
    poster, given = Poster(home), payload("ls", tool_use_id="t1")

    assert denies(poster.post(given))
    assert refused(home.call("claude-code", "PreToolUse", "--via", "claude-code/project", given=given), "no")
    assert ["ran"] == home.lines("seen")


def test_whoever_hangs_up_has_its_hooks_killed(home):
    """
    Nobody waits for what they would say.
    """
    home.hooks(command(f"echo $$ >{home.home}/seen; sleep 600"))
    poster = Poster(home)
    with poster.socket() as end:
        end.sendall(poster.head(f"Content-Length: {len(payload())}") + EMPTY + payload())
        assert eventually(lambda: home.lines("seen"), 60)
    (pid,) = map(int, home.lines("seen"))

    assert eventually(lambda: not Path(f"/proc/{pid}").exists(), 60)
    assert eventually(lambda: home.status()["under_way"] == 0, 60)


# When there is no door


def test_without_an_address_nobody_listens(warm):
    """
    Which is how it is until somebody wants it.
    """
    nothing = dict.fromkeys(("recorded", "duplicate", "conflict", "asked", "refused"), 0)
    assert {"open": False, "port": None, "guests": 0, "problem": None, "events": nothing} == warm.status()["http"]


def test_the_door_comes_and_goes_with_its_address(home):
    """
    And never because the daemon has nothing to do.
    """
    poster = Poster(home)
    line = poster.line()
    assert 200 == poster.post(payload(), line=line)[0]
    with home.inside():
        daemon_endpoints.remove_http_address()

    assert eventually(lambda: not home.status()["http"]["open"], 60)
    line.close()
    with pytest.raises(ConnectionRefusedError):
        poster.post(payload())


def test_a_forbidden_door_is_shut(home):
    """
    One word of the user's or of the machine's owner is enough.
    """
    poster = Poster(home)
    (home.home / ".config" / "hookonce").mkdir(parents=True)
    (home.home / ".config" / "hookonce" / "config.toml").write_text("http = false\n")

    assert eventually(lambda: not home.status()["http"]["open"], 60)
    assert "forbids" in home.status()["http"]["problem"]
    with pytest.raises(ConnectionRefusedError):
        poster.post(payload())


def test_a_port_that_somebody_else_has_is_told(home):
    """
    And taken as soon as it is free.
    """
    with socket.socket() as squatter:
        with home.inside():
            wanted = daemon_endpoints.new_http_address()
            squatter.bind(("127.0.0.1", wanted.port))
            squatter.listen()
            daemon_endpoints.save_http_address(wanted)
        home.warm()
        assert f"another program uses port {wanted.port}: Address already in use" == home.status()["http"]["problem"]
    assert eventually(lambda: home.status()["http"]["open"], 60)
    assert home.status()["http"]["problem"] is None


def test_the_door_is_shut_while_a_hook_has_to_be_asked(home):
    """
    What has to be asked about is refused, and nothing else is answered: an agent could not tell us from nobody.
    """
    poster = Poster(home)
    assert (200, b"{}") == poster.post(payload())
    home.hooks(command("true", on_failure="closed"))

    status, body = poster.post(payload())
    assert 200 == status
    assert "could not run the required hooks" in json.loads(body)["hookSpecificOutput"]["permissionDecisionReason"]
    assert 503 == poster.event("claude-code", "PostToolUse", payload(hook_event_name="PostToolUse"))[0]
    home.hooks()
    assert (200, b"{}") == poster.post(payload())


def test_a_project_that_has_such_a_hook_shuts_it_too(home):
    """
    For calls from there, once the project is trusted.
    """
    poster = Poster(home)
    home.hooks(command("true", on_failure="closed"), scope="project")
    given = payload(cwd=str(home.where))
    assert (200, b"{}") == poster.post(given)
    home.trust()

    assert "could not run the required hooks" in poster.post(given)[1].decode()
    assert (200, b"{}") == poster.post(payload(cwd="/"))
