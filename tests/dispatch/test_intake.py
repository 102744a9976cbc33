"""Live intake without a daemon: tools that speak an open format are answered as it defines, and recorded once."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace

from hookonce import agents
from hookonce.base import ids, paths, runtime_dir
from hookonce.base.json_stream import StreamLine
from hookonce.dispatch import context, dedup, dispatcher, fail_mode, intake, live_formats, pause, pipeline
from hookonce.dispatch.pipeline import AlreadyClaimedError
from hookonce.dispatch.request import call_record
from hookonce.errors import HookonceError
from hookonce.model import Reply
from hookonce.store.maintenance.erasure import erase_records
from hookonce.store.spool import files as spool_files
from hookonce.store.spool.ingest import ingest_spool
from hookonce.store.writer import Writer
from hookonce.translation.import_events import import_events
from tests.dispatch.live_events import ACTION, CLOUD, FORMATS, KERNEL, OPENHOOK, raw
from tests.dispatch.pipeline_cases import PLAIN
from tests.handlers.processes import eventually

SILENT = Reply()
CONTINUE = Reply(stdout='{"action":"continue"}')


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def hooks(home, *answers, **more):
    """The user's hooks: each leaves a line when it is asked, and answers."""
    folder = home / ".config/hookonce"
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for event, answer in answers:
        said = f"; echo '{json.dumps(answer)}'" if type(answer) is dict else f"; {answer}" if answer else ""
        handler = {"type": "command", "command": f"line=$(cat); printf '%s\\n' \"$line\" >> {home}/asked{said}"}
        written.append({"name": "guard", "event": event, "blocking": True, "handler": handler} | more)
    (folder / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": written}))


def shown_events(home):
    """What the hooks were shown."""
    file = home / "asked"
    return [json.loads(line) for line in file.read_text().splitlines() if line] if file.exists() else []


def send(document, *words):
    """What a tool hears."""
    return dispatcher.answer_call(list(words), document if type(document) is bytes else raw(document), PLAIN)


def records():
    return list(spool_files.load_records())


def logged():
    return paths.log_path().read_text() if paths.log_path().exists() else ""


DENY = ("before_tool_execute", {"decision": "deny", "reason": "no"})


# What is answered


@pytest.mark.parametrize("name", FORMATS)
def test_an_event_is_recorded_with_what_it_says(name):
    """
    It is live: received now, under its own id or the one that an import gives it, with the tool that it names.
    """
    assert (CONTINUE if name == "amplifier" else SILENT) == send(FORMATS[name], name)

    (record,) = records()
    event, document = record.event, FORMATS[name]
    own = document.get("event_id", document.get("id"))
    assert (ids.id_from_foreign(own), name) == (event.id, event.origin.format)
    assert (None if ids.is_uuid(own) else own) == event.origin.id
    assert event.received is not None
    assert "import" not in event.origin.via


@pytest.mark.covers("OH-51")
@pytest.mark.parametrize("claimed", ["claude-code", "agent-hooks", "gemini-cli"])
def test_the_payload_says_what_it_is_more_loudly_than_the_words(home, claimed):
    """
    An OpenHook event is one, whoever is said to send it; and so is a payload of an agent.
    """
    hooks(home, ("session_end", None))

    assert SILENT == send(OPENHOOK, claimed)
    (record,) = records()
    assert ("session_end", "claude-code", "openhook") == (record.event.type, record.event.agent, record.event.origin.format)


def test_an_agent_that_calls_a_format_is_answered_as_itself(home):
    """
    Nothing is lost by the wrong word in a configuration.
    """
    hooks(home, DENY)
    call = {"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/h/.claude/projects/p/s.jsonl", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    agent = agents.load("claude-code")

    assert "deny" == agent.read_reply("PreToolUse", send(call, "openhook")).outcome


def test_at_an_entry_that_can_refuse_the_entry_counts(home):
    """
    Else a payload that looks like another event would keep hooks from being asked.
    """
    hooks(home, DENY)
    agent = agents.load("claude-code")

    assert "deny" == agent.read_reply("PreToolUse", send(OPENHOOK, "claude-code", "PreToolUse")).outcome


@pytest.mark.covers("AH-34")
def test_agent_hooks_has_its_decision_in_data(home):
    hooks(home, DENY, ("before_prompt", {"decision": "ask", "reason": "really?"}))
    prompt = ACTION | {"event_type": "Prompt.Submitted", "event_id": ids.new_id(), "data": {"prompt_length": 3}}

    assert {"event_type": "Action.Before", "data": {"decision": {"outcome": "deny", "reason": "no"}}} == json.loads(send(ACTION, "agent-hooks").stdout)
    assert {"outcome": "ask", "reason": "really?"} == json.loads(send(prompt, "agent-hooks").stdout)["data"]["decision"]
    assert "deny" == records()[0].decision.outcome


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"decision": "deny", "reason": "no"}, {"action": "deny", "reason": "no"}),
        ({"decision": "ask", "reason": "sure?"}, {"action": "ask_user", "reason": "sure?", "approval_prompt": "sure?", "approval_default": "deny"}),
        ({"context": "mind the gap"}, {"action": "inject_context", "context_injection": "mind the gap"}),
        ({"updated_input": {"command": "ls -l"}}, {"action": "modify", "data": KERNEL["data"] | {"tool_input": {"command": "ls -l"}}}),
        ({"system_message": "seen"}, {"action": "continue", "user_message": "seen"}),
        ({}, {"action": "continue"}),
    ],
)
def test_amplifier_is_answered_with_a_hook_result(home, answer, expected):
    hooks(home, ("before_tool_execute", answer))

    assert expected == json.loads(send(KERNEL, "amplifier").stdout)


