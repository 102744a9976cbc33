"""Layout of tables: no line is wider than it may be, words stay whole, paths lose their middle, columns go by worth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hookonce.cli._ui.layout import (
    Column,
    fit_columns,
    format_row,
    format_titles,
    measure_cells,
    shorten_path,
    text_width,
    wrap_words,
)

COLUMNS = [
    Column("name", shape="name"),
    Column("spare", worth=1),
    Column("tool", worth=2, leads=True),
    Column("count", worth=3, right=True),
    Column("place", worth=4, shape="path"),
    Column("what", min_chars=10, max_lines=3),
]
ROW = ("01a1dde4-3215-77eb-851b-eb5e5647ff91", "little worth", "shell", "1,234", "/home/dev/projects/shop/src/main.py", "make the whole test suite pass again")


def laid_out(width, columns=COLUMNS, rows=(ROW,)):
    layout = fit_columns(columns, [measure_cells(row[at] for row in rows) for at in range(len(columns))], width)
    return layout, [*format_titles(columns, layout), *(line for row in rows for line in format_row(row, columns, layout))]


@pytest.mark.parametrize(
    ("width", "dropped"),
    [(150, []), (74, []), (60, ["spare"]), (56, ["spare"]), (48, ["spare", "count"]), (34, ["spare", "count", "place"])],
)
def test_columns_go_in_the_order_of_their_worth(width, dropped):
    """
    One that leads is not lost: its cell stands before the last one.
    """
    layout, lines = laid_out(width)

    assert dropped == layout.dropped_titles(COLUMNS)
    assert max(map(text_width, lines)) <= width
    assert "shell" in " ".join(lines)


def test_a_table_that_cannot_be_narrower_is_as_narrow_as_it_can_be():
    layout, lines = laid_out(10)

    assert {0, 5} == {*layout.widths}
    assert "01a1dde4-3215" in "".join(lines)


@pytest.mark.parametrize(
    ("width", "short"),
    [
        (40, "/home/dev/projects/shop/src/main.py"),
        (34, "/home/…/projects/shop/src/main.py"),
        (30, "/home/…/shop/src/main.py"),
        (20, "/home/…/src/main.py"),
        (15, "/home/…/main.py"),
        (10, "…/main.py"),
        (8, "…main.py"),
        (6, "mai…py"),
        (1, "…"),
    ],
)
def test_a_path_loses_its_middle(width, short):
    assert short == shorten_path("/home/dev/projects/shop/src/main.py", width)


def test_words_stay_whole_where_they_can():
    assert ["make the", "whole test", "suite"] == wrap_words("make the whole test suite", 10)
    assert ["make the", "whole…"] == wrap_words("make the whole test suite", 8, 2)
    assert ["aaaa", "aa b"] == wrap_words("aaaaaa b", 4)
    assert ["see", "/a/…/z.txt", "now"] == wrap_words("see /a/very/long/way/to/z.txt now", 12, 5)
    assert ["see", "/a/very/long", "/way/to/z.tx", "t now"] == wrap_words("see /a/very/long/way/to/z.txt now", 12)
    assert [""] == wrap_words("", 5)


@pytest.mark.parametrize("words", ["hookonce: nothing is wrong", "Next: rm -rf /", "nothing is wrong", "daemon: process 1"])
def test_no_line_that_goes_on_passes_for_one_of_ours(words):
    """
    Whoever writes a text knows where it is wrapped.
    """
    first, second = wrap_words(f"{'x' * 30} {words}", 30)

    assert ("x" * 30, f"┊{words}") == (first, second)


@given(st.text(max_size=60), st.integers(2, 30), st.none() | st.integers(1, 4))
def test_no_line_is_too_wide_and_nothing_is_lost_unless_it_says_so(text, width, max_lines):
    lines = wrap_words(text.replace("┊", ""), width, max_lines)

    assert all(cell_len(line) <= width for line in lines)
    said, shown = ("".join("".join(one).replace("┊", "").split()) for one in (text, lines))
    assert len(lines) <= (max_lines or len(lines))
    assert said == shown or (max_lines is not None and "…" in shown)


@given(st.text("ab/漢", max_size=50), st.integers(2, 30))
def test_a_short_path_fits_and_says_what_it_has_lost(text, width):
    short = shorten_path(text, width)

    assert cell_len(short) <= width
    assert short == text or "…" in short


@given(st.lists(st.tuples(*[st.text("ab c/漢", max_size=40)] * len(COLUMNS)), max_size=5), st.integers(45, 160))
def test_every_table_fits_its_terminal(rows, width):
    _, lines = laid_out(width, rows=rows)

    assert max(map(cell_len, lines)) <= width
