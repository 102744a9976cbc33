"""Consent: what weakens protection needs a person, by one table that has every command, verb and option."""

import ast
import json
import sqlite3
from argparse import _SubParsersAction
from contextlib import closing

import pytest

from hookonce.__main__ import build_parser
from hookonce.base import paths
from hookonce.base.runtime_dir import runtime_file
from hookonce.cli import COMMANDS
from hookonce.cli.consent_table import NEEDS_PERSON, WEAKENS_NOTHING
from hookonce.client import daemon_endpoints
from hookonce.client.daemon_endpoints import HttpAddress
from hookonce.client.installation import install_client
from hookonce.configure.locations import ConfigRoots
from hookonce.daemon import control
from hookonce.diagnose.agent_check import check_agent
from hookonce.dispatch.pause import is_paused
from hookonce.inspect.query_args import find_agent
from hookonce.store import database
from hookonce.store.integrity import keys, trusted_keys
from hookonce.store.writer import Writer
from hookonce.trust import approvals
from hookonce.trust.consent import list_proposals, propose_absence, trust_proposals
from tests.attacks.terminal import shown
from tests.cli import prefork
from tests.cli.command import environment
from tests.dispatch.event_factory import event
from tests.manifest.projects import Project, command, put
from tests.shared import ROOT
from tests.store.rows import append, signed, tampering

NATIVE = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh"}]}]}}
# Written by readers too, or by a daemon that runs: the record is asked for its rows instead.
VOLATILE = ("events.db", "spool", "run", "hookonce.log", "sessions")


# The table


def words_of(parser):
    """Every verb and option of a command, those of its verbs too."""
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for name, verb in action.choices.items():
                yield from (name, *words_of(verb))
        elif action.option_strings:
            yield from set(action.option_strings) - {"-h", "--help"}
        else:
            yield from action.choices or ()


def parser_of(name):
    """The parser of one command."""
    whole, _ = build_parser(name)
    return next(action for action in whole._actions if isinstance(action, _SubParsersAction)).choices[name]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_word_of_every_command_stands_in_the_table(name):
    """
    A new command, verb or option fails here until somebody has thought about what it takes away.
    """
    free, why = WEAKENS_NOTHING.get(name, ("", ""))
    closed = [verb for verb in NEEDS_PERSON if verb.split()[0] == name]
    words = {*words_of(parser_of(name))}
    beyond = {word for verb in closed for word in verb.split()[1:]}

    assert closed or why, f"say in consent_table.py whether {name} weakens anything"
    assert bool(why) == (name in WEAKENS_NOTHING)
    assert {*free.split()} | beyond <= words
    if name not in NEEDS_PERSON:  # of the others every word that is not named needs a person
        assert words == {*free.split()} | beyond


def test_the_table_has_no_other_commands():
    assert {verb.split()[0] for verb in NEEDS_PERSON} | {*WEAKENS_NOTHING} == {*COMMANDS}


def test_each_row_that_needs_a_person_is_asked_for_in_one_place():
    """
    And nobody asks for what is in no row.
    """
    texts = [file.read_text("utf-8") for file in (ROOT / "src" / "hookonce").rglob("*.py")]
    trees = [ast.parse(text) for text in texts if "require_consent(" in text]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    asked = [call.args[0].value for call in calls if getattr(call.func, "id", None) == "require_consent"]

    assert sorted(NEEDS_PERSON) == sorted(asked)


# What an agent tries


