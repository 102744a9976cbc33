"""The twin finds the same house as the rest of Python, though it has its own words for it."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hookonce.base.runtime_dir import runtime_dir_name as name_of
from hookonce.client.python import call

PATHS = st.lists(st.sampled_from(["/", "//", ".", "..", "a", "b.c", "é", "\udcff"]), max_size=8).map(lambda parts: "/" + "".join(parts))


@given(PATHS)
def test_a_path_is_spelled_as_pathlib_spells_it(path):
    """
    Slashes and dots, in whatever number.
    """
    assert bytes(Path(path)) == call._normalize_path(path.encode(errors="surrogateescape"))


@given(PATHS)
def test_a_home_gives_its_house_the_same_name(path):
    """
    Also the root, and names that are no text.
    """
    home = Path(path)

    assert name_of(home, home / ".local/share/hookonce") == f"{call._fnv1a_hash(bytes(home)):016x}"
