"""Merge of entries: an edit of a file without its bulk gives the very bytes that an edit of the whole file gives."""

import json
from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

from hookonce.configure import merge
from hookonce.configure.edit import jsonc
from hookonce.configure.merge import merge_entries, remove_entries, replace_commands
from tests.configure.edit.documents import OBJECTS, VALUES, documents

OURS = {"hooks of ours": {"Stop": [{"hooks": [{"command": "ours 1"}]}], "Start": [{"hooks": [{"command": "ours 2"}]}]}}
LONG = {"allow": ["word"] * 300, "env": {f"K{number}": "x" * 20 for number in range(100)}}
COMMANDS = st.builds(
    lambda key, command, more: {key: command, **more},
    st.sampled_from(["command", "url", "bash"]),
    st.sampled_from(["ours 1", "ours 2", "theirs"]),
    st.dictionaries(st.sampled_from(["timeout", "args", "more"]), VALUES, max_size=2),
)
ENTRIES = st.recursive(
    COMMANDS | VALUES,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(st.sampled_from(["hooks", "Stop", "a", "b", "c", "command"]), inner, max_size=5)
    ),
    max_leaves=20,
)
HOOKS = st.dictionaries(st.sampled_from(["hooks", "Stop", "a", "b", "c"]), ENTRIES, max_size=5)
SAMPLE = {
    "hooks": {
        "Stop": [{"hooks": [{"command": "theirs"}], "x": 1}] * 5 + [{"hooks": [{"command": "ours 1"}]}] + ["x"] * 4,
        "Other": {"a": [{"command": "ours 1"}], "b": [{"command": "theirs"}], "c": 1, "d": [[{"command": "ours 2"}]]},
    },
    "command": "theirs",
}


def is_ours(command):
    return command.startswith("ours")


def renamed(command):
    return f"new {command}" if is_ours(command) else None


def whole_and_elided(edit):
    """The result of an edit on the whole text, and that on a text in which as much as possible is elided."""
    with patch.object(merge, "elide", lambda _editor, text, *_: merge.ElidedText(text)):
        whole = edit()
    with patch.object(merge, "_MIN_ELIDED_BYTES", 0):
        return whole, edit()


@given(document=documents(OBJECTS) | documents(st.builds(lambda one, two: {"a": [one], **two}, VALUES, OBJECTS)))
@example(document=(LONG, json.dumps(LONG, indent=2).encode()))
@example(document=({"a": [[1], 2]}, b'{"a": [[1],\n  2], /* b */ }'))
@example(document=({"a": {"b": 1}, "c": [1, 2]}, b'{"a": {\n      "b": 1\n  }, "c": [\n 1,\n 2 ]}'))
@example(document=({"a": [1, 2, 3, 4, 5]}, b'{\n "a": [1, 2,\n     3, 4, 5],\n "b": 2}'))
def test_an_elided_file_is_edited_like_a_whole_one(document):
    """
    However little is worth eliding: entries go in at the same places, in the same style, and come out again.
    """
    _, text = document
    whole, short = whole_and_elided(lambda: merge_entries(jsonc, text, OURS))
    with patch.object(merge, "_MIN_ELIDED_BYTES", 0):
        back = remove_entries(jsonc, short, is_ours)

    assert whole == short
    assert text == back


@given(document=documents(HOOKS))
@example(document=(SAMPLE, json.dumps(SAMPLE, indent=2).encode()))
@example(document=(SAMPLE, json.dumps(SAMPLE).encode()))
def test_entries_are_found_behind_placeholders_as_in_the_whole_file(document):
    """
    Whatever stands beside our entries: the same ones are removed, rewritten and joined.
    """
    _, text = document
    new = {"hooks": {"Stop": [{"hooks": [{"command": "ours 3"}]}]}, "Stop": [{"command": "ours 4"}], "version": 1}
    for edit in (
        lambda: remove_entries(jsonc, text, is_ours),
        lambda: replace_commands(jsonc, text, renamed),
        lambda: merge_entries(jsonc, text, new),
    ):
        whole, short = whole_and_elided(lambda edit=edit: result_of(edit))
        assert whole == short


def result_of(edit):
    try:
        return edit()
    except merge.jsonc.FileEditError as problem:
        return str(problem)


@given(document=documents(OBJECTS | HOOKS))
def test_restoring_gives_back_the_file(document):
    """
    Nothing is lost where nothing was edited.
    """
    _, text = document
    with patch.object(merge, "_MIN_ELIDED_BYTES", 0):
        elided = merge.elide(jsonc, text, {})

    assert text == elided.restore(elided.text)


def test_somebody_elses_words_are_no_placeholder():
    """
    A text that looks like a placeholder, and is none, stays.
    """
    text = json.dumps({"note": "elided 0123456789abcdef 0", **LONG}, indent=2).encode()

    assert text == remove_entries(jsonc, merge_entries(jsonc, text, OURS), is_ours)


def test_a_large_file_is_parsed_once_whatever_is_written():
    """
    Twenty entries cost as many bytes as two, between whatever is there already: the whole file is not parsed for each.
    """
    text = json.dumps(
        {
            "list": list(range(20_000)),
            "hooks": {f"E{number}": [{"command": str(n)} for n in range(2000)] for number in range(3)},
            **{f"key {number}": number for number in range(5000)},
        },
        indent=2,
    ).encode()

    def cost(entries):
        parse, lengths = jsonc.parse_jsonc, []

        def counting(given):
            lengths.append(len(given))
            return parse(given)

        with patch.object(jsonc, "parse_jsonc", counting):
            merge_entries(jsonc, text, {"hooks": {f"E{number}": [{"command": "x"}] for number in range(entries)}})
        return sum(lengths)

    assert cost(20) < 1.2 * len(text)
