"""Where a payload may have ended, and until when it is waited for."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.client.python import frame

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.sampled_from([None, 2]), st.booleans())
def test_a_document_is_whole_and_what_comes_before_its_end_is_not(value, indent, is_plain):
    """
    Whatever stands in its strings.
    """
    text = json.dumps({"a": value}, indent=indent, ensure_ascii=is_plain).encode()

    assert frame._is_complete_json(bytearray(text))
    assert not any(frame._is_complete_json(bytearray(text[:size])) for size in range(len(text)))


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ([], 12.6),
        (["x", "--timeout"], 12.6),
        (["--timeout", "soon"], 12.6),
        (["--timeout", "0"], 12.6),
        (["--timeout", "-3"], 12.6),
        (["--timeout", "nan"], 12.6),
        (["--timeout", "1e9"], 12.6),
        (["--timeout", "2"], 1.5),
        (["--timeout", "60"], 54),
        (["--timeout", "60", "--timeout", "5"], 4.5),
    ],
)
def test_it_is_too_late_before_the_agent_gives_up(words, seconds):
    """
    Half a second before, or a tenth; where nothing sensible is said, before the least patient agent.
    """
    assert pytest.approx(seconds * 1e9) == frame.reply_budget_ns(words)
