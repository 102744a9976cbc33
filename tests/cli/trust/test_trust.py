"""hookonce trust, check of a folder, and who may say yes at all."""

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from hookonce import agents
from hookonce.__main__ import main
from hookonce.base import paths, settings
from hookonce.base.runtime_dir import runtime_file
from hookonce.cli._ui import consent
from hookonce.client import installation as client_installed
from hookonce.configure.changes import confirmation_code
from hookonce.store.spool.files import load_records
from hookonce.trust import approvals
from hookonce.trust.consent import list_proposals
from tests.cli.command import environment
from tests.cli.setup.test_install import at_a_terminal
from tests.dispatch.event_factory import event
from tests.manifest.projects import Project, command, house, manifest, notes, put

DENY = "echo no >&2; exit 2"


@pytest.fixture
def home(monkeypatch, tmp_path):
    return house(monkeypatch, tmp_path)


@pytest.fixture
def project(home, tmp_path):
    made = Project(tmp_path / "p", command("./guard.sh", name="guard", blocking=True))
    made.put("guard.sh", f"#!/bin/sh\n{DENY}\n")
    return made


@pytest.fixture
def unattended(home, tmp_path):
    """The machine's owner lets scripts say yes."""
    put(tmp_path / "etc/config.toml", 'consent = "unattended"\n').chmod(0o644)


def hookonce(capsys, *words):
    """Run hookonce in this process; its exit code and what it said."""
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def test_trust_shows_pins_and_lets_run(project, unattended, capsys):
    """
    Before, the list says so; after, the hooks run and there is nothing more to do.
    """
    code, out, _ = hookonce(capsys, "trust", "--list", project.folder)
    assert (0, True) == (code, out.startswith(f"not trusted: {project.folder}/.hookonce/hooks.json ("))
    assert not project.denies()

    assert (0, "1 file trusted\n", "") == hookonce(capsys, "trust", project.folder)
    assert project.denies()
    assert (0, "nothing to do: everything is trusted already\n", "") == hookonce(capsys, "trust", project.folder)

    code, out, _ = hookonce(capsys, "trust", "--list", "--json", project.folder)
    (told,) = json.loads(out)
    assert [True, {}] == [told["trusted"], told["unpinned"]]
    assert ["guard.sh"] == list(told["files"])

    assert (0, f"1 pin of {project.folder} removed\n", "") == hookonce(capsys, "trust", "--revoke", project.folder)
    assert not project.denies()


def test_trust_works_from_anywhere_in_the_project(project, unattended, capsys, monkeypatch):
    """
    The project is the repository around.
    """
    (project.folder / "a/b").mkdir(parents=True)
    monkeypatch.chdir(project.folder / "a/b")
    assert 0 == hookonce(capsys, "trust")[0]
    assert project.denies()


@pytest.mark.covers("HIF-107")
def test_a_person_is_shown_what_hooks_do_before_they_say_yes(project, unattended, capsys, monkeypatch):
    """
    Events, power, commands, capabilities, URLs, variables, files with their digests; and every warning.
    """
    project.write(
        command("./guard.sh", name="guard", blocking=True, on_failure="closed"),
        command("jq . | grep x", "after_tool_execute", handler={"env": {"A": "b"}, "cwd": "sub"}),
        command("exit 2", "agent_stop", blocking=True),
        {"event": "session_end", "handler": {"type": "http", "url": "https://a.b/c", "headers": {"X": "Bearer ${TOKEN} $OTHER"}, "allowed_env": ["TOKEN"]}},
        {"event": "agent_stop", "handler": {"type": "prompt", "prompt": "Are you done?"}},
    )
    put(project.folder / ".hookonce/policy.json", {})
    _, text, _ = hookonce(capsys, "trust", "--list", project.folder)
    data = (project.folder / "guard.sh").read_bytes()

    for line in [
        "warning: .hookonce/policy.json may forbid some of these hooks; it affects no other hooks",
        "guard on before_tool_execute, may refuse, refuses when it fails, needs structured_output: ./guard.sh",
        "a hook on after_tool_execute, looks on, needs configurable_cwd, custom_env: jq . | grep x",
        "  sets A=b",
        "  runs in sub",
        "  warning: it may refuse, and is not a script file that can be reviewed and hashed",
        "  calls https://a.b/c",
        "  warning: sends your environment variable OTHER to https://a.b/c",
        "  warning: sends your environment variable TOKEN to https://a.b/c",
        "  warning: asks a language model, which costs money and gets the event",
        f"file guard.sh ({sha256(data).hexdigest()[:12]})",
        "not pinned: jq (",
    ]:
        assert f"\n  {line}" in text


