"""The table of a kernel's sessions: nobody sees it half changed."""

from threading import Event, Thread

import pytest

from hookonce.modules.kernel.sessions import SessionTable

CALLS = {
    "create": lambda table: table.create({}),
    "end": lambda table: table.end("old"),
    "require": lambda table: table.require("kept"),
    "list_ids": lambda table: table.list_ids(),
    "copy_context": lambda table: table.copy_context("kept"),
    "set_fragment": lambda table: table.set_fragment("kept", "a", 1),
    "compact": lambda table: table.compact("kept", {}, {}),
}


@pytest.mark.covers("AMP-22")
@pytest.mark.parametrize("name", CALLS)
def test_while_one_call_changes_the_table_every_other_waits(name):
    inside, go_on, is_done, ids = Event(), Event(), Event(), iter(["kept", "old", "slow", "new"])

    def mint():
        made = next(ids)
        if made == "slow":
            inside.set()
            go_on.wait(5)
        return made

    def call():
        CALLS[name](table)
        is_done.set()

    table = SessionTable(mint)
    assert ["kept", "old"] == [table.create({}), table.create({})]
    threads = [Thread(target=table.create, args=({},), daemon=True), Thread(target=call, daemon=True)]
    threads[0].start()
    assert inside.wait(5)
    threads[1].start()
    assert not is_done.wait(0.05)
    go_on.set()
    assert is_done.wait(5)
    threads[0].join(5)
    assert "slow" in table.list_ids()
