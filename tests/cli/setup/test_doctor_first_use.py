"""What a new user stumbles over: names that nothing has, hooks that never run, and who says so."""

import json

import pytest

from hookonce.base.settings import setting_types
from hookonce.dispatch.hook_faults.manifest_words import event_problem
from tests.cli.command import run
from tests.docs.test_settings import ROWS
from tests.manifest.projects import command, manifest, put

SCRIPT = "#!/bin/sh\ntrue\n"
PUT = "correct the command, or create the file"


@pytest.fixture
def home(tmp_path):
    """A home without anything."""
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path):
    """A project without anything."""
    put(tmp_path / "project/.git/HEAD", "ref: refs/heads/main\n")
    return tmp_path / "project"


@pytest.fixture
def ours(home, project):
    """Run hookonce in that project, with that home."""
    return lambda *words: run(*words, HOME=str(home), cwd=project)


def own(home, *hooks):
    """The user's manifest."""
    return put(home / ".config/hookonce/hooks.json", manifest(*hooks))


def found(ours):
    """What doctor finds, as kinds and messages."""
    (told,) = ours("doctor", "--json").documents()
    return [(one["kind"], one["message"]) for one in told["findings"]]


@pytest.mark.parametrize("name", ["example", "exmple", "never-heard-of"])
def test_a_hook_that_is_not_trusted_is_no_program(ours, name):
    """
    The first thing that a new user does: one sentence says what is missing.
    """
    ours("init")

    tried = ours("try", name)

    told = f"no trusted hook has the name {name}; this project's hooks are not trusted yet: hookonce trust"
    assert (1, "", [told]) == (tried.code, tried.out, tried.complaints())


def test_a_name_with_a_space_is_no_command_if_an_untrusted_hook_has_it(ours, project):
    """
    Hooks may be called as people speak.
    """
    put(project / ".hookonce/hooks.json", manifest(command("true", name="look twice")))

    assert "not trusted yet" in ours("try", "look twice").err


def test_a_name_that_nothing_has_is_told(ours, home):
    """
    And if a manifest is broken, that it is: the hook may stand there.
    """
    plain = ours("try", "never-heard-of")
    file = put(home / ".config/hookonce/hooks.json", "{")
    broken = ours("try", "never-heard-of")

    told = "there is no hook and no program with the name never-heard-of"
    assert (1, [told]) == (plain.code, plain.complaints())
    assert (1, True) == (broken.code, broken.complaints()[0].startswith(f"{told}; {file}: "))


@pytest.mark.parametrize("line", ["true", "exit", "exit 0", "/bin/true", "true;exit"])
def test_a_command_is_tried_in_a_project_that_is_not_trusted(ours, line):
    """
    A program, a word of the shell, a path, or anything that only a shell understands.
    """
    ours("init")

    tried = ours("try", line)

    assert (0, "") == (tried.code, tried.err)
    assert "it ended with exit code 0" in tried.out


def test_scripts_of_manifests_are_looked_for_where_they_would_be_run(ours, home, project):
    """
    Beside the user's manifest, and from the root of a project; such a path depends on nothing else.
    """
    own(home, command("./there.sh"), command("./lost.sh"))
    put(home / ".config/hookonce/there.sh", SCRIPT)
    put(project / ".hookonce/hooks.json", manifest(command("./.hookonce/there.sh"), command("./there.sh")))
    put(project / ".hookonce/there.sh", SCRIPT)

    told = [message for kind, message in found(ours) if kind == "missing"]

    lost = (project / "there.sh", home / ".config/hookonce/lost.sh")
    assert [f"cannot run: {path} does not exist; {PUT}" for path in lost] == [one[one.index("cannot") :] for one in told]
    assert "relative" not in ours("doctor").out + ours("status", "claude-code").out


def test_doctor_tells_of_a_pause(home):
    """
    It keeps every hook from running.
    """
    from tests.cli.setup.test_install import at_a_terminal

    at_a_terminal(home, "pause", "10m")

    seen = run("doctor", HOME=str(home), cwd=home)

    assert 1 == seen.code
    assert "paused: no hook runs until " in seen.out


def test_doctor_says_when_nobody_calls_the_hooks(ours, home):
    """
    Until the first agent does; without hooks there is nothing to call.
    """
    nothing = ours("doctor", "claude-code")
    own(home, command("true"))
    before = ours("doctor", "claude-code")
    ours("install", "claude-code")
    after = ours("doctor", "claude-code")

    assert (0, "hookonce is not installed for any agent, so no hook runs. Next: hookonce install\n") == (nothing.code, nothing.out)
    assert 1 == before.code
    assert "hookonce is not installed for any agent" in before.out
    assert "no agent calls" not in after.out


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("event", "told"),
    [
        ("before_tool_exec", "no agent has this event, so the hook never runs (did you mean before_tool_execute?)"),
        ("pretooluse", "no agent has this event, so the hook never runs (did you mean before_tool_execute?)"),
        ("BeforeTool", "BeforeTool is the name of the event on Gemini CLI, so the hook never runs; here it is called before_tool_execute"),
        ("Stop", "Stop is the name of the event on Claude Code and 8 other agents, so the hook never runs; here it is called agent_stop"),
        ("policy_block", "no agent has this event, so the hook never runs (did you mean policy_blocked?)"),
        ("xyzzy", "no agent has this event, so the hook never runs"),
    ],
)
def test_an_event_that_no_agent_calls_is_told(ours, home, event, told):
    """
    By check, once, and by doctor; an agent's own name of an event with what it is called here.
    """
    file = own(home, command("true", event=event))

    (verdict,) = ours("check", file, "--json").documents()

    assert [told] == [one["message"] for one in verdict["warnings"] if one["path"] == "$.hooks[0].event"]
    assert [True] == [message.endswith(told) for kind, message in found(ours) if kind == "event"]