def test_who_cannot_refuse_says_so_in_the_record(home):
    """
    OpenHook only observes: its tool goes on, silently, and the record tells what a hook wanted.
    """
    hooks(home, DENY)
    start = OPENHOOK | {"type": "tool.start", "data": {"tool_name": "Bash"}}

    assert SILENT == send(start, "openhook")
    (record,) = records()
    assert ["deny"] == [run.outcome for run in record.runs]
    assert "blocking" in [gap.capability for gap in record.gaps]
    assert "shell" == record.event.tool.name


def test_a_hook_of_an_agents_dialect_gets_that_agents_words(home):
    """
    The document of a format is not one of Claude Code's payloads, whoever sent it.
    """
    hooks(home, ("before_tool_execute", None), dialect="claude-code")
    send(OPENHOOK | {"type": "tool.start", "data": {"tool_name": "Bash"}}, "openhook")

    (payload,) = shown_events(home)
    assert ("PreToolUse", "Bash") == (payload["hook_event_name"], payload["tool_name"])
    assert "openhook" not in payload


# Closed hooks


@pytest.mark.parametrize(("name", "refuses"), [("agent-hooks", True), ("amplifier", True), ("openhook", False)])
def test_a_closed_hook_that_cannot_be_asked_refuses_where_the_format_can(home, name, refuses):
    document = FORMATS[name] | ({"type": "tool.start"} if name == "openhook" else {})
    hooks(home, ("before_tool_execute", "exit 1"), on_failure="closed")

    assert refuses == ('"deny"' in send(document, name).stdout)
    (record,) = [one for one in records() if one.event.derived_from is None]
    assert refuses == ("blocking" not in [gap.capability for gap in record.gaps])


@pytest.mark.parametrize(("name", "refuses"), [("agent-hooks", True), ("amplifier", True), ("openhook", False), ("cloudevents", False)])
def test_our_own_failure_refuses_where_a_hook_must_answer(home, monkeypatch, name, refuses):
    """
    And the same event is asked when it comes again: nobody was asked before.
    """
    document = FORMATS[name] | ({"type": "tool.start"} if name == "openhook" else {})
    document |= {"type": "dev.hookonce.before_tool_execute", "source": "urn:hookonce:agent:x"} if name == "cloudevents" else {}
    hooks(home, DENY, on_failure="closed")
    with monkeypatch.context() as patch:
        patch.setattr("hookonce.dispatch.pipeline._select_call_hooks", lambda *_: 1 / 0)
        assert refuses == ('"deny"' in send(document, name).stdout)

    (record,) = records()
    assert ["respond", *([] if refuses else ["blocking"])] == [gap.capability for gap in record.gaps if gap.capability]
    send(document, name)
    assert 1 == len(shown_events(home))
    assert ["retry"] == [gap.capability for one in records() for gap in one.gaps if gap.capability == "retry"]


