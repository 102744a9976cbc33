"""hookonce prove, without any agent that is real: what it is told, what it finds, and what it leaves behind."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hookonce.__main__ import main
from hookonce.lab import drivers
from tests.cli.command import environment
from tests.handlers.processes import eventually, running, word
from tests.lab.fetch.test_programs import fetched, fetched_node, program

_LONG = 30  # seconds that nothing takes, however busy the machine is


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine without any agent, and an empty cache."""
    for name in ("XDG_CACHE_HOME", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOOKONCE_AGENTS", str(tmp_path / "agents"))
    (tmp_path / "bin").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def prove(machine, capsys):
    """`hookonce prove` with these words: its exit code, and what it said."""

    def prove(*words):
        code = main(["prove", *map(str, words)])
        return code, *capsys.readouterr()

    return prove


def codex(machine, *lines):
    """A program that says that it is Codex."""
    return program(machine / "bin/codex", *(lines or ("echo codex-cli 1.2.3",)))


# Usage


@pytest.mark.parametrize(
    ("name", "meant"), [("denid", "denied"), ("deny:shel", "deny:shell"), ("fires:PreToolUs", "fires:PreToolUse")]
)
def test_a_claim_that_nobody_knows_is_told_with_what_was_meant(machine, prove, name, meant):
    codex(machine)

    code, out, err = prove("codex", "--only", name, "--dry-run")

    assert (64, "") == (code, out)
    assert f"no claim or experiment is called {name!r}" in err
    assert meant in err


def test_where_nothing_is_meant_it_is_told_where_to_look(machine, prove):
    codex(machine)

    code, _, err = prove("--only", "xyzzyxyzzy")

    assert 64 == code
    assert "--dry-run --json" in err


def test_a_part_of_a_certificate_is_not_kept(machine, prove):
    codex(machine)

    code, out, err = prove("codex", "--only", "denied", "--out", machine / "kept")

    assert (64, "") == (code, out)
    assert "--out writes whole certificates" in err
    assert not (machine / "kept").exists()


@pytest.mark.parametrize("names", [(), ("codex", "cline")])
def test_a_version_belongs_to_one_agent(machine, prove, names):
    codex(machine)

    code, _, err = prove(*names, "--version", "1.2.3")

    assert 64 == code
    assert "hookonce prove AGENT --version V" in err


@pytest.mark.parametrize("tries", ["0", "21", "-1", "1.5", "many", "", "٣"])
def test_tries_are_a_number_that_somebody_can_wait_for(machine, prove, capsys, tries):
    with pytest.raises(SystemExit) as ended:
        prove(f"--tries={tries}")

    assert 64 == ended.value.code
    assert "a number from 1 to 20 is needed" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "told"), [("codx", "codex"), ("kiro", "the lab cannot run 'kiro'")])
def test_an_agent_that_the_lab_cannot_run_is_named(machine, prove, name, told):
    """
    Also one that hookonce knows, but for which there is no driver.
    """
    code, out, err = prove(name, "--dry-run", "--json")

    assert code in (1, 64)
    assert "" == out
    assert told in err


# What is found


@pytest.mark.parametrize("words", [(), ("--dry-run",), ("--json",), ("--pinned",), ("--dry-run", "--json", "--pinned")])
def test_where_no_agent_is_the_next_step_is_told(prove, words):
    code, out, err = prove(*words)

    assert (1, "") == (code, out)
    assert "no agent was found" in err
    assert "hookonce lab fetch" in err


@pytest.mark.parametrize(
    ("words", "step"),
    [
        (("codex",), "hookonce lab fetch codex"),
        (("codex", "--pinned"), "hookonce lab fetch codex"),
        (("codex", "--version", "9.9.9"), "hookonce lab fetch codex --version 9.9.9"),
        (("gemini",), "hookonce lab fetch gemini-cli"),
    ],
)
def test_a_named_agent_that_is_missing_is_told_with_the_next_step(prove, words, step):
    code, out, err = prove(*words)

    assert 1 == code
    assert "is neither on this machine nor downloaded" in err
    assert step in err
    assert "" == out.strip()


def test_one_missing_agent_does_not_hide_the_others(machine, prove):
    codex(machine)

    code, out, err = prove("codex", "cline", "--dry-run", "--json")

    assert 1 == code
    assert ["codex"] == [json.loads(line)["agent"] for line in out.splitlines()]
    assert "hookonce lab fetch cline" in err


def test_pinned_names_what_was_not_fetched(machine, prove):
    codex(machine)
    fetched("codex")

    code, out, err = prove("--pinned", "--dry-run", "--json")

    (told,) = [json.loads(line) for line in out.splitlines()]
    assert (0, "codex", "cache", drivers.load_driver("codex").version) == (code, told["agent"], told["origin"], told["version"])
    left = [name for name in drivers.DRIVER_MODULES if f"{name} is not downloaded, and is left out" in err]
    assert [name for name in drivers.DRIVER_MODULES if name != "codex"] == left
    assert all(f"hookonce lab fetch {name}" in err for name in left)


def test_an_agent_without_a_node_is_told_and_not_run(machine, prove):
    fetched("gemini-cli")

    code, out, err = prove("gemini-cli", "--dry-run", "--json")

    assert (1, "") == (code, out)
    assert "gemini-cli needs Node.js" in err


