"""Secrets in text: one RE2 set says what may be there, the matching shapes say where.

`find` names places, `masked` puts `[secret:KIND]` in their stead and leaves the rest readable.
"""

from collections.abc import Callable, Iterator
from functools import cache
from re import compile as pattern
from typing import Any, NamedTuple

from hookonce.guard.names import announced, is_secret
from hookonce.guard.published import PUBLISHED, Shape
from hookonce.guard.told import TOLD, Telling
from hookonce.guard.unescaped import HINT, unescaped
from hookonce.patterns import compiled

_EDGE = r"(?:\b|\\[nrt]|%[0-9A-Fa-f]{2}|_|\[[0-9;]*[mK])"
_END = r")(?:\b|_)"
_SHORTEST = 5  # characters, below which there is no secret with something that tells of it
_ROUNDS = 4
_DEPTH = 8  # names behind names, as in a:b:c=
_AHEAD = 8192  # characters after which a secret that has begun has ended
_NEAR = 300  # characters before a secret in which its command is looked for
_REFERS = frozenset("$%<`{")  # what begins like this stands for a value that is elsewhere
_TABLE: list[Shape | Telling] = [*PUBLISHED, *TOLD]
_ESCAPED = len(_TABLE)  # the number of the last hint: something is spelled otherwise than it is meant
KINDS = frozenset({shape.kind for shape in _TABLE} | {"password", "secret", "token", "key"})
_SCHEME = pattern(r"(?i:bearer|basic|token|digest|negotiate|bot)\b")
_MASK = pattern(r"\[secret:[a-z-]+\]")


class Found(NamedTuple):
    """A secret in a text."""

    kind: str
    start: int
    end: int


class _Match(NamedTuple):
    """What a judge sees: the text, the name that announced a secret, what stood between, and the secret's place."""

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
        at = self.start - len(self.name) - len(self.sign)
        return self.text[at - 1 : at] in {"?", "&"} or self.text[self.end : self.end + 1] == "&"


_Judge = Callable[[_Match], str | None]


def find(text: str) -> list[Found]:
    """The secrets of a text, in order and apart from each other."""
    if len(text) < _SHORTEST:
        return []
    clean = text.encode("utf-8", "replace")  # as many characters, all of which UTF-8 can say
    numbers = hints(clean)
    if not numbers:
        return []
    blank = _MASK.sub(lambda one: "*" * len(one[0]), clean.decode())  # what was masked before says nothing any more
    found = [one for number in numbers for one in _looked_for(number, blank)]
    return _apart([*found, *_behind(blank)] if _ESCAPED in numbers else found)


def _behind(text: str) -> Iterator[Found]:
    """The secrets that are spelled otherwise than they are meant."""
    plain, place = unescaped(text)
    for number in hints(plain.encode()) if plain != text else ():
        for kind, start, end in _looked_for(number, plain):
            yield Found(kind, *place(start, end))


def masked(text: str) -> tuple[str, list[str]]:
    """The text without its secrets, and their kinds."""
    kinds: list[str] = []
    for _ in range(_ROUNDS):  # what is masked may uncover what stood beside it
        found = find(text)
        if not found:
            break
        kinds += [one.kind for one in found]
        text = _without(text, found)
    return text, kinds


def beginning(text: str, most: int) -> str:
    """So many characters of a text, or fewer: half a secret would not be known as one any more."""
    ends = min(most, len(text))
    for one in find(text[: most + _AHEAD]) if len(text) > most else ():
        if one.start < ends < one.end:
            ends = one.start
    return text[:ends]


def hints(text: bytes) -> list[int]:
    """The numbers of the shapes that may be in a text, or in the JSON of several; where there are none, nothing is."""
    return _filter().Match(text) or []


def mask(kind: str) -> str:
    """What stands in a secret's place."""
    return f"[secret:{kind}]"


def is_mask(text: str) -> bool:
    """Whether a text is no more than what was put in a secret's place."""
    return text.startswith("[secret:") and text[8:-1] in KINDS and text.endswith("]")


def named(name: str, value: str) -> str | None:
    """The kind of secret that a field of an object holds by its name, if its value may be one."""
    told = announced(name)
    return told[0] if told is not None and is_secret(value, told[1], tight=True) else None


def _without(text: str, found: list[Found]) -> str:
    parts, at = [], 0
    for kind, start, end in found:
        parts += [text[at:start], mask(kind)]
        at = end
    return "".join((*parts, text[at:]))


def _apart(found: list[Found]) -> list[Found]:
    """Overlapping places become one, named after the most telling of them."""
    merged: list[Found] = []
    for one in sorted(found, key=lambda place: (place.start, -place.end)):
        if merged and one.start < merged[-1].end:
            last = merged[-1]
            kind = min(last.kind, one.kind, key=_rank)
            merged[-1] = Found(kind, last.start, max(last.end, one.end))
        else:
            merged.append(one)
    return merged


