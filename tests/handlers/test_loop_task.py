"""Tasks on an event loop, and several at once as one operation."""

from hookonce.base.event_loop import EventLoop
from hookonce.handlers.loop_task import LoopTask, TaskGroup
from hookonce.handlers.operation import OperationResult, run_to_completion


def waits(seconds, result, log):
    try:
        yield seconds
    finally:
        log.append(result)
    return result


def breaks():
    yield 0.0
    raise KeyboardInterrupt


def test_results_stand_in_the_order_of_the_tasks():
    group = TaskGroup([waits(0.05, "slow", []), waits(0.0, "quick", [])], 1.0, lambda *_: False)

    assert 0 == run_to_completion(group).code
    assert ["slow", "quick"] == group.results


def test_whatever_interrupts_one_task_ends_all_and_is_told():
    """
    The others are closed, so that they give back what they hold.
    """
    log = []
    group = TaskGroup([waits(60, "other", log), breaks()], 1.0, lambda *_: False)
    run_to_completion(group)

    assert ([None, None], ["other"], KeyboardInterrupt) == (group.results, log, type(group.error))


def test_a_result_that_ends_the_group_cancels_the_others_and_those_that_have_not_begun():
    log = []
    group = TaskGroup([waits(60, "other", log), waits(0.0, "last", log)], 1.0, lambda index, _: index == 1)
    run_to_completion(group)

    assert ([None, "last"], ["last", "other"], None) == (group.results, log, group.error)


class SlowEnd:
    """
    An operation that goes on for a while after it was cancelled, as a process does.
    """

    timeout = 60.0

    def __init__(self):
        self.log = []

    def begin(self, loop, _timeout, on_result):
        self.loop, self.on_result = loop, on_result
        self.log.append("begun")
        return self

    def cancel(self):
        self.log.append("cancelled")
        self.loop.call_later(0.02, self.end)

    def end(self):
        self.log.append("ended")
        self.on_result(OperationResult(failure="cancelled"))


def asks(operation):
    yield operation


def test_a_group_has_ended_when_what_it_cancelled_has_ended():
    operation = SlowEnd()
    group = TaskGroup([asks(operation), waits(0.01, "last", [])], 1.0, lambda index, _: index == 1)
    run_to_completion(group)

    assert ([None, "last"], ["begun", "cancelled", "ended"]) == (group.results, operation.log)


def test_a_cancelled_task_is_closed_at_once_and_has_no_end():
    loop, operation, log, ends = EventLoop(), SlowEnd(), [], []

    def holds():
        try:
            yield operation
        finally:
            log.append("closed")

    task = LoopTask(loop, holds(), ends.append)
    task.resume()
    loop.run_once()
    task.cancel()
    assert (["begun", "cancelled"], ["closed"]) == (operation.log, log)

    while "ended" not in operation.log:
        loop.run_once()
    loop.close()
    assert (True, [], ["closed"]) == (task.is_over, ends, log)


class Unstartable:
    timeout = 60.0

    def begin(self, *_):
        raise LookupError("nothing there")


def asks_failure():
    result = yield Unstartable()
    return result.failure


def test_an_operation_whose_start_raises_has_failed():
    """
    The task goes on at once, in a group and alone in a daemon; nobody waits until its time is over.
    """
    group = TaskGroup([asks_failure(), waits(0.0, "other", [])], 1.0, lambda *_: False)
    run_to_completion(group)
    loop, replies = EventLoop(on_error=lambda _: None), []
    LoopTask(loop, asks_failure(), replies.append).resume()
    for _ in range(3):
        loop.run_once(0.1)
    loop.close()

    assert ["not started: nothing there", "other"] == group.results
    assert ["not started: nothing there"] == replies
