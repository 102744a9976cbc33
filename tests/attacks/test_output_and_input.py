"""Texts of others on a terminal and in CSV, and files of others that are no files."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hookonce import agents
from hookonce.base import paths
from hookonce.base.terminal_text import escape_csv_cell
from hookonce.cli import COMMANDS
from hookonce.client import daemon_endpoints
from hookonce.configure.changes import FileChange, apply_change, render_diff
from hookonce.configure.install import plan_install
from hookonce.configure.locations import ConfigRoots
from hookonce.daemon.http import listener
from hookonce.dispatch.dedup import CallDecision
from hookonce.dispatch.fail_mode import build_reply
from hookonce.dispatch.response import build_response
from hookonce.model import Decision
from hookonce.secrets import log
from hookonce.store.entry import build_entry
from hookonce.store.writer import Writer
from tests.attacks import hostile
from tests.attacks.hostile import EVIL, FORGED
from tests.attacks.terminal import OBEYED, shown
from tests.cli.command import environment, run
from tests.daemon.http_client import Poster
from tests.daemon.installed_home import Home, command, payload, refused
from tests.dispatch.pipeline_cases import asked
from tests.sample import part
from tests.shared import ROOT

PAYLOADS = "payloads.jsonl"
# Every command, as it would meet what somebody hostile has left; {…} stand for files and names of the hostile place.
TRIES = {
    "init": [["init", "--dry-run"], ["init"]],
    "install": [["install", "--scope", "project", "--dry-run", "claude-code", "codex", "cline", "opencode"], ["install", "{evil}"]],
    "up": [["up", "--for", "1s"]],
    "status": [["status"], ["status", "claude-code", "codex", "gemini-cli", "cline", "--json"]],
    "doctor": [["doctor"], ["doctor", "--json"], ["doctor", "--repair", "--dry-run"]],
    "adopt": [["adopt", "claude-code", "--scope", "project", "--dry-run"], ["adopt", "codex", "cursor", "gemini-cli", "--scope", "project", "--dry-run", "--json"]],
    "trust": [["trust", "--list"], ["trust"], ["trust", "--list", "--json"], ["trust", "{evil}"]],
    "try": [["try", "{evil}"], ["try", "printf '\\033[2J\\302\\233' >&2; printf '\\033[2J'; exit 2"], ["try", "printf '{{\"decision\":\"deny\",\"reason\":\"\\\\u001b[2J\\\\u202e\"}}'", "--json"]],
    "events": [["events"], ["events", "--json"], ["events", "--csv"], ["events", "--format", "openhook"], ["events", "sql", 'SELECT 1 AS "{evil}", tool, session FROM events'],
               ["events", "sql", "--csv", 'SELECT 1 AS "{evil}", tool FROM events'], ["events", "sql", "{evil}"], ["events", "export"], ["events", "import", "{payloads}"], ["events", "--tool", "{evil}"]],
    "sessions": [["sessions"], ["sessions", "--json"]],
    "show": [["show", "x"], ["show", "x", "--json"], ["show", "{evil}"]],
    "stats": [["stats"], ["stats", "--json"]],
    "cost": [["cost"], ["cost", "--by", "model"], ["cost", "--by", "project"], ["cost", "--by", "agent", "--json"]],
    "audit": [["audit", "verify"], ["audit", "keys"], ["audit", "{evil}"]],
    "keys": [["keys", "list"], ["keys", "add", "{evil}", "{evil}"], ["keys", "remove", "{evil}"], ["keys", "{evil}"]],
    "why": [["why"], ["why", "--list"], ["why", "--json"], ["why", "--failures"], ["why", "{evil}"]],
    "allow": [["allow", "{evil}"]],
    "pause": [["pause", "{evil}"]],
    "resume": [["resume"]],
    "logs": [["logs"]],
    "daemon": [["daemon", "status"], ["daemon", "{evil}"]],
    "on": [["on", "{evil}", "{evil}"]],
    "uninstall": [["uninstall", "--scope", "project", "--dry-run", "claude-code"], ["uninstall", "{evil}"]],
    "restore": [["restore", "--list"], ["restore", "--scope", "project", "--dry-run", "claude-code"]],
    "purge": [["purge", "--dry-run"]],
    "translate": [["translate", "--to", "canonical", "{payloads}"], ["translate", "--to", "openhook", "--privacy", "full", "{payloads}"], ["translate", "--to", "{evil}"]],
    "check": [["check", "."], ["check", ".hookonce/hooks.json", ".openhook.json", "{payloads}"], ["check", "--json", "."], ["check", "{evil}"]],
    "convert": [["convert", "--from", "hif", "--to", "codex", ".hookonce/hooks.json"], ["convert", "--from", "claude-code", "--to", "opencode", ".claude/settings.json"],
                ["convert", "--from", "claude-code", "--to", "gemini-cli", ".claude/settings.json"], ["convert", "--from", "cline", "--to", "hif", ".clinerules/hooks"]],
    "identify": [["identify", "{payloads}"], ["identify", "--json", "{payloads}"], ["identify", "{evil}"]],
    "agents": [["agents", "{evil}"], ["agents", "--event", "{evil}"]],
    "demo": [["demo", "{evil}"], ["demo"]],
    "module": [["module", "list"], ["module", "list", "--health", "--json"], ["module", "invoke", "good", "{evil}"], ["module", "check", "good", "--case", "minimal"], ["module", "{evil}"]],
    "kernel": [["kernel", "run", "{payloads}"], ["kernel", "run", "{evil}"], ["kernel", "{evil}"]],
    "lab": [["lab", "fetch", "--dry-run", "{evil}"]],
    "prove": [["prove", "--dry-run", "{evil}"]],
    "bench": [["bench", "{evil}"]],
    "completion": [["completion", "{evil}"]],
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A home with a hostile record, and a hostile clone in it."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        project = hostile.clone(home)
        hostile.remember(home, project)
    known = {"session_id": EVIL, "transcript_path": EVIL, "cwd": str(project), "hook_event_name": "PreToolUse", "tool_name": EVIL, "tool_input": {EVIL: EVIL}}
    lines = [known, known | {"hook_event_name": EVIL}, {EVIL: EVIL}, "x\x1b[2J", known | {"tool_name": "Bash", "tool_input": {"command": EVIL}}]
    (home / PAYLOADS).write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in lines) + f"\nbroken {EVIL}", encoding="utf-8")
    return home, project


def test_every_command_is_tried():
    """
    A command that is added has to be tried, too.
    """
    assert {*TRIES} == {*COMMANDS}


@pytest.mark.part(3)
@pytest.mark.parametrize("words", [words for tries in TRIES.values() for words in part(tries, 2)], ids=lambda words: " ".join(words)[:60].replace("\x1b", ""))
def test_nothing_of_others_is_obeyed_by_a_terminal(place, words):
    """
    Whatever command shows a hostile repository or a hostile record: no control character, no hidden direction, no forged line.
    """
    home, project = place
    given = [word.replace("{evil}", EVIL).replace("{payloads}", str(home / PAYLOADS)).replace("{{", "{").replace("}}", "}") for word in words]
    code, text = shown(home, *given, cwd=project, own=False)

    assert OBEYED.search(text) is None, repr(text[max(0, OBEYED.search(text).start() - 200) :][:400])
    assert not [line for line in text.splitlines() if line.strip().startswith(FORGED) and "doctor" not in words], text
    assert code != 70, text


def test_documents_stay_what_they_are(place):
    """
    A terminal is shown the same JSON, with escapes; a pipe gets every byte.
    """
    home, project = place
    _, text = shown(home, "events", "--json", cwd=project, own=False)
    piped = run("events", "--json", HOME=str(home), cwd=project)

    assert [json.loads(line) for line in text.splitlines()] == [json.loads(line) for line in piped.out.removesuffix("\n").split("\n")]
    assert "\u202e" in piped.out


@pytest.mark.parametrize("start", ["=1+1", "+1", "-2+3", "@SUM(1)", "=HYPERLINK(1)", "=cmd|' /C calc'!A0", " =1", "\t=1", "\r=1", "\n=1", "＝1", "|x", "%0A=1"])
def test_no_cell_of_csv_is_a_formula(start):
    """
    Neither as it begins nor behind what a spreadsheet takes away; numbers stay numbers.
    """
    cell = escape_csv_cell(start)

    assert cell.isprintable()
    assert cell[0] in "'\\"
    assert [-5, 1.5, None, "a-b"] == [*map(escape_csv_cell, [-5, 1.5, None, "a-b"])]


def test_what_is_recorded_is_no_formula_and_one_line_of_csv(tmp_path, monkeypatch):
    """
    Of every column, in `events` and in `events sql`, also in a pipe.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(hostile, "EVIL", "=1+1\x1b\n")
    with Writer() as writer:
        writer.append([build_entry(one) for one in hostile.records("=1+1")])
    listed, asked = (run("events", *words, HOME=str(tmp_path)).out for words in (["--csv"], ["sql", "--csv", 'SELECT tool AS "=x", session, project FROM events']))

    for text in (listed, asked):
        rows = list(csv.reader(io.StringIO(text)))
        assert len(rows) == 8
        assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@")) or not cell.isprintable()]


