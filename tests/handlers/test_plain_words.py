"""Commands that need no shell: they run as a shell would run them, byte for byte, and every other goes to the shell."""

import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookonce.base.event_loop import EventLoop
from hookonce.handlers.command import CommandOperation, ProcessContext
from hookonce.handlers.operation import run_on_loop
from hookonce.handlers.plain_words import plain_words
from hookonce.handlers.supervise.watchdog_pool import WatchdogPool

EXAMPLES = int(os.environ.get("HOOKONCE_FUZZ", "25"))
ENV = {"PATH": "/usr/bin:/bin", "B": "2", "A": "1"}


@pytest.fixture(scope="module")
def loop():
    """A loop with watchdogs, as the daemon has them."""
    found = EventLoop()
    pool = WatchdogPool(found)
    yield found
    pool.close()
    found.close()


def ours(loop, command, env=None, cwd="/"):
    """How a hook ends with us: its code, and what it says."""
    context = ProcessContext(cwd=str(cwd), env=ENV if env is None else env)
    ran = run_on_loop(loop, CommandOperation(command, b"given", context, 20))
    return ran.code, ran.stdout, ran.stderr


def shells(command, env=None, cwd="/"):
    """The same with a shell."""
    line = ["/bin/sh", "-c", command]
    ran = subprocess.run(
        line, input=b"given", capture_output=True, env=ENV if env is None else env, cwd=cwd, check=False
    )
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("python3 guard.py", ["python3", "guard.py"]),
        ("  ./guard.sh\t--strict -x=1 a@b:c,d%e+f \n", ["./guard.sh", "--strict", "-x=1", "a@b:c,d%e+f"]),
        ("'/opt/my tools/guard' \"two words\" 'a'b\"c\" ''", ["/opt/my tools/guard", "two words", "abc", ""]),
        ("jq -e '.a | select(.b)' \"#;&~*\"", ["jq", "-e", ".a | select(.b)", "#;&~*"]),
        *[(f"guard{sign}x y", []) for sign in "|&;<>()$`\\*?[]{}~#!^\n\0\"'é\x7f\r"],
        *[
            (f"guard {sign}", [])
            for sign in ("a|b", "a&", "$A", "~", "~/x", "*", "a{b,c}", "`x`", "\\x", "é", "a\nb", "#x", "a=~/b")
        ],
        *[(f'guard "a{sign}b"', []) for sign in "$`\\!\n"],
        *[
            (name, [])
            for name in ("echo a", "test 1", "cd /", "exec x", "if", "time x", "true", "'echo' a", '"exit"', "kill 1")
        ],
        *[
            (odd, [])
            for odd in ("", " ", "A=1 guard", "A=1", "./a=b", "%1", "-x", ".", ":", "'' x", "'my guard' x", "@x")
        ],
    ],
)
def test_only_what_every_shell_understands_alike_is_plain(command, words):
    """
    When in doubt, the shell.
    """
    assert tuple(words) == plain_words(command)


def test_a_long_command_is_looked_at_once():
    """
    Not in every way in which it could be cut into words.
    """
    assert () == plain_words("a'b'\"c\"" * 2000 + "|")


def test_no_shell_comes_between(loop):
    """
    One would sort the variables anew.
    """
    code, stdout, _ = ours(loop, "/usr/bin/env", {**ENV, "PWD": "/"})

    assert (0, b"PATH=/usr/bin:/bin\nB=2\nA=1\nPWD=/\n") == (code, stdout)


@pytest.fixture
def place(tmp_path):
    """A folder with programs that are none, and one that is."""
    for name, text, mode in [
        ("guard", "#!/bin/sh\necho guard $# $PWD; cat; exit 2\n", 0o755),
        ("no-interpreter", "#!/nonexistent/sh\n", 0o755),
        ("no-line", "echo no line $1\n", 0o755),
        ("not-executable", "#!/bin/sh\n", 0o644),
        ("early/guard", "#!/bin/sh\n", 0o644),
    ]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(mode)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "env"),
    [
        *[
            (f"{start}{name} a b", {})
            for start in ("./", "")
            for name in ("guard", "no-interpreter", "no-line", "not-executable")
        ],
        ("./folder", {}),
        ("nonexistent-program x", {}),
        ("./nonexistent x", {}),
        ("guard/x", {}),
        ("guard", {"PATH": "{place}/early:{place}"}),
        ("guard", {"PATH": "."}),
        ("guard", {"PATH": ":/bin"}),
        ("guard", {"PATH": "{place}/nothing:{place}/guard:{place}"}),
        ("guard", {"PATH": "{place}%func"}),
        ("/usr/bin/env", {"PATH": None}),
        ("env", {"PATH": None}),
        ("env", {"PWD": "/usr"}),
        ("env", {"PWD": "{place}/link"}),
        ("env", {"PWD": "{place}/../nothing"}),
        ("env", {"A.B": "1", "IFS": "x", "OPTIND": "7"}),
        ("env", {"OPTIND": "7"}),
        ("env", {"1A": "7", "Ä": "1"}),
        ("pwd", {"PWD": "{place}/link"}),
    ],
)
def test_what_can_and_cannot_be_run_ends_as_with_a_shell(loop, place, command, env):
    """
    With the same code, the same words and the same variables.
    """
    given = {"PATH": f"{place}:/usr/bin:/bin", "A": "1", **env}
    given = {name: value.format(place=place) for name, value in given.items() if value is not None}
    found, expected = ours(loop, command, given, place), shells(command, given, place)
    if command.endswith("env"):
        found, expected = ((code, sorted(out.splitlines()), err) for code, out, err in (found, expected))

    assert expected == found


PARTS = st.text("ab-=/:%+@,._", max_size=4) | st.sampled_from(
    ["' '", "'*'", '" $"', '"a b"', "''", '"~#"', "'\"'", '"\'"']
)
SIGNS = st.sampled_from(
    [*"|&;<>$`\\*?[]{}~#!^\n()", "\t", "é", "'", '"', ">/dev/null", "2>&1", "$A", "~root", "{a,b}", "\\\\"]
)
WORDS = st.lists(st.lists(st.one_of(PARTS, PARTS, PARTS, SIGNS), min_size=1, max_size=3).map("".join), max_size=3)


@settings(max_examples=EXAMPLES, deadline=None)
@given(words=WORDS, blank=st.sampled_from([" ", "  ", "\t"]))
def test_random_words_arrive_as_a_shell_hands_them_on(loop, words, blank):
    """
    Each in its own brackets; and what is no plain word is the shell's.
    """
    command = blank.join(["/usr/bin/printf", "'[%s]'", *words])
    if plain_words(command):
        assert shells(command) == ours(loop, command)