@cache
def _ranks() -> dict[str, int]:
    return {shape.kind: number for number, shape in reversed(list(enumerate(_TABLE)))}


def _rank(kind: str) -> int:
    return _ranks().get(kind, len(_ranks()))


@cache
def _filter() -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1  # bytes: hints are ASCII, and a class of bytes is a small one
    made = re2.Set.SearchSet(options)
    for hint in (*(shape.hint for shape in _TABLE), HINT):
        made.Add(hint)
    made.Compile()
    return made


def _looked_for(number: int, text: str) -> Iterator[Found]:
    if number == _ESCAPED:
        return
    if number < len(PUBLISHED):
        shape = PUBLISHED[number]
        for match in _engine(shape.pattern).finditer(text):
            if shape.kind != "discord-token" or _is_coded(match[0]):
                yield Found(shape.kind, *match.span(match.re.groups))
    else:
        telling = TOLD[number - len(PUBLISHED)]
        yield from _told(telling.kind, _engine(telling.pattern), _JUDGES[telling.judge], text, _DEPTH)


def _engine(shape: str) -> Any:
    """The shape with its boundaries: a line below is one, too."""
    shape = shape.removesuffix(r")\b") + _END if shape.endswith(r")\b") else shape
    return compiled(shape.replace("~", _EDGE, 1) if shape.startswith("~") else shape)


def _told(kind: str, engine: Any, judge: _Judge, text: str, depth: int) -> Iterator[Found]:
    """What is told of; where a value is none, there may be another telling inside of it."""
    for found in engine.finditer(text):
        groups = found.groupdict()
        start, end = _unquoted(text, *found.span(engine.groupindex["s"]))
        verdict = judge(_Match(text, groups.get("n") or "", groups.get("e") or "", start, end))
        if verdict is not None:
            yield Found(verdict or kind, start, end)
        elif depth and start < end and text[start] not in _REFERS:
            for inner in _told(kind, engine, judge, text[start:end], depth - 1):
                yield Found(inner.kind, start + inner.start, start + inner.end)


def _unquoted(text: str, start: int, end: int) -> tuple[int, int]:
    """The place without the quotation marks around it."""
    for mark in ('\\"', "\\'", '"', "'"):
        if text.startswith(mark, start, end):
            start += len(mark)
            if text.endswith(mark, start, end):
                end -= len(mark)
            break
    return start, end


def _given(match: _Match) -> str | None:
    return "" if match.value.strip(" *") else None


def _word(match: _Match) -> str | None:
    return "" if is_secret(match.value, "surely", tight=True) else None


def _named(match: _Match) -> str | None:
    told = announced(match.name)
    if told is None:
        return None
    quoted = match.text[match.start - 1 : match.start] in {'"', "'"}
    if match.sign != "=" and match.sign.startswith("=") and not quoted:
        return None  # nothing is assigned, as shells read it
    loose = told[1] == "likely" and match.name.islower() and not match.is_query
    tight = quoted or (match.sign == "=" and not loose)
    if match.name.lower().endswith("authorization") and _SCHEME.match(match.value) is not None:
        return None  # that is told better by its scheme
    return told[0] if is_secret(match.value, told[1], tight=tight) else None


def _flag(match: _Match) -> str | None:
    told = announced(match.name)
    if told is None or match.value.startswith("-") or told[1] == "perhaps":
        return None
    return told[0] if is_secret(match.value, told[1], tight=True) else None


_CONTAINERS = ("docker", "podman", "nerdctl", "kubectl", "chown", "install", "runuser", "setpriv")


def _login(match: _Match) -> str | None:
    """A name and its password; the user and group that a container runs as are none."""
    before = match.text[max(0, match.start - _NEAR) : match.start].rpartition("\n")[2]
    command = max(before.rpartition(";")[2], before.rpartition("&")[2], before.rpartition("|")[2], key=before.endswith)
    if match.value.isdigit() or any(word in command for word in _CONTAINERS):
        return None
    return "password" if is_secret(match.value, "surely", tight=True) else None


def _random(match: _Match) -> str | None:
    return "" if _is_coded(match.value) else None


def _is_coded(value: str) -> bool:
    """Small letters, and digits or capitals among them: no word of a sentence."""
    return any(one.isdigit() for one in value) and any(one.isalpha() for one in value)


_JUDGES: dict[str, _Judge] = {
    "given": _given,
    "word": _word,
    "named": _named,
    "flag": _flag,
    "login": _login,
    "random": _random,
}
