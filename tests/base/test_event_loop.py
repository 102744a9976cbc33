"""What a loop does in which order."""

from hookonce.base.event_loop import EventLoop


def test_work_that_somebody_waits_for_comes_before_work_that_nobody_waits_for():
    """
    Whenever it is asked for; and one of them is done in each turn.
    """
    loop, done = EventLoop(), []
    for name in "ab":
        loop.call_idle(lambda name=name: done.append(f"later {name}"))
    loop.run_once(0)
    for name in "cd":
        loop.call_soon(lambda name=name: done.append(f"soon {name}"))
    while loop.has_pending:
        loop.run_once(0)
    loop.close()

    assert ["later a", "soon c", "soon d", "later b"] == done
