"""The notice of broken hooks: in every agent that can show it to a person alone, and in no other word to anybody."""

import json
import time
from datetime import datetime

import pytest

from hookonce import agents
from hookonce.agents import canonical_event_of, config_event_of, config_events, point_of
from hookonce.base import paths, times
from hookonce.dispatch import pause
from hookonce.dispatch.dispatcher import answer_call
from hookonce.dispatch.fast_path import manifest_stamps, table
from hookonce.dispatch.hook_faults import notice, project_faults
from hookonce.dispatch.hook_faults.table import make_fault
from hookonce.model import Decision, Reply
from hookonce.store.spool.files import load_records
from tests.manifest.projects import command, house, manifest, put

SHOWS = {"claude-code", "codex", "gemini-cli"}
WORDS = "of your guards"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A home with one hook whose script is not there, and a folder to work in."""
    home = house(monkeypatch, tmp_path)
    monkeypatch.setattr(manifest_stamps, "_SETTLE_NS", 0)
    put(home / ".config/hookonce/hooks.json", manifest(command("/nowhere/guard.sh", name="no-rm", blocking=True)))
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def started(name, project, via="user", **fields):
    """What an agent is answered when a session starts in it; an empty reply if it does not tell."""
    agent = agents.load(name)
    native = config_event_of(agent, "session_start")
    if native is None:
        return Reply()
    payload = {"hook_event_name": native, "session_id": "s", "cwd": str(project)} | fields
    return answer_call([name, native, "--via", f"{name}/{via}"], json.dumps(payload).encode(), {"PATH": "/usr/bin"})


def test_the_agents_that_can_show_it_are_these():
    """
    Whoever adds one has seen it on its screen, and looked for it in what its model was sent.
    """
    assert SHOWS == {name for name in agents.AGENTS if agents.load(name).config.notice}


@pytest.mark.parametrize("name", agents.AGENTS)
def test_an_agent_has_a_place_for_it_or_none(name):
    """
    The start of a session, at which it is known to show messages; with how that is known.
    """
    agent = agents.load(name)
    place = agent.config.notice

    if place is not None:
        native, source = place
        assert native in config_events(agent)
        assert ("session_start", "default") == (canonical_event_of(agent, native), point_of(agent, native).install)
        assert "message" in point_of(agent, native).capabilities
        assert "in no request to the model" in source


@pytest.mark.parametrize("name", agents.AGENTS)
def test_every_agent_tells_its_user_or_nobody(project, name):
    """
    Its message and nothing else: no context, no reason, nothing on stderr, and the session goes on.
    """
    reply = started(name, project)
    agent = agents.load(name)

    told = f"{reply.stdout}{reply.stderr}"
    assert (name in SHOWS) is (WORDS in told)
    if name in SHOWS:
        text = "hookonce: 1 of your guards does not protect you: no-rm: cannot run: /nowhere/guard.sh does not exist, so what it judges is let through. Next: hookonce doctor"
        assert (Decision(system_message=text), "", 0) == (agent.read_reply("SessionStart", reply), reply.stderr, reply.code)
    else:
        assert (agent.config.silence, 0) == (reply.stdout, reply.code)


def test_it_stands_beside_what_hooks_say(project, tmp_path):
    """
    A hook at the start of a session keeps its context, and the notice is not in it.
    """
    broken = command("/nowhere/guard.sh", name="no-rm")
    told = command("""echo '{"context": "be kind", "system_message": "hello"}'""", event="session_start")
    put(tmp_path / "home/.config/hookonce/hooks.json", manifest(broken, told))

    reply = json.loads(started("claude-code", project).stdout)

    assert {"hookEventName": "SessionStart", "additionalContext": "be kind"} == reply["hookSpecificOutput"]
    assert reply["systemMessage"].startswith("hello\nhookonce: 1 of your guards")


@pytest.mark.parametrize(("fields", "is_told"), [({"source": "startup"}, True), ({"source": "resume"}, True), ({"source": "compact"}, False)])
def test_a_session_is_told_when_it_starts(project, fields, is_told):
    """
    Not when its conversation is shortened.
    """
    assert is_told is (WORDS in started("claude-code", project, **fields).stdout)


def test_it_is_told_once_for_two_entries(project):
    """
    Of the user and of the project: one call, and one message.
    """
    told = [started("claude-code", project, via).stdout for via in ("user", "project")]

    assert [True, False] == [WORDS in one for one in told]


def test_no_other_call_looks_for_faults(project, monkeypatch):
    """
    Neither tool calls, nor starts in agents that could not show it.
    """
    looks = []
    search = project_faults.FaultSearch
    monkeypatch.setattr(project_faults, "FaultSearch", lambda **fields: looks.append(fields["agent"].name) or search(**fields))
    call = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(project), "tool_name": "Bash", "tool_input": {}}

    answer_call(["claude-code", "PreToolUse", "--via", "claude-code/user"], json.dumps(call).encode(), {"PATH": "/usr/bin"})
    started("factory-droid", project)
    started("codex", project)

    assert ["codex"] == looks


def test_a_start_takes_the_short_way_only_without_hooks(project, tmp_path):
    """
    Where there is nothing that could be broken, a start is answered from the table like any call without hooks.
    """
    with_hooks = table._build_table()["agents"]["claude-code"]
    (tmp_path / "home/.config/hookonce/hooks.json").unlink()
    without = table._build_table()["agents"]["claude-code"]

    assert (False, True) == ("SessionStart" in with_hooks, "SessionEnd" in with_hooks)
    assert "SessionStart" in without


def test_who_searches_too_long_keeps_no_session_waiting(project, monkeypatch):
    """
    It starts without the notice, and the log says so.
    """
    monkeypatch.setattr(notice, "_SEARCH_TIMEOUT_S", 0.0)

    assert "" == started("claude-code", project).stdout
    assert "the notice about broken hooks failed: timeout" in (paths.data_dir() / "hookonce.log").read_text()


def test_a_search_that_fails_is_logged(project, monkeypatch):
    """
    And keeps no session from starting.
    """
    monkeypatch.setattr(project_faults, "find_faults", lambda *_: 1 / 0)

    assert "" == started("claude-code", project).stdout
    assert "ZeroDivisionError" in (paths.data_dir() / "hookonce.log").read_text()


def test_a_search_that_cannot_begin_costs_nobody_the_call(project, monkeypatch, tmp_path):
    """
    Hooks are asked about the start, and it is recorded.
    """
    told = command("""echo '{"context": "be kind"}'""", event="session_start")
    put(tmp_path / "home/.config/hookonce/hooks.json", manifest(told))
    monkeypatch.setattr(project_faults.FaultSearch, "begin", lambda *_: 1 / 0)

    assert "be kind" in started("claude-code", project).stdout
    assert ["session_start"] == [record.event.type for record in load_records()]


def test_a_long_list_is_short():
    """
    Some are named, those with one fault together; all are counted.
    """
    faults = [make_fault("mode", f"/{number}", hook=f"hook {number}", path="/m") for number in range(9)]
    faults += [make_fault("untrusted", "nobody", hook=f"theirs {number}\x1b[2J", path="/p") for number in range(3)]

    text = notice.describe_faults(faults)

    assert text.startswith("hookonce: 12 of your guards do not protect you: hook 0: cannot run: /0 is not executable; hook 1: ")
    assert text.endswith("hook 4: cannot run: /4 is not executable; and 7 more. Next: hookonce doctor")
    assert "theirs 0\\x1b[2J, theirs 1" in notice.describe_faults(faults[9:])
    assert f"you: {'x' * 40}…: " in notice.describe_faults([make_fault("mode", "/x", hook="x" * 1000)])


def test_what_is_no_fault_is_not_told():
    """
    A hook that has more time than an agent waits still guards.
    """
    assert notice.describe_faults([make_fault("timeout", "has 900 s"), make_fault("relative")]) is None


def test_a_pause_ends_when_it_was_to_end_in_the_time_of_this_machine(project, monkeypatch):
    """
    To the second, and with the zone: whoever reads it may sit elsewhere.
    """
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        paths.pause_path().parent.mkdir(parents=True, exist_ok=True)
        end = int(time.time()) + 60
        paths.pause_path().write_text(f"{end}\n")
        moment = datetime.fromtimestamp(end).astimezone()
        (fault,) = project_faults.machine_faults()

        assert times.to_seconds(pause.pause_end()) == end
        assert f" until {moment:%Y-%m-%d %H:%M:%S} {moment.tzname()}" in fault.sentence
        assert moment.tzname().startswith("CE")
    finally:
        monkeypatch.undo()
        time.tzset()
