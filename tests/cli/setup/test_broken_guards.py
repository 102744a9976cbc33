"""Guards that are broken: each is told where a person looks, and in the agent if that has a place for it."""


import json

import pytest

from hookonce.__main__ import main
from hookonce.base import paths
from hookonce.dispatch import pause
from hookonce.dispatch.dispatcher import answer_call
from hookonce.dispatch.fast_path import manifest_stamps
from hookonce.dispatch.hook_faults import notice
from tests.cli.command import run
from tests.manifest.projects import Project, command, house, manifest, put

CLAUDE_STYLE = "#!/bin/sh\njq -r .tool_input.command | grep -q rm && exit 2\nexit 0\n"
REFUSES = "#!/bin/sh\necho no >&2\nexit 2\n"
GUARD = {"blocking": True}


def function(**fields):
    """A hook that is a function."""
    return {"event": "before_tool_execute", "handler": {"type": "function", **fields}}


def typed(kind, **fields):
    """A hook with a handler of that type."""
    return {"event": "before_tool_execute", "handler": {"type": kind, **fields}}


# Hooks of the user: the hook, the script beside it with its mode if it has one, and what is said.
HOOKS = {
    "not executable": (command("./mode.sh"), ("mode.sh", "#!/bin/sh\nexit 0\n", 0o644), "is not executable; chmod +x "),
    "written for Claude Code": (command("./claude.sh", **GUARD), ("claude.sh", CLAUDE_STYLE, 0o755), "claude.sh uses tool_input, a word of Claude Code"),
    "a command for Claude Code": (command("jq -e '.tool_input.command'", **GUARD), None, "its command uses tool_input"),
    "answers as for Claude Code": (command("./own.sh", **GUARD), ("own.sh", '#!/bin/sh\necho \'{"hookSpecificOutput": {}}\'\n', 0o755), 'own.sh uses hookSpecificOutput, a word of Claude Code that hookonce\'s own events and answers do not have; give the hook "dialect": "claude-code"'),
    "reads as for Claude Code": (command("./reads.py", **GUARD), ("reads.py", "#!/usr/bin/env python3\nimport json, sys\nif json.load(sys.stdin).get('tool_name') == 'Bash': sys.exit(2)\n", 0o755), 'reads.py uses tool_name, a word of Claude Code that hookonce\'s own events and answers do not have; give the hook "dialect": "claude-code", or that of the agent'),
    "blocks as for Claude Code": (command("./blocks.sh", **GUARD), ("blocks.sh", '#!/bin/sh\necho \'{"decision":"block","reason":"no"}\'\n', 0o755), "blocks.sh uses decision: block, a word of Claude Code"),
    "reads our events and blocks": (command("./mixed.py", **GUARD), ("mixed.py", "#!/usr/bin/env python3\nimport json, sys\nif 'rm' in json.load(sys.stdin)['tool']['input'].get('command', ''): print(json.dumps({'decision': 'block'}))\n", 0o755), 'refuses nothing: mixed.py answers "decision": "block", which means nothing here; answer "decision": "deny"'),
    "written for Copilot": (command("./copilot.sh", **GUARD), ("copilot.sh", "#!/bin/sh\njq -r .toolArgs.command | grep -q rm && exit 1\n", 0o755), 'copilot.sh uses toolArgs, a word of GitHub Copilot CLI that hookonce\'s own events and answers do not have; give the hook "dialect": "copilot-cli"'),
    "exit 2 and not blocking": (command("./exits.sh"), ("exits.sh", REFUSES, 0o755), 'exits with code 2 (exit 2 in exits.sh), but is not blocking; give the hook "blocking": true'),
    "sys.exit(2) and not blocking": (command("./exits.py"), ("exits.py", "#!/usr/bin/env python3\nimport sys\nsys.exit(2)\n", 0o755), "(exit(2) in exits.py)"),
    "a command that exits with 2": (command("grep -q rm && exit 2"), None, "exits with code 2 (exit 2)"),
    "beside the manifest": (command("bare.sh", **GUARD), ("bare.sh", REFUSES, 0o755), "bare.sh is looked for on the PATH only, but is in the folder of the manifest; write ./bare.sh"),
    "Python beside the manifest": (command("python3 beside.py", **GUARD), ("beside.py", "print()\n", 0o644), "beside.py is looked for where the agent was started"),
    "no script": (command("./lost.sh"), None, "lost.sh does not exist"),
    "not executable in the home": (command("$HOME/.config/hookonce/home-mode.sh"), ("home-mode.sh", "#!/bin/sh\nexit 0\n", 0o644), "home-mode.sh is not executable; chmod +x "),
    "for Claude Code in the home": (command('bash "${HOME}/.config/hookonce/home-claude.sh"', **GUARD), ("home-claude.sh", CLAUDE_STYLE, 0o644), "home-claude.sh uses tool_input"),
    "exit 2 in the home": (command("sh ~/.config/hookonce/home-exits.sh"), ("home-exits.sh", REFUSES, 0o644), "(exit 2 in home-exits.sh)"),
    "no script in the home": (command('"$HOME"/lost-home.sh', **GUARD), None, "/home/lost-home.sh does not exist"),
    "no script for Python": (command("python3 ~/lost-home.py", **GUARD), None, "/home/lost-home.py does not exist"),
    "no program": (command("no-such-program --x"), None, "there is no program no-such-program on the path"),
    "a folder": (command("./folder"), ("folder/inside", "", 0o644), "folder is a folder"),
    "no interpreter": (command("./interpreter.sh", **GUARD), ("interpreter.sh", "#!/opt/none/bin/sh\nexit 2\n", 0o755), "names /opt/none/bin/sh, which does not exist"),
    "no interpreter for env": (command("./env.sh", **GUARD), ("env.sh", "#!/usr/bin/env no-such-shell\nexit 2\n", 0o755), "names no-such-shell, which does not exist"),
    "no first line": (command("./plain.py"), ("plain.py", "print()\n", 0o755), "plain.py does not begin with #!/usr/bin/env python3"),
    "line ends of Windows": (command("./windows.sh", **GUARD), ("windows.sh", "#!/bin/sh\r\nexit 2\r\n", 0o755), "windows.sh has Windows line ends"),
    "an empty script": (command("./empty.sh", **GUARD), ("empty.sh", "#!/bin/sh\n# later\n", 0o755), "empty.sh is empty"),
    "Python that is none": (command("./wrong.py"), ("wrong.py", "#!/usr/bin/env python3\ndef f(:\n", 0o755), "wrong.py, line 2: "),
    "an empty matcher": (command("true", matcher=[]), None, "its matcher is empty, so it matches no tool"),
    "a matcher of no tool": (command("true", matcher="Bsh"), None, "no agent has such a tool; did you mean bash?"),
    "a pattern of no tool": (command("true", matcher={"pattern": "^Bassh$"}), None, "which matches no tool of any agent"),
    "an event of no agent": (command("true", event="PreToolUse"), None, "PreToolUse is the name of the event on Claude Code and 9 other agents, so the hook never runs; here it is called before_tool_execute"),
    "nearly an event": (command("true", event="before_tool_execut"), None, "no agent has this event, so the hook never runs (did you mean before_tool_execute?)"),
    "async and blocking": (command("true", handler={"async": True}, **GUARD), None, "the agent does not wait for an async hook"),
    "a dialect of nobody": (command("true", dialect="claude-cod"), None, "there is no dialect claude-cod; correct its name; did you mean claude-code?"),
    "a function in a broken file": (function(file="broken.py"), ("broken.py", "def f(:\n", 0o644), "broken.py, line 1: "),
    "a function that is not there": (function(file="other.py", name="gard"), ("other.py", "def guard(event): ...\n", 0o644), "other.py has no function gard; did you mean guard?"),
    "a file that is not there": (function(file="none.py"), None, "none.py does not exist"),
    "a server that needs a key": (typed("http", url="https://localhost/x", headers={"X-Key": "$NO_SUCH_KEY"}, allowed_env=["NO_SUCH_KEY"]), None, "NO_SUCH_KEY, which is not set"),
    "a module that is not there": (typed("module", file="none.json"), None, "none.json"),
}