def test_a_line_of_a_hook_is_no_line_of_the_log(tmp_path, monkeypatch):
    """
    What it wrote stands behind a mark, so that no line that begins with a time is forged.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    log.write("hook x failed: a\n2026-01-01T00:00:00Z consent typed trust", b"\r\n2026-01-01T00:00:00Z forged\x1b[2J\rz")

    lines = (tmp_path / ".local/share/hookonce/hookonce.log").read_text().splitlines()
    assert len(lines) == 3
    assert all(line.startswith("    | 2026") for line in lines[1:])
    assert "\x1b" not in "".join(lines)


def test_no_diff_shows_a_token():
    """
    Neither ours nor one that stands beside it.
    """
    old = b'{\n "headers": {"Authorization": "Bearer %s"},\n "env": {"GH": "ghp_%s"}\n}\n' % (b"Zk9" * 14, b"a1B2c3D4e5F6" * 3)
    text = render_diff([FileChange(path=Path("/x\n+forged\x1b[2J/s.json"), old=old, new=b"{}\n")])

    assert "Zk9Zk9" not in text
    assert "a1B2c3D4" not in text
    assert [line[:1] for line in text.splitlines()] == ["-", "+", "@", "-", "-", "-", "-", "+"]


@pytest.mark.part(2)
@pytest.mark.parametrize("words", [["uninstall"], ["purge"], ["install", "--no-http"], ["install", "--http"], ["adopt", "claude-code"]], ids=" ".join)
def test_no_dry_run_shows_the_token_of_the_listener(tmp_path, monkeypatch, words):
    """
    Neither as text nor as JSON.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    address, agent = daemon_endpoints.new_http_address(), agents.load("claude-code")
    daemon_endpoints.save_http_address(address)
    (tmp_path / ".claude").mkdir(mode=0o700)
    (change,) = plan_install(agent, "user", ConfigRoots(tmp_path, tmp_path), str(paths.client_path()), http=address)
    apply_change(change)
    token = address.headers["Authorization"].split()[1]

    brief = ["--diff"] if words[0] in {"install", "uninstall", "purge"} else []
    texts = [run(*words, "--dry-run", *more, HOME=str(tmp_path), cwd=tmp_path) for more in (brief, ["--json"])]
    assert token in change.path.read_text()
    assert not [ran for ran in texts if token in ran.out + ran.err]
    assert words[0] == "adopt" or words[1:] == ["--http"] or all("127.0.0.1" in ran.out for ran in texts)


