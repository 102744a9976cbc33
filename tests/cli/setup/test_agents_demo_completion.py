"""hookonce agents, demo and completion, as a user runs them."""

import json
import re
import subprocess

import pytest
from jsonschema import Draft202012Validator
from msgspec.json import encode
from msgspec.structs import replace

from hookonce import agents, formats
from hookonce.agents.certificates import CertificateSummary
from hookonce.cli import COMMANDS
from hookonce.cli._ui.tables import print_table
from hookonce.cli.setup.agents import (
    ability_rows,
    config_rows,
    event_cells,
    failure_rows,
    format_contradictions,
    format_proof,
)
from hookonce.demo.replay import list_recordings as bundled
from hookonce.formats.schema import load_schema
from hookonce.inspect.agent_matrix import build_sheet
from hookonce.store.entry import build_entry
from hookonce.store.writer import Writer
from hookonce.vocabulary.decision_merge import CAPABILITIES
from hookonce.vocabulary.events import EVENTS
from tests.cli.command import run
from tests.cli.recorded_home import FIRST, remember, stored

TABLES = ("events", "tools", "arguments", "modes")


def words(text):
    """A text without the places at which a table broke its lines."""
    return " ".join(text.split())


def test_every_agent_has_a_row():
    """
    The overview names every agent whole, with how much a hook can do, how it is known and when it was checked.
    """
    ran = run("agents")
    rows = {line.split()[0]: line.split() for line in ran.out.splitlines() if line.strip()}

    assert (0, "") == (ran.code, ran.err)
    assert set(agents.AGENTS) <= rows.keys()
    for name in agents.AGENTS:
        one = build_sheet(agents.load(name))
        assert [name, str(len(one.points)), one.config.failure.crash, *format_proof(one).split(), one.checked] == rows[name][:2] + rows[
            name
        ][5:]


def test_the_overview_fits_a_hundred_columns():
    """
    The table of all agents is no wider than a common terminal.
    """
    assert [] == [line for line in run("agents").out.splitlines() if len(line) > 100]


@pytest.mark.part(2)
@pytest.mark.parametrize("name", list(agents.AGENTS))
def test_one_agent_is_shown_whole(name):
    """
    `agents NAME` shows every native event, tool and argument, files, handlers, failures, source and quirks.
    """
    agent = agents.load(name)
    ran = run("agents", name)
    shown = words(ran.out)

    assert (0, "") == (ran.code, ran.err)
    natives = [*agent.events, *agent.tools, *(native for names in agent.arguments.values() for native in names)]
    points = [word for row in build_sheet(agent).points for word in (row.event, row.canonical)]
    assert [] == [
        word for word in [*natives, *points, *agent.events.values(), *agent.tools.values()] if word not in shown
    ]
    assert all(text in ran.out for text in (agent.title, agent.source, agent.checked, *agent.quirks))
    files = [*agent.config.files.values(), *(file for reads in agent.config.reads.values() for file in reads)]
    keys = [key for handler in agent.config.handlers.values() for key in handler.values()]
    told = [*files, *keys, *agent.config.programs, *agent.config.borrows, *CAPABILITIES, agent.config.matching]
    assert [] == [text for text in told if words(text) not in shown]


@pytest.mark.part(2)
@pytest.mark.parametrize("name", list(agents.AGENTS))
def test_no_agent_claims_more_than_its_mark(name):
    """
    Without a certificate the word proven stands only in the legend; with one, at the events that it shows.
    """
    one = build_sheet(agents.load(name))
    claims = [
        line for line in run("agents", name).out.splitlines() if "proven" in line and not line.startswith("proven:")
    ]
    first, *rows = claims or [""]

    assert (one.certificate is not None) == bool(claims)
    assert [row.event for row in one.points if row.proof == "proven"] == [line.split("  ")[0].strip() for line in rows]
    assert all(f"proven on {one.certificate.version} " in line for line in rows)
    assert not claims or format_proof(one) in first


def test_a_contradiction_stands_beside_the_mark():
    """
    The row names the version on which a claim did not hold, and the agent all such claims.
    """
    shown = CertificateSummary(
        version="1.2.3",
        date="2026-01-02",
        capabilities_by_event={"Stop": ("retries",)},
        failed_claims={"deny:mcp": "PreToolUse"},
    )
    one = build_sheet(agents.load("codex"), proofs={"codex": shown})
    marks = {row.event: event_cells(row)[-1] for row in one.points}

    assert ("captured, contradicted on 1.2.3", "proven on 1.2.3") == (marks["PreToolUse"], marks["Stop"])
    assert ("proven 1/14 on 1.2.3", "contradicted on 1.2.3: deny:mcp") == (
        format_proof(one),
        format_contradictions(one),
    )
    assert format_contradictions(build_sheet(agents.load("amp"))) is None


