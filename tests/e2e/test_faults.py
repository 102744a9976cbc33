"""Our own failures: every agent hears its silence, or its refusal where a hook has to be asked, and nothing else."""

import json
import os
from errno import ENOSPC, EROFS

import pytest

from hookonce import agents
from hookonce.base import paths, runtime_dir
from hookonce.base.runtime_dir import NoRuntimeDirError
from hookonce.dispatch import dedup, dispatcher, fail_mode, pipeline
from hookonce.dispatch.request import call_record
from hookonce.model import Reply
from hookonce.secrets import log
from hookonce.store.spool import files
from tests.e2e.fault_cases import KIND, MODES, WHY, assert_unread, case, fail_mode_reply, replaced_by_folder, settle
from tests.sample import part


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home of our own, and a directory in it in which the agent is."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def no_words(one):
    return one.answer(words=[])


def said(*words):
    """These words after the agent and the event."""
    return lambda one: one.answer(words=[*one.words[:2], *words])


def given(raw):
    """This payload."""
    return lambda one: one.answer(raw=raw)


def changed(**fields):
    """The payload with these fields in it."""
    return lambda one: one.answer(raw=json.dumps(json.loads(one.raw) | fields).encode())


WORDS = {
    "no words": no_words,
    "an empty word": lambda one: one.answer(words=[""]),
    "an unknown option": said("--frobnicate", "x"),
    "an option without a value": said("--via"),
    "an option twice": said("--via", "a/user", "--via", "a/user"),
    "a third name": said("Stop"),
    "a timeout that is no number": said("--timeout", "soon"),
    "options first": lambda one: one.answer(words=["--via", "x/user", *one.words[:2]]),
    "an unknown agent": lambda one: one.answer(words=["nobody"]),
    "an agent that is a path": lambda one: one.answer(words=["../../etc", "passwd"]),
    "a zero byte": said("--via\0"),
    "a word of a megabyte": said("x" * (1 << 20)),
    "a word that is no text": said("--\udcff"),
}

PAYLOADS = {
    "nothing": given(b""),
    "blanks": given(b" \n\n"),
    "a truncated payload": lambda one: one.answer(raw=one.raw[:-3]),
    "one byte of it": lambda one: one.answer(raw=one.raw[:1]),
    "ten truncated megabytes": lambda one: one.answer(raw=one.raw[:-1] + b', "x": "' + b"y" * 10_000_000),
    "bytes that are no text": given(bytes(range(256))),
    "zero bytes": given(b"\0" * 1000),
    "a list": given(b"[1]"),
    "a number": given(b"7"),
    "a string": given(b'"PreToolUse"'),
    "null": given(b"null"),
    "no JSON": given(b"hello"),
    "two documents": lambda one: one.answer(raw=one.raw + one.raw),
    "something nested without end": given(b"[" * 200_000),
    "text before it": lambda one: one.answer(raw=b"warning: " + one.raw),
}


@pytest.mark.part(3)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fault", WORDS)
def test_words_that_cannot_be_understood_end_in_the_fail_mode(home, mode, fault):
    """
    Whatever an agent's configuration says, the agent hears what was promised, byte for byte.
    """
    settle(home, mode)
    for name in part(agents.AGENTS, 2, [*WORDS].index(fault)):
        one = case(name, home)
        assert expected_reply(one, mode, fault) == WORDS[fault](one), name


@pytest.mark.part(4)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fault", PAYLOADS)
def test_payloads_that_cannot_be_read_are_refused_where_a_hook_may_block(home, mode, fault):
    """
    Whether that hook fails closed or not; where none may block, they pass.
    """
    settle(home, mode)
    some = part(agents.AGENTS, 2, [*PAYLOADS].index(fault))
    for name in some:
        one = case(name, home)
        assert_unread(one, PAYLOADS[fault](one))
    if mode == "open":
        settle(home, mode, blocking=False)
        for name in some:
            assert fail_mode_reply(case(name, home), mode) == PAYLOADS[fault](case(name, home)), name


UNNAMED = {"no words", "an empty word", "options first", "an unknown agent", "an agent that is a path"}


def expected_reply(one, mode, fault):
    """Whoever is not named is known by the payload, as far as that tells; somebody unknown hears nothing.

    An entry without any words may be one whose words its agent has dropped (ADR 0057): its hooks are asked, and say
    nothing here, if the payload tells whose they are; else it is refused.
    """
    if fault not in UNNAMED:
        return fail_mode_reply(one, mode)
    found, has_words = dispatcher.identify(json.loads(one.raw), one.env), fault != "no words"
    if not found.event and not has_words and mode == "closed":
        return Reply(code=2, stderr=fail_mode.UNKNOWN_CALLER_REASON)
    if found.kind != "agent":
        return Reply()
    return fail_mode_reply(case(found.name, "/"), mode if found.event and has_words else "open")