@pytest.mark.parametrize("name", agents.AGENTS)
def test_what_a_hook_says_commands_no_terminal_of_an_agent(name):
    """
    Where an agent has no JSON for it, the plain text has no control characters; nor has it a NUL that would end it.
    """
    agent = agents.load(name)
    for native in agent.config.points:
        one = asked(name, native, {"hook_event_name": native, "tool_name": "x", "tool_input": {}})
        decisions = Decision(outcome="deny", reason=EVIL, context=EVIL, by="x"), Decision(context=f"{EVIL}\0", by="x")
        replies = [build_response(one, CallDecision(decision=decision)).reply for decision in decisions]
        for reply in (*replies, build_reply(agent, native, EVIL)):
            plain = "" if reply.stdout[:1] in {"{", "["} else reply.stdout
            assert not OBEYED.search(reply.stderr + plain), native


def test_a_module_of_others_is_offered_to_holders_of_a_token_alone(tmp_path):
    """
    Every user of the machine can reach a port.
    """
    file = tmp_path / "m.json"
    hostile.write(file, {"name": "m", "kind": "tool", "version": "1", "transport": {"type": "stdio", "command": ["cat"]}, "capabilities": []})
    ran = run("module", "serve", file, "--http", "0", HOME=str(tmp_path))

    assert (64, "") == (ran.code, ran.out)
    assert "set a token with --token-env" in ran.err


