"""TOML files of others get our tables, keep everything else, and get their own bytes back."""

import tomllib
from datetime import UTC, date, datetime
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hookonce.base.files import FileEditError, FileSyntaxError
from hookonce.configure.edit.toml import (
    insert_item,
    remove_path,
    render_assignment,
    set_value,
    value_at,
)
from tests.cases import cases
from tests.configure.edit.documents import indices_of

BOM = b"\xef\xbb\xbf"
EVENTS = ["PreToolUse", "Stop"]
OURS = {"matcher": "*", "hooks": [{"type": "command", "command": '/home/é/"hookonce-on" codex', "timeout": 60}]}


def is_ours(entry):
    return "hookonce-on" in str(entry)


def install(text):
    for event in EVENTS:
        if not indices_of(value_at(text, ("hooks", event)), is_ours):
            text = insert_item(text, ("hooks", event), OURS)
    return text


def uninstall(text):
    for event in EVENTS:
        for index in reversed(indices_of(value_at(text, ("hooks", event)), is_ours)):
            text = remove_path(text, ("hooks", event, index))
    return text


CODEX = '''\
# my codex
model = "gpt-5.5" # best
notify = [ "say", # loudly
  "[[hooks.Stop]]", ]
text = """
[[hooks.PreToolUse]]
matcher = "not a table"
"""

[[hooks.PreToolUse]] # mine
matcher = '^Bash$'
  [[hooks.PreToolUse.hooks]]
  type = "command"
  command = "echo ']]' # no comment"
# matcher = "commented out"

# about servers
[mcp_servers."a.b"]
command = 'x' # "'

[hooks.state]
"k:0" = { trusted_hash = "sha256:1" }
'''

FILES = {
    "codex": CODEX,
    "empty": "",
    "blank": "\n\n",
    "spaces": "  ",
    "only a comment": "# nothing",
    "one value": "a = 1\n",
    "blank lines at the end": "a = 1\n\n\n",
    "comment at the end": "[a]\nb = 1\n# the end\n",
    "header at the end": "[hooks]",
    "comment that heads the next table": "[[hooks.Stop]]\nx = 1\n# about other\n[other]\n",
    "comment that ends a table": "[[hooks.Stop]]\nx = 1\n# y = 2\n\n[other]\n",
    "table in two places": "[hooks.state]\nx = 1\n[other]\n[[hooks.Stop]]\ny = 1\n[[hooks.Stop.hooks]]\n[third]\n",
    "entry in two places": "[[hooks.Stop]]\n[other]\n[[hooks.Stop.hooks]]\ny = 1\n[third]\n[[hooks.Stop]]\nz = 1\n",
    "array in brackets": "[hooks]\nStop = [ # none yet\n]\nPreToolUse = [\n  { x = 1 }, # one\n]\n",
    "array in one line": "hooks.Stop = [{ x = 1 }, { x = 2 }] # two\nhooks.PreToolUse=[]\n",
    "spread empty array": "[hooks]\nStop = [\n]\n",
    "quoted keys": '["hooks"]\n\'x\' = 1\n[[ hooks . "PreToolUse" ]]\n',
    "dates and floats": "a = 1979-05-27\nb = [nan, -inf, 1e6]\nc = 07:32:00\n",
    "many quotes": "a = \"\"\"\"x\"\"\"\"\"\nb = ''''y'''''\nc = \"\"\nd = ''\n",
}
VARIANTS = {
    "as it is": lambda text: text.encode(),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "no final line end": lambda text: text.rstrip("\n").encode(),
    "BOM and CRLF, no final line end": lambda text: BOM + text.rstrip("\n").replace("\n", "\r\n").encode(),
}


@pytest.mark.part(2)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", FILES)
def test_install_twice_and_uninstall_gives_back_the_file(name, variant):
    """
    Entries come last in their arrays, foreign bytes stay in order, and after uninstall nothing is left.
    """
    text = VARIANTS[variant](FILES[name])
    before = value_at(text, ("hooks",), {})
    new = install(text)

    assert install(new) == new
    assert uninstall(new) == text
    for event in EVENTS:
        assert value_at(new, ("hooks", event)) == [*before.get(event, []), OURS]
    assert new.count(b"\n") == new.count(b"\r\n") or "CRLF" not in variant or b"\r\n" not in text


