"""Real agents, offline: our claims about their hooks hold, and a broken installation is noticed and named."""

import json
import os
import signal

import pytest

from hookonce.lab.fetch.programs import cache_folder
from tests.cli.command import environment, run
from tests.integration.real import agent

pytestmark = pytest.mark.integration
AGENTS = ("claude-code", "codex", "gemini-cli")
DENIED = {f"deny:{word}" for word in ("shell", "write", "edit", "read", "mcp", "agent")}
PROMISED = DENIED | {f"{mode}:{way}" for mode in ("open", "closed") for way in ("crash", "late", "garbage")}
PROMISED |= {"ask", "rewrite", "prompt", "stop", "claude-script", "transparent"}


def proven(name, home, *words):
    """What `hookonce prove` says of the pinned agent, and how it ended."""
    agent(name)
    ran = run("prove", name, "--pinned", "--json", *words, cwd=home, HOME=str(home), HOOKONCE_AGENTS=str(cache_folder()))
    assert ran.code in (0, 1), ran.err
    return ran.code, {claim["claim"]: claim for claim in json.loads(ran.out)["claims"]}


@pytest.mark.parametrize("name", AGENTS)
def test_nothing_that_we_say_of_an_agent_is_contradicted(name, tmp_path):
    """
    Every claim of the pinned version, once: denials, questions, new input, context, stops, failing hooks.
    """
    code, claims = proven(name, tmp_path)

    against = {claim: one["evidence"] for claim, one in claims.items() if one["state"] == "contradicted"}
    assert {} == against
    assert 0 == code
    assert {"held"} == {claims[name]["state"] for name in PROMISED}


# Sabotage


@pytest.fixture
def home(tmp_path):
    """A home in which Codex calls hookonce, and is trusted to."""
    agent("codex")
    (tmp_path / ".codex").mkdir()
    assert 0 == run("install", "codex", "--trust", HOME=str(tmp_path)).code
    return tmp_path


def entries(home, change):
    """Change what stands in the agent's file."""
    path = home / ".codex/hooks.json"
    document = json.loads(path.read_text())
    change(document["hooks"])
    path.write_text(json.dumps(document, indent=2))


def entry_removed(home):
    entries(home, lambda hooks: hooks.pop("PreToolUse"))


def elsewhere(home):
    (home / ".local/share/hookonce/bin/hookonce-on").unlink()


def turned_off(home):
    with (home / ".codex/config.toml").open("a") as file:
        file.write("\n[features]\nhooks = false\n")


def untrusted(home):
    (home / ".codex/config.toml").unlink()


def impatient(home):
    entries(home, lambda hooks: hooks["PreToolUse"][0]["hooks"][0].update(timeout=0.1))


def test_a_sound_installation_is_called_sound(home):
    code, claims = proven("codex", home, "--only", "here")

    assert {"here:fires": "held", "here:deny": "held", "here:doctor": "held"} == {name: one["state"] for name, one in claims.items()}
    assert 0 == code


@pytest.mark.parametrize(
    ("sabotage", "named"),
    [
        (entry_removed, "no entry for PreToolUse"),
        (elsewhere, "does not exist"),
        (turned_off, "features.hooks"),
        (untrusted, "until you have reviewed them"),
        (impatient, "0.1 s"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_sabotage_is_noticed_and_named(home, sabotage, named):
    """
    By a real run in which the command was not stopped, and by doctor.
    """
    sabotage(home)

    code, claims = proven("codex", home, "--only", "here")
    doctor = run("doctor", "codex", HOME=str(home))

    assert 1 == code
    assert "contradicted" == claims["here:deny"]["state"]
    assert named in claims["here:doctor"]["evidence"]
    assert 1 == doctor.code
    assert named in doctor.out


def test_a_killed_daemon_is_named_and_harms_nobody(home):
    """
    Its socket stays behind; refusals hold all the same.
    """
    world = {key: value for key, value in environment(HOME=str(home)).items() if key != "HOOKONCE_COLD"}
    told = json.loads(run("daemon", "start", "--json", **world).out)
    os.kill(told["pid"], signal.SIGKILL)

    code, claims = proven("codex", home, "--only", "here")
    doctor = run("doctor", "codex", HOME=str(home))

    assert 1 == code
    assert "held" == claims["here:deny"]["state"]
    assert "left its socket behind" in claims["here:doctor"]["evidence"]
    assert "left its socket behind" in doctor.out
