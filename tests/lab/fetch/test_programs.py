"""The program that the lab runs: the user's own or a pinned one, never half of one."""

import os
from pathlib import Path
from time import sleep

import pytest

from hookonce.configure import version_probe
from hookonce.errors import UnknownName
from hookonce.lab import drivers
from hookonce.lab.fetch import pins, programs
from hookonce.lab.fetch.npm import Unavailable

REAL = programs.cache_folder()  # before any test has a home of its own


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine without any program but the shell's, and an empty cache."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOOKONCE_AGENTS", str(tmp_path / "agents"))
    (tmp_path / "bin").mkdir()
    return tmp_path


def program(path, *lines, reader="/bin/sh"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([f"#!{reader}", *lines, ""]), encoding="utf-8")
    path.chmod(0o755)
    return path


def fetched(name, version=None, *, marked=True):
    """A version in the cache, as fetch would leave it."""
    driver = drivers.load_driver(name)
    version = version or driver.version
    place = programs.version_folder(name, version)
    made = program(place / "node_modules" / driver.program.format(platform=programs.npm_platform()).replace("*", "here"))
    if marked:
        (place / programs.MARKER).write_text(programs.marker_text(name, version), encoding="utf-8")
    return made


def fetched_node():
    name, version = pins.NODE
    package = pins.resolve_packages(pins.PINS[pins.NODE].packages, programs.npm_platform())[0].name
    made = program(programs.version_folder(name, version) / "node_modules" / package / "bin/node")
    (programs.version_folder(name, version) / programs.MARKER).write_text(programs.marker_text(name, version), encoding="utf-8")
    return made


def test_nothing_is_found_where_nothing_is(machine):
    assert programs.find_program("codex") is None


def test_the_users_own_program_comes_first(machine):
    own, cached = program(machine / "bin/codex", "echo codex-cli 1.2.3"), fetched("codex")

    first = programs.find_program("codex")

    assert ("codex", "1.2.3", own, None, "machine") == (
        first.agent,
        first.version,
        first.program,
        first.node,
        first.origin,
    )
    assert cached != first.program


@pytest.mark.parametrize("wanted", [{"use_pinned": True}, {"version": "0.166.0"}])
def test_a_version_that_is_asked_for_comes_from_the_cache_alone(machine, wanted):
    program(machine / "bin/codex", "echo codex-cli 0.166.0")
    assert programs.find_program("codex", **wanted) is None

    made = fetched("codex")

    one = programs.find_program("codex", **wanted)
    assert (made, "0.166.0", "cache") == (one.program, one.version, one.origin)


def test_another_version_lies_beside_the_pinned_one(machine):
    made = fetched("claude-code", "2.1.197")

    assert made == programs.find_program("claude", "2.1.197").program
    assert programs.find_program("claude-code", use_pinned=True) is None


def test_what_has_no_mark_or_another_one_was_not_fetched(machine):
    fetched("codex", marked=False)
    assert programs.find_program("codex") is None

    (programs.version_folder("codex", "0.166.0") / programs.MARKER).write_text("@openai/codex@0.166.0 sha512-AAAA\n", encoding="utf-8")

    assert programs.find_program("codex") is None


def test_a_mark_without_its_program_counts_for_nothing(machine):
    fetched("codex").unlink()

    assert programs.find_program("codex") is None


@pytest.mark.parametrize("says", ["echo unknown", "exit 1", "echo 1.2", "exec /nowhere/at/all"])
def test_a_program_that_does_not_tell_its_version_is_passed_over(machine, says):
    program(machine / "bin/codex", says)
    made = fetched("codex")

    assert made == programs.find_program("codex").program


def test_a_program_is_asked_in_a_clean_world(machine, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    note = machine / "note"
    program(machine / "bin/codex", f'echo "$HOME|$PWD|$OPENAI_API_KEY" > {note}', "touch left; echo 1.2.3")

    assert "1.2.3" == programs.find_program("codex").version

    home, folder, key = note.read_text(encoding="utf-8").strip().split("|")
    assert home == folder
    assert str(machine) != home
    assert "" == key
    assert not Path(home).exists()


def test_a_program_that_says_nothing_in_time_is_ended_with_all_that_it_started(machine, monkeypatch):
    note = machine / "note"
    own = program(machine / "bin/codex", f"/bin/sleep 60 & echo $! > {note}.new; /bin/mv {note}.new {note}", "wait")

    def impatient(*_):
        """Time is up as soon as the program has started another."""
        while not note.exists():
            sleep(0.01)
        return [], [], []

    monkeypatch.setattr(version_probe, "select", impatient)

    assert version_probe.probe_version(str(own)) is None

    assert not _runs(int(note.read_text(encoding="utf-8")))


def _runs(pid):
    """Whether a process runs; one that nobody has buried yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_users_own_node_runs_the_agent_if_it_is_new_enough(machine):
    own = program(machine / "bin/node", "echo v22.1.0")
    fetched("gemini-cli")
    fetched_node()

    assert own == programs.find_program("gemini-cli").node


def test_else_the_fetched_node_does(machine):
    program(machine / "bin/node", "echo v18.20.0")
    fetched("gemini-cli")
    made = fetched_node()

    assert made == programs.find_program("gemini-cli").node


def test_without_a_node_it_is_said_what_to_do(machine):
    fetched("gemini-cli")

    with pytest.raises(Unavailable, match=r"gemini-cli needs Node\.js 20 or newer: hookonce lab fetch gemini-cli"):
        programs.find_program("gemini-cli")


@pytest.mark.parametrize(
    ("reader", "needs"), [("/usr/bin/env -S node --no-warnings", True), ("/usr/bin/env node", True), ("/bin/sh", False)]
)
def test_the_users_own_program_is_run_by_node_only_if_it_is_a_script_for_it(machine, monkeypatch, reader, needs):
    own = program(machine / "bin/node", "echo v22.1.0")
    program(machine / "bin/gemini", "echo 0.61.0", reader=reader)
    monkeypatch.setenv("PATH", f"{machine / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")

    one = programs.find_on_machine(drivers.load_driver("gemini-cli"))

    assert (own if needs else None) == one.node


def test_the_cache_is_where_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("HOOKONCE_AGENTS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert tmp_path / ".cache/hookonce/agents" == programs.cache_folder()

    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert tmp_path / ".cache/hookonce/agents" == programs.cache_folder()

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert tmp_path / "caches/hookonce/agents" == programs.cache_folder()

    monkeypatch.setenv("HOOKONCE_AGENTS", str(tmp_path / "mine"))
    assert tmp_path / "mine" == programs.cache_folder()


def test_an_agent_without_a_driver_is_unknown(machine):
    with pytest.raises(UnknownName, match="the lab cannot run 'kiro'"):
        programs.find_program("kiro")


@pytest.mark.integration
@pytest.mark.parametrize("name", list(drivers.DRIVER_MODULES))
def test_a_fetched_agent_tells_the_pinned_version(name, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HOOKONCE_AGENTS", str(REAL))
    one = programs.find_program(name, use_pinned=True)
    if one is None:
        pytest.skip(f"{name} was not fetched here")

    script = program(tmp_path / "agent", f'exec {one.node or ""} "{one.program}" "$@"')
    assert one.version == version_probe.probe_version(str(script))