@pytest.mark.parametrize("event", ["before_tool_execute", "tool_use_failure", "file_saved", "vendor.cursor.workspaceOpen", "plan_start"])
def test_an_event_that_an_agent_may_call_is_left_alone(event):
    """
    Vendors' own events too: of them nobody knows all; and those that we derive ourselves.
    """
    assert event_problem(event) is None


def test_without_a_record_nothing_is_derived_and_that_is_told(ours, home):
    """
    By doctor for each hook that waits for such an event, and by status.
    """
    own(home, command("true", event="policy_blocked"))
    told = "its event is derived from the record, and the setting record is false"
    before = [message for kind, message in found(ours) if kind == "event"]
    put(home / ".config/hookonce/config.toml", "record = false\n")

    assert [] == before
    assert [True] == [message.endswith(told) for kind, message in found(ours) if kind == "event"]
    assert "the setting record is false: no event is recorded" in ours("status", "claude-code").out


def test_a_setting_that_there_is_none_of_is_named(ours, home):
    """
    By doctor and by status.
    """
    file = put(home / ".config/hookonce/config.toml", 'untrustd = "deny"\nhttp = false\n')

    told = f"{file}: there is no setting untrustd; it is ignored; did you mean untrusted?"

    assert [("settings", told)] == found(ours)
    assert f"settings: {told}\n" in ours("status", "claude-code").out
    (status,) = ours("status", "claude-code", "--json").documents()
    assert [told] == [one["message"] for one in status["settings"]]


@pytest.mark.part(4)
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('network = "none"', "there is no setting network; it is ignored; if a newer hookonce knows it, upgrade hookonce"),
        ('record = "no"', """record is 'no', and has to be true or false; it is read as true"""),
        ('privacy = "standrd"', """privacy is 'standrd', and has to be "minimal" or "standard" or "full"; it is read as "minimal\""""),
        ('keep_days = "ninety"', """keep_days is 'ninety', and has to be a whole number above 0; it is ignored"""),
        ("keep_megabytes = true", """keep_megabytes is True, and has to be a whole number above 0; it is ignored"""),
        ('durability = "ful"', """durability is 'ful', and has to be "normal" or "full"; it is read as "full\""""),
        ('untrusted = "denny"', """untrusted is 'denny', and has to be "skip" or "deny"; it is read as "deny\""""),
        ("untrusted = [1]", """untrusted is [1], and has to be "skip" or "deny"; it is read as "deny\""""),
        ('http = "false"', """http is 'false', and has to be true or false; it is read as false"""),
        ('[grants]\nx = "fs.read"', "has to be a table with a list of texts for each module"),
        ("models = 1", "has to be a table of texts"),
    ],
)
def test_a_value_that_a_setting_cannot_have_is_named(ours, home, text, told):
    """
    With the file, the key, the value, what is allowed, and how it is read.
    """
    file = put(home / ".config/hookonce/config.toml", f"{text}\n")

    ((kind, message),) = found(ours)

    assert "settings" == kind
    assert message.startswith(f"{file}: ")
    assert told in message
    assert f"settings: {message}\n" in ours("status", "claude-code").out


def test_every_setting_that_is_explained_is_known():
    """
    And one that is the machine's alone, and five that have no value unless somebody gives one.
    """
    assert {*ROWS, "consent", "user", "keep_days", "keep_megabytes", "models", "grants"} == setting_types().keys()


def test_a_time_that_no_agent_grants_is_told_with_the_limit(ours, home):
    """
    In general before anything calls us, then for each agent that does; nobody waits for hooks in the background.
    """
    own(
        home,
        command("true", handler={"timeout": 55}),
        command("true", event="after_tool_execute", handler={"timeout": 5}),
        command("true", event="after_tool_execute", handler={"timeout": 300, "async": True}),
        command("true", event="session_end", handler={"timeout": 300}),
        command("true", handler={"timeout": 54}),
    )

    general = [message for kind, message in found(ours) if kind == "timeout"]
    ours("install", "claude-code", "codex")
    one_by_one = [message for kind, message in found(ours) if kind == "timeout"]

    assert ["has a timeout of 55 s, but no agent waits longer than 54 s at this event"] == [one[one.index("has") :] for one in general]
    assert [
        "has a timeout of 55 s, but gets only 54 s on Claude Code, Codex CLI",
        "has a timeout of 5 s, but gets only 4.5 s on Claude Code",
    ] == [one[one.index("has") :] for one in one_by_one]


@pytest.mark.parametrize(("folder", "seen_from"), [("project/.hookonce", "project"), ("elsewhere", "elsewhere")])
def test_check_warns_of_a_script_that_is_not_there(ours, tmp_path, folder, seen_from):
    """
    Seen from the project, or from where the manifest lies; of a manifest on standard input nobody knows.
    """
    hooks = manifest(command("./there.sh"), command("./lost.sh --x"))
    file = put(tmp_path / folder / "hooks.json", hooks)
    put(tmp_path / seen_from / "there.sh", SCRIPT)

    (verdict,) = ours("check", file, "--json").documents()
    (streamed,) = run("check", "--json", given=json.dumps(hooks).encode()).documents()

    told = {"path": "$.hooks[1].handler.command", "line": 1}
    assert [told | {"message": f"cannot run: {tmp_path / seen_from / 'lost.sh'} does not exist; {PUT}"}] == verdict["warnings"]
    assert [] == streamed["warnings"]
