"""Awkward JSON files get our entry, keep everything else, and get their own bytes back."""

import json
import re
from textwrap import dedent

import pytest

from hookonce.base.files import FileEditError, FileSyntaxError
from hookonce.configure.edit.jsonc import insert_item, remove_path, set_value, value_at
from tests.configure.edit.documents import indices_of

OURS = {"matcher": "*", "hooks": [{"type": "command", "command": "/home/é/hookonce-on claude-code", "timeout": 60}]}
EVENTS = ["PreToolUse", "PostToolUse", "Stop"]
BOM = b"\xef\xbb\xbf"


def is_ours(entry):
    return "hookonce-on" in json.dumps(entry)


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


def foreign(number):
    return f"""\
          {{ // number {number}, kept as it is
            "matcher" : "Tool{number}|/*no comment*/",   "hooks": [ {{"type":"command",
              "command": "echo \\"{number}\\" // not a comment" }}, ], /* odd */
          }}"""


THIRTY = "\n".join(
    [
        "// settings of somebody\n{",
        '\t"model": "opus", "weird":[1,2 ,3,],',
        '   "hooks" : {',
        *[
            f'      "{event}": [\n' + ",\n".join(foreign(number) for number in range(10)) + "\n      ]" + end
            for event, end in zip(["PreToolUse", "Stop", "Notification"], [",", ",", ", // the last"], strict=True)
        ],
        '   }, /* end of hooks */\n  "schlüssel": "wert 🎉 \\u00e9"\n} // no line end',
    ]
)

FILES = {
    "thirty foreign hooks": THIRTY,
    "empty": "",
    "blank": "  \n\n",
    "only comments": "// nothing here\n/* yet */",
    "empty object": "{}",
    "empty object and line": "{}\n",
    "spread empty object": "{\n}\n",
    "roomy empty object": "{ }",
    "empty hooks": '{\n  "hooks": {}\n}\n',
    "empty event": '{\n  "hooks": {\n    "Stop": []\n  }\n}\n',
    "spread empty event": '{\n  "hooks": {\n    "Stop": [\n    ]\n  }\n}\n',
    "comment in empty hooks": '{\n  "hooks": { // none yet\n  }\n}\n',
    "block in empty hooks": '{\n  "hooks": {/* none */}\n}\n',
    "comments around colon": '{\n  "hooks" /* a */ : /* b */ {}\n}\n',
    "minified": '{"model":"opus","hooks":{"Stop":[{"hooks":[]}]}}',
    "minified without hooks": '{"model":"opus"}',
    "minified with empty hooks": '{"hooks":{"Stop":[],"PreToolUse":[ ]}}',
    "tabs": '{\n\t"model": "opus",\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{}\n\t\t]\n\t}\n}\n',
    "seven spaces": '{\n       "model": "opus"\n}',
    "no indentation": '{\n"model": "opus",\n"hooks": {\n"Stop": [\n1\n]\n}\n}\n',
    "trailing commas": '{\n  "hooks": {\n    "Stop": [\n      1, // one\n    ],\n  },\n}\n',
    "comma first": '{ "model": "opus"\n, "hooks": { "Stop": [ 1\n, 2\n] }\n}\n',
    "hugging": '{"hooks": {"Stop": [{\n  "x": 1\n}]}}\n',
    "one per line": '{\n  "hooks": {\n    "Stop": [\n      {"x": 1},\n      {"x": 2} // two\n    ]\n  }\n}\n',
    "comment behind the last": '{\n  "model": "opus" // best\n  // "hooks": {}\n}\n',
    "line comment behind an item in line": '{"hooks": {"Stop": [1, 2 // two\n]}}\n',
    "line comment behind the only item": '{"hooks": {"Stop": [1 // one\n]} // done\n}\n',
    "old mac": '{\r  "model": "opus" // best\r}\r',
    "keys twice": '{"hooks": {"Stop": [1]}, "hooks": {"Stop": [2], "Stop": [3]}}',
    "escaped key": '{"h\\u006foks": {"St\\u006fp": [1]}}',
    "deep": '{"hooks": {"Stop": ' + "[" * 300 + "]" * 300 + "}}",
    "exponents": '{"n": [1e+16, -0.0, 1E-7, 123456789012345678901234567890]}',
    "slashes in strings": '{"url": "http://x/*", "glob": "*/", "q": "\\\\\\"//"}',
}
VARIANTS = {
    "as it is": lambda text: text.encode(),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "BOM": lambda text: BOM + text.encode(),
    "BOM and CRLF, no final line end": lambda text: BOM + text.rstrip("\n").replace("\n", "\r\n").encode(),
}


@pytest.mark.part(2)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", FILES)
def test_install_twice_and_uninstall_gives_back_the_file(name, variant):
    """
    Foreign bytes stay in place and order; a second install changes nothing; after uninstall nothing is left.
    """
    text = VARIANTS[variant](FILES[name])
    before = value_at(text, ("hooks",), {})
    new = install(text)

    assert install(new) == new
    assert uninstall(new) == text
    for event in EVENTS:
        assert value_at(new, ("hooks", event)) == [*before.get(event, []), OURS]
    assert [key for key in value_at(new, ("hooks",)) if key in before] == list(before)
    lone = re.search(rb"(?<!\r)\n", new) if "CRLF" in variant and b"\r\n" in text else None
    assert lone is None


