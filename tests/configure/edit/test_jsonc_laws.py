"""What holds for every JSON file, however it is written."""

import json
import re
from copy import deepcopy

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hookonce.base.files import FileEditError
from hookonce.configure.edit import jsonc
from hookonce.configure.edit.brackets import apply_edits
from hookonce.configure.edit.jsonc import _COMMENT, parse_jsonc
from tests.configure.edit.documents import KEYS, OBJECTS, VALUES, at, documents, gaps, indices_of, places

NOTHING = gaps().map(lambda text: ({}, text.encode())) | gaps().map(lambda text: ({}, b"\xef\xbb\xbf" + text.encode()))
FILES = documents() | NOTHING


def same(one, other):
    """Equal, and of equal types: 1 is not true."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def comments(text):
    return [found for found in re.findall(_COMMENT, text) if found.startswith(b"/")]


def is_within(part, whole):
    """Whether bytes are still there, in order, whatever stands between them."""
    letters = iter(whole)
    return all(letter in letters for letter in part)


@st.composite
def new_places(draw, value, end):
    """A way that begins in a document and ends where nothing is yet, or in a list if `end` is one."""
    if end is list and places(value, list) and draw(st.booleans()):
        return draw(st.sampled_from(places(value, list)))
    start = draw(st.sampled_from(places(value, dict)))
    first = draw(KEYS.filter(lambda key: key not in at(value, start)))
    return (*start, first, *draw(st.lists(KEYS, max_size=2)))


def grown(value, keys, end):
    """The document with everything along the way."""
    for key in keys[:-1]:
        value = value[key] if isinstance(key, int) else value.setdefault(key, {})
    return value[keys[-1]] if isinstance(keys[-1], int) else value.setdefault(keys[-1], end)


@given(data=st.data(), document=FILES, item=VALUES)
def test_removing_an_inserted_item_gives_back_the_file(data, document, item):
    """
    insert, then remove: the same bytes. In between, the file says what it said, and the item.
    """
    value, text = document
    keys = data.draw(new_places(value, list))
    meant = deepcopy(value)
    grown(meant, keys, []).append(item)
    new = jsonc.insert_item(text, keys, item)

    assert same(parse_jsonc(new).value, meant)
    assert is_within(text, new)
    assert jsonc.remove_path(new, (*keys, len(at(meant, keys)) - 1)) == text


@given(data=st.data(), document=FILES, inner=VALUES)
def test_removing_a_new_key_gives_back_the_file(data, document, inner):
    """
    set, then remove: the same bytes.
    """
    value, text = document
    keys = data.draw(new_places(value, dict))
    meant = deepcopy(value)
    grown(meant, keys, inner)
    new = jsonc.set_value(text, keys, inner)

    assert same(parse_jsonc(new).value, meant)
    assert jsonc.remove_path(new, keys) == text


@given(data=st.data(), document=FILES)
def test_many_items_can_be_removed_in_any_order(data, document):
    """
    Several entries in several arrays, taken out in another order: the same bytes.
    """
    value, text = document
    start = data.draw(st.sampled_from(places(value, dict)))
    events = [event for event in ("x1", "x2", "x3") if event not in at(value, start)]
    assume(events)
    chosen = data.draw(st.lists(st.sampled_from(events), min_size=1, max_size=5))
    new = text
    for number, event in enumerate(chosen):
        new = jsonc.insert_item(new, (*start, event), {"hooks": [f"ours {number}"]})
    for number, event in data.draw(st.permutations(list(enumerate(chosen)))):
        (index,) = indices_of(jsonc.value_at(new, (*start, event)), lambda entry, n=number: entry == {"hooks": [f"ours {n}"]})
        new = jsonc.remove_path(new, (*start, event, index))

    assert new == text


WITH_LISTS = st.builds(lambda value, inner: {**value, "list": inner}, OBJECTS, st.lists(VALUES, max_size=3))


@given(data=st.data(), document=documents(WITH_LISTS))
def test_items_in_lists_that_were_there_can_be_removed_in_any_order(data, document):
    """
    The same where the arrays hold foreign items, or stood empty.
    """
    value, text = document
    lists = places(value, list)
    chosen = data.draw(st.lists(st.sampled_from(lists), min_size=1, max_size=5))
    new = text
    for number, keys in enumerate(chosen):
        new = jsonc.insert_item(new, keys, {"ours": number})
    for number, keys in data.draw(st.permutations(list(enumerate(chosen)))):
        index = indices_of(jsonc.value_at(new, keys), lambda entry, n=number: entry == {"ours": n})[-1]
        new = jsonc.remove_path(new, (*keys, index))

    assert new == text


@given(data=st.data(), document=documents())
def test_removing_something_foreign_leaves_the_rest(data, document):
    """
    Any item or key can be taken out; all comments outside of it stay, and containers go only when empty.
    """
    value, text = document
    holders = [keys for keys in places(value, (dict, list)) if at(value, keys)]
    assume(holders)
    holder = data.draw(st.sampled_from(holders))
    inside = at(value, holder)
    key = data.draw(st.sampled_from(sorted(inside) if isinstance(inside, dict) else range(len(inside))))
    page = parse_jsonc(text)
    *_, inner = page.find_spans((*holder, key))
    start, end = next(span for span in page.brackets_at(page.find_spans(holder)[-1]).items if span[0] <= inner[0] < span[1])
    new = jsonc.remove_path(text, (*holder, key))

    meant = [deepcopy(value)]
    at(meant[0], holder).pop(key)
    while not at(meant[-1], holder) and holder:
        *holder, last = holder
        meant.append(deepcopy(meant[-1]))
        at(meant[-1], holder).pop(last)
    assert any(same(parse_jsonc(new).value, one) for one in meant)
    assert is_within(new, text)
    assert comments(new) == comments(text[:start]) + comments(text[end:])


@given(data=st.data(), document=documents(), inner=VALUES)
def test_replacing_a_value_touches_nothing_else(data, document, inner):
    """
    Everything before and behind the value keeps its bytes.
    """
    value, text = document
    keys = data.draw(st.sampled_from([keys for keys in places(value, object) if keys] or [None]))
    assume(keys)
    start, end = parse_jsonc(text).find_spans(keys)[-1]
    new = jsonc.set_value(text, keys, inner)

    assert new.startswith(text[:start])
    assert new.endswith(text[end:])
    assert same(jsonc.value_at(new, keys), inner)


@given(document=documents(VALUES))
def test_reading_gives_what_was_written(document):
    """
    Comments, trailing commas and white space say nothing.
    """
    value, text = document
    assert same(parse_jsonc(text).value, value)


@given(text=st.binary(max_size=40) | st.text(alphabet='{}[]",:/*\\\n\r 1eatrufn', max_size=30).map(str.encode))
@settings(max_examples=300)
def test_any_other_bytes_are_refused_in_one_sentence(text):
    """
    Whatever a file holds, it is read or refused, with a place; nothing else happens.
    """
    said = ""
    try:
        jsonc.insert_item(text, ("hooks", "Stop"), 1)
    except FileEditError as refusal:
        said = str(refusal)
    assert "\n" not in said


@given(
    cuts=st.lists(st.tuples(st.integers(0, 9), st.binary(max_size=2)), max_size=4),
    text=st.binary(min_size=9, max_size=9),
)
def test_splices_at_one_place_keep_their_order(cuts, text):
    """
    Insertions appear in the order in which they were given.
    """
    new = apply_edits(text, [(place, place, word) for place, word in cuts])
    assert len(new) == len(text) + sum(len(word) for _, word in cuts)
    assert is_within(text, new)


@pytest.mark.parametrize("depth", [1, 10, 200])
@given(inner=OBJECTS)
@settings(max_examples=5)
def test_depth_changes_nothing(depth, inner):
    """
    A deep document is edited like a shallow one.
    """
    value = inner
    for _ in range(depth):
        value = {"deep": value}
    text = json.dumps(value, indent=1).encode()
    keys = (*["deep"] * depth, "hooks of ours", "Stop")
    assert jsonc.remove_path(jsonc.insert_item(text, keys, {}), (*keys, 0)) == text