class Victim:
    """A home with Claude Code and a guard, and a project with another one."""

    def __init__(self, folder):
        self.home = folder / "home"
        self.settings = put(self.home / ".claude" / "settings.json", NATIVE)
        self.settings.chmod(0o600)
        self.project = Project(folder / "project", command("./guard.sh", blocking=True)).folder
        put(self.project / "guard.sh", "#!/bin/sh\nexit 2\n")
        put(self.project / ".claude" / "settings.json", NATIVE)

    def run(self, *words, **more):
        """Run hookonce where there is no terminal."""
        env = environment(HOME=str(self.home), **more)
        code, out, err = prefork.run([*words], b"", self.project, env, first="import os; os.setsid()")
        return code, (out + err).decode()

    def files(self):
        """All that is on disk, but for what readers write as well."""
        found = {}
        for top in (self.home, self.project):
            for path in top.rglob("*"):
                if path.is_file() and not any(part.startswith(VOLATILE) for part in path.relative_to(top).parts):
                    found[str(path)] = path.stat().st_mode, path.read_bytes()
        return found

    def rows(self):
        """The record, as it lies there."""
        if not database.database_file().exists():
            return []
        with closing(sqlite3.connect(database.database_file())) as connection:
            return connection.execute("SELECT seq, id, erased, hash FROM events ORDER BY seq").fetchall()