def test_scripts_that_a_script_names_are_told(project, capsys):
    """
    Nobody would notice when they change; those that the hook lists are pinned.
    """
    project.put("guard.sh", '#!/bin/sh\n. ./lib/a.sh; sh "$HOOKONCE_HOOK_DIR/lib/b.sh"; ./lib/gone.sh; cat lib/c.json\n')
    for name in ("lib/a.sh", "lib/b.sh", "lib/c.json"):
        project.put(name, "")
    project.write(command("./guard.sh", files=["lib/c.json"]))
    _, text, _ = hookonce(capsys, "trust", "--list", project.folder)
    assert "not pinned: lib/a.sh (sourced by guard.sh, from a path known only at run time)\n" in text
    assert "warning: guard.sh names lib/b.sh, which is not pinned; list it under files\n" in text
    assert 1 == text.count("warning:")


def test_nothing_in_a_manifest_can_paint_over_what_a_person_reads(project, unattended, capsys):
    """
    Control characters, line breaks and marks that turn the direction of writing are shown as what they are.
    """
    project.write(command("./guard.sh\n  file harmless (0123)\x1b[2K\r\u202e\u2066", name="a\x07\u200b", blocking=True))
    _, text, _ = hookonce(capsys, "trust", "--list", project.folder)

    assert r"./guard.sh\n  file harmless (0123)\x1b[2K\r\u202e\u2066" in text
    assert r"a\x07\u200b on before_tool_execute" in text
    assert all(char.isprintable() or char == "\n" for char in text)


def test_what_cannot_be_pinned_needs_a_word_of_its_own(project, unattended, capsys):
    """
    Without it the list is shown, and nothing is trusted.
    """
    project.write(command("sh ./guard.sh", blocking=True))
    code, out, err = hookonce(capsys, "trust", project.folder)
    assert (1, "hookonce: sh cannot be hashed; --allow-unpinned trusts them too\n") == (code, err)
    assert "not pinned: sh (/" in out
    assert not project.denies()

    assert 0 == hookonce(capsys, "trust", "--allow-unpinned", project.folder)[0]
    assert project.denies()


@pytest.mark.parametrize("text", ["{", '{"spec": "hooks/1.0", "hooks": []}', "\x00"])
def test_a_manifest_with_problems_is_told_and_not_trusted(project, unattended, capsys, text):
    """
    Neither list nor trust ends in anything but a sentence.
    """
    put(project.folder / ".hookonce/hooks.json", text)
    code, out, _ = hookonce(capsys, "trust", "--list", project.folder)
    assert (0, True) == (code, out.startswith("not trusted: ") and "hooks.json: the manifest has problems" in out)
    assert [False] == [one["trusted"] for one in json.loads(hookonce(capsys, "trust", "--list", "--json", project.folder)[1])]
    code, _, err = hookonce(capsys, "trust", project.folder)
    assert (1, True) == (code, "the manifest has problems" in err)


def test_a_folder_without_hooks_has_nothing_to_trust(home, tmp_path, capsys):
    """
    The sentence names what was looked for.
    """
    (tmp_path / "empty").mkdir()
    code, _, err = hookonce(capsys, "trust", tmp_path / "empty")
    assert (1, f"hookonce: {tmp_path}/empty has no hooks: neither .hookonce/hooks.json nor .openhook.json is there\n") == (code, err)


@pytest.mark.covers("HIF-107")
def test_scanners_of_the_user_and_the_system_are_heard(project, home, tmp_path, unattended, capsys, monkeypatch):
    """
    They are given the files that are to be trusted; what they say against them is part of what a person agrees to.
    """
    scanner = put(tmp_path / "scan", '#!/bin/sh\nfor file; do grep -H exit "$file"; done | sed "s/^/found /"; ! grep -q exit "$@"\n')
    put(home / ".config/hookonce/config.toml", f'scanners = ["{scanner}"]\n')
    shown = []
    monkeypatch.setattr("hookonce.cli.trust.trust.require_consent", lambda _, text: shown.append(text))
    assert 0 == hookonce(capsys, "trust", project.folder)[0]
    assert f"warning: the scanner {scanner} says: found {project.folder}/guard.sh:echo no >&2; exit 2" in shown[0]

    scanner.unlink()
    project.put("guard.sh", "#!/bin/sh\n")
    code, _, err = hookonce(capsys, "trust", project.folder)
    assert (1, True) == (code, "cannot be run" in err)
    assert [False] == project.states()


