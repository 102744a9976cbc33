"""Shapes: which keys and types a payload has, and nothing of what it says."""

from hypothesis import given
from hypothesis import strategies as st
from shape import join_shapes, shape_of

keys = st.from_regex(r"\A[a-z_]{1,6}\Z")
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)


def test_a_shape_is_paths_and_types():
    given = {"a": 1, "b": {"c": "x", "odd key": None}, "d": [{"e": True}, {"e": 0.5}], "f.g": []}

    wanted = {
        "$": {"object"},
        "$.a": {"number"},
        "$.b": {"object"},
        "$.b.c": {"string"},
        "$.b.*": {"null"},
        "$.d": {"array"},
        "$.d[]": {"object"},
        "$.d[].e": {"boolean", "number"},
        '$["f.g"]': {"array"},
    }
    assert wanted == shape_of(given)


def test_keys_that_are_values_are_one():
    """
    Files, ids and times as keys vary from run to run.
    """
    assert shape_of({"/tmp/a": 1, "01a1df18-8852-7805": 2, "12": 3}) == {"$": {"object"}, "$.*": {"number"}}


@given(values)
def test_values_are_no_part_of_a_shape(value):
    assert shape_of(value) == shape_of(_other(value))


@given(st.lists(values, max_size=4))
def test_shapes_together_hold_each_of_them_in_any_order(payloads):
    shapes = [shape_of(one) for one in payloads]
    whole = join_shapes(shapes)

    assert whole == join_shapes(reversed(shapes))
    assert all(types <= whole[path] for one in shapes for path, types in one.items())


def _other(value):
    match value:
        case bool():
            return not value
        case int() | float():
            return 7
        case str():
            return "else"
        case list():
            return [_other(one) for one in value]
        case dict():
            return {key: _other(one) for key, one in value.items()}
    return value