def crash(problem):
    """Somebody who raises this."""

    def crashing(*_, **__):
        raise problem

    return crashing


def in_the_walk(place, name, problem):
    """A function of the walk that fails."""
    return lambda patch: patch.setattr(place, name, crash(problem))


FULL = OSError(ENOSPC, "No space left on device")
SURROUNDINGS = {
    "a bug in understanding": in_the_walk(dispatcher, "parse_request", KeyError("x")),
    "a bug in choosing hooks": in_the_walk(pipeline, "select_hooks", TypeError("x")),
    "a bug in running hooks": in_the_walk(pipeline, "hooks_task", AssertionError("x")),
    "a bug in merging": in_the_walk(pipeline, "merge_decisions", ZeroDivisionError("x")),
    "a bug in answering": in_the_walk(pipeline, "build_response", IndexError("x")),
    "a bug without words": in_the_walk(dispatcher, "process_request", Exception()),
    "no memory": in_the_walk(dispatcher, "process_request", MemoryError()),
    "no stack": in_the_walk(dispatcher, "process_request", RecursionError()),
    "an interrupt": in_the_walk(dispatcher, "process_request", KeyboardInterrupt()),
    "somebody who leaves": in_the_walk(dispatcher, "process_request", SystemExit(3)),
    "a table that cannot be imported": in_the_walk(dispatcher, "parse_request", ImportError("x")),
    "hooks that start agents that start hooks": in_the_walk(dispatcher, "process_request", pipeline.NestingTooDeepError("x")),
    "a user's manifest that is broken": lambda _: manifest().write_text("{", encoding="utf-8"),
    "a user's manifest that is cut": lambda _: manifest().write_text(manifest().read_text()[:-9], encoding="utf-8"),
    "a user's manifest that is something else": lambda _: manifest().write_text('{"a": 1}', encoding="utf-8"),
    "a user's manifest that cannot be read": lambda _: replaced_by_folder(manifest()),
    "two manifests of the user": lambda _: manifest().with_suffix(".yaml").write_text("hooks: []", encoding="utf-8"),
    "a user's policy that is broken": lambda _: (manifest().parent / "policy.json").write_text("{", encoding="utf-8"),
}


def manifest():
    return paths.config_dir() / "hooks.json"


@pytest.mark.part(4)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fault", SURROUNDINGS)
def test_what_breaks_around_a_call_ends_in_the_fail_mode(home, mode, fault, monkeypatch):
    """
    Crashes of ours, full disks and files that cannot be used are no decision by accident.
    """
    settle(home, mode)
    SURROUNDINGS[fault](monkeypatch)
    why = fail_mode.BROKEN_MANIFEST_REASON if "of the user" in fault or "a user's" in fault else WHY
    for name in part(agents.AGENTS, 2, [*SURROUNDINGS].index(fault)):
        one = case(name, home)
        assert fail_mode_reply(one, mode, why) == one.answer(), name


@pytest.mark.part(2)
@pytest.mark.parametrize("fault", SURROUNDINGS)
def test_what_breaks_has_left_a_trace_for_its_user(home, fault, monkeypatch):
    """
    Whoever is refused something finds out why: in the log, or in the record of the call.
    """
    settle(home, "closed")
    SURROUNDINGS[fault](monkeypatch)
    case("claude-code", home).answer()

    gaps = [gap for record in files.load_records() for gap in record.gaps if gap.strategy in {"fail mode", "exclude"}]
    assert paths.log_path().exists() or gaps


def broken(path, what=b"\xff|\0garbage\n"):
    path.unlink(missing_ok=True)
    path.write_bytes(what)


def read_only(patch):
    """A data directory that cannot be written."""
    real = os.open

    def refuse(path, flags, *rest, **more):
        if flags & (os.O_WRONLY | os.O_RDWR) and str(path).startswith(str(paths.data_dir())):
            raise OSError(EROFS, "Read-only file system")
        return real(path, flags, *rest, **more)

    fail_mode.fail_mode_file().unlink()  # so that there is something to be written
    patch.setattr(os, "open", refuse)


