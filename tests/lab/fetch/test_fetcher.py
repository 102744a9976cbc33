"""Agents come into the cache whole and as pinned, or not at all."""

import base64
import fcntl
import json
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from hookonce.errors import UnknownName, UsageError
from hookonce.lab import drivers
from hookonce.lab.fetch import fetcher, npm, pins, programs
from tests.cli.command import environment, run

CODEX = ("codex", "0.166.0")
OPENCODE = ("opencode", "1.18.33")
REAL = programs.cache_folder()  # before any test has a home of its own


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and on the path a stand-in for npm and nothing else of ours."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    script = bin_folder / "npm"
    script.write_text(f"#!{sys.executable}\n" + Path(__file__).with_name("npm_double.py").read_text(encoding="utf-8"))
    script.chmod(0o755)
    names = {"PATH": bin_folder, "HOME": tmp_path, "HOOKONCE_AGENTS": tmp_path / "agents", "NPM_DOUBLE_LOG": tmp_path / "npm.log"}
    for name, value in names.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setattr(programs, "npm_platform", lambda: pins.CHECKSUM_PLATFORM)
    return tmp_path / "agents"


def asked(cache):
    """How often npm was run."""
    log = cache.parent / "npm.log"
    return len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0


def unfinished(cache):
    return [path.name for path in cache.iterdir() if path.name.startswith(".fetching-")]


def test_what_is_fetched_lies_where_it_is_looked_for_and_is_told_before_and_after(cache):
    told = []

    fetcher.fetch_agents(["codex"], [], told.append)

    assert (cache / "codex/0.166.0/node_modules/@openai/codex-linux-x64/package.json").is_file()
    assert programs.is_complete(*CODEX)
    assert "codex 0.166.0: fetching about 436 MB from npm" == told[0]
    assert told[1].startswith("codex 0.166.0: fetched in ")
    assert [] == unfinished(cache)


def test_npm_runs_no_scripts_and_is_given_every_version_and_checksum(cache, monkeypatch):
    given = {}

    def note(words, folder, _what):
        given.update(words=words, lock=json.loads((folder / "package-lock.json").read_text(encoding="utf-8")))
        raise npm.Unavailable("seen")

    monkeypatch.setattr(npm, "_run_npm", note)
    with pytest.raises(fetcher.Unavailable, match="seen"):
        fetcher.fetch_agents(["codex"])

    row = given["lock"]["packages"]["node_modules/@openai/codex-linux-x64"]
    integrity = next(iter(pins.PINS[CODEX].packages.values()))
    assert {"name": "@openai/codex", "version": "0.166.0-linux-x64", "integrity": integrity} == row
    assert {"ci", "--ignore-scripts"} <= set(given["words"])


def test_what_is_there_is_not_fetched_again(cache):
    fetcher.fetch_agents(["codex"])
    fetcher.fetch_agents(["codex"])

    assert 1 == asked(cache)


def test_what_somebody_else_has_downloaded_is_checked_and_marked_without_npm(cache):
    fetcher.fetch_agents(["codex"])
    (cache / "codex/0.166.0/.complete").unlink()
    told = []
    assert "unchecked" == fetcher.plan_downloads(["codex"])[0].state

    fetcher.fetch_agents(["codex"], [], told.append)

    assert 1 == asked(cache)
    assert programs.is_complete(*CODEX)
    assert ["codex 0.166.0: was there already; its checksums are the pinned ones"] == told


