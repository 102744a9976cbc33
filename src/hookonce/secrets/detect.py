r"""Secret detection in text: one RE2 set of hints says what may be there, the matching patterns say where.

`find_secrets` returns spans, `mask_secrets` puts `[secret:KIND]` in their place and leaves the rest readable.
Escapes are undone before: `ghp_ab\` and `cd` on the next line are one word, `%3D` is a sign, `\u0022` a quotation
mark, and terminal colours are nothing. So are the signs at which a shell joins words: `ghp_ab''cd` is `ghp_abcd`.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from re import Pattern
from typing import Any, NamedTuple

from hookonce.base.regex import compile_re2, lazy_pattern
from hookonce.secrets.patterns import CONTEXT_RULES, SECRET_FORMATS
from hookonce.secrets.secret_names import classify_name, has_letters_and_digits, is_secret

# Whether there may be something to undo, in a text or in its JSON, for the set of hints.
ESCAPE_HINT = (
    r"%[0-9A-Fa-f]{2}"  # of a URL
    r"|(?:\x1b|\\(?:u001[bB]|x1[bB]|033|e))\["  # of a terminal
    r"|\\[ux][0-9A-Fa-f]{2}"  # of JSON, or of a shell
    r"|\\\r?\n|\\\\\\(?:r\\+)?n"  # a line that goes on
    # words that a shell joins: an empty or a short quotation in a word, a backslash (two in JSON), nothing at all
    r"""|\w\$?\\*["'](?:[\w+/=.~$-]*\\*["'])|\\*["'][\w+/=.~-]+\\*["']\w|\w\\{2,}\w|\w(?:``|\$\(\)|\$[@*])"""
)
_ESCAPE_SEQUENCE = lazy_pattern(
    r"\\\r?\n|\\{3,}(?:r\\+)?n"
    r"|(?:\x1b|\\+(?:u001[bB]|x1[bB]|033|e))\[[0-9;]*[A-Za-z]"
    r"|(?:%|\\+u00|\\+x)(?P<code>[0-9A-Fa-f]{2})"
)

_QUOTE_JOIN = r"""(?:\$?\\*["']|``|\$\(\)|\$[@*])"""
_WORD_JOIN = lazy_pattern(rf"(?<=\w)(?:{_QUOTE_JOIN}|\\+(?=\w))+(?=[\w+/=.~-])")
_LINE_END = lazy_pattern(r"\\+[nrt]")  # as somebody has written it out
_WORD_REST = lazy_pattern(rf"(?:{_QUOTE_JOIN}+[\w+/=.~-]+)+")  # of a word of which the first part was found

TextSpan = tuple[int, int]


def unescape(text: str, sequence: Pattern[str] = _ESCAPE_SEQUENCE) -> tuple[str, Callable[[int, int], TextSpan]]:
    """The text without escapes, and a function that maps its spans to the original text."""
    parts: list[str] = []
    plain_starts, source_starts = [0], [0]  # where parts begin, in both texts; those with odd numbers are escapes
    position = length = 0
    for escape in sequence.finditer(text):
        code = escape.groupdict().get("code")
        parts += [text[position : escape.start()], chr(int(code, 16)) if code else ""]
        length += escape.start() - position
        plain_starts += [length, length + len(parts[-1])]
        source_starts += [escape.start(), escape.end()]
        length, position = plain_starts[-1], escape.end()
    parts.append(text[position:])

    def source_span(start: int, end: int) -> TextSpan:
        first, last = bisect_right(plain_starts, start) - 1, bisect_right(plain_starts, end - 1) - 1
        source_end = source_starts[last] + end - plain_starts[last]  # of a piece that is written as it is meant
        if last % 2:  # an escape, which is longer than what it means
            source_end = source_starts[last + 1]
        return (source_starts[first] + (0 if first % 2 else start - plain_starts[first]), source_end)

    return "".join(parts), source_span


_BOUNDARY = r"(?:\b|\\[nrt]|%[0-9A-Fa-f]{2}|_|\[[0-9;]*[mK])"
_END_BOUNDARY = r")(?:\b|_)"
_MIN_TEXT_CHARS = 5  # characters, below which there is no secret with something that tells of it
_MAX_MASK_ROUNDS = 4
_MAX_NESTED_NAMES = 8  # names behind names, as in a:b:c=
_MAX_SECRET_CHARS = 8192  # characters after which a secret that has begun has ended
_COMMAND_LOOKBACK_CHARS = 300  # characters before a secret in which its command is looked for
_REFERENCE_SIGNS = frozenset("$%<`{")  # what begins like this stands for a value that is elsewhere
_RULES = (*SECRET_FORMATS, *CONTEXT_RULES)
_ESCAPE_RULE_NUMBER = len(_RULES)  # the number of the last hint: something is spelled otherwise than it is meant
_KIND_RANKS = {shape.kind: number for number, shape in reversed(list(enumerate(_RULES)))}
SECRET_KINDS = frozenset({shape.kind for shape in _RULES} | {"password", "secret", "token", "key"})
_SCHEME = lazy_pattern(r"(?i:bearer|basic|token|digest|negotiate|bot)\b")
_MASK_PATTERN = lazy_pattern(r"\[secret:[a-z-]+\]")


