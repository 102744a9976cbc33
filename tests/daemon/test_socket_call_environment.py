"""A hook lives in the world of whoever called, and not in the daemon's."""

import os
import resource
from functools import partial

import pytest

from tests.daemon.installed_home import TOOL, command, payload

OURS = "TELL|HOOKONCE_PARENT|PWD|OLDPWD|SHLVL|_"
TELLS = f"{{ pwd -P; umask; ulimit -n; env -0 | sort -z | grep -Ezav '^({OURS})='; }} >$TELL"
STRANGE = {b"TOKEN": b"\xff\xfe \xc3\xbc\n=", b"CLAUDE_PROJECT_DIR": b"/a b/\xe4", b"EMPTY": b"", b"HOOKONCE_X": b"1"}


@pytest.fixture(params=["user", "project"])
def telling(request, home):
    """A home with a hook that tells where it is, of the user or of a project that is trusted."""
    home.hooks(command(TELLS), scope=request.param)
    home.trust()
    return home


def told(home, env, name, **options):
    """What the hook tells of its world, all but what is its own."""
    env = {os.fsencode(key): os.fsencode(value) for key, value in env.items()} | STRANGE
    file = home.home / name
    given = payload(cwd=str(home.where), session_id="same")
    home.call(*TOOL, given=given, env=env | {b"TELL": bytes(file)}, **options)
    return file.read_bytes()


def both(home, **options):
    """What it tells without a daemon, and with one, which has answered."""
    cold = told(home, home.cold_env, "cold", **options)
    while True:
        before = home.warm()["answered"]
        warm = told(home, home.env, "warm", **options)
        if home.status()["answered"] > before:  # on a busy machine it may have come too late
            return cold, warm


def test_a_hook_sees_directory_umask_limits_and_environment_of_the_caller(telling):
    """
    Byte for byte what it sees when the caller itself starts it, also what is no text.
    """
    elsewhere = telling.where / "in \u00fc"
    elsewhere.mkdir()
    cold, warm = both(telling, cwd=elsewhere, umask=0o137)

    assert cold == warm
    assert all(key + b"=" + value in warm for key, value in STRANGE.items() if not key.startswith(b"HOOKONCE_"))
    assert b"HOOKONCE_X" not in warm
    assert b"HOOKONCE_DEPTH=1" in warm
    assert b"\n0137\n" in warm


def test_a_directory_that_was_taken_away_is_the_root(telling):
    """
    Where no directory is, the hooks of the user run at the root.
    """
    gone = telling.where / "gone"

    def leave():
        gone.mkdir()
        os.chdir(gone)
        gone.rmdir()

    cold, warm = both(telling, preexec_fn=leave)
    assert cold == warm
    assert warm.startswith((b"/\n", bytes(telling.where) + b"\n"))


def test_a_hook_has_as_many_descriptors_as_whoever_started_the_daemon(telling):
    """
    The daemon itself takes more, and its hooks do not get those.
    """
    few = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (256, 4096))
    telling.call(*TOOL, preexec_fn=few)
    cold, warm = both(telling, preexec_fn=few)

    assert cold == warm
    assert b"\n256\n" in warm
