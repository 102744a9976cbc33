"""What a loop does in which order."""

from hookonce.runtime.loop import Loop


def test_work_that_somebody_waits_for_comes_before_work_that_nobody_waits_for():
    """
    Whenever it is asked for; and one of them is done in each turn.
    """
    loop, done = Loop(), []
    for name in "ab":
        loop.later(lambda name=name: done.append(f"later {name}"))
    loop.turn(0)
    for name in "cd":
        loop.soon(lambda name=name: done.append(f"soon {name}"))
    while loop.is_behind:
        loop.turn(0)
    loop.close()

    assert ["later a", "soon c", "soon d", "later b"] == done