# What would be tried


def test_a_plan_tells_all_claims_and_runs_nothing(machine, prove):
    codex(machine, f'[ "$1" = --version ] || /bin/touch {machine}/ran', "echo codex-cli 1.2.3")
    fetched("gemini-cli")
    fetched_node()

    code, out, err = prove("--dry-run", "--json")

    plans = {one["agent"]: one for one in map(json.loads, out.splitlines())}
    assert (0, "") == (code, err)
    assert {"codex": ("1.2.3", "machine"), "gemini-cli": (drivers.load_driver("gemini-cli").version, "cache")} == {
        name: (one["version"], one["origin"]) for name, one in plans.items()
    }
    assert {"transparent", "deny:shell", "fires:PreToolUse", "closed:crash"} <= set(plans["codex"]["claims"])
    assert {"fires:BeforeTool"} <= set(plans["gemini-cli"]["claims"])
    assert not (machine / "ran").exists()


@pytest.mark.parametrize(
    ("only", "claims"),
    [
        (["ask"], ["ask"]),
        (["asked"], ["ask"]),
        (["prompt", "deny:mcp"], ["deny:mcp", "prompt"]),
    ],
)
def test_a_plan_of_some_claims_tells_those(machine, prove, only, claims):
    codex(machine)

    code, out, _ = prove("codex", "--dry-run", "--json", *(word for name in only for word in ("--only", name)))

    assert (0, claims) == (code, json.loads(out)["claims"])


def test_an_installation_that_is_not_there_cannot_be_tried(machine, prove):
    """
    Nothing that holds is nothing that was shown.
    """
    codex(machine)

    code, _, err = prove("codex", "--only", "here", "--json")

    assert 1 == code
    assert "hookonce install codex" in err


def test_a_plan_for_people_is_a_table(machine, prove):
    made = codex(machine)

    code, out, err = prove("--dry-run")

    assert (0, "") == (code, err)
    assert "codex" in out
    assert "1.2.3" in out
    assert made.name in out


def test_a_plan_writes_nothing(machine, prove):
    codex(machine)
    before = sorted(machine.rglob("*"))

    prove("--dry-run", "--out", machine / "kept")

    assert before == sorted(machine.rglob("*"))


# An end before the end


def started(machine, *words):
    """`hookonce prove` in a process of its own, whose temporary folders are to be seen."""
    (machine / "tmp").mkdir()
    world = environment(
        HOME=str(machine),
        PATH=f"{machine / 'bin'}:/usr/bin:/bin",
        HOOKONCE_AGENTS=str(machine / "agents"),
        TMPDIR=str(machine / "tmp"),
    )
    return subprocess.Popen(
        [sys.executable, "-m", "hookonce", "prove", "codex", *words],
        env=world,
        cwd=machine,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def is_gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda one: one.name)
def test_whoever_ends_us_ends_the_agent_and_finds_nothing_left(machine, number):
    """
    The agent, what it has started in a session of its own, and the folders of the run.
    """
    note, once = machine / "pid", word()
    codex(
        machine,
        '[ "$1" = --version ] && echo codex-cli 1.2.3 && exit',
        f"setsid sleep {once} &",
        f"echo $$ > {note}.new && mv {note}.new {note}",
        f"exec sleep {once}",
    )
    ours = started(machine, "--only", "transparent")
    try:
        assert eventually(lambda: note.exists() and len(running(once)) == 2, _LONG), ours.communicate(timeout=1)
        agent = int(note.read_text(encoding="utf-8"))
        assert list((machine / "tmp").glob("hookonce-lab-*"))

        ours.send_signal(number)
        out, err = ours.communicate(timeout=_LONG)
    finally:
        if ours.poll() is None:
            ours.kill()
            ours.communicate()
        for pid in running(once):
            os.kill(pid, signal.SIGKILL)

    assert 130 == ours.returncode, err
    assert b"" == out
    assert b"Traceback" not in err
    assert eventually(lambda: is_gone(agent), _LONG)  # what is killed may take a moment to end
    assert [] == list((machine / "tmp").iterdir())


def test_whoever_is_impatient_finds_nothing_left_either(machine):
    """
    A second signal while a process that does not listen is waited for.
    """
    note, once = machine / "pid", word()
    stubborn = program(machine / "stubborn", "trap '' TERM", f"echo > {note}", f"while :; do sleep {once}; done")
    codex(machine, '[ "$1" = --version ] && echo codex-cli 1.2.3 && exit', f"setsid {stubborn} &", f"exec sleep {once}")
    ours = started(machine, "--only", "transparent")
    try:
        assert eventually(lambda: note.exists() and len(running(once)) == 2, _LONG), ours.communicate(timeout=1)
        agent = [pid for pid in running(once) if _parent(pid) == ours.pid]
        ours.send_signal(signal.SIGTERM)
        assert eventually(lambda: all(map(is_gone, agent)), _LONG)
        ours.send_signal(signal.SIGTERM)
        ours.communicate(timeout=_LONG)
        left = running(str(stubborn))
    finally:
        if ours.poll() is None:
            ours.kill()
            ours.communicate()
        for pid in [*running(str(stubborn)), *running(once)]:
            os.kill(pid, signal.SIGKILL)

    assert ([], []) == (left, list((machine / "tmp").iterdir()))


def _parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