# Keys of hooks that run all the same: the key, and what is said of it.
KEYS = {
    "nearly a key": ({"on_failur": "closed"}, "on_failur", "did you mean on_failure?"),
    "a key of the handler": ({"timeout": 2}, "timeout", "write it in the handler (handler.timeout)"),
    "a key of the hook": ({"handler": {"blocking": True}}, "handler.blocking", "write it in the hook, beside handler"),
    "a key of nobody": ({"colour": "red"}, "colour", ""),
}


# What is wrong with all hooks, or shows only when they run: what is said of it, and what has to be made for it.
STATES = {
    "keeps failing": "keeps failing: 3 of its last 3 runs (exit code 7)",
    "keeps timing out": "keeps timing out: 3 of its last 3 runs",
    "forbidden by a policy": "does not run: ",
    "changed since it was trusted": "its present version is not trusted; hookonce trust",
    "observer 1": "its present version is not trusted; hookonce trust",
}


def history():
    """Hooks that run and fail."""
    slow = {"handler": {"timeout": 0.1}}
    return [
        command("exit 7", event="after_tool_execute", name="keeps failing"),
        command("exec sleep 5", event="after_tool_execute", name="keeps timing out", **slow),
        command("true", event="agent_stop", name="forbidden by a policy"),
    ]