HARMLESS = {
    "no runtime directory": in_the_walk(runtime_dir, "find_runtime_dir", NoRuntimeDirError("x")),
    "a full runtime directory": in_the_walk(dedup, "create_exclusive", FULL),
    "a runtime directory that is gone": in_the_walk(dedup, "runtime_path", FileNotFoundError("x")),
    "a data directory that cannot be written": read_only,
    "a full disk under the records": in_the_walk(files, "_append_line", FULL),
    "records that cannot be made unreadable": in_the_walk(call_record, "redact_record", ValueError("x")),
    "no place for records": lambda _: broken(files.spool_dir()),
    "a log that cannot be written": lambda _: replaced_by_folder(paths.log_path()),
    "a log that fails otherwise": in_the_walk(log, "write", ValueError("x")),
    "fail modes that are not there": lambda _: fail_mode.fail_mode_file().unlink(),
    "fail modes that are garbage": lambda _: broken(fail_mode.fail_mode_file()),
    "fail modes that cannot be read": lambda _: replaced_by_folder(fail_mode.fail_mode_file()),
    "fail modes that cannot be written": in_the_walk(fail_mode, "replace_file", FULL),
    "an answer that cannot be left for others": in_the_walk(dedup, "write_atomic", FULL),
    "a home without our data": lambda patch: patch.setattr(paths, "data_dir", lambda: paths.home() / "none"),
    "a project's manifest that is broken": lambda _: planted(".hookonce/hooks.json", "{"),
    "a project's manifest that is a folder": lambda _: planted(".hookonce/hooks.json/x", "{"),
    "a project's policy that is broken": lambda _: planted(".hookonce/policy.json", "{"),
    "a project's policy that forbids everything": lambda _: planted(".hookonce/policy.json", '{"disable_all_hooks": true}'),
    "a project's OpenHook file that is broken": lambda _: planted(".openhook.json", "{"),
}


def planted(name, text):
    path = paths.home() / "project" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.part(2)
@pytest.mark.parametrize("fault", HARMLESS)
def test_what_costs_only_the_record_costs_nobody_the_answer(home, fault, monkeypatch):
    """
    A hook has refused something, and that is what the agent hears, though nothing can be written down.
    """
    settle(home, "open", command="echo no >&2; exit 2")
    HARMLESS[fault](monkeypatch)
    one = case("claude-code", home)
    told = json.loads(one.answer().stdout)["hookSpecificOutput"]

    assert ("deny", "no") == (told["permissionDecision"], told["permissionDecisionReason"])


def test_a_record_that_is_lost_is_counted(home, monkeypatch):
    """
    One more for each, by whatever it was lost.
    """
    settle(home, "open")
    one = case("claude-code", home)
    one.answer()
    assert 0 == files.lost_record_count()
    with monkeypatch.context() as patch:
        HARMLESS["a full disk under the records"](patch)
        one.answer()
    with monkeypatch.context() as patch:
        HARMLESS["records that cannot be made unreadable"](patch)
        one.answer()

    assert 2 == files.lost_record_count()


def test_nothing_is_raised_and_nothing_is_said_where_not_even_a_home_is_known(home, monkeypatch):
    """
    A user without a home has no hooks: silence, whatever happens.
    """
    settle(home, "closed")
    monkeypatch.setattr(paths, "home", crash(KeyError("getpwuid(): uid not found: 12345")))
    for name in agents.AGENTS:
        one = case(name, home)
        assert fail_mode_reply(one, "open") == one.answer(), name


def test_a_directory_that_was_taken_away_is_no_failure(home, monkeypatch):
    """
    The agent's directory is gone; its hooks are asked all the same.
    """
    settle(home, "open", command="echo no >&2; exit 2")
    one = case("claude-code", home)
    gone = home / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert "deny" in one.answer(raw=json.dumps(json.loads(one.raw) | {"cwd": str(gone)}).encode()).stdout


def test_an_event_that_nobody_knows_is_heard_and_has_no_answer(home):
    """
    It is recorded under the agent's own name for it; no agent has told how it could be refused.
    """
    settle(home, "closed")
    for name in agents.AGENTS:
        one = case(name, home)
        assert fail_mode_reply(one, "open") == one.answer(words=[name, "NeverHeardOf"], raw=b'{"session_id": "s"}')


# Says which command it was asked about.
ECHO = """python3 -c 'import json, sys
print(json.dumps({"system_message": json.load(sys.stdin)["tool"]["input"]["command"]}))'"""


def test_a_key_that_stands_twice_is_no_fault_and_a_large_payload_neither(home):
    """
    The last one counts, and ten megabytes are asked about like ten bytes.
    """
    settle(home, "closed", command=ECHO)
    one = case("claude-code", home)
    twice = one.raw[:-1] + b', "tool_input": {"command": "rm"}, "tool_input": {"command": "ls -l"}}'
    large = json.loads(one.raw) | {"tool_input": {"command": "ls -l", "content": "x" * 10_000_000}}

    for raw in (twice, json.dumps(large).encode()):
        assert "ls -l" in json.loads(one.answer(raw=raw).stdout)["systemMessage"]


