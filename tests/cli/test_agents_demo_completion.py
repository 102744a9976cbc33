"""hookonce agents, demo and completion, as a user runs them."""

import json
import re
import subprocess

import pytest

from hookonce import agents, formats
from hookonce.cli import COMMANDS
from hookonce.cli._table import show, table
from hookonce.journeys.demo import recorded as bundled
from tests.cli.command import run

TABLES = ("events", "tools", "arguments", "modes")


def test_every_agent_has_a_row():
    """
    The overview names every agent whole, with how it is known and when it was checked.
    """
    ran = run("agents")
    rows = {line.split()[0]: line for line in ran.out.splitlines() if line.strip()}

    assert (0, "") == (ran.code, ran.err)
    assert set(agents.AGENTS) <= rows.keys()
    for name in agents.AGENTS:
        agent = agents.load(name)
        assert all(fact in rows[name] for fact in (str(len(agent.events)), agent.proof, agent.checked))


@pytest.mark.parametrize("name", list(agents.AGENTS))
def test_one_agent_is_shown_whole(name):
    """
    `agents NAME` shows every native event, tool and argument, the source and every quirk.
    """
    agent = agents.load(name)
    ran = run("agents", name)
    words = set(re.split(r"\s+", ran.out))

    assert (0, "") == (ran.code, ran.err)
    natives = [*agent.events, *agent.tools, *(native for names in agent.arguments.values() for native in names)]
    assert [] == [native for native in natives if native not in words and native not in ran.out]
    assert {*agent.events.values(), *agent.tools.values()} <= words
    assert all(text in ran.out for text in (agent.title, agent.source, agent.checked, *agent.quirks))


def test_agents_as_json():
    """
    --json gives each agent's tables whole, one object per agent.
    """
    found = {one["name"]: one for one in run("agents", "--json").documents()}

    assert list(agents.AGENTS) == list(found)
    for name, shown in found.items():
        agent = agents.load(name)
        assert {table: shown[table] for table in TABLES} == {table: dict(getattr(agent, table)) for table in TABLES}
        assert (agent.proof, agent.encodes, list(agent.quirks)) == tuple(
            shown[key] for key in ("proof", "writes_payloads", "quirks")
        )


def test_an_alias_is_an_agent_too():
    """
    An agent answers to its other names.
    """
    for alias, name in (("claude", "claude-code"), ("droid", "factory-droid")):
        assert run("agents", name) == run("agents", alias)


def test_the_demo_shows_every_bundled_agent():
    """
    The timeline has events of every bundled session, in its own words and in ours, and a count.
    """
    ran = run("demo")

    assert (0, "") == (ran.code, ran.err)
    shown = {line.split()[0] for line in ran.out.splitlines() if line.strip()}
    assert set(bundled()) <= shown
    assert len(bundled()) >= 8
    assert re.search(rf"\d+ events of {len(bundled())} agents: \d+ native words became \d+\.", ran.out)
    assert "before_tool_execute" in ran.out
    assert "BeforeTool" in ran.out


def test_tables_show_texts_as_they_are(capsys):
    """
    Brackets and colons in a cell are text: no markup, no emoji, and nothing is cut where there is no terminal.
    """
    cells = ("[[task:1]] [bold]go[/bold]", ":warning: commands[]", "x" * 60)
    made = table("one", "two", "three")
    made.add_row(*cells)

    show(made)

    assert list(cells) == re.split(r"   +", capsys.readouterr().out.splitlines()[-1].strip())


def test_the_demo_of_one_agent_counts_in_the_singular():
    """
    One agent named twice is one agent.
    """
    out = run("demo", "codex", "codex").out

    assert "events of 1 agent:" in out
    assert 1 == sum("SessionStart" in line for line in out.splitlines())


def test_the_demo_as_json_is_records():
    """
    --json gives canonical records that `check` accepts.
    """
    ran = run("demo", "--json")
    checked = run("check", "--json", given=ran.out.encode()).documents()[0]

    assert set(bundled()) == {record["event"]["agent"] for record in ran.documents()}
    assert len(ran.documents()) == len({record["event"]["id"] for record in ran.documents()})
    assert (True, "canonical") == (checked["ok"], checked["kind"])


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_bash_accepts_its_script(shell):
    """
    The scripts for bash and zsh, which read the same functions, have no syntax error.
    """
    script = run("completion", shell).out.encode()

    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, check=False)

    assert (0, b"") == (done.returncode, done.stderr)


COMPLETIONS = [
    (["hookonce", ""], set(COMMANDS)),
    (["/usr/bin/hookonce", "tr"], {"translate"}),
    (["hookonce", "translate", "--to", ""], set(formats.FORMATS)),
    (["hookonce", "translate", "--from", "cl"], {"claude-code", "cline", "cloudevents"}),
    (["hookonce", "translate", "--privacy", ""], {"minimal", "standard", "full"}),
    (["hookonce", "translate", "--on-error", "s"], {"skip", "stop"}),
    (["hookonce", "translate", "--max"], {"--max-line"}),
    (["hookonce", "check", "--s"], {"--strict"}),
    (["hookonce", "identify", "--"], {"--help", "--json", "--max-line"}),
    (["hookonce", "agents", "co"], {"codex", "copilot-cli"}),
    (["hookonce", "demo", ""], set(bundled())),
    (["hookonce", "completion", ""], {"bash", "zsh", "fish"}),
]


def test_bash_completes():
    """
    Commands, options, formats, agents, levels and shells are offered where they belong.
    """
    script = run("completion", "bash").out
    for words, expected in COMPLETIONS:
        ask = f"COMP_WORDS=({' '.join(map(json.dumps, words))}); COMP_CWORD={len(words) - 1}; _hookonce"
        program = f'{script}\n{ask}; printf "%s\\n" "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", program], capture_output=True, check=True, text=True, cwd="/proc/self/fd")
        offered = {word for word in done.stdout.split("\n") if word and not word.isdecimal()}
        assert expected == offered, words


def test_fish_is_told_the_same_names():
    """
    The script for fish offers every command, format and agent.
    """
    script = run("completion", "fish").out

    assert all(line.startswith("complete -c hookonce ") for line in script.splitlines())
    assert all(name in script for name in (*COMMANDS, *formats.FORMATS, *agents.AGENTS))