def test_unknown_versions_of_openhook_are_read_and_named(project, capsys):
    """
    The discovery file of a later version is used as well as it can be.
    """
    project.observe({"command": "true"}, version="0.9")
    _, text, _ = hookonce(capsys, "trust", "--list", project.folder)
    assert "warning: version 0.9 of OpenHook is not known; read as 0.1" in text
    assert "observer 1 on *, looks on: true" in text


def verbs(project):
    """Everything of this chapter that only a person may do."""
    approvals.leave_question(event())
    (code,) = (path.name for path in runtime_file("questions", "x").parent.iterdir())
    return [["trust", str(project.folder)], ["trust", "--revoke", str(project.folder)], ["allow", code], ["pause", "10m"]]


def left():
    """What those would have left behind."""
    made = [paths.data_dir() / "trust.json", paths.data_dir() / "paused-until"]
    return [path for path in made if path.exists()] + list(runtime_file("approved", "x").parent.iterdir())


MARKS = [(mark, agents.load(name).title) for name in agents.AGENTS for mark in agents.load(name).env_markers]


@pytest.mark.parametrize(("mark", "title"), MARKS)
def test_an_agents_mark_in_the_environment_ends_it(project, capsys, monkeypatch, mark, title):
    """
    Neither trust nor allow nor pause is for an agent's shell.
    """
    monkeypatch.setattr(consent, "iter_ancestors", lambda _: iter(()))
    monkeypatch.setenv(mark, "1")
    for words in verbs(project):
        code, _, err = hookonce(capsys, *words)
        assert (1, True) == (code, f"needs a person, and here {title} has set {mark} in the environment" in err)
    assert [] == left()


@pytest.mark.part(2)
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "copilot", "cursor-agent", "amp"])
def test_an_agent_among_the_parents_ends_it(project, tmp_path, agent):
    """
    By the name of a program, of a script that an interpreter runs, or of the package that the script is in.
    """
    line = f"{sys.executable} -m hookonce pause 10m"
    scripts = [
        put(tmp_path / f"bin/{agent}", f"#!/bin/sh\n{line}\nexit $?\n"),
        put(tmp_path / f"node_modules/@x/{agent}/index.js", f"#!/bin/sh\n{line}\nexit $?\n"),
    ]
    for script in scripts:
        ran = subprocess.run(["/bin/sh", script], capture_output=True, check=False, env=environment(HOME=os.environ["HOME"]))
        assert (1, True) == (ran.returncode, b"it was started by" in ran.stderr), ran.stderr
    assert [] == left()


def test_a_child_that_drops_an_agents_mark_does_not_become_a_person(project):
    """
    The parent was started with it, and the system remembers.
    """
    line = f"env -u CLAUDECODE {sys.executable} -m hookonce pause 10m; exit $?"
    ran = subprocess.run(["sh", "-c", line], capture_output=True, check=False, env=environment(HOME=os.environ["HOME"], CLAUDECODE="1"))
    assert (1, True) == (ran.returncode, b"Claude Code has set CLAUDECODE in the environment of a parent process" in ran.stderr)
    assert [] == left()


def test_a_person_at_a_terminal_sees_the_hooks_and_types_the_digest(project):
    """
    Anything else that is typed changes nothing; each yes is an event of its own, and a line in the log.
    """
    home = Path(os.environ["HOME"])
    code, said = at_a_terminal(home, "trust", str(project.folder), typed="abcdef")
    assert (1, True) == (code, "the code does not match; nothing was changed" in said)
    assert [] == left()

    code, said = at_a_terminal(home, "trust", str(project.folder))
    assert (0, True) == (code, "guard on before_tool_execute, may refuse, needs structured_output: ./guard.sh" in said)
    assert project.denies()
    (event,) = [record.event for record in load_records() if record.event.agent == "hookonce"]
    assert ("vendor.hookonce.trust", "typed", "user") == (event.type, event.data["source"], event.actor.type)
    assert " consent typed trust " in paths.log_path().read_text(encoding="utf-8")


def test_without_a_terminal_nobody_says_yes(project):
    """
    A pipe with the right characters is no person.
    """
    text = list_proposals(project.folder)[0].text
    ran = subprocess.run(
        [sys.executable, "-m", "hookonce", "trust", project.folder],
        input=f"{confirmation_code(text)}\n".encode(),
        capture_output=True,
        check=False,
        env=environment(HOME=os.environ["HOME"]),
        start_new_session=True,
    )
    assert (1, True) == (ran.returncode, ran.stderr.startswith(b"hookonce: hookonce trust needs a person at a terminal, and this is not a terminal. "))


