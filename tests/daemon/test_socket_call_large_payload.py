"""Calls that are much work, which a copy of the daemon does: hung up on, they are treated as all others are."""

from tests.daemon.installed_home import TOOL, payload, refused
from tests.daemon.step_client import asking, step
from tests.daemon.test_socket_call_hangup import WAITS
from tests.handlers.processes import eventually

HEAVY = payload("x" * (1 << 20))


def calls(home):
    """The calls that are under way, or whose answer nobody has read yet."""
    return [file.name for file in (home.house / "calls").iterdir()]


def test_a_caller_that_was_tired_of_waiting_hears_what_the_hooks_say_that_were_begun(warm):
    """
    The copy lives on while its caller does.
    """
    warm.hooks(WAITS)
    with asking(warm, warm.frame(HEAVY)) as caller:
        assert eventually(lambda: warm.lines("ran") == ["x"], 30)
        step(caller)
        assert not eventually(lambda: not warm.status()["under_way"], 0.5)
        step(caller)
        (warm.home / "go").touch()
        out, _ = caller.communicate(timeout=60)

    assert refused((0, out, b""), "no")
    assert ["x"] == warm.lines("ran")
    assert eventually(lambda: not warm.status()["under_way"], 30)


def test_a_caller_that_is_killed_takes_its_hooks_along(warm):
    """
    And nothing is left of the call.
    """
    warm.hooks(WAITS)
    with warm.start(*TOOL) as process:
        process.stdin.write(HEAVY)
        process.stdin.close()
        assert eventually(lambda: warm.lines("ran") == ["x"], 30)
        process.kill()

    assert eventually(lambda: not warm.status()["under_way"], 30)
    assert eventually(lambda: not calls(warm), 30)


def test_nothing_is_kept_of_a_call_whose_answer_was_read(warm):
    """
    What it held was for somebody who had not heard it.
    """
    warm.hooks(WAITS)
    (warm.home / "go").touch()

    assert refused(warm.tool("x" * (1 << 20)), "no")
    assert eventually(lambda: not calls(warm), 30)
    assert 0 == warm.status()["under_way"]