def test_agents_as_json():
    """
    --json gives each agent's tables and matrix whole, one object per agent, as the published schema says.
    """
    found = {one["name"]: one for one in run("agents", "--json").documents()}

    assert list(agents.AGENTS) == list(found)
    for name, shown in found.items():
        agent = agents.load(name)
        assert [] == list(Draft202012Validator(load_schema("agents")).iter_errors(shown))
        assert {table: shown[table] for table in TABLES} == {table: dict(getattr(agent, table)) for table in TABLES}
        assert (agent.proof, agent.encodes, list(agent.quirks)) == tuple(
            shown[key] for key in ("proof", "writes_payloads", "quirks")
        )
        assert json.loads(encode(build_sheet(agent))) == shown


@pytest.mark.parametrize("kind", ["before_tool_execute", "agent_stop", "message_display", "setup", "policy_override"])
def test_agents_are_compared_at_one_event(kind):
    """
    --event shows every agent: with its native names where it has the event, else among those that have not.
    """
    ran = run("agents", "--event", kind)
    table, _, without = ran.out.partition("Without this event:")

    assert (0, "") == (ran.code, ran.err)
    for name in agents.AGENTS:
        found = build_sheet(agents.load(name), kind).points
        assert (name in re.split(r"[\s,]+", table)) == bool(found)
        assert (name in re.split(r"[\s,]+", without.partition("\n\n")[0])) == (not found)
        assert all(row.event in words(table) for row in found)


def test_one_event_as_json():
    """
    --event --json gives the same objects, with the points of that event alone.
    """
    found = run("agents", "codex", "windsurf", "--event", "before_tool_execute", "--json").documents()

    assert ["codex", "windsurf"] == [one["name"] for one in found]
    assert {"before_tool_execute"} == {row["canonical"] for one in found for row in one["points"]}
    assert [1, 4] == [len(one["points"]) for one in found]


def test_every_column_of_a_configuration_is_put_into_words():
    """
    Further files, borrowed ones, trust, switches, limits and the fail-closed key are all told.
    """
    agent = agents.load("gemini-cli")
    config = replace(
        agent.config,
        reads={"user": ("~/.x/*.json",)},
        borrows=("claude-code",),
        programs=("gemini",),
        timeout=60,
        longest=90.5,
        min_unit=500,
        fail_closed_key=("failClosed", True),
        crash="closed",
        ambiguous={"edit": ["file_write", "file_edit"]},
        silence="{}",
        switches=(("~/.x.json", ("hooks", "enabled"), False),),
        trust="Say yes once.",
    )

    made = build_sheet(replace(agent, config=config)).config
    told = dict([*config_rows(made), *ability_rows(made), *failure_rows(made)])

    expected = {
        "also reads, user": "~/.x/*.json",
        "also runs hooks of": "claude-code",
        "programs": "gemini",
        "before hooks run": "Say yes once.",
        "turned off by": "hooks.enabled: false in ~/.x.json",
        "timeout": "in milliseconds, numbers below 500 are seconds; default 60 s; at most 90.5 s",
        "edit is": "file_write or file_edit",
        "no decision": "prints {}",
        "a hook crashes": "the tool call is refused (closed)",
        "a hook times out": "the tool call is made (open)",
        "fail-closed switch": "failClosed: true",
    }
    assert expected == {key: told[key] for key in expected}
    assert told["open after a kill at"].startswith("BeforeTool, ")
    assert told["open after a kill at"].endswith(", unless the entry says failClosed: true")


def test_an_unknown_event_is_an_error():
    """
    A name that no agent and no table knows is wrong usage, in one sentence.
    """
    ran = run("agents", "--event", "PreToolUse")

    assert (64, "") == (ran.code, ran.out)
    assert ["no event is called 'PreToolUse'; hookonce agents NAME lists those of an agent"] == ran.complaints()


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
    assert re.search(rf"\d+ events of {len(bundled())} agents: \d+ native names became \d+ canonical ones\.", ran.out)
    assert "before_tool_execute" in ran.out
    assert "BeforeTool" in ran.out


