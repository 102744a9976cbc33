"""Every ending of a command has its code: 0, 1, 3, 64, 70."""

import json
import subprocess
import sys
from threading import Timer

import pytest

from hookonce import __version__
from tests.cli.command import PAYLOAD, environment, lines, run, shell
from tests.shared import ROOT

WRONG_USAGE = {
    "no format": (("translate",), "--to"),
    "unknown format": (("translate", "--to", "nothing"), "formats are agent-hooks"),
    "unknown variant": (("translate", "--to", "openhook@x"), "openhook@cwd"),
    "unknown source": (("translate", "--to", "openhook", "--from", "nobody"), "`hookonce agents` lists them"),
    "unknown profile": (("translate", "--to", "openhook", "--from", "openhook@x"), "no profile 'x'"),
    "never read": (("translate", "--to", "openhook", "--from", "ocsf"), "can be written but not read"),
    "no zone": (("translate", "--to", "openhook", "--received", "2026-01-01T00:00:00"), "a time with a zone"),
    "no day": (("translate", "--to", "openhook", "--received", "2026-02-30T00:00:00Z"), "a time with a zone"),
    "unknown level": (("translate", "--to", "openhook", "--privacy", "none"), "'minimal', 'standard', 'full'"),
    "unknown policy": (("translate", "--to", "openhook", "--on-error", "cry"), "'skip', 'stop'"),
    "no limit": (("check", "--max-line", "0"), "'0' is not a number of bytes"),
    "negative limit": (("identify", "--max-line", "-1"), "is not a number of bytes"),
    "limit in words": (("check", "--max-line", "8M"), "'8M' is not a number of bytes"),
    "unknown option": (("check", "--nothing"), "--nothing"),
    "unknown command": (("translat",), "no command is called 'translat'; did you mean translate?"),
    "unknown agent": (("agents", "nobody"), "`hookonce agents` lists them"),
    "no such session": (("demo", "cursor"), "there are claude-code"),
    "unknown shell": (("completion", "tcsh"), "'bash', 'zsh', 'fish'"),
    "no shell": (("completion",), "see hookonce completion --help"),
}


@pytest.mark.part(2)
@pytest.mark.parametrize(("words", "told"), WRONG_USAGE.values(), ids=WRONG_USAGE)
def test_wrong_usage_ends_in_64(words, told):
    """
    What the command line asks for wrongly ends in 64, with nothing written and the way out named.
    """
    ran = run(*words, given=lines(PAYLOAD))

    assert (64, "") == (ran.code, ran.out)
    assert told in ran.err


@pytest.mark.parametrize("width", [50, 60, 80])
def test_help_fits_the_terminal(width):
    """
    But for examples, which are there to be copied.
    """
    texts = [run(*words, "--help", COLUMNS=str(width)).out for words in ([], ["uninstall"], ["check"], ["module", "serve"])]
    lines = [line for text in texts for line in text.splitlines() if not line.startswith("  hookonce ")]

    assert width - 10 < max(map(len, lines)) <= width


def test_a_sentence_of_the_help_is_broken_only_by_the_width_of_the_terminal():
    """
    The lines of its source are no lines of the screen.
    """
    text = run("show", "--help", COLUMNS="80").out

    assert "between its first and its last event, without the time of hooks.\n" in text
    assert "\n  hookonce show\n  hookonce show" in text


@pytest.mark.parametrize("words", [(), ("--help",), ("--version",), ("translate", "--help"), ("check", "--help")])
def test_help_is_no_error(words):
    """
    Help, the version and no command at all end in 0.
    """
    ran = run(*words)

    assert (0, "") == (ran.code, ran.err)
    assert "hookonce" in ran.out


def test_the_version_says_which_client_there_is():
    """
    One made for this machine, or its twin in Python.
    """
    built = ROOT / "src" / "hookonce" / "client" / "native" / "hookonce-on"
    kind = "native" if built.is_file() and built.read_bytes()[:4] == b"\x7fELF" else "python"

    assert f"hookonce {__version__} ({kind} client)\n" == run("--version").out


def test_the_first_page_names_every_command_and_a_beginning():
    """
    Without arguments each command stands on its own line with what it does, and one of them is the way in.
    """
    from hookonce.cli import COMMANDS

    shown = run(COLUMNS="140").out

    assert all(f"  {name:12}{text}\n" in shown for name, text in COMMANDS.items())
    assert "hookonce demo" in shown


def test_our_own_fault_leaves_a_log(tmp_path):
    """
    An error of our own ends in 70 and prints where its trace is, and nothing else of it.
    """
    program = "import sys, hookonce.cli.observe.demo as demo; demo.run = lambda _: 1 / 0;"
    program += "from hookonce.__main__ import main; sys.exit(main(['demo']))"

    ran = shell(f'"{sys.executable}" -c "{program}"', HOME=str(tmp_path))

    log = tmp_path / ".local" / "share" / "hookonce" / "hookonce.log"
    assert (70, "", f"hookonce: internal error; the trace is in {log}\n") == ran
    assert "ZeroDivisionError" in log.read_text(encoding="utf-8")


def test_a_live_stream_is_answered_line_by_line():
    """
    An event is there before the next payload is written, even after a first line that was cut off.
    """
    command = [sys.executable, "-m", "hookonce", "translate", "--to", "openhook"]
    quiet = subprocess.DEVNULL
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=quiet, env=environment(), bufsize=0) as child:
        patience = Timer(20, child.kill)
        patience.start()
        child.stdin.write(b'{"cut":"off"\n')
        for _ in range(3):
            child.stdin.write(lines(PAYLOAD))
            assert "s1" == json.loads(child.stdout.readline())["session_id"]
        child.stdin.close()
        assert 1 == child.wait(20)
        patience.cancel()