@pytest.mark.parametrize("who", ["the user", "a project", "somebody else's file", "a file that others can write", "a folder that others can write", "a broken file", "another word"])
def test_consent_is_given_away_by_the_machines_owner_alone(project, home, tmp_path, monkeypatch, who):
    """
    `unattended` counts in the system's own configuration, if nobody but its owner can write there.
    """
    file = put(tmp_path / "etc/config.toml", 'consent = "unattended"\n')
    file.chmod(0o644)
    assert "unattended" == settings.consent() == settings.consent(tmp_path / "etc")

    match who:
        case "the user":
            file.rename(put(home / ".config/hookonce/config.toml", ""))
        case "a project":
            file.rename(put(project.folder / ".hookonce/config.toml", ""))
        case "somebody else's file":
            monkeypatch.setattr(settings, "OWNER", os.getuid() + 1)
        case "a file that others can write":
            file.chmod(0o666)
        case "a folder that others can write":
            file.parent.chmod(0o777)
        case "a broken file":
            file.write_text("consent = ", encoding="utf-8")
        case "another word":
            file.write_text("consent = true", encoding="utf-8")
    assert "unattended" != settings.consent()


def test_the_owner_of_the_machine_is_root():
    """
    Tests may be somebody else; the program may not.
    """
    code = "from hookonce.base import settings; print(settings.OWNER, settings.SYSTEM, settings.consent())"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment(HOOKONCE_CONSENT="unattended", HOOKONCE_SYSTEM="/tmp"))
    assert ran.stdout in {b"0 /etc/hookonce None\n", b"0 /etc/hookonce unattended\n"}


@pytest.mark.parametrize(
    ("user", "system", "denied"),
    [("", "", False), ("skip", "", False), ("deny", "", True), ("", "deny", True), ("skip", "deny", True), ("Deny", "", True)],
)
def test_an_untrusted_project_may_be_a_reason_to_refuse(project, home, tmp_path, user, system, denied):
    """
    If the user or the system says so; a stop is never refused for it, which would keep the agent going.
    """
    for folder, word in ((home / ".config/hookonce", user), (tmp_path / "etc", system)):
        put(folder / "config.toml", f'untrusted = "{word}"\n' if word else "").chmod(0o644)
    assert denied == project.denies()
    assert not project.denies(native="Stop")
    assert denied == ("hooks that are not trusted" in project.ask("UserPromptSubmit", prompt="hello").stdout)
    project.trust()
    assert "no" in project.ask().stdout


def test_a_project_sets_nothing_and_a_broken_setting_is_told(project, home):
    """
    Its own configuration file is nobody's, and the user's broken one is in the record.
    """
    put(project.folder / ".hookonce/config.toml", 'untrusted = "deny"\n')
    assert not project.denies()
    put(home / ".config/hookonce/config.toml", "untrusted = \n")
    assert not project.denies()
    assert any("config.toml cannot be read" in note for note in notes())


def test_variables_and_programs_of_a_repository_do_not_reach_our_interpreter(project, home, tmp_path):
    """
    The client starts the interpreter that was installed, and that one looks nowhere by itself.
    """
    installed = client_installed.install_client()
    evil = f"open({str(tmp_path / 'evil-ran')!r}, 'w').close()\n"
    for name in ("sitecustomize.py", "usercustomize.py", "start.py", "hookonce/__init__.py", "json.py", "msgspec.py"):
        put(project.folder / name, evil)
    for name in ("python", "python3", "sh", "cat", Path(sys.executable).name):
        put(project.folder / "bin" / name, f"#!/bin/sh\ntouch '{tmp_path}/evil-ran'\n")
    put(home / ".config/hookonce/hooks.json", manifest(command("echo no >&2; exit 2", blocking=True)))
    payload = {"session_id": "s", "transcript_path": "/home/dev/.claude/x.jsonl", "cwd": str(project.folder), "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    hostile = {
        "PATH": f"{project.folder}/bin:.:",
        "PYTHONPATH": str(project.folder),
        "PYTHONHOME": str(project.folder),
        "PYTHONSTARTUP": str(project.folder / "start.py"),
        "PYTHONUSERBASE": str(project.folder),
        "HOME": str(home),
        "ENV": str(project.folder / "bin/sh"),
    }
    ran = subprocess.run([installed, "claude-code", "PreToolUse"], input=json.dumps(payload).encode(), capture_output=True, check=False, env=hostile, cwd=project.folder)

    assert b'"permissionDecision":"deny"' in ran.stdout, ran
    assert not (tmp_path / "evil-ran").exists()


