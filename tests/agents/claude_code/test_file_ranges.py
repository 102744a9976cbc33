"""Which lines of a file Claude Code has changed, as its patches tell."""

import pytest

from hookonce import agents, formats
from hookonce.model import Record

CONTEXT = [" a", " b", " c"]


def hunk(first, *lines):
    """A hunk of a patch, beginning at a line of the new file."""
    return {"newStart": first, "newLines": sum(line[:1] != "-" for line in lines), "lines": list(lines)}


@pytest.mark.covers("OH-33")
@pytest.mark.parametrize(
    ("hunks", "expected"),
    [
        ([hunk(10, *CONTEXT, "-x", "+y", *CONTEXT)], (13, 13)),
        ([hunk(10, *CONTEXT, "-x", "+y", "+z", *CONTEXT)], (13, 14)),
        ([hunk(1, "+x", *CONTEXT)], (1, 1)),
        ([hunk(5, " a", "+x", " b", "+y", " c")], (6, 8)),
        ([hunk(5, " a", "+x"), hunk(40, " a", "-y", "+z", " b")], (6, 41)),
        ([hunk(10, *CONTEXT, "-x", *CONTEXT)], (12, 12)),
        ([hunk(1, "-x", " a")], (1, 1)),
        ([hunk(3, " a", "+x", "\\ No newline at end of file")], (4, 4)),
        ([{"newStart": 4, "newLines": 2}], (4, 5)),
        ([{"newStart": "4", "newLines": 2, "lines": []}], (None, None)),
        ([5], (None, None)),
    ],
)
def test_a_range_holds_what_was_changed_and_not_what_is_around_it(hunks, expected):
    """
    From the first to the last line that was added; where lines were only taken out, the line behind which they stood.
    """
    response = {"filePath": "/w/a.py", "structuredPatch": hunks}
    payload = {"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Edit", "tool_input": {"file_path": "/w/a.py"}, "tool_response": response}

    event = agents.decode(agents.load("claude-code"), payload)
    _, written = formats.load("openhook").write(Record(event=event))

    assert expected == (written["data"].get("start_line"), written["data"].get("end_line"))
