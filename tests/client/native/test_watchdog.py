"""The watchdog: it tells how a hook ended, once nothing is left of it."""

import os
import subprocess
import time

import pytest

from tests.handlers.processes import eventually, running, word
from tests.handlers.test_command import LEFT, OPEN, STUBBORN


class Watched:
    """A hook with its watchdog, and the two pipes to that."""

    def __init__(self, client, command, umask="-", cwd="-", **options):
        leash, self.leash = os.pipe()
        self.news, news = os.pipe()
        words = [client, "--watch", str(leash), str(news), umask, cwd, command]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(words, pass_fds=[leash, news], **{**pipes, **options})
        os.close(leash)
        os.close(news)

    def let_go(self):
        os.close(self.leash)
        self.leash = None

    def end(self):
        """The news, and what the hook has said."""
        with self.process:
            out, err = self.process.communicate(b"given", timeout=60)
        with os.fdopen(self.news, "rb") as pipe:
            news = pipe.read().decode()
        if self.leash is not None:
            self.let_go()
        return news, out, err


@pytest.mark.parametrize(
    ("command", "news"),
    [
        ("exit 0", "0"),
        ("exit 2", "2"),
        ("exit 255", "255"),
        ("kill -9 $$", "-9"),
        ("kill -SEGV $$", "-11"),
        ("kill -PIPE $$", "-13"),
        ("/nonexistent/hook", "127"),
        ("/etc/passwd", "126"),
    ],
)
def test_the_ending_is_told_as_it_was(compiled, command, news):
    """
    The exit code, or the signal's number below zero.
    """
    watched = Watched(compiled, command)
    told, _, _ = watched.end()

    assert (news, 0) == (told, watched.process.returncode)


@pytest.mark.parametrize(("cwd", "why"), [("/nonexistent", "No such file or directory"), ("/etc/passwd", "Not a directory")])
def test_what_cannot_be_started_says_so(compiled, cwd, why):
    """
    And why.
    """
    assert (f"not started: {why}", b"", b"") == Watched(compiled, "true", cwd=cwd).end()


def test_the_hook_runs_where_and_as_it_was_told(compiled, tmp_path):
    """
    Its own three descriptors and nothing else, the directory, the umask, the environment, a session of its own.
    """
    read, write = os.pipe()
    os.set_inheritable(write, True)
    command = f"cat; echo; pwd; umask; echo $ONLY; ps -o sid= -p $$; echo $$; {OPEN}"
    env = {"ONLY": "this", "PATH": os.environ["PATH"]}
    watched = Watched(compiled, command, umask="027", cwd=str(tmp_path), env=env, close_fds=True)
    news, out, err = watched.end()
    os.close(read)
    os.close(write)
    given, where, mask, only, session, own, descriptors = out.decode().splitlines()

    assert ("0", b"") == (news, err)
    assert ["given", str(tmp_path), "0027", "this", "0 1 2 "] == [given, where, mask, only, descriptors]
    assert session.strip() == own


def test_a_dash_keeps_what_was_there(compiled, tmp_path):
    """
    Directory and umask of whoever started the watchdog.
    """
    inherited = {"preexec_fn": lambda: (os.chdir(tmp_path), os.umask(0o011))}

    assert f"{tmp_path}\n0011\n".encode() == Watched(compiled, "pwd; umask", **inherited).end()[1]


@pytest.mark.parametrize("command", STUBBORN.values(), ids=STUBBORN)
def test_when_the_leash_is_let_go_everything_is_killed(compiled, command):
    """
    Neither signals nor sessions nor a forgotten parent protect a process that a hook has started.
    """
    mark = word()
    watched = Watched(compiled, command.format(mark=mark))
    assert eventually(lambda: len(running(mark)) > 1, 10)  # the watchdog itself carries the word too
    time.sleep(0.2)
    watched.let_go()
    news, _, _ = watched.end()

    assert "-9" == news
    assert [] == running(mark)


@pytest.mark.parametrize("command", LEFT.values(), ids=LEFT)
def test_at_its_end_everything_that_it_started_is_killed(compiled, command):
    """
    The news come when nothing is left.
    """
    mark = word()
    news, out, _ = Watched(compiled, f"{command.format(mark=mark)}\necho done").end()

    assert ("0", b"done\n", []) == (news, out, running(mark))


def test_many_orphans_are_all_found(compiled):
    """
    More than one look at the list of them shows.
    """
    mark = word()
    news, _, _ = Watched(compiled, f"i=0; while [ $i -lt 700 ]; do (setsid sleep {mark} &); i=$((i + 1)); done").end()

    assert ("0", []) == (news, running(mark))


def test_the_watchdog_holds_no_output_of_the_hook(compiled):
    """
    Whoever listens to a hook that has closed its outputs hears their end at once.
    """
    mark = word()
    watched = Watched(compiled, f"echo x; exec >&- 2>&-; sleep {mark}", stdin=subprocess.DEVNULL)
    assert (b"x\n", b"") == (watched.process.stdout.read(), watched.process.stderr.read())
    assert eventually(lambda: running(f"sleep\0{mark}"), 10)
    watched.let_go()

    assert watched.process.wait(30) == 0
    assert b"-9" == os.read(watched.news, 100)
    os.close(watched.news)
    watched.process.stdout.close()
    watched.process.stderr.close()


def test_a_runner_that_is_gone_is_a_leash_that_is_let_go(compiled):
    """
    Also when nobody can read the news any more.
    """
    mark = word()
    watched = Watched(compiled, f"sleep {mark}", stdin=subprocess.DEVNULL)
    assert eventually(lambda: running(f"sleep\0{mark}"), 10)
    os.close(watched.news)
    watched.let_go()
    with watched.process as process:
        assert 0 == process.wait(30)

    assert [] == running(f"sleep\0{mark}")


def test_a_hook_that_was_stopped_is_still_watched(compiled):
    """
    Stopping is no ending.
    """
    watched = Watched(compiled, "kill -STOP $$; exit 3", stdin=subprocess.DEVNULL)
    time.sleep(0.2)
    assert watched.process.poll() is None
    watched.let_go()

    assert "-9" == watched.end()[0]
