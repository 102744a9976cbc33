"""Words that a user has to read twice: none is in a message, a help text, a page for users or the glossary."""

import ast
import re
from pathlib import Path

import pytest

from tests.shared import ROOT

SOURCE = ROOT / "src" / "hookonce"

# A word that is not to be used, and what to say instead.
INSTEAD = {
    r"doors?": "entry, or HTTP port",
    r"(?<!--)vouch(?:e[ds])?": "marked as known; --vouch is the name of the option",
    r"nobody|nobody's": "no agent, no person, not",
    r"whoever": "the process, the author, the agent that",
    r"told (?:of|as|to|in|about|no|the|at)|is told": "gets, is reported",
    r"tells? (?:it|of) ": "print, report",
    r"heard? of": "event, reported",
    r"mend(?:ed|s)?": "repair",
    r"no words? for|words of ours|without a word": "no name for, unknown arguments, an answer",
    r"house": "runtime folder",
    r"no room for": "columns not shown",
    r"no opinion": "no decision",
    r"becomes of": "happens to",
    r"(?<!there )(?:is|are|was) no (?:answer|number|time|length|JSON|document|directory|ordinary|file|URL|name|type)": "is not a",
    r"as closed has it": "on_failure: closed has no effect",
    r"agreed to": "trusted, accepted",
    r"must be asked|have to be asked|there to be asked": "required",
    r"for want of": "because of missing",
    r"for good|trusted no more|signs no more": "permanently, no longer",
    r"says? (?:so|more|which|a word)": "shows, name",
    r"lies? (?:in|there|beside|then|at)": "is in",
}
AVOIDED = re.compile(r"(?<![\w-])(?:" + "|".join(INSTEAD) + r")(?![\w-])")
NO_MESSAGE = re.compile(r'^ *"""(?:.|\n)*?"""|#.*$', re.MULTILINE)  # docstrings and comments
# Pages that a user reads first, and those that are generated from messages and tables.
_PAGE_NAMES = ("agents", "cli", "faults", "formats", "glossary", "hif", "http", "modules", "prove", "vocabulary")
PAGES = ["README.md", *(f"docs/{name}.md" for name in _PAGE_NAMES)]
MIN_WORDS = 3  # less is a name, a key or a part of a regular expression
# A prompt for a model, and sentences of records that earlier versions wrote.
EXEMPT = {"handlers/prompt.py", "vocabulary/failure_texts.py"}


def messages(tree: ast.Module) -> list[tuple[int, str]]:
    """The string literals of a module that may be a message: no docstring, and of some words."""
    bodies = (n.body for n in ast.walk(tree) if isinstance(n, (ast.Module, ast.ClassDef, ast.FunctionDef)))
    docstrings = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
    literals = (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return [(n.lineno, n.value) for n in literals if id(n) not in docstrings and len(n.value.split()) >= MIN_WORDS]


def avoided_words(text: str) -> list[str]:
    return [match[0] for match in AVOIDED.finditer(text)]


def source_files() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if path.relative_to(SOURCE).as_posix() not in EXEMPT]


TERMS = """agent asked blocking canonical daemon decision dialect entry event format gap handler hook installed known
manifest payload record refused required scope session spool trusted"""


@pytest.mark.parametrize("term", TERMS.split())
def test_a_term_that_users_read_is_in_the_glossary(term):
    assert re.search(rf"^\| \*{term}\* \| .{{20,}} \|$", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_no_message_needs_a_second_reading():
    """
    Every text of the program that may reach a person uses the words of the glossary.
    """
    found = [
        f"{path.relative_to(ROOT)}:{line}: {', '.join(words)}: {text[:80]}"
        for path in source_files()
        if AVOIDED.search(NO_MESSAGE.sub("", source := path.read_text(encoding="utf-8")))  # else it need not be parsed
        for line, text in messages(ast.parse(source))
        if (words := avoided_words(text))
    ]
    assert [] == found


@pytest.mark.parametrize("page", PAGES)
def test_no_page_for_users_needs_a_second_reading(page):
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()

    assert [] == [f"{number}: {line}" for number, line in enumerate(lines, 1) if avoided_words(line)]


@pytest.mark.parametrize(
    "text",
    [
        "no door for PreToolUse",
        "vouched for by nobody",
        "the answer is no answer",
        "its event is told to no hook",
        "mend what can be mended",
    ],
)
def test_a_sentence_that_a_user_stumbled_over_is_found(text):
    assert avoided_words(text)


@pytest.mark.parametrize("text", ["hookonce doctor --vouch 3f1c", "there is no entry", "no more than 3 hooks"])
def test_a_plain_sentence_is_not_found(text):
    assert [] == avoided_words(text)