def test_refusals_are_prepared_for_a_client_alone(home):
    """
    A tool runs one command for all its events: without Python nobody knows which one it is.
    """
    lines = list(fail_mode._iter_lines({"before_tool_execute"}))

    assert any(line.startswith("agent-hooks||0|") and "deny" in line for line in lines)
    assert any(line.startswith("amplifier||0|") and "deny" in line for line in lines)
    assert not any(line.startswith(("openhook|", "cloudevents|")) for line in lines)
    assert not set(live_formats.LIVE_FORMATS) & agents.AGENTS.keys()


# What cannot be read


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("junk", [b'{"openhook":', b"[]", b'"x"', b"", b'{"openhook": "0.1"}', b'{"specversion": 1, "id": []}', b"\xff\xfe{}"])
def test_what_cannot_be_read_is_kept_and_told_in_the_log(name, junk):
    """
    And decides nothing where no hook could have refused it.
    """
    assert (CONTINUE if name == "amplifier" else SILENT) == send(junk, name)

    (record,) = records()
    assert record.event.type.endswith(".unreadable")
    assert ["read"] == [gap.capability for gap in record.gaps if gap.capability]
    assert f"on {name}: " in logged()


def test_what_cannot_be_read_is_refused_where_a_hook_may_block(home):
    """
    Whoever writes it must not choose that nobody judges it (ADR 0034).
    """
    hooks(home, DENY)

    assert "deny" == json.loads(send(b'{"spec_version":', "agent-hooks").stdout)["data"]["decision"]["outcome"]
    assert "deny" == json.loads(send(b"{", "amplifier").stdout)["action"]
    assert SILENT == send(b"{", "openhook")


@pytest.mark.covers("OH-41", "OH-42")
@pytest.mark.parametrize(("name", "version"), [("openhook", {"openhook": "7.3"}), ("agent-hooks", {"spec_version": "9.0.0"}), ("cloudevents", {"specversion": "2.0"})])
def test_a_version_that_nobody_knows_is_read_as_well_as_may_be(home, name, version):
    """
    With a warning in the record and in the log.
    """
    hooks(home, DENY, ("session_end", None))
    send(FORMATS[name] | version, name)

    (record,) = records()
    assert "best effort" in [gap.strategy for gap in record.gaps]
    assert f"on {name}: warning: version {next(iter(version.values()))} is not known" in logged()


def test_a_document_does_not_say_who_has_called(home, tmp_path, monkeypatch):
    """
    Below how many hooks a call runs, and where, is ours to know.
    """
    monkeypatch.chdir(tmp_path)
    send(CLOUD | {"type": "dev.hookonce.session_start", "data": {"data": {"hook_depth": 7, "caller_cwd": "/x", "y": 1}}}, "cloudevents")
    send(OPENHOOK | {"cwd": None, "data": {"hook_depth": 7, "caller_cwd": "/x", "y": 1}}, "openhook")

    for record in records():
        assert "hook_depth" not in record.event.data
        assert "/x" != record.event.data.get("caller_cwd")


@pytest.mark.parametrize("has_cwd", [True, False])
def test_a_folder_is_noted_where_the_caller_has_one(has_cwd):
    call_context = replace(context.oneshot_context(PLAIN), has_cwd=has_cwd)
    call = dispatcher.receive_call(["cloudevents"], raw(CLOUD), call_context, ids.new_id())

    assert has_cwd == ("caller_cwd" in call.request.event.data)


# One id, one event