class SecretSpan(NamedTuple):
    """Kind and span of a secret in a text."""

    kind: str
    start: int
    end: int


class _RuleMatch(NamedTuple):
    """Input of a judge: the text, the announcing name, the sign between, and the secret's span."""

    text: str
    name: str
    sign: str
    start: int
    end: int

    @property
    def value(self) -> str:
        return self.text[self.start : self.end]

    @property
    def is_query(self) -> bool:
        """Whether the name stands in the query of a URL, or of a form."""
        name_start = self.start - len(self.name) - len(self.sign)
        return self.text[name_start - 1 : name_start] in {"?", "&"} or self.text[self.end : self.end + 1] == "&"


_Judge = Callable[[_RuleMatch], str | None]


def find_secrets(text: str) -> list[SecretSpan]:
    """The secrets of a text, in order and without overlaps."""
    if len(text) < _MIN_TEXT_CHARS:
        return []
    raw = text.encode("utf-8", "replace")  # as many characters, all of which UTF-8 can say
    rule_numbers, has_joins = match_hints(raw), _WORD_JOIN.search(text) is not None
    if not (rule_numbers or has_joins):
        return []
    # What was masked before says nothing any more.
    unmasked_text = _MASK_PATTERN.sub(lambda match: "*" * len(match[0]), raw.decode())
    spans = [item for rule_number in rule_numbers for item in _match_rule(rule_number, unmasked_text)]
    if has_joins or _ESCAPE_RULE_NUMBER in rule_numbers:
        spans += _find_escaped(unmasked_text, {span.start: span.end for span in spans})
    return _merge_spans([_complete_word(unmasked_text, span) for span in spans])


def _find_escaped(text: str, known_spans: dict[int, int]) -> Iterator[SecretSpan]:
    """Secrets in the text without escapes, and published formats in words as a shell joins them.

    `known_spans`, by their starts, are whole if a line ends there.
    """
    plain, source_span = unescape(text)
    for rule_number in match_hints(plain.encode()) if plain != text else ():
        for kind, start, end in _match_rule(rule_number, plain):
            yield SecretSpan(kind, *source_span(start, end))
    joined_text, plain_span = unescape(plain, _WORD_JOIN)
    for rule_number in match_hints(joined_text.encode()) if joined_text != plain else ():
        for kind, start, end in _match_rule(rule_number, joined_text) if rule_number < len(SECRET_FORMATS) else ():
            span = SecretSpan(kind, *source_span(*plain_span(start, end)))
            if _LINE_END.match(text, known_spans.get(span.start, len(text))) is None:
                yield span


def _complete_word(text: str, span: SecretSpan) -> SecretSpan:
    """The span with the rest of its word, if a shell joins one to it."""
    rest = _WORD_REST.match(text, span.end)
    return span if rest is None else span._replace(end=rest.end())


def mask_secrets(text: str) -> tuple[str, list[str]]:
    """The text with its secrets masked, and their kinds."""
    kinds: list[str] = []
    for _ in range(_MAX_MASK_ROUNDS):  # what is masked may uncover what stood beside it
        spans = find_secrets(text)
        if not spans:
            break
        kinds += [span.kind for span in spans]
        text = _replace_spans(text, spans)
    return text, kinds


def truncate_text(text: str, max_chars: int) -> str:
    """At most so many characters of a text, never half a secret."""
    end = min(max_chars, len(text))
    for span in find_secrets(text[: max_chars + _MAX_SECRET_CHARS]) if len(text) > max_chars else ():
        if span.start < end < span.end:
            end = span.start
    return text[:end]


def match_hints(text: bytes) -> list[int]:
    """Numbers of the rules that may match in a text or its JSON; where there are none, there is no secret."""
    return _hint_set().Match(text) or []


def secret_mask(kind: str) -> str:
    """The mask of a kind of secret."""
    return f"[secret:{kind}]"


def is_mask(text: str) -> bool:
    """Whether a text is exactly one mask."""
    return text.startswith("[secret:") and text[8:-1] in SECRET_KINDS and text.endswith("]")


def classify_field(name: str, value: str) -> str | None:
    """The kind of secret that a field holds by its name, if its value may be one."""
    kind, confidence = classify_name(name) or ("", None)
    return kind if confidence is not None and is_secret(value, confidence, is_assignment=True) else None


def _replace_spans(text: str, spans: list[SecretSpan]) -> str:
    parts, position = [], 0
    for kind, start, end in spans:
        parts += [text[position:start], secret_mask(kind)]
        position = end
    return "".join((*parts, text[position:]))