def lifecycle(*kinds):
    """A stream of OpenHook events."""
    return "".join(
        json.dumps({"openhook": "0.1", "id": f"550e8400-e29b-41d4-a716-44665544000{number}", "source": "codex", "type": kind, "time": "2026-01-01T00:00:00Z", "session_id": "s", "data": {"transcript_path": "/t"} if kind == "session.end" else {}}) + "\n"
        for number, kind in enumerate(kinds)
    )


LEVEL_2 = ["session.start", "prompt.submit", "tool.start", "tool.end", "session.end"]


@pytest.mark.covers("OH-45")
@pytest.mark.parametrize(
    ("kinds", "discovery", "level"),
    [
        (LEVEL_2, {"openhook": "0.1", "hooks": []}, "OpenHook level 3"),
        (LEVEL_2, None, "OpenHook level 2"),
        (LEVEL_2, {"openhook": "0.1"}, "OpenHook level 2"),
        (["session.end"], {"openhook": "0.1", "hooks": []}, "OpenHook level 1"),
        ([], {"openhook": "0.1", "hooks": []}, None),
    ],
)
def test_a_folder_is_discoverable_if_its_events_are_observable_and_its_hooks_can_be_found(home, tmp_path, capsys, kinds, discovery, level):
    """
    Level 3 is level 2 and a discovery file that can be used.
    """
    folder = tmp_path / "f"
    half = len(kinds) // 2
    put(folder / "a.jsonl", lifecycle(*kinds[:half]))
    put(folder / "b.jsonl", lifecycle(*kinds)[len(lifecycle(*kinds[:half])) :])
    put(folder / "package.json", {"name": "other"})
    if discovery:
        put(folder / ".openhook.json", discovery)
    code, out, _ = hookonce(capsys, "check", "--json", folder)
    told = json.loads(out)
    assert ("folder", level) == (told["kind"], told["level"])
    assert (code == 0) == told["ok"] == (discovery is None or "hooks" in discovery)


def test_a_folder_shows_whether_its_hooks_are_trusted(project, unattended, capsys):
    """
    Each file of hooks with its state, and its problems with its name.
    """
    project.observe({"command": "./guard.sh"}, {"command": 1})
    put(project.folder / ".hookonce/policy.json", {"disable_all_hooks": "no", "later": 1})
    code, out, _ = hookonce(capsys, "check", project.folder)
    assert 1 == code
    for line in [
        "problem: .openhook.json: $.hooks[1].command: expected string",
        "problem: .hookonce/policy.json: $.disable_all_hooks: expected true or false",
        "warning: .hookonce/policy.json: $.later: is not a field of a policy",
        "warning: .hookonce/policy.json: $: it can forbid only hooks of this project",
        "warning: .hookonce/hooks.json: it is not trusted, so none of its hooks runs; hookonce trust shows them",
        ".hookonce/hooks.json is not trusted",
        ".openhook.json is not trusted",
    ]:
        assert f"  {line}\n" in out

    (project.folder / ".hookonce/policy.json").unlink()
    project.observe({"command": "./guard.sh"})
    assert 0 == hookonce(capsys, "trust", project.folder)[0]
    code, out, _ = hookonce(capsys, "check", "--json", project.folder)
    assert (0, {".hookonce/hooks.json": "trusted", ".openhook.json": "trusted"}) == (code, json.loads(out)["trust"])
    project.put("guard.sh", "")
    assert {"not trusted"} == set(json.loads(hookonce(capsys, "check", "--json", project.folder)[1])["trust"].values())


def test_a_folder_whose_files_cannot_be_read_is_told(home, tmp_path, capsys):
    """
    Two manifests, a broken one, and one that is no text.
    """
    folder = tmp_path / "f"
    put(folder / ".hookonce/hooks.yaml", "spec: [")
    put(folder / ".openhook.json", b"\xff")
    put(folder / ".hookonce/policy.json", "{")
    put(folder / "events.jsonl", b"\xff\n{")
    code, out, _ = hookonce(capsys, "check", folder)
    assert (1, True, True) == (code, "hooks.yaml: $: the manifest has problems" in out, ".openhook.json: $: invalid UTF-8" in out)
    put(folder / ".hookonce/hooks.json", manifest(command("true")))
    _, out, _ = hookonce(capsys, "check", folder)
    assert 2 == out.count("hooks.json and hooks.yaml; keep one")
