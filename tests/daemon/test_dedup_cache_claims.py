"""A daemon that is asked about a call whose hooks somebody else runs already."""

from threading import Thread

from hookonce.base import ids, wire
from hookonce.dispatch import dedup
from hookonce.model import Reply
from tests.daemon.installed_home import command, payload
from tests.handlers.processes import eventually


def test_it_waits_for_the_others_answer_and_gives_that(warm):
    """
    Its own hooks stay unasked, and the call is not dropped.
    """
    warm.hooks(command(f"echo x >>{warm.home}/ran"))
    call, said = ids.new_id(), []
    with warm.inside():
        assert dedup.claim_call(call)
        asking = Thread(target=lambda: said.extend(wire.decode_replies(warm.say(warm.frame(payload(), name=call)))[0]))
        asking.start()
        assert eventually(lambda: warm.status()["under_way"] == 1, 20)
        dedup.save_answer(call, Reply(stdout="theirs"))
        asking.join()

    assert (wire.ANSWER, 0, b"theirs\n") == (said[-1][0], *said[-1][2:4])
    assert [] == warm.lines("ran")