def test_new_tables_come_behind_their_siblings():
    """
    An entry follows the last one of its array and its notes, and leaves the next table's comment to that table.
    """
    new = install(CODEX.encode()).decode()
    assert '# matcher = "commented out"\n\n[[hooks.PreToolUse]]\nmatcher = "*"\n\n[[hooks.PreToolUse.hooks]]\n' in new
    assert "timeout = 60\n\n# about servers\n[mcp_servers" in new
    assert new.endswith(
        '[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "/home/é/\\"hookonce-on\\" codex"\ntimeout = 60\n'
    )


def test_entries_go_with_all_their_tables_and_leave_foreign_notes():
    """
    An entry whose tables stand in several places goes as a whole; comments between them stay.
    """
    text = FILES["entry in two places"].encode()
    assert remove_path(text, ("hooks", "Stop", 0)) == b"[other]\n[third]\n[[hooks.Stop]]\nz = 1\n"
    assert remove_path(b"[[a]]\n# note\n[[a.b]]\nx = 1\n[c]\n", ("a", 0)) == b"# note\n[c]\n"
    assert remove_path(b"[[a]]\n[[a.b]]\nx = 1\n[[a.b]]\nx = 2\n", ("a", 0, "b", 1)) == b"[[a]]\n[[a.b]]\nx = 1\n"


def test_somebody_else_may_have_come_in_between():
    """
    What was added next to our entries stays.
    """
    new = install(b"a = 1") + b"\n\n[[hooks.Stop]]\nforeign = true\n"
    assert uninstall(new) == b"a = 1\n\n[[hooks.Stop]]\nforeign = true\n"


STATE = ("hooks", "state", "/home/é/hooks.json:pre_tool_use:0:0", "trusted_hash")


@pytest.mark.part(2)
@cases(("name", "variant"), [*product(FILES, VARIANTS)])
@pytest.mark.parametrize("keys", [STATE, ("hooks", "enabled"), ("top",), ("other", "new"), ("a", "c")])
def test_values_are_set_and_removed(name, keys, variant):
    """
    A new value goes into its table or into a new one, and comes out again without a trace.
    """
    text = VARIANTS[variant](FILES[name])
    try:
        new = set_value(text, keys, "sha256:1")
    except FileEditError as refusal:
        assert "without rewriting" in str(refusal)  # noqa: PT017  some ways of writing leave no room
        return
    assert value_at(new, keys) == "sha256:1"
    again = set_value(new, keys, [1, {"x": True}])
    assert value_at(again, keys) == [1, {"x": True}]
    assert set_value(again, keys, "sha256:1") == new
    assert remove_path(new, keys) == text


def test_whole_tables_are_set_and_removed():
    """
    A table as a value becomes a table with a header, and can be removed as one.
    """
    table = {"one": 1, "inner": {"two": date(2026, 1, 2), "empty": [], "none": {}}, "three": "x\ny"}
    new = set_value(b"[x]\n", ("a", "b c"), table)
    assert value_at(new, ("a", "b c")) == table
    assert remove_path(new, ("a", "b c")) == b"[x]\n"


def test_replacing_a_value_keeps_its_comment():
    """
    Only the value is replaced.
    """
    assert set_value(CODEX.encode(), ("model",), "x") == CODEX.replace('"gpt-5.5"', '"x"').encode()
    assert remove_path(b"a = 1 # one\nb = 2 # two\n", ("b",)) == b"a = 1 # one\n"
    assert remove_path(b"[a] # my table\n# why\nb = 2\n", ("a", "b")) == b"[a] # my table\n# why\n"
    assert remove_path(b"[[a]]\nb = 2\n", ("a", 0, "b")) == b"[[a]]\n"


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        (b"a =", 1, 4, "invalid value"),
        (b"a = 1\nb = 1\na = 2\n", 3, 6, "overwrite"),
        (b"[a\n", 1, 3, "expected"),
        (b'x = """\n', 2, 1, "unterminated"),
        (b'a = "\xff"', 1, 6, "UTF-8"),
        (BOM + b"\xc3\xa9 = 1", 1, 1, "invalid statement"),
        (b"a = 1\rb = 2", 1, 6, "expected newline"),
    ],
)
def test_broken_files_are_refused_with_line_and_column(text, line, column, reason):
    """
    One sentence says where reading stopped.
    """
    with pytest.raises(FileSyntaxError, match=reason) as caught:
        insert_item(text, ("hooks", "Stop"), OURS)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: insert_item(b"hooks = { a = 1 }", ("hooks", "Stop"), OURS),
            "$.hooks.Stop cannot be changed without rewriting",
        ),
        (
            lambda: insert_item(b"[hooks]\nStop = 1", ("hooks", "Stop"), OURS),
            "$.hooks.Stop cannot be changed without rewriting",
        ),
        (
            lambda: insert_item(b"[hooks.Stop]", ("hooks", "Stop"), OURS),
            "$.hooks.Stop cannot be changed without rewriting",
        ),
        (lambda: insert_item(b"", ("hooks", "Stop"), 1), "$.hooks.Stop is missing, and only a table can begin it"),
        (lambda: insert_item(b"", ("hooks", "Stop"), {"a": None}), "TOML has no null value"),
        (lambda: remove_path(b"a = [1]", ("a", 1)), "there is nothing at $.a[1] to remove"),
        (lambda: remove_path(b"a = {b = 1}", ("a", "b")), "there is nothing at $.a.b to remove"),
        (lambda: value_at(b"a = " + b"[" * 99_999 + b"]" * 99_999, ()), "too deeply nested to be read"),
    ],
)
def test_impossible_edits_are_refused(call, sentence):
    """
    Where something else stands, it stays.
    """
    with pytest.raises(FileEditError) as caught:
        call()
    assert str(caught.value).startswith(sentence)