@pytest.mark.covers("OH-3")
@pytest.mark.parametrize("moved", ["page", "spool", "store"])
def test_the_same_event_is_asked_and_recorded_once(home, moved):
    """
    Whatever is left of the first: what processes tell one another, the spool, or the record alone.
    """
    hooks(home, DENY)
    first = send(ACTION, "agent-hooks")
    if moved != "page":
        runtime_dir.remove_stale_files(doors=0, calls=0)
    if moved == "store":
        with Writer() as writer:
            ingest_spool(writer.append)
    again = send(json.dumps(dict(reversed(ACTION.items())), indent=1).encode(), "agent-hooks")

    assert "deny" in first.stdout
    assert first == again
    assert 1 == len(shown_events(home))
    assert (0 if moved == "store" else 1) == len(records())
    assert 0 == spool_files.conflict_count()


@pytest.mark.covers("OH-3")
@pytest.mark.parametrize("moved", ["page", "spool", "store"])
def test_the_same_id_with_other_content_is_another_event(home, moved):
    """
    It is asked, recorded under an id of its own, once, and reported as a conflict.
    """
    hooks(home, DENY)
    other = ACTION | {"data": {"action": {"name": "shell", "input": {"command": "ls"}}}}
    send(ACTION, "agent-hooks")
    if moved != "page":
        runtime_dir.remove_stale_files(doors=0, calls=0)
    if moved == "store":
        with Writer() as writer:
            ingest_spool(writer.append)
    for _ in range(2):
        assert "deny" in send(other, "agent-hooks").stdout
    send(ACTION, "agent-hooks")

    conflict = records()[-1]
    assert (2, 1) == (len(shown_events(home)), spool_files.conflict_count())
    assert conflict.event.id not in {ACTION["event_id"], None}
    assert ACTION["event_id"] == conflict.event.origin.id
    assert ["conflict"] == [gap.capability for gap in conflict.gaps if gap.capability]
    assert "another event has the id" in logged()


def test_an_id_of_an_agents_call_is_taken(home):
    """
    What another kind of caller has recorded under an id says something else.
    """
    send({"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/"}, "claude-code", "SessionStart")
    (call,) = records()
    send(OPENHOOK | {"id": call.event.id}, "openhook")

    assert 2 == len(records())
    assert 1 == spool_files.conflict_count()


def hold_hooks(home, monkeypatch, count):
    """A command that waits until so many calls have looked whether theirs is the first with its event."""
    join, joined = intake._join, set()

    def notify_join(event, call_id, store):
        entry = join(event, call_id, store)
        joined.add(call_id)
        if len(joined) == count:
            (home / "go").touch()
        return entry

    monkeypatch.setattr(intake, "_join", notify_join)
    return f"for n in $(seq 500); do [ -e {home}/go ] && break; sleep 0.02; done; [ -e {home}/go ]"


def test_many_callers_with_one_event_ask_its_hooks_once(home, monkeypatch):
    """
    The hook answers when all of them are there.
    """
    hold = hold_hooks(home, monkeypatch, 6)
    hooks(home, ("before_tool_execute", hold + " && echo '{\"decision\": \"deny\", \"reason\": \"no\"}'"))
    with ThreadPoolExecutor(6) as pool:
        answers = set(pool.map(lambda _: send(ACTION, "agent-hooks").stdout, range(6)))

    assert 1 == len(answers)
    assert "deny" in answers.pop()
    assert (1, 1) == (len(shown_events(home)), len(records()))


def test_two_contents_of_one_id_at_the_same_time_are_two_records(home, monkeypatch):
    """
    Nothing is in the record yet when the second one comes.
    """
    hooks(home, ("before_tool_execute", hold_hooks(home, monkeypatch, 2)))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda session: send(ACTION | {"session_id": session}, "agent-hooks"), ("one", "other")))

    assert {None} == {run.failure for record in records() for run in record.runs}
    found = {record.event.session: record.event.id for record in records()}
    assert {"one", "other"} == found.keys()
    assert 1 == [*found.values()].count(ACTION["event_id"])
    assert (2, 1) == (len(shown_events(home)), spool_files.conflict_count())