@pytest.mark.parametrize("name", FILES)
def test_a_byte_order_mark_changes_nothing(name):
    """
    The mark stays where it is, and is no indentation.
    """
    text = FILES[name].encode()
    assert install(BOM + text) == BOM + install(text)


def test_thirty_foreign_hooks_are_still_there():
    """
    Each foreign entry keeps its bytes.
    """
    new = install(THIRTY.encode()).decode()
    assert [new.count(foreign(number)) for number in range(10)] == [3] * 10


def edited(text):
    return insert_item(dedent(text).encode(), ("hooks", "Stop"), {"hooks": [1]}).decode()


def test_new_text_follows_the_indentation_of_the_file():
    """
    Missing objects and arrays are made in the style of the file.
    """
    assert edited('{\n   "a": 1\n}\n') == dedent("""\
        {
           "a": 1,
           "hooks": {
              "Stop": [
                 {
                    "hooks": [
                       1
                    ]
                 }
              ]
           }
        }
        """)
    assert edited('{"a":1}') == '{"a":1,"hooks":{"Stop":[{"hooks":[1]}]}}'
    assert edited('{"a": 1}') == '{"a": 1, "hooks": {"Stop": [{"hooks": [1]}]}}'
    assert edited('{\n\t"a" : 1\n}').splitlines()[2:4] == ['\t"hooks" : {', '\t\t"Stop" : [']


def test_new_items_look_like_their_neighbours():
    """
    One item per line stays one item per line, and hugging brackets stay hugging.
    """
    assert edited('{"hooks": {"Stop": [\n  {"x": 1} // why\n]}}') == (
        '{"hooks": {"Stop": [\n  {"x": 1}, // why\n  {"hooks": [1]}\n]}}'
    )
    assert edited('{"hooks": {"Stop": [{\n  "x": 1\n}]}}').startswith('{"hooks": {"Stop": [{\n  "x": 1\n}, {\n')


def test_comments_stay_with_what_they_are_about():
    """
    A comment behind an item is not moved behind another one, nor lost with its neighbour.
    """
    text = b"[\n  1, // one\n  2, // two\n  3 // three\n]"
    assert remove_path(text, (2,)) == b"[\n  1, // one\n  2 // two\n   // three\n]"
    assert remove_path(text, (1,)) == b"[\n  1, // one\n   // two\n  3 // three\n]"
    assert remove_path(text, (0,)) == b"[\n   // one\n  2, // two\n  3 // three\n]"
    assert remove_path(b"[ // c\n 1 ]", (0,)) == b"[ // c\n]"
    assert remove_path(b"[ // c\n 1, 2 ]", (0,)) == b"[ // c\n 2 ]"
    assert remove_path(b"[1, // c\n 2]", (1,)) == b"[1 // c\n]"


def test_somebody_else_may_have_come_in_between():
    """
    Foreign entries that were added next to ours stay, and so does what holds them.
    """
    new = install(b"{}\n")
    mixed = insert_item(new, ("hooks", "Stop"), {"foreign": True})
    mixed = set_value(mixed, ("model",), "opus")
    left = uninstall(mixed)

    assert json.loads(left) == {"hooks": {"Stop": [{"foreign": True}]}, "model": "opus"}
    assert left.decode() == dedent("""\
        {
          "hooks": {
            "Stop": [
              {
                "foreign": true
              }
            ]
          },
          "model": "opus"
        }
        """)


def test_a_comment_in_what_we_made_keeps_it():
    """
    An object that we made stays when somebody has written a comment into it.
    """
    new = install(b"{}\n").replace(b'"hooks": {', b'"hooks": { // mine', 1)
    assert json.loads(uninstall(new).replace(b"// mine", b"")) == {"hooks": {}}
    assert b"// mine" in uninstall(new)


@pytest.mark.parametrize("indent", [None, 0, 2, "\t"])
def test_a_file_that_an_agent_has_rewritten_is_left_valid(indent):
    """
    Agents rewrite their settings; our entries then go away with what held them, and the outer object stays.
    """
    rewritten = json.dumps(json.loads(install(b"")), indent=indent).encode()
    assert json.loads(uninstall(rewritten)) in ({}, {"hooks": {}})


def test_values_are_set_and_removed():
    """
    A value is replaced in place, or made; a removed key takes along the objects that were made for it.
    """
    text = b'{ "a" : [ 1 , 2 ] , /* c */ "b" : { } }'
    assert (
        set_value(text, ("a", 1), {"x": [True, None]}) == b'{ "a" : [ 1 , {"x" : [true, null]} ] , /* c */ "b" : { } }'
    )
    assert set_value(text, ("b", "c", "d"), "é") == b'{ "a" : [ 1 , 2 ] , /* c */ "b" : { "c" : {"d" : "\xc3\xa9"} } }'
    assert remove_path(set_value(text, ("b", "c", "d"), 1), ("b", "c", "d")) == text
    assert remove_path(text, ("a",)) == b'{   /* c */ "b" : { } }'
    assert set_value(b'{"a": 1}', ("\ud800",), "\ud800") == b'{"a": 1, "\\ud800": "\\ud800"}'