@pytest.mark.parametrize("damage", ["version", "integrity", "list", "package"])
def test_a_download_that_differs_is_replaced(cache, damage):
    fetcher.fetch_agents(["codex"])
    modules = cache / "codex/0.166.0/node_modules"
    (cache / "codex/0.166.0/.complete").unlink()
    listed = modules / ".package-lock.json"
    if damage == "list":
        listed.unlink()
    elif damage == "package":
        shutil.rmtree(modules / "@openai/codex-linux-x64")
    else:
        rows = json.loads(listed.read_text(encoding="utf-8"))
        rows["packages"]["node_modules/@openai/codex-linux-x64"][damage] = "another"
        listed.write_text(json.dumps(rows), encoding="utf-8")

    fetcher.fetch_agents(["codex"])

    assert 2 == asked(cache)
    assert [] == npm.find_faults(modules.parent, pins.resolve_packages(pins.PINS[CODEX].packages, pins.CHECKSUM_PLATFORM))
    assert [] == unfinished(cache)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("integrity", "the checksum of @openai/codex-linux-x64 0.166.0-linux-x64 is not the pinned one"),
        ("older", "@openai/codex-linux-x64 is 0.0.1, not 0.166.0-linux-x64"),
        ("fails", "npm could not fetch @openai/codex 0.166.0-linux-x64: code E404; 404 Not Found"),
        ("silent", "it does not say why"),
        ("offline", r"npm cannot reach its registry \(ENOTFOUND\)"),
    ],
)
def test_what_goes_wrong_is_said_and_leaves_nothing(cache, monkeypatch, wrong, words):
    monkeypatch.setenv("NPM_DOUBLE", wrong)

    with pytest.raises(fetcher.Unavailable, match=words):
        fetcher.fetch_agents(["codex"])

    assert not programs.is_complete(*CODEX)
    assert not (cache / "codex").exists()
    assert [] == unfinished(cache)


def test_one_that_cannot_be_had_does_not_keep_the_others_away(cache, monkeypatch):
    monkeypatch.setenv("NPM_DOUBLE", "fails")
    monkeypatch.setenv("NPM_DOUBLE_ONLY", "codex")

    with pytest.raises(fetcher.Unavailable, match="@openai/codex"):
        fetcher.fetch_agents(["codex", "claude-code"])

    assert programs.is_complete("claude-code", "2.1.325")


def test_without_a_network_nobody_else_is_tried(cache, monkeypatch):
    monkeypatch.setenv("NPM_DOUBLE", "offline")

    with pytest.raises(fetcher.Unavailable, match="try again with a network"):
        fetcher.fetch_agents(["codex", "claude-code"])

    assert 1 == asked(cache)


def test_without_npm_it_is_said_what_to_do(cache, monkeypatch):
    monkeypatch.setenv("PATH", str(cache))
    told = []

    with pytest.raises(fetcher.Unavailable, match=r"npm is not on the path.*install Node\.js"):
        fetcher.fetch_agents(["codex"], [], told.append)

    assert [] == told


def test_a_killed_fetch_looks_like_none_and_the_next_one_cleans_up(cache, monkeypatch):
    program = "from hookonce.lab.fetch.fetcher import fetch_agents; fetch_agents(['codex'])"
    more = {"HOOKONCE_AGENTS": str(cache), "NPM_DOUBLE": "killed", "NPM_DOUBLE_LOG": str(cache.parent / "npm.log")}

    died = subprocess.run([sys.executable, "-c", program], env=environment(PATH=str(cache.parent / "bin"), **more), check=False)

    assert -9 == died.returncode
    assert 1 == len(unfinished(cache))
    assert "missing" == fetcher.plan_downloads(["codex"])[0].state
    fetcher.fetch_agents(["codex"])
    assert [] == unfinished(cache)
    assert programs.is_complete(*CODEX)


def test_two_fetches_take_turns(cache):
    cache.mkdir()
    told = []
    with (cache / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        def tell(text):
            told.append(text)
            fcntl.flock(lock, fcntl.LOCK_UN)

        second = Thread(target=fetcher.fetch_agents, args=(["codex"], [], tell))
        second.start()
        second.join()

    assert "another fetch is under way; waiting for it" == told[0]
    assert programs.is_complete(*CODEX)


def test_nothing_is_begun_that_the_disk_cannot_hold(cache, monkeypatch):
    monkeypatch.setattr(fetcher, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 5 * 2**20))

    with pytest.raises(fetcher.Unavailable, match="needs about 654 MB of disk, and 5 MB are free"):
        fetcher.fetch_agents(["codex"])

    assert 0 == asked(cache)


def test_a_cache_that_cannot_be_written_is_said_as_such(cache, monkeypatch):
    monkeypatch.setenv("HOOKONCE_AGENTS", "/dev/null/agents")

    with pytest.raises(fetcher.Unavailable, match="HOOKONCE_AGENTS names another"):
        fetcher.fetch_agents(["codex"])