def test_the_literal_refusals_are_those_that_agents_know(home):
    """
    Some of them by hand, so that the table cannot be wrong together with the code.
    """
    settle(home, "closed")
    why = fail_mode.unread_reason("the payload is not JSON: Expecting value: line 1 column 1 (char 0)")
    claude = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": why}
    expected = {
        "claude-code": ({"hookSpecificOutput": claude}, "", 0),
        "codex": ({"hookSpecificOutput": claude}, "", 0),
        "amp": ({"throw": why}, "", 0),
        "opencode": ({"throw": why}, "", 0),
        "windsurf": (None, why, 2),
    }
    for name, (document, stderr, code) in expected.items():
        reply = case(name, home).answer(raw=b"?")
        found = json.loads(reply.stdout) if reply.stdout else None
        assert (document, stderr, code) == (found, reply.stderr.strip(), reply.code), name


@pytest.mark.part(3)
@pytest.mark.parametrize("name", agents.AGENTS)
def test_an_agent_that_may_not_stop_is_let_go_in_the_end(home, name, monkeypatch):
    """
    A failure that lasts keeps an agent from stopping five times, and then no more.
    """
    stop = next((native for native, kind in agents.config_events(agents.load(name)).items() if kind == "agent_stop"), None)
    if stop is None or "retry" not in dispatcher.point_of(agents.load(name), stop).capabilities:
        pytest.skip("it cannot be kept from stopping")
    settle(home, "closed", event="agent_stop")
    monkeypatch.setattr(dispatcher, "process_request", crash(KeyError("x")))
    payload = stopping(name, stop)
    heard = [dispatcher.answer_call([name, stop], payload, {}) for _ in range(7)]

    quiet = fail_mode_reply(case(name, home), "open")
    assert [False] * 5 + [True] * 2 == [reply == quiet for reply in heard]
    assert quiet == dispatcher.answer_call([name, stop], b"{", {})  # nobody knows whose stop that is, so nobody could count it


def stopping(name, stop):
    agent = agents.load(name)
    from hookonce.agents import encode
    from hookonce.diagnose.trial import sample_event

    return json.dumps(encode(agent, sample_event(agent, "agent_stop", "shell", {}))).encode()


def test_a_closed_hook_counts_from_every_trusted_scope(home, monkeypatch):
    """
    Of the organisation and the system too; of a project once a person has agreed to it.
    """
    from hookonce.base import settings

    monkeypatch.setattr(settings, "SYSTEM", home / "etc")
    monkeypatch.setattr(settings, "OWNER", os.getuid())
    one = case("claude-code", home)
    inside = json.dumps(json.loads(one.raw) | {"cwd": str(home / "project")}).encode()
    text = json.dumps({"spec": "hooks/1.0", "hooks": [closed_hook()]})
    monkeypatch.setattr(dispatcher, "process_request", crash(KeyError("x")))

    assert fail_mode_reply(one, "open") == one.answer(raw=inside)
    for place in ("etc", "etc/org"):
        file = home / place / "hooks.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        assert fail_mode_reply(one, "closed") == one.answer(raw=inside)
        file.unlink()
    planted(".hookonce/hooks.json", text)
    assert fail_mode_reply(one, "open") == one.answer(raw=inside)
    trust(home / "project")
    assert fail_mode_reply(one, "closed") == one.answer(raw=inside)
    assert_unread(one, one.answer(raw=b"{"))  # by where we are, if the payload does not say it


def closed_hook():
    return {"event": KIND, "blocking": True, "on_failure": "closed", "handler": {"type": "command", "command": "true"}}


def trust(project):
    from hookonce.trust import consent

    consent.trust_proposals(project, consent.list_proposals(project))


def test_an_agent_that_is_paused_hears_nothing_whatever_breaks(home, monkeypatch):
    """
    The kill switch is above the fail mode.
    """
    from hookonce.dispatch import pause

    settle(home, "closed")
    pause.pause(60)
    monkeypatch.setattr(dispatcher, "process_request", crash(KeyError("x")))
    for raw in (case("cursor", home).raw, b"{", b""):
        assert fail_mode_reply(case("cursor", home), "open") == case("cursor", home).answer(raw=raw)


def test_the_call_that_tries_us_out_asks_nobody_and_leaves_nothing(home):
    """
    It proves that the way from the agent to us is there, and is no event.
    """
    settle(home, "closed", command=f"touch {home}/ran")
    for name in agents.AGENTS:
        one = case(name, home)
        assert fail_mode_reply(one, "open") == one.answer(raw=dispatcher.TRIAL_PAYLOAD)

    assert [] == list(files.load_records())
    assert not (home / "ran").exists()