def test_tables_show_texts_as_they_are(capsys):
    """
    Brackets and colons in a cell are text: no markup, no emoji, and nothing is cut where there is no terminal.
    """
    cells = ("[[task:1]] [bold]go[/bold]", ":warning: commands[]", "x" * 60)

    print_table(("one", "two", "three"), [cells])

    assert list(cells) == re.split(r"  +", capsys.readouterr().out.splitlines()[-1].strip())


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
    (["/usr/bin/hookonce", "tr"], {"translate", "trust", "try"}),
    (["hookonce", "translate", "--to", ""], set(formats.FORMATS)),
    (["hookonce", "translate", "--from", "cl"], {"claude-code", "cline", "cloudevents"}),
    (["hookonce", "translate", "--privacy", ""], {"minimal", "standard", "full"}),
    (["hookonce", "translate", "--on-error", "s"], {"skip", "stop"}),
    (["hookonce", "translate", "--max"], {"--max-line"}),
    (["hookonce", "check", "--s"], {"--strict"}),
    (["hookonce", "identify", "--"], {"--help", "--json", "--max-line"}),
    (["hookonce", "agents", "co"], {"codex", "copilot-cli"}),
    (["hookonce", "demo", ""], set(bundled())),
    (["hookonce", "completion", ""], {"bash", "zsh", "fish", "sessions"}),
    (["hookonce", "install", "cl"], {"claude-code", "cline"}),
    (["hookonce", "uninstall", "claude-code", "cl"], {"claude-code", "cline"}),
    (["hookonce", "install", "--ht"], {"--http"}),
    (["hookonce", "daemon", "st"], {"start", "stop", "status"}),
    (["hookonce", "module", ""], {"check", "invoke", "list", "serve"}),
    (["hookonce", "module", "check", "--desc"], {"--descriptor"}),
    (["hookonce", "module", "invoke", "--al"], {"--allow"}),
    (["hookonce", "module", "check", "ser"], set()),
    (["hookonce", "module", "check", "--transport", ""], {"stdio", "http"}),
    (["hookonce", "module", "invoke", "--allow", "fs."], {"fs.read", "fs.write", "fs.temp"}),
    (["hookonce", "module", "serve", "--mc"], {"--mcp"}),
    (["hookonce", "events", ""], {"sql", "export", "import", "erase"}),
    (["hookonce", "events", "--json", "s"], {"sql"}),
    (["hookonce", "events", "sql", "e"], set()),
    (["hookonce", "events", "--format", "open"], {"openhook"}),
    (["hookonce", "events", "--decision", ""], {"allow", "ask", "deny", "none"}),
    (["hookonce", "events", "--agent", "co"], {"codex", "copilot-cli"}),
    (["hookonce", "events", "--type", "session_"], {name for name in EVENTS if name.startswith("session_")}),
    (["hookonce", "events", "--tool", "sh"], {"shell"}),
    (["hookonce", "events", "--since", ""], set()),
    (["hookonce", "cost", "--by", ""], {"day", "agent", "model", "project", "session"}),
    (["hookonce", "convert", "--to", "co"], {"codex", "copilot-cli"}),
    (["hookonce", "audit", "verify", "ke"], set()),
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


@pytest.mark.parametrize("words", [["show", "se"], ["show", "--turns", "se"], ["events", "--session", "se"]], ids=" ".join)
def test_sessions_are_offered_where_one_is_named(tmp_path, words):
    """
    The script asks hookonce for them, which offers only names that no shell would expand.
    """
    script = run("completion", "bash").out
    ask = f"COMP_WORDS=(hookonce {' '.join(words)}); COMP_CWORD={len(words)}; _hookonce"
    program = f'hookonce() {{ [ "$*" = "completion sessions" ] && printf "ses_1\\nses_2\\n01a1\\n"; }}\n{script}\n{ask}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", program], capture_output=True, check=True, text=True, cwd=tmp_path)

    assert ["ses_1", "ses_2"] == done.stdout.split()
    assert '-l session -x -a "(hookonce completion sessions' in run("completion", "fish").out


def test_only_names_that_no_shell_expands_are_offered(tmp_path, monkeypatch):
    """
    Agents name their sessions, and a shell runs what it finds among the words that it completes.
    """
    remember(tmp_path, monkeypatch)
    evil = [stored(70 + n, "session_start", session=name, time=f"2026-11-16T10:0{n}:00Z") for n, name in enumerate(("$(touch x)", "`x`", "a b", "-rf", "x;y"))]
    with Writer() as writer:
        writer.append([build_entry(one) for one in evil])

    assert [FIRST] == run("completion", "sessions", HOME=str(tmp_path)).out.split()
    (tmp_path / "empty").mkdir()
    assert (0, "\n", "") == run("completion", "sessions", HOME=str(tmp_path / "empty"))


def test_fish_is_told_the_same_names():
    """
    The script for fish offers every command, format and agent.
    """
    script = run("completion", "fish").out

    assert all(line.startswith("complete -c hookonce ") for line in script.splitlines())
    assert all(name in script for name in (*COMMANDS, *formats.FORMATS, *agents.AGENTS))
    assert '-n "__fish_seen_subcommand_from daemon" -f -a "start stop status http"' in script
    assert '-n "__fish_seen_subcommand_from events" -l decision -x -a "allow ask deny none"' in script
    assert f'-n "__fish_seen_subcommand_from events" -l format -x -a "{" ".join(formats.FORMATS)}"' in script
    assert '-n "__fish_seen_subcommand_from module; and __fish_seen_subcommand_from check" -l descriptor -r' in script
    assert f'-n "__fish_seen_subcommand_from install" -f -a "{" ".join(agents.AGENTS)}"' in script
