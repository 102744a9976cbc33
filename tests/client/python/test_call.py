"""The Python client finds the same data as the rest of Python, though it does so without `pathlib`."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hookonce.base.runtime_location import DATA_SUBDIR
from hookonce.client.python import call

PATHS = st.lists(st.sampled_from(["/", "//", ".", "..", "a", "b.c", "é", "\udcff"]), max_size=8).map(lambda parts: "/" + "".join(parts))


@given(PATHS)
def test_the_data_of_a_home_lie_where_pathlib_puts_them(path):
    """
    Also below the root, and below names that are no text.
    """
    home = Path(path)

    assert bytes(home / DATA_SUBDIR) == call._data_dir(bytes(home))
