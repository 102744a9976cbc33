"""Folding: an edit of a file without its bulk gives the very bytes that an edit of the whole file gives."""

import json
from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

from hookonce.configure.edit import elide, jsonc
from hookonce.configure.merge import merge_entries, remove_entries
from tests.configure.edit.documents import OBJECTS, VALUES, documents

OURS = {"hooks of ours": {"Stop": [{"hooks": [{"command": "ours 1"}]}], "Start": [{"hooks": [{"command": "ours 2"}]}]}}
LONG = {"allow": ["word"] * 300, "env": {f"K{number}": "x" * 20 for number in range(100)}}


def is_ours(command):
    return command.startswith("ours")


def nothing(text, _touched):
    """The file as it is."""
    return elide.ElidedText(text, {})


@given(document=documents(OBJECTS) | documents(st.builds(lambda one, two: {"a": [one], **two}, VALUES, OBJECTS)))
@example(document=(LONG, json.dumps(LONG, indent=2).encode()))
@example(document=({"a": [[1], 2]}, b'{"a": [[1],\n  2], /* b */ }'))
@example(document=({"a": {"b": 1}, "c": [1, 2]}, b'{"a": {\n      "b": 1\n  }, "c": [\n 1,\n 2 ]}'))
def test_a_folded_file_is_edited_like_a_whole_one(document):
    """
    However little is worth folding: entries go in at the same places, in the same style, and come out again.
    """
    _, text = document
    with patch("hookonce.configure.merge.elide_members", nothing):
        whole = merge_entries(jsonc, text, OURS)
    with patch.object(elide, "_MIN_ELIDED_BYTES", 0):
        short = merge_entries(jsonc, text, OURS)
        back = remove_entries(jsonc, short, is_ours)

    assert whole == short
    assert text == back


@given(document=documents(OBJECTS))
def test_unfolding_gives_back_the_file(document):
    """
    Nothing is lost where nothing was edited.
    """
    _, text = document
    with patch.object(elide, "_MIN_ELIDED_BYTES", 0):
        short, kept = elide.elide_members(text, lambda _name, _value: False)

    assert text == elide.restore_members(short, kept)


def test_somebody_elses_words_are_no_stand_in():
    """
    A text that looks like a stand-in, and is none, stays.
    """
    text = json.dumps({"note": "folded 0123456789abcdef 0", **LONG}, indent=2).encode()

    assert text == remove_entries(jsonc, merge_entries(jsonc, text, OURS), is_ours)


def test_a_large_file_is_read_a_few_times_whatever_is_written():
    """
    Twenty entries cost as many bytes as two: the whole file is not read anew for each.
    """
    text = json.dumps({"list": list(range(20_000))}, indent=2).encode()

    def cost(entries):
        read, seen = jsonc.parse_jsonc, []

        def counting(given):
            seen.append(len(given))
            return read(given)

        with patch.object(jsonc, "parse_jsonc", counting), patch.object(elide, "parse_jsonc", counting):
            merge_entries(jsonc, text, {"hooks": {f"E{number}": [{"command": "x"}] for number in range(entries)}})
        return sum(seen)

    assert cost(20) < 1.2 * cost(2)