def test_values_are_found():
    """
    Items by index, members by key; nothing where nothing is.
    """
    text = b'{"a": [1, 2, 1], "b": {"x": 1, "y": 2}, /* c */}'
    assert value_at(text, ("a", 2)) == 1
    assert value_at(text, ("c", 0, "d")) is None
    assert value_at(text, ("a", 0, "d")) is None
    assert value_at(text, ("b", "y")) == 2
    assert value_at(text, ("b", "z"), "none") == "none"
    assert value_at(b'{"a": 1, "a": 2}', ("a",)) == 2


BROKEN = [
    (b'{"a": 1', 1, 8, "delimiter"),
    (b'{\n  "a": ,\n}', 2, 8, "expecting value"),
    (b'{"a": 1,, }', 1, 9, "property name"),
    (b"[,]", 1, 2, "expecting value"),
    (b"{,}", 1, 2, "property name"),
    (b"{'a': 1}", 1, 2, "double quotes"),
    (b"{a: 1}", 1, 2, "double quotes"),
    (b"{} {}", 1, 4, "extra data"),
    (b"/* never closed", 1, 1, "expecting value"),
    (b"{} /*/", 1, 4, "extra data"),
    (b'{"a": "never closed}', 1, 7, "unterminated"),
    (b'{"a": NaN}', 1, 7, "NaN"),
    (b'{"NaN": -Infinity}', 1, 9, "Infinity"),
    (b"[" + b"9" * 5000 + b"]", 1, 2, "limit"),
    (b'{"a": "\t"}', 1, 8, "control character"),
    (b'{"a": "\n"}', 1, 8, "control character"),
    (b'{"a": "\\x"}', 1, 8, "escape"),
    (b'{"a": 01}', 1, 8, "delimiter"),
    (b"\x0b{}", 1, 1, "expecting value"),
    (b"{}\0", 1, 3, "extra data"),
    (b'{\n"a": "\xff"}', 2, 7, "UTF-8"),
    (b"{}\n// \xff", 2, 4, "UTF-8"),
    ("{}".encode("utf-16"), 1, 1, "UTF-8"),
    ('/* é\né */ {"é": x}'.encode(), 2, 12, "expecting value"),
    (BOM + b"{\r\n  x\r\n}", 2, 3, "property name"),
    (BOM + b"[1 2]", 1, 4, "delimiter"),
]


@pytest.mark.parametrize(("text", "line", "column", "reason"), BROKEN)
def test_broken_files_are_refused_with_line_and_column(text, line, column, reason):
    """
    One sentence says where reading stopped, and there is no output.
    """
    with pytest.raises(FileSyntaxError, match=reason) as caught:
        insert_item(text, ("hooks", "Stop"), OURS)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert f"line {line}, column {column}" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", [b"/* " * 200_000, b'"' + b'\\"' * 200_000, b'"\\"' * 200_001, b"{" + b"\n" * 300_000])
def test_large_broken_files_are_refused_at_once(text):
    """
    Reading takes time in proportion to the size, whatever is in the file.
    """
    with pytest.raises(FileSyntaxError):
        value_at(text, ())


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: insert_item(b'{"hooks": "x"}', ("hooks", "Stop"), 1), "$.hooks is a string, not an object"),
        (
            lambda: insert_item(b'{"hooks": {"Stop": {}}}', ("hooks", "Stop"), 1),
            "$.hooks.Stop is an object, not an array",
        ),
        (lambda: insert_item(b'{"hooks": null}', ("hooks", "Stop"), 1), "$.hooks is null, not an object"),
        (lambda: insert_item(b"[1]", ("hooks", "Stop"), 1), "$ is an array, not an object"),
        (lambda: insert_item(b"false", (), 1), "$ is a boolean, not an array"),
        (lambda: set_value(b'{"a": 1}', ("a", 0), 1), "$.a is a number, not an array"),
        (lambda: set_value(b'{"a": []}', ("a", 3), 1), "there is no item 3 to put a value into"),
        (lambda: set_value(b"{}", ("a", 0), 1), "there is no item 0 to put a value into"),
        (lambda: remove_path(b'{"a": [1]}', ("a", 1)), "there is nothing at $.a[1] to remove"),
        (lambda: remove_path(b'{"a": [1]}', ("a", -1)), "there is nothing at $.a[-1] to remove"),
        (lambda: remove_path(b"", ("a",)), "there is nothing at $.a to remove"),
        (lambda: remove_path(b"{}", ()), "there is nothing at $ to remove"),
        (lambda: value_at(b"[" * 100_000 + b"]" * 100_000, ()), "too deeply nested to be read"),
    ],
)
def test_impossible_edits_are_refused(call, sentence):
    """
    Where something else stands, it stays.
    """
    with pytest.raises(FileEditError) as caught:
        call()
    assert str(caught.value) == sentence
