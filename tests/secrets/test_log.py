"""The log helps whoever looks for a mistake, and tells nothing that the record leaves out."""

import pytest

from hookonce import agents
from hookonce.agents import decode
from hookonce.base import paths
from hookonce.base.jsontext import dump
from hookonce.errors import HookonceError
from hookonce.secrets import log
from hookonce.store.privacy.sanitize import LINE_NOTE, OUTPUT_NOTE, sanitize_output

TEXT = "Please tell Bob that the server in Köln is down.\nThe code is 4711-0815."
PAYLOAD = {
    "hook_event_name": "PreToolUse",
    "session_id": "s",
    "cwd": "/home/dev/project",
    "tool_name": "Bash",
    "tool_input": {"command": "make release && git push", "description": TEXT},
}
EVENT = dump(decode(agents.load("claude-code"), PAYLOAD, "PreToolUse", id="e"))


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home with nothing in it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def heard(said, given=EVENT, level="minimal"):
    """What the log has of it."""
    return sanitize_output(said.encode(), given, level).decode()


@pytest.mark.parametrize(
    "line",
    [
        TEXT.splitlines()[0],
        "KeyError: 'Please tell Bob'",
        '{"description": "Please tell Bob that the server in K\\u00f6ln is down.\\nThe code"}',
        "code 4711-0815 is refused",
        "in K\\u00f6ln is down",
        "hook_event_name PreToolUse: Please tell Bob",
    ],
)
def test_lines_that_repeat_what_is_not_kept_are_left_out(line):
    """
    Also where they repeat a part of it, or in another spelling; the lines around them stay.
    """
    assert f"Traceback\n{LINE_NOTE}\nexit" == heard(f"Traceback\n{line}\nexit")


@pytest.mark.parametrize(
    "line",
    [
        '  File "guard.py", line 3, in <module>',
        "make: *** No rule to make target 'release'.",
        "make release && git push: not today",
        "cd: /home/dev/project: No such file or directory",
        "jq: command not found",
        "",
    ],
)
def test_lines_that_say_something_of_their_own_stay(line):
    """
    Commands and paths are kept in the record, and may be told here.
    """
    assert f"{line}\nx" == heard(f"{line}\nx")


def test_everything_is_told_at_full_and_nothing_of_what_cannot_be_compared():
    """
    What a hook was given may be no JSON, the words of an agent, or too much.
    """
    assert TEXT == heard(TEXT, level="full")
    assert f"{LINE_NOTE}\nx" == heard("Please tell Bob that\nx", dump(PAYLOAD))
    assert f"{LINE_NOTE}\nx" == heard("Please tell Bob that\nx", TEXT.encode())
    assert OUTPUT_NOTE == heard("x", b"y" * (2 << 20))


def failed(problem, cause=None):
    """An error that was raised."""
    try:
        try:
            if cause is not None:
                raise cause
        finally:
            raise problem
    except type(problem) as found:
        return found


def test_errors_of_others_say_where_and_not_what():
    """
    Their words may be anybody's; ours are known, and at full all of them are told.
    """
    told = log.format_trace(failed(ValueError(TEXT), KeyError(TEXT)))

    assert ["KeyError", "ValueError"] == [line for line in told.splitlines() if not line.startswith(" ")]
    assert "raise problem" in told
    assert "Bob" not in told
    assert ("no such agent", "ValueError") == (log.safe_message(HookonceError("no such agent")), log.safe_message(ValueError(TEXT)))
    paths.config_dir().mkdir(parents=True)
    (paths.config_dir() / "config.toml").write_text('privacy = "full"\n')
    assert TEXT == log.safe_message(ValueError(TEXT))
