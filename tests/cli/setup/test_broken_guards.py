"""Guards that are broken: each is told where a person looks, and in the agent if that has a place for it."""


import pytest

from tests.cli.command import run
from tests.manifest.projects import command, manifest, put

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
    "written for Claude Code": (command("./claude.sh", **GUARD), ("claude.sh", CLAUDE_STYLE, 0o755), "claude.sh uses tool_input, as hooks for Claude Code do"),
    "a command for Claude Code": (command("jq -e '.tool_input.command'", **GUARD), None, "its command uses tool_input"),
    "answers as for Claude Code": (command("./own.sh", **GUARD), ("own.sh", '#!/bin/sh\necho \'{"hookSpecificOutput": {}}\'\n', 0o755), 'give the hook "dialect": "claude-code"'),
    "exit 2 and not blocking": (command("./exits.sh"), ("exits.sh", REFUSES, 0o755), 'exit code 2 (exit 2 in exits.sh), and is not blocking; give the hook "blocking": true'),
    "sys.exit(2) and not blocking": (command("./exits.py"), ("exits.py", "#!/usr/bin/env python3\nimport sys\nsys.exit(2)\n", 0o755), "(exit(2) in exits.py)"),
    "a command that exits with 2": (command("grep -q rm && exit 2"), None, "exit code 2 (exit 2)"),
    "beside the manifest": (command("bare.sh", **GUARD), ("bare.sh", REFUSES, 0o755), "bare.sh is looked for on the PATH only, and lies beside the manifest; write ./bare.sh"),
    "Python beside the manifest": (command("python3 beside.py", **GUARD), ("beside.py", "print()\n", 0o644), "beside.py is looked for where the agent was started"),
    "no script": (command("./lost.sh"), None, "lost.sh does not exist"),
    "no program": (command("no-such-program --x"), None, "there is no program no-such-program on the path"),
    "a folder": (command("./folder"), ("folder/inside", "", 0o644), "folder is a folder"),
    "no interpreter": (command("./interpreter.sh", **GUARD), ("interpreter.sh", "#!/opt/none/bin/sh\nexit 2\n", 0o755), "names /opt/none/bin/sh, which is not there"),
    "no interpreter for env": (command("./env.sh", **GUARD), ("env.sh", "#!/usr/bin/env no-such-shell\nexit 2\n", 0o755), "names no-such-shell, which is not there"),
    "no first line": (command("./plain.py"), ("plain.py", "print()\n", 0o755), "plain.py does not begin with #!/usr/bin/env python3"),
    "line ends of Windows": (command("./windows.sh", **GUARD), ("windows.sh", "#!/bin/sh\r\nexit 2\r\n", 0o755), "windows.sh end as on Windows"),
    "an empty script": (command("./empty.sh", **GUARD), ("empty.sh", "#!/bin/sh\n# later\n", 0o755), "empty.sh has nothing in it"),
    "Python that is none": (command("./wrong.py"), ("wrong.py", "#!/usr/bin/env python3\ndef f(:\n", 0o755), "wrong.py, line 2: "),
    "an empty matcher": (command("true", matcher=[]), None, "its matcher is empty, and fits no tool"),
    "a matcher of no tool": (command("true", matcher="Bsh"), None, "no agent has such a tool; did you mean bash?"),
    "a pattern of no tool": (command("true", matcher={"pattern": "^Bassh$"}), None, "which fits no tool of any agent"),
    "an event of no agent": (command("true", event="PreToolUse"), None, "no agent calls this event; the hook never runs (did you mean before_tool_execute?)"),
    "async and blocking": (command("true", handler={"async": True}, **GUARD), None, "nobody waits for an async hook"),
    "a dialect of nobody": (command("true", dialect="claude-cod"), None, "there is no dialect claude-cod; correct its name; did you mean claude-code?"),
    "a function in a broken file": (function(file="broken.py"), ("broken.py", "def f(:\n", 0o644), "broken.py, line 1: "),
    "a function that is not there": (function(file="other.py", name="gard"), ("other.py", "def guard(event): ...\n", 0o644), "other.py has no function gard; did you mean guard?"),
    "a file that is not there": (function(file="none.py"), None, "none.py does not exist"),
    "a server that needs a key": (typed("http", url="https://localhost/x", headers={"X-Key": "$NO_SUCH_KEY"}, allowed_env=["NO_SUCH_KEY"]), None, "NO_SUCH_KEY, which is not set"),
    "a module that is not there": (typed("module", file="none.json"), None, "none.json"),
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What check, doctor and status say of a home with all these hooks."""
    folder = tmp_path_factory.mktemp("guards")
    home, own = folder / "home", folder / "home/.config/hookonce"
    hooks = []
    for name, (hook, script, _) in HOOKS.items():
        hooks.append(hook | {"name": name})
        if script is not None:
            put(own / script[0], script[1]).chmod(script[2])
    put(own / "hooks.json", manifest(*hooks))
    (folder / "empty").mkdir()
    where = {"HOME": str(home), "cwd": folder / "empty"}
    run("install", "claude-code", **where)
    return {
        "check": run("check", own / "hooks.json", **where).out.splitlines(),
        "doctor": run("doctor", **where).out.splitlines(),
        "status": run("status", "claude-code", **where).out.splitlines(),
    }


@pytest.mark.parametrize("name", HOOKS)
@pytest.mark.parametrize("teller", ["check", "doctor", "status"])
def test_a_broken_guard_of_the_user_is_told(seen, name, teller):
    """
    By check with the number of the hook, by doctor and status with its name.
    """
    place = f"$.hooks[{list(HOOKS).index(name)}]." if teller == "check" else f"the hook '{name}' "

    told = [line for line in seen[teller] if place in line and HOOKS[name][2] in line]

    assert 1 == len(told), "\n".join(line for line in seen[teller] if place in line)


def test_nothing_else_is_told_of_them(seen):
    """
    One fault is one line: a script that is not there says nothing about its first line.
    """
    told = [line for line in seen["doctor"] if "the hook '" in line and "is vouched for" not in line]

    assert len(HOOKS) == len(told), "\n".join(told)
