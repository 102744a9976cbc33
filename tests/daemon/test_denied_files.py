"""A file that changes within a minute after its write was refused."""

import os
import time

import pytest

from hookonce.daemon import denied_files
from tests.handlers.processes import eventually

WRITE = "file_write"


@pytest.fixture(autouse=True)
def _hurried(monkeypatch):
    monkeypatch.setattr(denied_files, "_CHECK_DELAYS_S", (0.15, 0.5, 3.0))
    monkeypatch.setattr(denied_files, "_SETTLE_S", 0.05)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "w").mkdir()
    found = tmp_path / "w" / "secret.cfg"
    found.write_text("old")
    return found


def refuse(harness, file, **fields):
    return harness.tell(
        "before_tool_execute", outcome="deny", tool=WRITE, given={"path": str(file), "content": "x"}, **fields
    )


def alarms(harness, session="s"):
    """What is suspected within the minute."""

    def is_over():
        harness.loop.run_once(0.02)
        return not harness.files.is_waiting

    assert eventually(is_over, 30)
    harness.settle()
    return harness.kinds("policy_violation", session=session)


def create(file):
    file.with_name("new.cfg").write_text("x")
    return file.with_name("new.cfg")


@pytest.mark.parametrize(
    ("change", "origin"),
    [
        (lambda file: file.write_text("newer"), "file_saved"),
        (lambda file: file.unlink(), "file_deleted"),
        (lambda file: os.utime(file, ns=(1, 1)), "file_saved"),
    ],
)
def test_a_file_that_changes_after_its_write_was_refused_is_suspected(harness, file, change, origin):
    """
    Once, with the call that was refused.
    """
    denied = refuse(harness, file)
    change(file)
    (alarm,) = alarms(harness)

    assert ("suspected", origin, denied.id) == (alarm.data["status"], alarm.data["origin_event"], alarm.caused_by)
    assert [str(file)] == [seen.data["path"] for seen in harness.kinds(origin)]


def test_a_file_that_was_not_there_is_one_that_was_made(harness, file):
    """
    Named from the agent's directory.
    """
    refuse(harness, "new.cfg", cwd=str(file.parent))
    create(file)

    assert ["file_created"] == [alarm.data["origin_event"] for alarm in alarms(harness)]


def test_a_file_that_stays_as_it_is_raises_no_alarm(harness, file):
    """
    Nor does one whose write was let through.
    """
    refuse(harness, file)
    harness.tell("before_tool_execute", tool=WRITE, given={"path": str(file.with_name("other"))}, session="t")
    file.with_name("other").write_text("x")

    assert [] == alarms(harness) + harness.kinds("policy_violation", session="t")


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("tool", "given", "session"),
    [
        (WRITE, {"path": "secret.cfg"}, "s"),
        ("file_read", {"path": "elsewhere"}, "s"),
        ("shell", {"command": "make"}, "s"),
        ("shell", {"command": "make"}, "other"),
        ("file_edit", {"path": "secret.cfg"}, "other"),
        ("mcp:files/put", {}, "other"),
    ],
)
def test_whatever_was_let_through_meanwhile_may_have_written_it(harness, file, tool, given, session):
    """
    Anything in the same session; elsewhere what writes that file, or may write any.
    """
    refuse(harness, file)
    harness.tell("before_tool_execute", tool=tool, given=given, session=session, cwd=str(file.parent))
    file.write_text("newer")

    assert [] == alarms(harness)


@pytest.mark.parametrize(
    ("tool", "given"), [("file_read", {"path": "secret.cfg"}), ("file_edit", {"path": "other.cfg"})]
)
def test_what_cannot_have_written_it_explains_nothing(harness, file, tool, given):
    """
    Another session that only reads, or writes something else; nor does what is refused, or comes later.
    """
    refuse(harness, file)
    harness.tell("before_tool_execute", tool=tool, given=given, session="other")
    harness.tell("before_tool_execute", tool="shell", given={"command": "x"}, outcome="deny")
    file.write_text("newer")
    time.sleep(0.3)  # more than the time of a file may be behind
    harness.tell("before_tool_execute", tool="shell", given={"command": "make"})

    assert 1 == len(alarms(harness))


def test_what_was_still_running_may_have_written_it(harness, file):
    """
    A command that was let through before the refusal, and has not ended.
    """
    harness.tell("before_tool_execute", tool="shell", given={"command": "make watch"}, session="other")
    refuse(harness, file)
    file.write_text("newer")

    assert [] == alarms(harness)