def fifo(path, _home):
    os.mkfifo(path)


def endless(path, _home):
    path.symlink_to("/dev/zero")


def folder(path, _home):
    path.mkdir()


def sparse(path, _home):
    with path.open("wb") as file:
        file.truncate(10 << 30)


def unreadable(path, _home):
    path.write_text("{}")
    path.chmod(0)


def dangling(path, home):
    path.symlink_to(home / "nowhere")


def loop(path, _home):
    path.symlink_to(path)


READERS = [
    ["status"],
    ["status", "claude-code", "gemini-cli", "codex", "--json"],
    ["doctor"],
    ["check", "."],
    ["trust", "--list"],
    ["install", "--scope", "project", "--dry-run", "claude-code", "gemini-cli", "cursor", "cline"],
    ["adopt", "claude-code", "cursor", "--scope", "project", "--dry-run"],
    ["uninstall", "--scope", "project", "--dry-run", "claude-code", "cursor"],
    ["purge", "--dry-run"],
    ["init", "--dry-run"],
    ["convert", "--from", "claude-code", "--to", "codex", ".claude/settings.json"],
    ["convert", "--from", "cline", "--to", "hif", ".clinerules/hooks"],
    ["convert", "--from", "hif", "--to", "codex", ".hookonce/hooks.yaml"],
    ["check", ".hookonce/hooks.yaml"],
    ["identify", ".openhook.json"],
]
PLANTED = [
    ".claude/settings.json", ".claude/settings.local.json", ".gemini/settings.json", ".codex/hooks.json", ".cursor/hooks.json", ".clinerules/hooks/PreToolUse",
    ".hookonce/hooks.yaml", ".hookonce/policy.json", ".openhook.json", ".github/hooks/a.json", ".windsurf/hooks.json", "events.jsonl",
]  # fmt: skip


PLANTS = [fifo, endless, folder, sparse, unreadable, dangling, loop]


@pytest.mark.part(3)
@pytest.mark.parametrize("plant", PLANTS)
def test_what_is_no_file_neither_hangs_nor_fills_the_memory(tmp_path, plant):
    """
    Every file that we read of a clone is one of these: each command ends soon, within 1 GB, and by no fault of ours.
    """
    home, project = tmp_path / "home", tmp_path / "home" / "repo"
    (project / ".git").mkdir(parents=True)
    for name in PLANTED:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        plant(project / name, home)
    readers = READERS[: -1 if plant is sparse else None]  # a stream may be long
    if plant not in {fifo, endless}:
        readers = part(readers, 4, PLANTS.index(plant))
    with ThreadPoolExecutor(2) as pool:
        endings = list(pool.map(lambda words: (words, *bounded(home, project, words)), readers))

    for words, code, told in endings:
        assert code in {0, 1, 3}, (words, code, told)
        assert "internal error" not in told, (words, told)


def bounded(home, project, words):
    """A command that may take a gigabyte and half a minute."""
    line = ["bash", "-c", 'ulimit -v 1500000; exec timeout 30 "$@"', "bash", sys.executable, "-m", "hookonce", *words]
    done = subprocess.run(line, cwd=project, env=environment(HOME=str(home)), input=b"", capture_output=True, check=False)
    return done.returncode, (done.stdout + done.stderr).decode()


