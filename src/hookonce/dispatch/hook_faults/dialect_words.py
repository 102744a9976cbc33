"""Dialect words: what a script reads or answers that only an agent has, and hookonce's own events do not.

A script that also has a word of ours is left alone: it may be written for both, or make one event of another.
"""

import re
from functools import cache
from typing import NamedTuple

from hookonce import agents
from hookonce.base.regex import lazy_pattern


class DialectWord(NamedTuple):
    """A word of an agent's payloads or answers; `is_shared` where other agents have it too."""

    text: str
    dialect: str
    is_shared: bool


# Reading of a key: as an attribute or by jq, in quotes that begin no entry, in Perl, and by destructuring.
_KEY_REGEX = r"\.(KEY)\b|[\"'](KEY)\\?[\"'](?!\s*:)|->\{(KEY)\}|\b(?:const|let|var)\s*\{[^{}\n]{0,80}\b(KEY)\b"
# Writing of an entry in JSON, also within quotes of another language.
_ENTRY_REGEX = r"\b(KEY)\\?[\"']?\s*(?::|=>)\s*(?:\\?[\"'])?(VALUE)\b"
_SHARED_DIALECT = "claude-code"  # whose words many agents have


def _word_regex(word: str) -> str:
    key, _, value = word.partition(": ")
    if value:
        return _ENTRY_REGEX.replace("KEY", key).replace("VALUE", value)
    return _KEY_REGEX.replace("KEY", word[1:]) if word.startswith(".") else rf"\b({re.escape(word)})\b"


@cache
def _dialect_patterns() -> dict[str, tuple[re.Pattern[str], re.Pattern[str]]]:
    """Patterns of the words of each agent, and of its answers; those that many agents have come last."""
    rows = {agent.name: agent.script_words for agent in agents.load_all() if agent.script_words}
    rows[_SHARED_DIALECT] = rows.pop(_SHARED_DIALECT)
    return {name: (_compile(words, is_answer=False), _compile(words, is_answer=True)) for name, words in rows.items()}


def _compile(words: tuple[str, ...], *, is_answer: bool) -> re.Pattern[str]:
    return re.compile("|".join(_word_regex(word) for word in words if (": " in word) is is_answer) or r"(?!)")


_CANONICAL_WORD = lazy_pattern(
    r"\btool\??\.(?:name|native|input|native_input|result|call_id|mcp_server)\b|\.tool\s*\|"
    r"|(?<!\])[\[(]\s*[\"'](?:tool|outcome|native|native_input)[\"']|\.native\b"
    r"|(?:\[|\bget\()\s*[\"']data[\"']|\.data\??\."
    r"|\bHOOKONCE_|\bhookonce/1\b|\b(?:from|import)\s+hookonce\b"
)
_WRONG_ANSWER = lazy_pattern(_word_regex("decision: block"))
_OWN_ANSWER = lazy_pattern(_word_regex("decision: deny|ask"))
EXIT_2 = lazy_pattern(r"(?<![A-Za-z])exit[ \t]*\(?[ \t]*2\b\)?")  # refuses, whatever the script has printed


def find_dialect_word(text: str) -> DialectWord | None:
    """The first word of an agent in a script without any of ours; those of one agent come before shared ones."""
    if _CANONICAL_WORD.search(text) is not None:
        return None
    is_answer_read = EXIT_2.search(text) is None
    for dialect, (words, answers) in _dialect_patterns().items():
        match = words.search(text) or (answers.search(text) if is_answer_read else None)
        if match is not None:
            return DialectWord(": ".join(filter(None, match.groups())), dialect, dialect == _SHARED_DIALECT)
    return None


def has_wrong_answer(text: str) -> bool:
    """Whether a script for our events alone refuses by nothing but `block`, which is no answer of ours."""
    is_refusal = _CANONICAL_WORD.search(text) is not None and _WRONG_ANSWER.search(text) is not None
    if not is_refusal or _OWN_ANSWER.search(text) is not None or EXIT_2.search(text) is not None:
        return False
    return not any(words.search(text) for words, _ in _dialect_patterns().values())