def test_a_second_content_that_fails_while_the_first_is_asked_is_a_conflict(home, monkeypatch):
    """
    Its record leaves the plain id to the first, whose hook still runs.
    """
    hooks(home, ("before_tool_execute", f"for n in $(seq 500); do [ -e {home}/go ] && break; sleep 0.02; done"))
    decide = pipeline._decide_call

    def fail(request, *rest):
        if request.event.session == "other":
            raise HookonceError("something of ours is broken")
        return decide(request, *rest)

    monkeypatch.setattr(pipeline, "_decide_call", fail)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(send, ACTION | {"session_id": "one"}, "agent-hooks")
        assert eventually(lambda: shown_events(home))
        send(ACTION | {"session_id": "other"}, "agent-hooks")
        (home / "go").touch()
        first.result()

    found = {record.event.session: record for record in records()}
    assert ACTION["event_id"] == found["one"].event.id != found["other"].event.id
    assert (2, 1) == (len(records()), spool_files.conflict_count())
    assert {"conflict", "respond"} <= {gap.capability for gap in found["other"].gaps}


@pytest.mark.part(2)
@pytest.mark.parametrize("first", ["import", "live"])
@pytest.mark.parametrize("name", FORMATS)
def test_an_import_of_the_same_events_adds_nothing(home, name, first):
    """
    Nor does a tool that sends what was imported.
    """
    lines = [StreamLine(1, raw(FORMATS[name]))]
    with Writer() as writer:
        if first == "live":
            send(FORMATS[name], name)
            ingest_spool(writer.append)
        new = [*import_events(lines, writer, "minimal")][-1].new
        if first == "import":
            send(FORMATS[name], name)
            new -= ingest_spool(writer.append).new_records
    assert (0 if first == "live" else 1) == new
    assert 0 == spool_files.conflict_count()


def forget():
    """Nothing is left of earlier calls but the record."""
    runtime_dir.remove_stale_files(doors=0, calls=0)


@pytest.mark.parametrize("moved", ["page", "store"])
def test_an_import_is_no_answer_of_a_hook(home, moved):
    """
    What was imported is asked when it comes live, once, and recorded beside the import.
    """
    hooks(home, DENY, on_failure="closed")
    with Writer() as writer:
        assert 1 == [*import_events([StreamLine(1, raw(ACTION))], writer, "minimal")][-1].new
        for _ in range(3):
            assert "deny" in send(ACTION, "agent-hooks").stdout
            if moved == "store":
                ingest_spool(writer.append)
                forget()
    assert 1 == len(shown_events(home))
    if moved == "page":
        (record,) = records()
        assert (["retry"], ["deny"]) == ([gap.capability for gap in record.gaps if gap.capability], [run.outcome for run in record.runs])
    assert 0 == spool_files.conflict_count()


def test_an_event_that_failed_once_is_asked_once_more(home, monkeypatch):
    """
    And no more than once, however late it comes again.
    """
    hooks(home, DENY)
    with monkeypatch.context() as patch:
        patch.setattr("hookonce.dispatch.pipeline._select_call_hooks", lambda *_: 1 / 0)
        send(ACTION, "agent-hooks")
    for _ in range(3):
        forget()
        assert "deny" in send(ACTION, "agent-hooks").stdout
    assert (1, 2) == (len(shown_events(home)), len(records()))


def test_an_erased_event_that_comes_again_is_asked_and_stays_erased(home):
    hooks(home, DENY)
    send(ACTION, "agent-hooks")
    with Writer() as writer:
        ingest_spool(writer.append)
        erase_records(writer, [ACTION["event_id"]])
    forget()
    for _ in range(2):
        assert "deny" in send(ACTION, "agent-hooks").stdout

    assert (2, 0, 0) == (len(shown_events(home)), len(records()), spool_files.conflict_count())
    assert "was erased" in logged()


@pytest.mark.parametrize("moved", ["page", "spool"])
def test_a_conflict_whose_hooks_cannot_be_asked_is_recorded(home, monkeypatch, moved):
    """
    Once, under its own id, and counted; what the other event says stays.
    """
    hooks(home, DENY, on_failure="closed")
    send(ACTION, "agent-hooks")
    if moved == "spool":
        forget()
    with monkeypatch.context() as patch:
        patch.setattr("hookonce.dispatch.pipeline._select_call_hooks", lambda *_: 1 / 0)
        for _ in range(2):
            assert "deny" in send(ACTION | {"session_id": "other"}, "agent-hooks").stdout

    first, conflict = records()
    assert (1, 1) == (len(first.runs), spool_files.conflict_count())
    assert ["conflict", "respond"] == [gap.capability for gap in conflict.gaps if gap.capability]
    assert (ACTION["event_id"], "other") == (conflict.event.origin.id, conflict.event.session)