OWN_FILES = {
    "agents/_config/generated_code.py": "of the package",
    "agents/certificates.py": "of the package",
    "agents/cline/config.py": "of the package",
    "base/process_info.py": "of the runtime folder",
    "base/sealing.py": "of our data",
    "base/settings.py": "the settings of the user and of the system",
    "cli/_ui/consent.py": "of /proc",
    "client/daemon_endpoints.py": "of our data",
    "client/installation.py": "of the package",
    "client/sandbox_home.py": "of a home that we made",
    "configure/journal.py": "of our data",
    "daemon/control.py": "of our data",
    "daemon/dedup_cache.py": "of the runtime folder",
    "diagnose/self_check.py": "of our data",
    "dispatch/dedup.py": "of the runtime folder",
    "dispatch/pause.py": "of our data",
    "formats/schema.py": "of the package",
    "handlers/environment.py": "of our data",
    "handlers/supervise/hook_results.py": "of the runtime folder",
    "handlers/supervise/limits.py": "of /proc",
    "handlers/supervise/watchdog.py": "of /proc",
    "daemon/lifecycle.py": "of our installation",
    "modules/conformance/suite.py": "of /proc",
    "sdk/function_runner.py": "a hook that is trusted, and copied",
    "sdk/script.py": "the program that runs",
    "store": "of our data",
    "testing.py": "what the author of a test names",
    "trust/approvals.py": "of our data",
    "trust/pin_store.py": "of our data",
    "lab": "of a laboratory",
    "demo": "of the package",
}


def test_files_of_others_are_read_by_one_function():
    """
    `read_regular_file`: whoever reads a file in another way says here whose it is.
    """
    source = ROOT / "src" / "hookonce"
    readers = [file.relative_to(source) for file in source.rglob("*.py") if re.search(r"\.read_(bytes|text)\(", file.read_text("utf-8"))]

    assert [] == [str(name) for name in readers if str(name) not in OWN_FILES and name.parts[0] not in OWN_FILES]


@pytest.fixture(scope="module")
def posting(installed, tmp_path_factory):
    """An HTTP entry in a home with a hook that refuses shells."""
    home = Home(tmp_path_factory.mktemp("posting"), installed)
    home.hooks(command("echo no >&2; exit 2", matcher={"pattern": "Bash"}))
    yield Poster(home)
    home.end()


ODD_FOLDERS = ["/x/" + "y" * 300, "/" + "z/" * 3000, "/etc/passwd/x", "/proc/self/fd/999", "relative", "", "/a\0b", "/\ud800", "/proc/1/cwd/x", "//", "/..", EVIL, 5, None, ["/"]]


@pytest.mark.part(2)
@pytest.mark.parametrize("cwd", ODD_FOLDERS, ids=lambda cwd: repr(cwd)[:30])
def test_a_post_is_answered_wherever_it_says_it_comes_from(posting, cwd):
    """
    A folder that cannot be looked at, or is none, keeps no hook from being asked.
    """
    assert denies(posting.post(payload("ls", cwd=cwd)))


@pytest.mark.part(2)
@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x00", b"\\ud800", b"\x80" * 2000], ids=repr)
def test_a_post_with_bytes_that_are_no_text_is_answered(posting, bad):
    """
    In whatever field they are: read, or refused.
    """
    for field in (b'"s"', b'"ls"', b'"/"', b'"Bash"'):
        raw = payload("ls").replace(field, field[:-1] + bad + b'"', 1)
        status, body = posting.post(raw)
        assert status == 200
        assert b'"deny"' in body or field == b'"Bash"', (raw, body)


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"\xff\xfe{\x00}\x00", b'{"cwd": ', b'{"a":' * 5000, b"[" * 100_000, b"null", b'{"cwd":"/x"'])
def test_a_post_that_is_no_payload_is_refused(posting, raw):
    """
    A hook may refuse shells, and nobody can tell that this is none.
    """
    status, body = posting.post(raw)

    assert status == 200
    assert b'"deny"' in body


def test_a_folder_that_is_shut_has_the_hooks_of_its_project(tmp_path):
    """
    An agent can shut or remove the folder it is in: the project above it is found all the same.
    """
    (tmp_path / "a" / "b").mkdir(parents=True)

    assert str(tmp_path / "a") == listener._payload_cwd(payload("ls", cwd=str(tmp_path / "a" / "gone" / "b")))
    deep = payload("ls", cwd=str(tmp_path / "a" / "x")).replace(b'"ls"', b'{"cwd":"/etc","a":' * 3000 + b"1" + b"}" * 3000)
    assert str(tmp_path / "a") == listener._payload_cwd(deep)
    assert str(tmp_path / "a") == listener._payload_cwd(payload("\ud800", cwd=str(tmp_path / "a")))


def denies(answer):
    """Whether the guard has refused."""
    return answer[0] == 200 and refused((0, answer[1]), "no")