def test_node_comes_with_an_agent_that_needs_a_newer_one(cache):
    assert {"qwen-code", "node"} == {one.agent for one in fetcher.plan_downloads(["qwen-code"])}
    assert {"codex"} == {one.agent for one in fetcher.plan_downloads(["codex"])}


def test_a_version_that_is_not_pinned_is_fetched_on_the_word_of_the_registry(cache):
    told = []

    fetcher.fetch_agents(["codex"], ["0.170.1"], told.append)

    rows = pins.resolve_packages(pins.find_download("codex", "0.170.1").packages, pins.CHECKSUM_PLATFORM)
    assert [("@openai/codex", "0.170.1-linux-x64", None)] == [(one.real, one.version, one.integrity) for one in rows]
    assert programs.is_complete("codex", "0.170.1")
    assert "not pinned" in told[-1]


@pytest.mark.parametrize("version", ["../../elsewhere", "latest", "1.2", "", "^1.2.3"])
def test_a_version_is_an_exact_one(cache, version):
    with pytest.raises(UsageError, match="no exact version"):
        fetcher.fetch_agents(["codex"], [version])


def test_an_agent_that_nobody_has_pinned_is_named_with_those_that_are(cache):
    with pytest.raises(UnknownName, match="claude-code, codex"):
        fetcher.fetch_agents(["kiro"])


def test_a_dry_run_tells_sizes_and_states_and_fetches_nothing(tmp_path):
    ran = run("lab", "fetch", "--dry-run", "--json", HOME=str(tmp_path), HOOKONCE_AGENTS=str(tmp_path / "agents"))

    rows = {one["agent"]: one for one in ran.documents()}
    assert 0 == ran.code, ran.err
    assert set(pins.pinned_agents()) <= set(rows)
    assert {"missing"} == {one["state"] for one in rows.values()}
    assert all(one["megabytes"] > 0 for one in rows.values())
    assert not (tmp_path / "agents").exists()


def test_a_version_without_its_agent_is_wrong_usage(tmp_path):
    assert 64 == run("lab", "fetch", "--version", "2.1.197", HOME=str(tmp_path)).code
    assert 64 == run("lab", HOME=str(tmp_path)).code


def test_every_checksum_is_one():
    sums = [integrity for made in pins.PINS.values() for integrity in made.packages.values()]

    assert len(sums) >= len(pins.PINS) > 0
    assert all(one.startswith("sha512-") and 64 == len(base64.b64decode(one[7:], validate=True)) for one in sums)


@pytest.mark.parametrize("platform", ["linux-x64", "linux-arm64", "darwin-arm64", "darwin-x64"])
def test_every_package_has_a_name_on_every_platform_and_a_checksum_where_it_is_the_same_file(platform):
    for made in pins.PINS.values():
        for one, row in zip(pins.resolve_packages(made.packages, platform), made.packages, strict=True):
            assert "{" not in f"{one.name} {one.real} {one.version}"
            assert (one.integrity is not None) == (platform == pins.CHECKSUM_PLATFORM or "{platform}" not in row)


@pytest.mark.parametrize("name", list(drivers.DRIVER_MODULES))
def test_a_driver_runs_what_is_pinned(name):
    driver = drivers.load_driver(name)
    packages = pins.resolve_packages(pins.PINS[name, driver.version].packages, pins.CHECKSUM_PLATFORM)

    assert driver.version == pins.pinned_versions(name)[0]
    assert any(driver.program.format(platform=pins.CHECKSUM_PLATFORM).startswith(f"{one.name}/") for one in packages)


@pytest.mark.integration
@pytest.mark.parametrize(("name", "version"), list(pins.PINS))
def test_what_lies_in_the_real_cache_is_what_is_pinned(name, version):
    if programs.npm_platform() != pins.CHECKSUM_PLATFORM or not (REAL / name / version / programs.MARKER).exists():
        pytest.skip(f"{name} {version} was not fetched here")

    made = pins.PINS[name, version]
    assert [] == npm.find_faults(REAL / name / version, pins.resolve_packages(made.packages, pins.CHECKSUM_PLATFORM))