def call(native, project, **fields):
    """What Claude Code is answered."""
    payload = {"session_id": "s1", "cwd": str(project), "hook_event_name": native, "transcript_path": "/x"} | fields
    words = ["claude-code", native, "--via", "claude-code/user"]
    return answer_call(words, json.dumps(payload).encode(), {"PATH": "/usr/bin:/bin"}).stdout


def message(project, **fields):
    """What Claude Code shows its user when a session starts."""
    reply = json.loads(call("SessionStart", project, source="startup", **fields) or "{}")
    assert reply.keys() <= {"systemMessage"}
    return reply.get("systemMessage", "")


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What check, doctor, status and Claude Code say in a home with all these hooks."""
    folder = tmp_path_factory.mktemp("guards")
    with pytest.MonkeyPatch.context() as patch:
        home, own = house(patch, folder), folder / "home/.config/hookonce"
        patch.setattr(notice, "_MAX_NAMED_FAULTS", 100)
        hooks = []
        for name, (hook, script, _) in HOOKS.items():
            hooks.append(hook | {"name": name})
            if script is not None:
                put(own / script[0], script[1]).chmod(script[2])
        hooks += [command("true", name=name, **fields) for name, (fields, _, _) in KEYS.items()]
        hooks.append(command("true", name="with keys of its own", **{"x-team": "a", "$comment": "b"}))
        put(own / "hooks.json", manifest(*hooks, *history()))
        put(own / "policy.json", {"event_restrictions": {"agent_stop": "deny"}})
        project = Project(folder / "project", command("./guard.sh", name="changed since it was trusted"))
        project.put("guard.sh", REFUSES.replace("2", "0"))
        project.trust()
        project.put("guard.sh", REFUSES.replace("2", "1"))
        project.observe({"event": "*", "command": "true"})
        where = {"HOME": str(home), "cwd": folder / "project", "PATH": "/usr/bin:/bin"}
        run("install", "claude-code", **where)
        for number in range(3):
            call("PostToolUse", folder, tool_name="Bash", tool_input={}, tool_response={}, tool_use_id=str(number))
        put(home / ".local/share/hookonce/bin/unanswered", "..")
        status = run("status", "claude-code", **where)  # takes up what was recorded
        return {
            "check": run("check", own / "hooks.json", **where).out.splitlines(),
            "doctor": run("doctor", **where).out.splitlines(),
            "status": status.out.splitlines(),
            "agent": [message(folder / "project")],
        }


@pytest.mark.part(2)
@pytest.mark.parametrize("name", HOOKS)
@pytest.mark.parametrize("teller", ["check", "doctor", "status", "agent"])
def test_a_broken_guard_of_the_user_is_told(seen, name, teller):
    """
    By check with the number of the hook, by doctor and status with its name and the next step, in the agent in short.
    """
    places = {"check": f"$.hooks[{list(HOOKS).index(name)}].", "agent": f"{name}: "}
    place, said = places.get(teller, f"the hook '{name}' "), HOOKS[name][2]
    said = said.partition("; ")[0] if teller == "agent" and "(did" not in said else said

    told = [line for line in seen[teller] if place in line and said in line]

    assert 1 == len(told), "\n".join(line for line in seen[teller] if place in line)


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("teller", ["check", "doctor", "status"])
def test_a_key_that_nobody_reads_is_told(seen, name, teller):
    """
    With the one that was probably meant, or where it belongs. Its hook runs, so the agent says nothing of it; a key that
    resembles no other may be a description, of which only `check` speaks.
    """
    _, key, hint = KEYS[name]
    place, said = f"the hook '{name}' ", f"has a key that is ignored: {key}{hint and f'; {hint}'}"
    if teller == "check":
        place, said = f"$.hooks[{len(HOOKS) + list(KEYS).index(name)}].{key}: ", f" has no such key; it is ignored{hint and f'; {hint}'}"

    assert (teller == "check" or bool(hint)) == len([line for line in seen[teller] if place in line and line.endswith(said)]), "\n".join(seen[teller])
    assert name not in seen["agent"][0]
    assert not any("with keys of its own" in line for line in seen[teller])


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("teller", ["doctor", "status", "agent"])
def test_a_guard_that_does_not_run_is_told(seen, name, teller):
    """
    What its words do not show: how it ran, and who has trusted or forbidden it.
    """
    said = STATES[name].partition("; ")[0]

    assert any(name in line and said in line for line in seen[teller]), "\n".join(seen[teller])


@pytest.mark.parametrize("teller", ["doctor", "status", "agent"])
def test_calls_that_nobody_answered_are_told(seen, teller):
    """
    Until the client is put in place again.
    """
    assert any("2 calls of agents were not answered, the last at " in line for line in seen[teller])


def test_nothing_else_is_told_of_them(seen):
    """
    One fault is one line: a script that is not there says nothing about its first line.
    """
    told = [line for line in seen["doctor"] if any(f"the hook '{name}' " in line for name in HOOKS)]

    assert len(HOOKS) == len(told), "\n".join(told)
    assert f"{len(HOOKS) + len(STATES)} of your guards do not protect you: " in seen["agent"][0]


def break_manifest(own):
    put(own / "hooks.json", "{")
    return "hooks.json, line 1, column 2: not valid JSON: Expecting property name enclosed in double quotes. Its last good version is in force, with 1 hook; hookonce check "


def break_first(own):
    (own.parents[1] / ".local/share/hookonce/good").rename(own.parents[1] / "elsewhere")
    break_manifest(own)
    return "None of its hooks runs, because there is no earlier good version; hookonce check "


def add_second(own):
    put(own / "hooks.yaml", "spec: hooks/1.0\n")
    return "is not the only manifest there"


def lose(own):
    (own / "hooks.json").unlink()
    return "hooks.json does not exist any more, so its 1 hook cannot run"


def lock(own):
    (own / "hooks.json").unlink()
    (own / "hooks.json").mkdir()
    return "cannot be read: "


def pause_all(_):
    pause.pause(600)
    return "until "


@pytest.mark.part(2)
@pytest.mark.parametrize("harm", [break_manifest, break_first, add_second, lose, lock, pause_all], ids=lambda one: one.__name__)
def test_what_holds_up_all_hooks_is_told(tmp_path, monkeypatch, capsys, harm):
    """
    With what is in force instead, by doctor, by status and in the agent.
    """
    own = house(monkeypatch, tmp_path) / ".config/hookonce"
    monkeypatch.setattr(manifest_stamps, "_SETTLE_NS", 0)
    monkeypatch.chdir(tmp_path)
    put(own / "hooks.json", manifest(command("true", name="guard")))
    put(paths.client_path(), "#!/bin/sh\n")
    calm = message(tmp_path)
    said = harm(own)

    assert "" == calm
    assert said in message(tmp_path, session_id="s2")
    for teller in ("doctor", "status"):
        main([teller, "claude-code"])
        assert said in " ".join(capsys.readouterr().out.split())


def test_what_a_broken_manifest_with_a_closed_guard_refuses_is_told(tmp_path, monkeypatch, capsys):
    own = house(monkeypatch, tmp_path) / ".config/hookonce"
    monkeypatch.setattr(manifest_stamps, "_SETTLE_NS", 0)
    monkeypatch.chdir(tmp_path)
    put(own / "hooks.json", manifest(command("true", name="guard", blocking=True, on_failure="closed")))
    put(paths.client_path(), "#!/bin/sh\n")
    message(tmp_path)
    break_manifest(own)
    main(["doctor", "claude-code"])

    said = "with 1 hook, and what a closed hook of it judges is refused until the file can be read; hookonce check "
    assert said in " ".join(capsys.readouterr().out.split())


def test_a_closed_guard_that_is_gone_is_told(tmp_path, monkeypatch, capsys):
    """
    Of a project in which somebody has agreed to it: calls are refused there, and its user hears why.
    """
    house(monkeypatch, tmp_path)
    project = Project(tmp_path / "project", command("true", name="guard", blocking=True, on_failure="closed"))
    project.trust()
    (project.folder / ".hookonce/hooks.json").unlink()

    assert "does not exist any more" in message(project.folder)
    monkeypatch.chdir(project.folder)
    main(["doctor", "claude-code"])
    assert "does not exist any more" in capsys.readouterr().out


def test_a_guard_that_failed_once_is_told_by_doctor_and_status_alone(tmp_path, monkeypatch, capsys):
    """
    What it judged was let through; in the agent it is told when it keeps failing.
    """
    own = house(monkeypatch, tmp_path) / ".config/hookonce"
    monkeypatch.chdir(tmp_path)
    put(own / "hooks.json", manifest(command("exit 7", name="guard", blocking=True)))
    call("PreToolUse", tmp_path, tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t")

    for teller in ("doctor", "status"):
        main([teller, "claude-code"])
        said = "the hook 'guard' failed in its last run (exit code 7), so what it judges was let through; hookonce why"
        assert said in " ".join(capsys.readouterr().out.split())
    assert "" == message(tmp_path)


def test_a_guard_that_cannot_run_is_told_once_though_it_failed_too(tmp_path, monkeypatch, capsys):
    own = house(monkeypatch, tmp_path) / ".config/hookonce"
    monkeypatch.chdir(tmp_path)
    put(own / "guard.sh", REFUSES).chmod(0o644)
    put(own / "hooks.json", manifest(command("./guard.sh", name="guard", blocking=True)))
    call("PreToolUse", tmp_path, tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t")

    main(["doctor", "claude-code"])
    told = capsys.readouterr().out

    assert "is not executable" in told
    assert "failed in its last run" not in told


@pytest.mark.parametrize(("closed", "effect"), [(True, "refused"), (False, "let through")])
def test_the_agent_shows_what_becomes_of_calls_meanwhile(tmp_path, monkeypatch, closed, effect):
    """
    A guard that cannot run refuses if it is closed; one that answers nothing refuses nothing even then.
    """
    own = house(monkeypatch, tmp_path) / ".config/hookonce"
    fields = {"blocking": True} | ({"on_failure": "closed"} if closed else {})
    put(own / "empty.sh", "#!/bin/sh\n").chmod(0o755)
    put(own / "hooks.json", manifest(command("./lost.sh", name="lost", **fields), command("./empty.sh", name="empty", **fields)))

    assert (
        f"2 of your guards do not protect you: lost: cannot run: {own}/lost.sh does not exist, so what it judges is {effect}; "
        f"empty: refuses nothing: {own}/empty.sh is empty, so what it judges is let through. Next"
    ) in message(tmp_path)
