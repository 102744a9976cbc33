"""Arbitrary JSON, payloads and records."""

from hypothesis import strategies as st

texts = st.text(max_size=20)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | texts
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)


def payloads(keys):
    """Objects that hold an agent's own keys with anything at all in them."""
    known = st.dictionaries(st.sampled_from(sorted(keys)), json_values, max_size=10)
    return st.builds(lambda mine, other: other | mine, known, st.dictionaries(texts, json_values, max_size=3))