PIECES = [
    "a = 1",
    "b.c = 'x' # c",
    't = """\n[[hooks.Stop]]\n# no\n"""',
    "l = [ # c\n  1,\n]",
    "",
    " ",
    "# note",
    "  # note ]",
    "[x]",
    "[y.z] # why",
    "  [hooks.state]",
    "k = { i = [1, 2] }",
    "[[hooks.Stop]]",
    "[[hooks.Stop.hooks]]",
    "[hooks.Stop.inner]",
    "[[hooks.PreToolUse]]",
    "[[other]]",
    "hooks.Stop = []",
    "Stop = [\n  { q = 1 }\n]",
    "[hooks]",
]


def is_valid(text):
    try:
        return isinstance(tomllib.loads(text), dict)
    except tomllib.TOMLDecodeError:
        return False


@st.composite
def files(draw):
    """Statements in any order that is valid, with any line ends."""
    lines = []
    for piece in draw(st.lists(st.sampled_from(PIECES), max_size=14)):
        lines += [piece] if is_valid("\n".join([*lines, piece])) else []
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return draw(st.sampled_from([b"", BOM])) + text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))).encode()


VALUES = st.dictionaries(
    st.sampled_from(["a", "b c", "", "é"]),
    st.recursive(
        st.integers() | st.booleans() | st.text(max_size=4) | st.floats(allow_nan=False),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=2),
        max_leaves=5,
    ),
    max_size=3,
)


@given(
    text=files(),
    values=st.lists(st.tuples(st.sampled_from(["Stop", "PreToolUse", "New"]), VALUES), max_size=4),
    data=st.data(),
)
def test_entries_can_be_removed_in_any_order(text, values, data):
    """
    insert some, remove them in another order: the same bytes, and the right values in between.
    """
    new, done = text, []
    for number, (event, value) in enumerate(values):
        entry = {**value, "number": f"ours {number}"}
        try:
            new = insert_item(new, ("hooks", event), entry)
        except FileEditError:
            assume(False)
        assert value_at(new, ("hooks", event))[-1] == entry
        done.append((event, entry))
    for event, entry in data.draw(st.permutations(done)):
        (index,) = indices_of(value_at(new, ("hooks", event)), lambda found, entry=entry: found == entry)
        new = remove_path(new, ("hooks", event, index))

    assert new == text


@given(
    text=files(), keys=st.sampled_from([("x", "new"), ("new",), ("n", "e", "w"), ("hooks", "new"), STATE]), value=VALUES
)
def test_new_values_leave_no_trace(text, keys, value):
    """
    set, then remove: the same bytes.
    """
    try:
        new = set_value(text, keys, value)
    except FileEditError:
        return
    assert value_at(new, keys) == value
    assert remove_path(new, keys) == text


@given(
    name=st.text(max_size=6),
    value=st.text() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.dates() | st.datetimes() | VALUES,
)
def test_a_new_value_reads_back_as_what_it_is(name, value):
    """
    Whatever characters it has.
    """
    assert {name: value} == tomllib.loads(render_assignment(name, value))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('a "b" \\ \t\n\x00\x7f é', r'"a \"b\" \\ \t\n\u0000\u007f é"'),
        (True, "true"),
        (1e16, "1e+16"),
        (float("inf"), "inf"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05Z"),
        ([{"a b": []}, {}], '[{ "a b" = [] }, {}]'),
    ],
)
def test_values_are_written_in_one_line(value, text):
    """
    In the simplest form of each.
    """
    assert f"bare-key_1 = {text}" == render_assignment("bare-key_1", value)
