"""Hooks with fewer privileges: what they have left, who may ask for it, and what is said where it cannot be had."""

import json
import os
import sys

import pytest

from hookonce.base import paths, settings
from hookonce.handlers.command import ProcessContext
from hookonce.handlers.supervise import limits
from hookonce.store.spool import files
from tests.cli.command import PAYLOAD, lines
from tests.cli.command import run as command
from tests.handlers.processes import eventually, run_command

SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs")
SHOW = f"grep -E '^({'|'.join(SETS)}):' /proc/self/status"
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can take privileges away")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home and a system that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(settings, "SYSTEM", tmp_path / "etc")
    return tmp_path


def told(text):
    """The sets that a process has shown, as numbers."""
    return {name: int(value, 16) for name, value in (line.split(":") for line in text.splitlines())}


def has(*, reduced):
    """What a hook has."""
    ran = run_command(SHOW, b"", ProcessContext(cwd="/", env={"PATH": os.environ["PATH"]}, drops_privileges=reduced), 10)
    assert 0 == ran.code, ran
    return told(ran.stdout.decode())


def configure(folder, text):
    """One of the two files that may say it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(text, encoding="utf-8")


@linux
@pytest.mark.covers("HIF-107")
def test_a_hook_has_no_capability_left_and_can_gain_none():
    """
    Shown by the process itself; and ours stay as they were.
    """
    before = has(reduced=False)

    reduced = has(reduced=True)

    assert 1 == reduced["NoNewPrivs"]
    if limits.describe_unremovable() is None and os.geteuid() == 0:
        assert [0] * 5 == [reduced[name] for name in SETS[:-1]]
    assert before == has(reduced=False)


@linux
@pytest.mark.covers("HIF-107")
@pytest.mark.parametrize("background", [False, True])
def test_the_setting_reaches_every_hook_of_a_call(home, background):
    """
    Through the real command, also for one that nobody waits for; no gap where the system could do it.
    """
    configure(paths.config_dir(), 'privileges = "reduced"\n')
    handler = {"type": "command", "command": f"{SHOW} > {home}/part; mv {home}/part {home}/shown", "async": background}
    (paths.config_dir() / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [{"event": "before_tool_execute", "handler": handler}]}))

    assert 0 == command("on", "claude-code", "PreToolUse", given=lines(PAYLOAD), HOME=str(home)).code

    assert eventually((home / "shown").exists)
    assert 1 == told((home / "shown").read_text())["NoNewPrivs"]
    (record,) = files.load_records()
    assert (limits.describe_unremovable() is not None) == any(gap.capability == "privileges" for gap in record.gaps)


@pytest.mark.covers("HIF-107")
@pytest.mark.parametrize(
    ("user", "system", "expected"),
    [
        (None, None, "all"),
        ('privileges = "all"', None, "all"),
        ('privileges = "reduced"', None, "reduced"),
        (None, 'privileges = "reduced"', "reduced"),
        ('privileges = "all"', 'privileges = "reduced"', "reduced"),
        ('privileges = "reduced"', 'privileges = "all"', "reduced"),
        ('privileges = "redcued"', None, "reduced"),
        ("privileges = ", None, "reduced"),
        ("privileges = ", 'privileges = "reduced"', "reduced"),
    ],
)
def test_one_who_wants_fewer_is_enough(home, user, system, expected):
    """
    The user cannot loosen what the system says, nor the other way round; and nothing is loosened by a slip of the pen.
    """
    for folder, text in ((paths.config_dir(), user), (home / "etc", system)):
        if text is not None:
            configure(folder, text)
    assert expected == settings.load().privileges


@pytest.mark.parametrize(
    ("system", "sets", "expected"),
    [
        ("darwin", {}, "all of them: darwin has no way to take them away"),
        ("linux", {"CapEff": 0, "CapBnd": 1}, "root's capabilities: this process may not drop any"),
        ("linux", {"CapEff": 0, "CapBnd": 0}, None),
        ("linux", {"CapEff": 1 << 8, "CapBnd": 1 << 8}, None),
    ],
)
def test_what_a_system_cannot_take_away_is_told(monkeypatch, system, sets, expected):
    """
    Another system, or a root who was left without the right to give up rights.
    """
    monkeypatch.setattr(limits, "platform", system)
    monkeypatch.setattr(limits.os, "geteuid", lambda: 0)
    monkeypatch.setattr(limits, "_capabilities", lambda name="CapEff": sets[name])
    assert expected == limits.describe_unremovable()


def test_a_hook_that_keeps_its_privileges_runs_and_the_record_says_so(home, monkeypatch):
    """
    Never silently: what was asked for and could not be had is a gap.
    """
    from hookonce.dispatch import dispatcher

    monkeypatch.setattr(limits, "platform", "darwin")
    configure(paths.config_dir(), 'privileges = "reduced"\n')
    hook = {"name": "guard", "event": "before_tool_execute", "handler": {"type": "command", "command": f"touch {home}/ran"}}
    (paths.config_dir() / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [hook]}))

    dispatcher.answer_call(["claude-code", "PreToolUse"], lines(PAYLOAD), {"PATH": os.environ["PATH"]})

    assert (home / "ran").exists()
    (record,) = files.load_records()
    assert ["guard keeps privileges, all of them: darwin has no way to take them away"] == [gap.note for gap in record.gaps if gap.capability == "privileges"]


@linux
def test_one_that_cannot_be_reduced_after_all_does_not_start(monkeypatch):
    """
    Whoever wants fewer privileges would rather have no hook.
    """
    monkeypatch.setattr(limits, "_PR_SET_NO_NEW_PRIVS", -1)
    ran = run_command("true", b"", ProcessContext(cwd="/", env={}, drops_privileges=True), 10)
    assert (None, True) == (ran.code, "privileges cannot be reduced" in ran.failure)