def _merge_spans(spans: list[SecretSpan]) -> list[SecretSpan]:
    """Overlapping spans become one, of the most specific kind."""
    result: list[SecretSpan] = []
    for span in sorted(spans, key=lambda item: (item.start, -item.end)):
        if result and span.start < result[-1].end:
            last = result[-1]
            kind = min(last.kind, span.kind, key=lambda kind: _KIND_RANKS.get(kind, len(_KIND_RANKS)))
            result[-1] = SecretSpan(kind, last.start, max(last.end, span.end))
        else:
            result.append(span)
    return result


@cache
def _hint_set() -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1  # bytes: hints are ASCII, and a class of bytes is a small one
    hint_set = re2.Set.SearchSet(options)
    for hint in (*(shape.hint for shape in _RULES), ESCAPE_HINT):
        hint_set.Add(hint)
    hint_set.Compile()
    return hint_set


def _match_rule(rule_number: int, text: str) -> Iterator[SecretSpan]:
    if rule_number == _ESCAPE_RULE_NUMBER:
        return
    kind, _, rule_pattern, judge = _RULES[rule_number]
    engine = _compile_format(rule_pattern)
    if judge is not None:
        yield from _match_context(kind, engine, _JUDGES[judge], text, _MAX_NESTED_NAMES)
        return
    for match in engine.finditer(text):
        if kind != "discord-token" or has_letters_and_digits(match[0]):
            yield SecretSpan(kind, *match.span(match.re.groups))


def _compile_format(shape: str) -> Any:
    """Expands the boundaries."""
    shape = shape.removesuffix(r")\b") + _END_BOUNDARY if shape.endswith(r")\b") else shape
    return compile_re2(shape.replace("~", _BOUNDARY, 1) if shape.startswith("~") else shape)


def _match_context(kind: str, engine: Any, judge: _Judge, text: str, depth: int) -> Iterator[SecretSpan]:
    """Where a value is no secret, another rule match may be inside of it."""
    for match in engine.finditer(text):
        groups = match.groupdict()
        start, end = _strip_quotes(text, *match.span(engine.groupindex["s"]))
        verdict = judge(_RuleMatch(text, groups.get("n") or "", groups.get("e") or "", start, end))
        if verdict is not None:
            yield SecretSpan(verdict or kind, start, end)
        elif depth and start < end and text[start] not in _REFERENCE_SIGNS:
            for inner in _match_context(kind, engine, judge, text[start:end], depth - 1):
                yield SecretSpan(inner.kind, start + inner.start, start + inner.end)


def _strip_quotes(text: str, start: int, end: int) -> tuple[int, int]:
    for mark in ('\\"', "\\'", '"', "'"):
        if text.startswith(mark, start, end):
            start += len(mark)
            if text.endswith(mark, start, end):
                end -= len(mark)
            break
    return start, end


def _judge_assignment(match: _RuleMatch) -> str | None:
    announcement = classify_name(match.name)
    if announcement is None:
        return None
    is_quoted = match.text[match.start - 1 : match.start] in {'"', "'"}
    if match.sign != "=" and match.sign.startswith("=") and not is_quoted:
        return None  # nothing is assigned, as shells read it
    is_loose = announcement[1] == "likely" and match.name.islower() and not match.is_query
    is_assignment = is_quoted or (match.sign == "=" and not is_loose)
    if match.name.lower().endswith("authorization") and _SCHEME.match(match.value) is not None:
        return None  # that is told better by its scheme
    return announcement[0] if is_secret(match.value, announcement[1], is_assignment=is_assignment) else None


def _judge_flag(match: _RuleMatch) -> str | None:
    announcement = classify_name(match.name)
    if announcement is None or match.value.startswith("-") or announcement[1] == "possible":
        return None
    return announcement[0] if is_secret(match.value, announcement[1], is_assignment=True) else None


_CONTAINERS = ("docker", "podman", "nerdctl", "kubectl", "chown", "install", "runuser", "setpriv")


def _judge_login(match: _RuleMatch) -> str | None:
    """A user and its password; the user and group that a container runs as are none."""
    line_start = match.text[max(0, match.start - _COMMAND_LOOKBACK_CHARS) : match.start].rpartition("\n")[2]
    command = max((line_start.rpartition(sign)[2] for sign in ";&|"), key=line_start.endswith)
    if match.value.isdigit() or any(word in command for word in _CONTAINERS):
        return None
    return "password" if is_secret(match.value, "certain", is_assignment=True) else None


_JUDGES: dict[str, _Judge] = {
    "nonempty": lambda match: "" if match.value.strip(" *") else None,
    "word": lambda match: "" if is_secret(match.value, "certain", is_assignment=True) else None,
    "assignment": _judge_assignment,
    "flag": _judge_flag,
    "login": _judge_login,
    "random": lambda match: "" if has_letters_and_digits(match.value) else None,
}