@pytest.fixture
def victim(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    yield Victim(tmp_path)
    if (paths.data_dir() / "bin").exists():
        control.end_daemon()


def adopt(victim):
    return ["adopt", "claude-code"], lambda: "guard.sh" not in victim.settings.read_text()


def adopt_project(victim):
    (victim.project / ".hookonce" / "hooks.json").unlink()
    file = victim.project / ".claude" / "settings.json"
    return ["adopt", "claude-code", "--scope", "project"], lambda: "guard.sh" not in file.read_text()


def allow(victim):
    approvals.leave_question(event())
    (code,) = (path.name for path in runtime_file("questions", "x").parent.iterdir())
    return ["allow", code], lambda: any(runtime_file("approved", "x").parent.iterdir())


def rotate(victim):
    with Writer() as writer:
        signed(writer, 2)
    return ["audit", "keys", "--rotate"], lambda: len(keys.list_signing_keys()) == 2


def set_aside(victim):
    with Writer() as writer:
        append(writer, 3)
    tampering("UPDATE events SET tool = 'other' WHERE seq = 2")
    return ["audit", "set-aside"], lambda: any(paths.data_dir().glob("aside-*"))


def stop(victim):
    install_client()
    control.start_daemon()
    return ["daemon", "stop"], lambda: control.query_status() is None


def open_for_events(victim):
    return ["daemon", "http"], lambda: (daemon_endpoints.load_http_address() or HttpAddress(0, "")).takes_events


def close_for_events(victim):
    daemon_endpoints.save_http_address(HttpAddress(daemon_endpoints.new_http_address().port, "x", takes_events=True))
    return ["daemon", "http", "--close"], lambda: daemon_endpoints.load_http_address() is None


def vouch(victim):
    found = check_agent(find_agent("claude-code"), ConfigRoots(victim.home, victim.project), str(paths.client_path()))
    mark = next(one.mark for one in found if one.mark)
    file = paths.data_dir() / "vouched.json"
    return ["doctor", "--vouch", mark], lambda: file.exists() and mark in json.loads(file.read_text())


def erase(victim):
    with Writer() as writer:
        _, name, _ = append(writer, 3)
    return ["events", "erase", name], lambda: [0, 1, 0] == [row[2] for row in victim.rows()]


def http(victim):
    file = paths.data_dir() / "http.json"
    return ["install", "claude-code", "--http"], lambda: file.exists() and "http://127.0.0.1" in victim.settings.read_text()


STRANGE_KEY = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="  # of RFC 8032, section 7.1


def add_key(victim):
    return ["keys", "add", "stranger", STRANGE_KEY], lambda: bool(trusted_keys.load_trusted_keys())


def remove_key(victim):
    trusted_keys.add_trusted_key(trusted_keys.build_trusted_key("friend", STRANGE_KEY))
    return ["keys", "remove", "friend"], lambda: not trusted_keys.load_trusted_keys()


def pause(victim):
    return ["pause", "10m"], is_paused


def purge(victim):
    victim.run("install", "claude-code")
    return ["purge"], lambda: not paths.data_dir().exists()


def restore(victim):
    victim.run("install", "claude-code")
    return ["restore", "claude-code"], lambda: json.loads(victim.settings.read_text()) == NATIVE


def trust(victim):
    return ["trust"], lambda: any(one.is_current for one in list_proposals(victim.project))


def revoke(victim):
    trust_proposals(victim.project, list_proposals(victim.project))
    return ["trust", "--revoke"], lambda: not any(one.is_current for one in list_proposals(victim.project))


def absent(victim):
    file = victim.project / ".hookonce" / "hooks.json"
    file.write_text(json.dumps(closed(json.loads(file.read_text()))))
    trust_proposals(victim.project, list_proposals(victim.project))
    file.unlink()
    return ["trust", "--absent"], lambda: propose_absence(victim.project).is_current


def closed(manifest):
    """A manifest all of whose hooks must be asked."""
    hooks = [{**hook, "blocking": True, "on_failure": "closed"} for hook in manifest["hooks"]]
    return {**manifest, "hooks": hooks}


def uninstall(victim):
    victim.run("install", "claude-code")
    return ["uninstall", "claude-code"], lambda: json.loads(victim.settings.read_text()) == NATIVE


CASES = {
    "adopt": adopt, "adopt (project)": adopt_project, "allow": allow, "audit keys --rotate": rotate, "audit set-aside": set_aside,
    "daemon http": open_for_events, "daemon http --close": close_for_events, "daemon stop": stop, "doctor --vouch": vouch, "events erase": erase, "install --http": http, "keys add": add_key, "keys remove": remove_key, "pause": pause, "purge": purge,
    "restore": restore, "trust": trust, "trust --absent": absent, "trust --revoke": revoke, "uninstall": uninstall,
}  # fmt: skip


def test_each_row_that_needs_a_person_is_played():
    assert {*NEEDS_PERSON} == {name.partition(" (")[0] for name in CASES}


@pytest.mark.part(4)
@pytest.mark.parametrize("name", CASES)
def test_only_a_person_can(name, victim):
    """
    Refused without a terminal, and with one below an agent; what it would do, and how to go on, is said, and nothing
    is changed. A dry run needs nobody. A person types the code, and it is done.
    """
    words, is_done = CASES[name](victim)
    verb = name.partition(" (")[0]
    before = victim.files(), victim.rows()

    without, said = victim.run(*words)
    below, shouted = shown(victim.home, *words, cwd=victim.project, env={"CLAUDECODE": "1"})
    if "--dry-run" in {*words_of(parser_of(words[0]))}:
        tried, _ = victim.run(*words, "--dry-run", CLAUDECODE="1")
        assert 0 == tried or verb == "doctor --vouch"

    hint = f"It {NEEDS_PERSON[verb]}. Next: run it yourself, in a terminal that was not opened by an agent"
    assert (1, True, True) == (without, f"hookonce {verb} needs a person at a terminal, and this is not a terminal" in said, hint in said), said
    assert (1, True, True) == (below, f"hookonce {verb} needs a person, and here Claude Code has set CLAUDECODE" in shouted, hint in shouted), shouted
    assert not is_done()
    assert before == (victim.files(), victim.rows())

    code, told = shown(victim.home, *words, cwd=victim.project, env={"HOOKONCE_COLD": ""}, agrees=True)
    assert (0, True) == (code, is_done()), told


def test_what_runs_is_not_ours_because_it_names_our_client(victim):
    """
    Nobody vouches for a command that our client is only the wrapper of.
    """
    client = paths.client_path()
    entry = f"{client} claude-code PreToolUse --via claude-code/user --run ./evil.sh"
    put(victim.settings, {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": entry}]}]}})
    found = check_agent(find_agent("claude-code"), ConfigRoots(victim.home, victim.project), str(client))

    assert 1 == sum("evil.sh" in one.message for one in found if one.mark)


def test_nobody_is_asked_twice_by_a_daemon_that_is_not_there(victim):
    """
    There is nothing to stop, and a daemon that starts meanwhile is left alone.
    """
    assert (0, "the daemon was not running\n") == victim.run("daemon", "stop", CLAUDECODE="1")
