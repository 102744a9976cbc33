"""The words of a shell line, as the shell itself takes them."""

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.trust.shell_words import UnclearCommand, split_words


def roles(line, **known):
    return [(word.text, word.role) for word in split_words(line, known)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("./x.sh", "p"),
        ("python ./x.py --flag=./y", "paa"),
        ("A=1 B='x y' ./x.sh", "ssp"),
        ("./x <in >out 2>>err 2>&1 arg", "piooo" + "a"),
        ("a; b && c || d | e & f", "pppppp"),
        ("(a b) ; { c d; }", "papp" + "ap"),
        ("if a b; then c; elif d; else e; fi", "pp" + "a" + "pp" + "pp" + "pp" + "p"),
        ("for f in a b; do c $f; done", "paaaa" + "ppa" + "p"),
        ("! a b", "ppa"),
        ("env -i X=1 python3 x", "pas" + "pa"),
        ("timeout -k 5 10s python3 x", "paaa" + "pa"),
        ("exec nice -n 5 ./x", "pp" + "aa" + "p"),
        ("sh -c 'a b' c", "paca"),
        ("bash -lc 'a b'", "pac"),
        ("env FOO=1 sh -c 'a'", "psp" + "ac"),
        ("python3 -c 'a'", "pac"),
        ("node -e 'a' -r ./b", "paca" + "a"),
        ("bash -e ./x -c y", "paaac"),
        ("eval 'a' b", "pcc"),
        ("grep -c x -e y", "paaaa"),
        ("a # b c\nd", "pp"),
        ("a#b '#c'", "pa"),
        ("a \\\n b", "pa"),
        ("", ""),
        ("# nothing", ""),
    ],
)
def test_every_word_has_its_part(line, expected):
    """
    p program, a argument, s assignment, i input, o output, c code.
    """
    names = {"program": "p", "argument": "a", "assignment": "s", "input": "i", "output": "o", "code": "c"}
    assert expected == "".join(names[word.role] for word in split_words(line))


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("'$a `b` *'", True),
        (r"\$a\*", True),
        (r'"a\$b\`c\"d"', True),
        ("a$b", False),
        ('"$b"', False),
        ("$(a 'b)' \"c)\")", False),
        ("`a b`", False),
        ("${a:-b c}", False),
        ("$1$@", False),
        ("*.py", False),
        ("a?", False),
        ("[ab]", False),
        ("~/x", False),
        ("{a,b}", False),
        ("$'a'", False),
        ("a$", False),
    ],
)
def test_a_word_is_plain_if_nothing_in_it_is_expanded(line, plain):
    """
    What only the shell knows when it runs is one word all the same.
    """
    (word,) = split_words(line)
    assert (plain, line) == (word.plain, line[word.start : word.end])


@pytest.mark.parametrize(
    "line",
    ["cat <<E\nx\nE", "cat <<<x", "f() { a; }", "f ( ) { a; }", "case a in b) c;; esac", "function f { a; }", "'a", '"a', "`a", "$(a", "${a", "select x in a; do b; done"],
)
def test_what_goes_beyond_plain_commands_is_not_guessed_at(line):
    """
    A line that is half understood would be half pinned.
    """
    with pytest.raises(UnclearCommand):
        split_words(line)


def test_a_variable_whose_value_is_certain_is_its_value():
    """
    In and out of double quotes, with and without braces; between single quotes it is a text.
    """
    found = split_words('"$A/x" ${A}/y \'$A\' "${A}z" $AB', {"A": "/p q"})
    assert ["/p q/x", "/p q/y", "$A", "/p qz", "$AB"] == [word.text for word in found]
    assert [True, True, True, True, False] == [word.plain for word in found]


PIECES = st.lists(st.sampled_from(["a", "./b", " ", "'", '"', "\\", "$", "`", "=", "é", "#", "-", "{", "}", "~", "*", "\n", ";", "|", ">", "&", "("]), max_size=6)


@given(st.lists(PIECES.map("".join), min_size=1, max_size=6))
def test_quoted_words_come_to_what_they_were(texts):
    """
    Whatever shlex has quoted is read back, in its place.
    """
    line = shlex.join(["printf", *texts])
    found = split_words(line)
    assert ["printf", *texts] == [word.text for word in found]
    assert [True] * len(found) == [word.plain for word in found]
    assert line == " ".join(line[word.start : word.end] for word in found)


@given(st.lists(st.lists(st.sampled_from(["a", "/b.c", "' '", "'\"'", '"a b"', '"\\$"', "\\ ", "\\'", "''", '""', '"\'"', "=", "-x", "#"]), min_size=1, max_size=4).map("".join), min_size=1, max_size=5))
def test_the_shell_itself_takes_words_so(texts):
    """
    A real shell hands on the very words that were read, however they are quoted.
    """
    line = "printf '%s\\0' " + " ".join(text if text[0] != "#" else f"''{text}" for text in texts)
    said = subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=True).stdout.decode()
    assert said.split("\0")[:-1] == [word.text for word in split_words(line)[2:]]


@given(st.text(alphabet="ab ./'\"\\$`(){};|&<>#=~*?[\n-", max_size=40))
def test_any_line_is_read_or_refused(line):
    """
    No line ends in anything but words in their order, or a clear refusal.
    """
    try:
        found = split_words(line)
    except UnclearCommand:
        return
    places = [place for word in found for place in (word.start, word.end)]
    assert sorted(places) == places