def test_a_failure_beside_a_good_record_leaves_it(home, monkeypatch):
    """
    Whoever waited in vain for a process that was killed after it had recorded its answer.
    """
    hooks(home, DENY)
    send(ACTION, "agent-hooks")
    forget()

    def claim_of_another(*_):
        raise AlreadyClaimedError("x")
        yield

    def nobody(*_):
        return dedup.CallClaim(done=False)
        yield

    monkeypatch.setattr(dispatcher, "process_request", claim_of_another)
    monkeypatch.setattr(dedup, "await_answer", nobody)
    send(ACTION, "agent-hooks")
    (record,) = records()
    assert 1 == len(record.runs)


def test_a_lost_record_is_written_when_the_event_comes_again(home, monkeypatch):
    """
    Somebody was killed between the decision and the record.
    """
    with monkeypatch.context() as patch:
        patch.setattr(call_record, "append_record", lambda *_: None)
        send(OPENHOOK, "openhook")
    assert not records()
    send(OPENHOOK, "openhook")

    assert 1 == len(records())


def test_a_decision_that_its_document_tells_is_no_answer_of_ours(home):
    """
    It is recorded, and the sender hears nothing that no hook has said, neither now nor again.
    """
    document = ACTION | {"data": ACTION["data"] | {"decision": {"outcome": "deny", "reason": "theirs"}}, "risk": {"score": 95}}

    assert {SILENT} == {send(document, "agent-hooks") for _ in range(2)}
    runtime_dir.remove_stale_files(doors=0, calls=0)
    assert SILENT == send(document, "agent-hooks")
    (record,) = records()
    assert ("deny", "theirs", 95) == (record.decision.outcome, record.decision.reason, record.risk.score)


@pytest.mark.parametrize(
    ("event", "data", "new", "expected"),
    [
        ("prompt:submit", {"prompt": "a plan"}, {"prompt": "a secret plan"}, {"prompt": "a secret plan"}),
        ("tool:pre", {"tool_name": "note", "tool_input": {"text": "a plan"}}, {"text": "a secret plan"}, {"tool_name": "note", "tool_input": {"text": "a secret plan"}}),
    ],
)
def test_new_input_that_privacy_has_removed_is_refused(home, event, data, new, expected):
    """
    A rewritten call must go on neither unchanged nor with a hash because its answer was forgotten.
    """
    hooks(home, ("before_prompt", {"updated_input": new}), ("before_tool_execute", {"updated_input": new}))
    document = KERNEL | {"event": event, "data": data}
    first = json.loads(send(document, "amplifier").stdout)
    runtime_dir.remove_stale_files(doors=0, calls=0)

    assert {"action": "modify", "data": expected} == first
    again = json.loads(send(document, "amplifier").stdout)
    assert ("deny", None, True) == (again["action"], again.get("data"), "is not known any more" in again["reason"])


def test_nothing_is_asked_during_a_pause_and_all_is_recorded(home):
    """
    The record says why no hook was asked; when the event comes again after the pause, they are.
    """
    hooks(home, DENY)
    pause.pause(60)

    assert SILENT == send(ACTION, "agent-hooks")
    assert [] == shown_events(home)
    (record,) = records()
    assert ["hooks were paused"] == [gap.note for gap in record.gaps if gap.strategy == "fail mode"]
    pause.resume()
    runtime_dir.remove_stale_files(doors=0, calls=0)
    send(ACTION, "agent-hooks")
    assert 1 == len(shown_events(home))


def test_content_is_canonical_json():
    """
    The order of members and blanks say nothing; every value does.
    """
    assert intake.content_digest(CLOUD) == intake.content_digest(dict(reversed(CLOUD.items())))
    assert intake.content_digest(CLOUD) != intake.content_digest(CLOUD | {"data": {"x": 2}})
